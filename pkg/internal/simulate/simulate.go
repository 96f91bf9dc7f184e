package simulate

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Inputs of a simulation. Only Objects must be set.
type Inputs struct {
	// Objects of one or more operators, as they were emitted.
	Objects []manifest.Object
	// Kinds that none of the objects defines: what the definitions say of those of
	// children and related objects. One that is neither here nor built into
	// Kubernetes is taken for a namespaced one, and its plural is guessed.
	Kinds []*apiextensionsv1.CustomResourceDefinition
	// Prepared is what other simulations of the same objects have made already;
	// nil: this one makes it for itself.
	Prepared *Prepared
	// Runner of the programs in the Workflows; nil: none runs, and a Workflow
	// is an error.
	Runner Runner
	// Now is the cluster's clock; nil: Ticks.
	Now func() time.Time
	// Doing hears of each program that starts; nil: nobody does.
	Doing func(what string)
	// Untraced lets Render keep no trace: of many custom resources it is most of
	// what is in memory.
	Untraced bool
}

// Simulation is a cluster in memory and an operator that works on it.
type Simulation struct {
	prepared      *Prepared
	cluster       *cluster.Cluster
	api           http.Handler // the cluster, as those who call it over the network find it
	now           func() time.Time
	started       time.Time // by the machine's clock, which programs and jq read
	watched       []schema.GroupVersionResource
	watches       []watch
	subscriptions []subscription
	configMaps    map[string]*corev1.ConfigMap
	templates     map[string]*wfv1.WorkflowTemplate
	crons         []*wfv1.CronWorkflow
	policies      map[string]*admissionregistrationv1.ValidatingAdmissionPolicy
	sources       []*eventsv1.EventSource
	timers        []timer
	later         time.Duration // for which Workflows have waited: programs find the time so much later
	doing         func(what string)
	runner        Runner
	trace         Trace
	events        int
}

// New prepares a simulation; nothing happens yet.
func New(in Inputs) (*Simulation, error) {
	s := &Simulation{
		now: in.Now, started: time.Now(), runner: in.Runner, doing: in.Doing, watched: cluster.Watched(in.Objects),
		configMaps: map[string]*corev1.ConfigMap{}, templates: map[string]*wfv1.WorkflowTemplate{},
		policies: map[string]*admissionregistrationv1.ValidatingAdmissionPolicy{},
	}
	if s.now == nil {
		s.now = cluster.Ticks()
	}
	s.cluster = cluster.NewCluster(cluster.CustomKinds(in.Objects, in.Kinds), s.now)
	if in.Prepared == nil {
		in.Prepared = NewPrepared()
	}
	s.prepared = in.Prepared
	s.cluster.Cache = in.Prepared.cache()
	s.api = s.cluster
	for _, o := range in.Objects {
		if err := s.install(o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// install takes note of what the simulation carries out.
func (s *Simulation) install(o manifest.Object) error {
	var err error
	place := o.GetNamespace() + "/" + o.GetName()
	switch o := o.(type) {
	case *eventsv1.EventSource:
		var found []watch
		found, err = watches(o)
		s.watches = append(s.watches, found...)
		s.sources = append(s.sources, o)
	case *eventsv1.Sensor:
		var found []subscription
		found, err = subscriptions(o)
		s.subscriptions = append(s.subscriptions, found...)
	case *corev1.ConfigMap:
		s.configMaps[place] = o
	case *wfv1.WorkflowTemplate:
		s.templates[place] = o
	case *wfv1.CronWorkflow:
		s.crons = append(s.crons, o)
	case *admissionregistrationv1.ValidatingAdmissionPolicy:
		s.policies[o.Name] = o
	case *admissionregistrationv1.ValidatingAdmissionPolicyBinding: // behind its policy
		var bound cluster.Policy
		bound, err = cluster.NewPolicy(s.policies[o.Spec.PolicyName], o)
		s.cluster.Policies = append(s.cluster.Policies, bound)
	}
	return err
}

// Cluster is the API server that the operator works on. Others may write to it
// too: what they change is delivered by the next Run.
func (s *Simulation) Cluster() *cluster.Cluster { return s.cluster }

// Trace is everything that happened so far.
func (s *Simulation) Trace() Trace { return s.trace }

// busy is how many events a run may take: a thousand is far beyond any operator
// that comes to rest.
const busy = 1000

// Run delivers what changed, and what comes of it, until nothing changes any
// more.
func (s *Simulation) Run(ctx context.Context) error {
	seen := happened{}
	for {
		changes := s.cluster.Take()
		if len(changes) == 0 {
			if s.cluster.Collect() == 0 {
				return nil
			}
			continue
		}
		for _, change := range changes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.announce(ctx, change, seen); err != nil {
				return err
			}
			if err := s.carryOut(ctx, change, seen); err != nil {
				return err
			}
		}
	}
}

// announce publishes a change through every EventSource that sees it.
func (s *Simulation) announce(ctx context.Context, change cluster.Change, seen happened) error {
	for _, w := range s.watches {
		event, ok := w.sees(change)
		if !ok {
			continue
		}
		if err := seen.once(event.Type + " of " + event.Object.String()); err != nil {
			return err
		}
		if err := s.publish(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// happened counts events and Workflows by what they are about.
type happened map[string]int

// once counts one more; an error, which names the most frequent, if there are too
// many.
func (h happened) once(what string) error {
	h[what]++
	total, most := 0, ""
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if total += h[name]; h[name] > h[most] {
			most = name
		}
	}
	if total <= busy {
		return nil
	}
	return &Restless{fmt.Sprintf("the operator does not come to rest: after %d events it still reacts to itself, most often to %s (%d times)",
		busy, most, h[most])}
}

// tell says what the simulation is doing.
func (s *Simulation) tell(format string, args ...any) {
	if s.doing != nil {
		s.doing(fmt.Sprintf(format, args...))
	}
}

// publish delivers an event to every trigger that listens.
func (s *Simulation) publish(ctx context.Context, event Event) error {
	s.events++
	s.trace = append(s.trace, Step{Event: &event})
	message, err := cloudEvent(event, s.events, s.now())
	if err != nil {
		return err
	}
	made := transforms{}
	for _, sub := range s.subscriptions {
		for _, d := range sub.dependencies {
			if !hears(d, event) {
				continue
			}
			delivery := &Delivery{Sensor: sub.sensor.Name, Dependency: d.Name, Trigger: sub.trigger.Template.Name}
			s.trace = append(s.trace, Step{Delivery: delivery})
			passed := made.pass(ctx, s.prepared, sub.sensor, s.clocked(d), message, delivery)
			if delivery.Transformed != nil {
				delivery.Transformed, _ = s.steadied(delivery.Transformed).(map[string]any)
			}
			if passed != nil {
				if err := s.fire(ctx, sub.sensor, &sub.trigger, events{d.Name: passed}, delivery); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// moment is how a program asks for the time that it compares with times of the
// cluster.
const moment = "now as $now"

// clocked is a dependency whose program finds the cluster's time where it asks
// for it: the machine's is another.
func (s *Simulation) clocked(d eventsv1.EventDependency) eventsv1.EventDependency {
	if d.Transform == nil || !strings.Contains(d.Transform.JQ, moment) {
		return d
	}
	transform := *d.Transform
	transform.JQ = fmt.Sprintf("def now: %d;\n%s", s.now().Unix(), transform.JQ)
	d.Transform = &transform
	return d
}

// Do sends a request to the cluster and returns its answer; an answer other
// than success is an error that says what the API server said.
func (s *Simulation) Do(req *http.Request) (map[string]any, error) {
	talk := &cluster.Recorder{Cluster: s.cluster}
	if _, err := talk.RoundTrip(req); err != nil {
		return nil, err
	}
	call := talk.Take()[0]
	answer, _ := call.Answer.(map[string]any)
	if call.Status >= http.StatusMultipleChoices {
		message, _ := answer["message"].(string)
		return nil, &cluster.Refusal{Status: call.Status, Message: message}
	}
	return answer, nil
}
