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
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Inputs of a simulation. Only Objects is required.
type Inputs struct {
	// Objects of one or more operators, as emitted.
	Objects []manifest.Object
	// Kinds of children and related objects that none of the objects defines, as
	// the definitions describe them. Other kinds that are not built into Kubernetes
	// are assumed to be namespaced, and their plural is guessed.
	Kinds []*apiextensionsv1.CustomResourceDefinition
	// Prepared is shared with other simulations of the same objects; nil: this
	// simulation prepares its own.
	Prepared *Prepared
	// Runner of the programs in Workflows; nil: creating such a Workflow is an
	// error.
	Runner Runner
	// Now is the cluster's clock; nil: Ticks.
	Now func() time.Time
	// Progress is called before each program starts; nil: no progress is reported.
	Progress func(what string)
	// Given are objects that exist before the actions of Render, with their status.
	Given []map[string]any
	// Untraced drops the trace in Render, because the traces of many custom
	// resources need most of the memory.
	Untraced bool
	// Requests is called with each request to the API server in memory; nil: not called.
	Requests func(cluster.Call)
	// Remote is the API server if it is another process; nil: one in memory.
	Remote *Remote
}

// Simulation is an operator with an in-memory API server.
type Simulation struct {
	prepared      *Prepared
	cluster       *cluster.Cluster // without objects if the API server is remote
	remote        *Remote          // nil: the cluster in memory
	objects       []manifest.Object
	kinds         []*apiextensionsv1.CustomResourceDefinition
	users         http.Handler // the API server for requests of users and controllers
	api           http.Handler // the API server for operators, with the wrapper of Intercept
	now           func() time.Time
	started       time.Time // wall-clock time, which programs and jq read
	watched       []schema.GroupVersionResource
	watches       []watch
	subscriptions []subscription
	configMaps    map[string]*corev1.ConfigMap
	templates     map[string]*wfv1.WorkflowTemplate
	crons         []*wfv1.CronWorkflow
	policies      map[string]*admissionregistrationv1.ValidatingAdmissionPolicy
	sources       []*eventsv1.EventSource
	timers        []timer
	workers       []*worker
	internals     map[version]bool // Workflows: whether they are the operators' own
	later         time.Duration    // how long Workflows have waited so far; programs see their clock advanced by this much
	progressFunc  func(what string)
	runner        Runner
	trace         Trace
	events        int
}

// New prepares a simulation and runs nothing.
func New(in Inputs) (*Simulation, error) {
	s := &Simulation{
		now: in.Now, started: time.Now(), runner: in.Runner, progressFunc: in.Progress, watched: cluster.Watched(in.Objects),
		configMaps: map[string]*corev1.ConfigMap{}, templates: map[string]*wfv1.WorkflowTemplate{}, internals: map[version]bool{},
		policies: map[string]*admissionregistrationv1.ValidatingAdmissionPolicy{},
		objects:  in.Objects, kinds: in.Kinds,
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
	s.cluster.Requests = in.Requests
	s.users, s.api = s.cluster, s.cluster
	if s.remote = in.Remote; s.remote != nil {
		s.users, s.api = s.remote.API, s.remote.API
	}
	for _, o := range in.Objects {
		if err := s.install(o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// install registers an object that the simulation uses.
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
	case *appsv1.Deployment:
		if w := s.newWorker(o); w != nil {
			s.workers = append(s.workers, w)
		}
	case *wfv1.CronWorkflow:
		s.crons = append(s.crons, o)
	case *admissionregistrationv1.ValidatingAdmissionPolicy:
		s.policies[o.Name] = o
	case *admissionregistrationv1.ValidatingAdmissionPolicyBinding: // follows its policy
		var bound cluster.Policy
		bound, err = cluster.NewPolicy(s.policies[o.Spec.PolicyName], o)
		s.cluster.Policies = append(s.cluster.Policies, bound)
	}
	return err
}

// Cluster returns the API server that the operator uses. Others may write to it
// too; the next Run delivers their changes.
func (s *Simulation) Cluster() *cluster.Cluster { return s.cluster }

// Trace returns everything that happened so far.
func (s *Simulation) Trace() Trace { return s.trace }

// Run delivers all changes and their effects until nothing changes any more.
func (s *Simulation) Run(ctx context.Context) error {
	seen := &counts{of: map[string]int{}}
	for {
		changes := s.cluster.TakeChanges()
		if len(changes) == 0 {
			if s.cluster.CollectGarbage() == 0 {
				return nil
			}
			continue
		}
		if seen.given == 0 {
			seen.given = len(changes)
		}
		for _, change := range changes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.publishChange(ctx, change, seen); err != nil {
				return err
			}
			if err := s.runWorkflow(ctx, change, seen); err != nil {
				return err
			}
		}
	}
}

// publishChange publishes a change through every EventSource that watches it.
func (s *Simulation) publishChange(ctx context.Context, change cluster.Change, seen *counts) error {
	for _, w := range s.watches {
		event, ok := w.eventFor(s.cluster, change)
		if !ok {
			continue
		}
		if err := seen.event(event.Type + " of " + event.Object.String()); err != nil {
			return err
		}
		if err := s.publish(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// counts are the events and Workflows of one Run.
type counts struct {
	of    map[string]int // by object, and by template
	total int
	given int // changes that others made before
}

// Limits of one Run. A converging operator needs far less: the more objects there are, the
// more often it reacts to one of them.
const (
	maxEvents         = 1000 // of all objects
	maxEventsOfOne    = 100  // of one object
	eventsPerObject   = 20
	maxWorkflowsOfOne = 4 // of one template for one custom resource
	workflowsPerOne   = 2
)

// event counts an event of an object, and returns an error if there are too many.
func (c *counts) event(what string) error {
	return c.add(what, maxEventsOfOne, eventsPerObject)
}

// workflow counts a Workflow of a template for a custom resource, if it is for one. It takes
// much longer than an event. Many custom resources may refer to an object that has changed.
func (c *counts) workflow(template, key string) error {
	what := "the Workflow " + template
	if key != "" {
		what += " for " + key
	}
	return c.add(what, maxWorkflowsOfOne, workflowsPerOne)
}

func (c *counts) add(what string, limit, each int) error {
	c.of[what]++
	c.total++
	if c.total <= maxEvents && c.of[what] <= limit+each*(c.given+len(c.of)) {
		return nil
	}
	most := what
	for _, name := range slices.Sorted(maps.Keys(c.of)) {
		if c.of[name] > c.of[most] {
			most = name
		}
	}
	return &NotConvergedError{
		fmt.Sprintf(
			"the operator does not stop: after %d events and Workflows it still reacts to its own writes, most often to %s (%d times)",
			c.total, most, c.of[most],
		),
	}
}

// progress reports what the simulation is doing.
func (s *Simulation) progress(format string, args ...any) {
	if s.progressFunc != nil {
		s.progressFunc(fmt.Sprintf(format, args...))
	}
}

// publish delivers an event to every trigger that subscribes to it.
func (s *Simulation) publish(ctx context.Context, event Event) error {
	if s.remote != nil {
		s.remote.Publish(event)
		return nil
	}
	s.events++
	s.trace = append(s.trace, Step{Event: &event})
	subscribers, err := s.Subscribers(event, s.events)
	if err != nil {
		return err
	}
	for _, one := range subscribers {
		delivery := one.delivery()
		s.trace = append(s.trace, Step{Delivery: delivery})
		if err := one.deliver(ctx, delivery); err != nil {
			return err
		}
	}
	return nil
}

// deliver delivers an event to one dependency of a trigger, and executes the trigger if
// the event passes.
func (u Subscriber) deliver(ctx context.Context, delivery *Delivery) error {
	s := u.simulation
	passed := u.made.pass(ctx, s.prepared, u.subscription.sensor, s.withClusterTime(u.dependency), u.message, delivery)
	if delivery.Transformed != nil {
		delivery.Transformed, _ = s.normalize(delivery.Transformed).(map[string]any)
	}
	if passed == nil {
		return nil
	}
	return s.fire(ctx, u.subscription.sensor, &u.subscription.trigger, events{u.dependency.Name: passed}, delivery)
}

// readsClock appears in programs that compare the current time with times of the
// cluster.
const readsClock = "now as $now"

// withClusterTime returns a dependency whose program reads the cluster's time
// instead of this machine's.
func (s *Simulation) withClusterTime(d eventsv1.EventDependency) eventsv1.EventDependency {
	if s.remote != nil || d.Transform == nil || !strings.Contains(d.Transform.JQ, readsClock) {
		return d
	}
	transform := *d.Transform
	transform.JQ = fmt.Sprintf("def now: %d;\n%s", s.now().Unix(), transform.JQ)
	d.Transform = &transform
	return d
}

// Do sends a request to the cluster and returns its answer. Any status other than
// success is an error with the API server's message.
func (s *Simulation) Do(req *http.Request) (map[string]any, error) {
	recorder := &cluster.Recorder{Cluster: s.users}
	if _, err := recorder.RoundTrip(req); err != nil {
		return nil, err
	}
	call := recorder.TakeCalls()[0]
	answer, _ := call.Answer.(map[string]any)
	if call.Status >= http.StatusMultipleChoices {
		message, _ := answer["message"].(string)
		return nil, &cluster.StatusError{Status: call.Status, Message: message}
	}
	return answer, nil
}
