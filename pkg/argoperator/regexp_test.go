package argoperator_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// TestRegexpProgram tests that the pods of an operator have the program for regular expressions if one of its
// expressions needs it.
func TestRegexpProgram(t *testing.T) {
	const fixed, searching = `$children.map.data.text`, `$children.map.data.text // "" | sub("a"; "b")`
	shared := func(name, status string) argoperator.Source {
		return renamed(member(name, "{group: platform}", "  reconcile: {engine: worker}\n"), fixed, status)
	}
	alone := func(engine, status string) argoperator.Source {
		return renamed(member("one", "{}", "  reconcile: {engine: "+engine+"}\n"), fixed, status)
	}
	for name, tt := range map[string]struct {
		sources []argoperator.Source
		want    int
	}{
		"worker":           {[]argoperator.Source{alone("worker", searching)}, 1},
		"worker without":   {[]argoperator.Source{alone("worker", fixed)}, 0},
		"workflow":         {[]argoperator.Source{alone("workflow", searching)}, 1},
		"workflow without": {[]argoperator.Source{alone("workflow", fixed)}, 0},
		"direct":           {[]argoperator.Source{alone("direct", searching)}, 0},
		"group":            {[]argoperator.Source{shared("one", fixed), shared("two", searching)}, 1},
		"group without":    {[]argoperator.Source{shared("one", fixed), shared("two", fixed)}, 0},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			found := 0
			for _, o := range generate(t, tt.sources...).Objects() {
				if m, ok := o.(*corev1.ConfigMap); ok && m.Data["regexp.py"] != "" {
					found++
				}
			}
			if found != tt.want {
				t.Errorf("%d ConfigMaps have regexp.py, want %d", found, tt.want)
			}
		})
	}
}
