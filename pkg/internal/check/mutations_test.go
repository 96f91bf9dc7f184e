package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/problem"
)

// mutation introduces one error into a valid operator.
type mutation struct {
	name   string
	reason string
	mutate func(*fixture)
	code   string
	object string // the object that the problem names
	path   string // a prefix of the problem's path
}

func TestObjectsReportsMutations(t *testing.T) {
	for _, m := range mutations() {
		if m.mutate == nil {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			f := newFixture()
			m.mutate(f)
			problems, err := Objects(f.objects())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				if p.Code == m.code && p.Object == m.object && strings.HasPrefix(p.Path, m.path) && p.Message != "" {
					return
				}
			}
			t.Errorf("%s: no %s on %s at %q\ngot %v", m.reason, m.code, m.object, m.path, formatProblems(problems))
		})
	}
}

func formatProblems(problems []problem.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\n%s %s %s: %s", p.Code, p.Object, p.Path, p.Message)
	}
	return b.String()
}

func mutations() []mutation {
	var all []mutation
	all = append(all, shapeMutations()...)
	all = append(all, argoMutations()...)
	all = append(all, referenceMutations()...)
	all = append(all, sensorMutations()...)
	all = append(all, ruleMutations()...)
	all = append(all, lifecycleMutations()...)
	all = append(all, permissionMutations()...)
	all = append(all, templateMutations()...)
	all = append(all, podMutations()...)
	all = append(all, monitoringMutations()...)
	for _, m := range directMutations() {
		all = append(all, mutation{code: m.code}) // they have their own fixture
	}
	return all
}
