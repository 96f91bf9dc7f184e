package expression

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestGiven covers that paths which a child's condition tests are not missing in its
// template, and that nothing else changes.
func TestGiven(t *testing.T) {
	const (
		name     = "${ .spec.suffix }-x"
		mode     = "${ .spec.tls.mode }-x"
		secret   = "${ .spec.tls.secret }-x"
		replicas = "${ .spec.replicas + 1 }"
		web      = "${ $children.web.status.readyReplicas + 1 }"
	)
	none, tls, suffix := "", ".spec.tls", ".spec.suffix"
	tests := []struct{ given, text, missing string }{
		{"", name, suffix},
		{".spec.suffix != null", name, none},
		{"${ .spec.suffix != null }", name, none},
		{`.spec.suffix == "a"`, name, none},
		{`.spec.suffix | test("a")`, name, none},
		{`.spec | has("suffix")`, name, none},
		{`has("spec") and (.spec | has("suffix"))`, name, none},
		{".spec.enabled and .spec.suffix != null", name, none},
		{"(.spec.enabled and (.spec.suffix != null))", name, none},
		{"(.spec.suffix // \"\" | length) > 0", name, none},
		{".spec.replicas > 3", replicas, none}, // reported at the condition
		{"(.spec.suffix != null and .spec.enabled) or (.spec.suffix | length) > 3", name, none},

		{".spec.suffix == null", name, suffix},
		{".spec.suffix | not | not | not", name, suffix},
		{`.spec.suffix != "a"`, name, suffix},
		{".spec.suffix < \"x\"", name, suffix},
		{"(.spec.suffix // \"x\") == \"x\"", name, suffix},
		{".spec.suffix != null or .spec.enabled", name, suffix},
		{".spec.enabled", name, suffix},
		{".spec.suffix", name, none}, // invalid: reported at the condition
		{".spec.suffix !=", name, none},
		{".spec.sufix != null", name, none},
		{"(.spec.suffix, .spec.size) != null", name, none},
		{"last(repeat(.spec.suffix)) != null", name, suffix},

		{"", mode, tls},
		{".spec.tls != null", mode, none},
		{".spec.tls.secret != null", mode, none},
		{".spec.tls.mode == \"strict\" or .spec.tls.secret != null", mode, none},
		{".spec.tls != null", secret, ".spec.tls.secret"},
		{".spec.tls.secret != null", secret, none},
		{".spec.tls.mode == \"strict\"", secret, ".spec.tls.secret"},

		{"(.spec.hosts | length) > 0", "${ .spec.hosts[] | length }", ".spec.hosts[] | length yields several values"},
		{"(.spec.hosts | length) > 0", "${ .spec.hosts | join(\",\") }", none},
		{"(.spec.hosts // [] | length) > 0", "${ .spec.hosts | map(length) | add }", none},
		{"any(.spec.hosts[]?; . == \"a\")", "${ [.spec.hosts[]] | length }", none},
		{"def set: . != null; (.spec.suffix | set) and .spec.enabled", name, none},

		{"", web, "$children.web"},
		{"$children.web != null", web, "$children.web.status.readyReplicas"},
		{"$children.web.status.readyReplicas > 1", web, none},
	}
	for _, tt := range tests {
		scope := Scope{
			Input: memcachedType(t), Name: "Memcached v1alpha1", Given: tt.given,
			Children: map[string]schema.Type{"web": builtinType(t, "apps/v1", "Deployment")},
		}
		p, problems := Template(tt.text, scope, nil)
		got := ""
		for _, found := range problems {
			got, _, _ = strings.Cut(found.Message, " may be missing")
		}
		if got != tt.missing {
			t.Errorf("given %s, %s: %v", tt.given, tt.text, problems)
		}
		scope.Given = ""
		without, _ := Template(tt.text, scope, nil)
		if p != nil && (p.Source() != without.Source() || !cmp.Equal(p.Reads(), without.Reads())) {
			t.Errorf("given %s, %s becomes %s", tt.given, tt.text, p.Source())
		}
	}
}
