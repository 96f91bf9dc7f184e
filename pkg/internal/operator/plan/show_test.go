package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// TestFitsShown covers what a Workflow that shows a reconcile has of the logic.
func TestFitsShown(t *testing.T) {
	files := func(n int) (list []File) {
		for i := range n {
			list = append(list, File{Key: fmt.Sprintf("chart__templates__%d.yaml", i), Path: fmt.Sprintf("chart/templates/%d.yaml", i), Content: strings.Repeat("x", 10_000)})
		}
		return list
	}
	for _, tt := range []struct {
		name, reason string
		logic        Logic
		want         bool
	}{
		{"none", "templates compute all", Logic{}, true},
		{"a chart", "only the names of its files are in the spec", Logic{Files: files(100)}, true},
		{"many files", "a container with a larger variable does not start", Logic{Files: files(1000)}, false},
		{"long command", "so it is with a command", Logic{Command: []string{"sh", "-c", strings.Repeat("x", 100_000)}}, false},
		{"dollar signs", "each becomes six characters", Logic{Command: []string{"sh", "-c", strings.Repeat("$", 10_000)}}, false},
		{"long variable", "and with a variable", Logic{Env: []v1alpha1.EnvVar{{Name: "A", Value: strings.Repeat("x", 100_000)}}}, false},
	} {
		if got := fitsShown(tt.logic); got != tt.want {
			t.Errorf("%s: %s: %t", tt.name, tt.reason, got)
		}
	}
}
