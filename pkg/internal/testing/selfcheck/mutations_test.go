package selfcheck

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/eventbus"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission/eventsrules"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
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

// TestMutationsInArgo requires that Argo Events refuses the same Sensors and EventBuses,
// with the same text.
func TestMutationsInArgo(t *testing.T) {
	for _, m := range mutations() {
		if m.mutate == nil {
			continue
		}
		f := newFixture()
		m.mutate(f)
		f.objects()
		bus := cmp.Or(f.bus, &eventsv1.EventBus{})
		if want, got := fmt.Sprint(eventbus.ValidateEventBus(bus.DeepCopy())), fmt.Sprint(eventsrules.EventBus(bus)); want != got {
			t.Errorf("%s: got %s, want %s", m.name, got, want)
		}
		if want, got := fmt.Sprint(sensor.ValidateSensor(f.sensor.DeepCopy(), bus.DeepCopy())), fmt.Sprint(eventsrules.Sensor(f.sensor, bus)); want != got {
			t.Errorf("%s: got %s, want %s", m.name, got, want)
		}
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
