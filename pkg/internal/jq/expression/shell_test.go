package expression

import (
	"slices"
	"strings"
	"testing"
)

// TestShell covers that parameters of a shell have one problem, and that its hint works
// when it is typed.
func TestShell(t *testing.T) {
	const where = "metadata.labels.a"
	for _, parameter := range []string{
		"days", "2:-7", "DAYS:-7", "FILES[@]", "FILES[0]", "file%.gz", "file%%.*", "file##*/", "file#*/", "#file", "!file", "@", "*", "?", "x/a/b", "x//a/b", "x:?no x", "x:=1", "x:1:2", "x^^",
	} {
		_, problems := in(t, where, "a ${"+parameter+"} b")
		want := "write $${" + parameter + "} for the characters ${" + parameter + "}"
		if len(problems) != 1 || problems[0].Hint != want {
			t.Errorf("${%s}: %v, want the hint %s", parameter, problems, want)
		}
		if _, problems := in(t, where, "a $${"+parameter+"} b"); len(problems) > 0 {
			t.Errorf("$${%s}: %v", parameter, problems)
		}
	}
	for _, text := range []string{"a ${.spec.hosts[0]:-7}", "a ${ days }", "${spec.image}", "${size}"} {
		_, problems := in(t, where, text)
		if len(problems) == 0 || slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.Hint, "$${") }) {
			t.Errorf("%s: %v, want hints without $${", text, problems)
		}
	}
}
