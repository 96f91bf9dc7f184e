package selfcheck

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

func TestObjectsAcceptsValidOperator(t *testing.T) {
	problems, err := Objects(newFixture().objects())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]problem.Problem(nil), problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestObjectsDoesNotModifyInput(t *testing.T) {
	emitted := newFixture().objects()
	before := argo.NewObjects(emitted).Copy().List
	if _, err := Objects(emitted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, emitted); diff != "" {
		t.Errorf("Objects modified its input (-before +after):\n%s", diff)
	}
}
