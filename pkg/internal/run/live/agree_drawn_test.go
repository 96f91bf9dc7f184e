package live

import (
	"fmt"
	"slices"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
)

// TestServersAgreeOnDrawn sends every request of the lives of drawn operators to Kubernetes'
// API server too, as TestServersAgree does with those of tests. It leaves out operators that
// need more rights, as lint warns.
func TestServersAgreeOnDrawn(t *testing.T) {
	program := realServer(t)
	python, err := differential.StartPython("../../../../templates/runtime")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = python.Close() })
	count := 6
	if testing.Short() {
		count = 2
	}
	seeds, _, err := differential.Pairwise(0, count)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range seeds {
		for _, engine := range []plan.Engine{plan.Direct, plan.Workflow} {
			t.Run(fmt.Sprintf("%d/%s", seed, engine), func(t *testing.T) {
				c, err := differential.Draw(seed, nil)
				if err != nil {
					t.Fatal(err)
				}
				if finalizer, _ := c.Spec()["finalizer"].(map[string]any); finalizer["deletionOrder"] == "Reverse" {
					t.Skip("how many requests there are depends on how quick the garbage collector is")
				}
				calls, err := differential.Record(c, engine, python)
				if err != nil {
					t.Fatal(err)
				}
				result, err := argoperator.Generate([]argoperator.Source{c.Source(engine)}, argoperator.Options{})
				if err != nil {
					t.Fatal(err)
				}
				escalates := slices.ContainsFunc(result.Findings, func(f diag.Finding) bool { return f.Code == diag.PrivilegeEscalation })
				if len(calls) == 0 || result.Findings.HasErrors() || escalates {
					t.Skip(result.Findings)
				}
				newReplay(t, program, result, c.Kinds()...).compareAll(calls)
			})
		}
	}
}
