package simulate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Remote is an API server in another process. The caller watches it and delivers events
// when it wants to, from any number of goroutines; the simulation does the rest.
type Remote struct {
	// API forwards requests; the header cluster.RemoteUser names the service account of
	// an operator, and is missing for a user.
	API http.Handler
	// Publish takes an event for all triggers.
	Publish func(Event)
	// Relist publishes an event for every existing object, as EventSources do when they
	// restart.
	Relist func()
	// Worked takes what a worker has done for one custom resource.
	Worked func(*Workflow)
	// Later does some work of a worker after a time.
	Later func(after time.Duration, do func(ctx context.Context) error)
}

// Watch is one list and watch of an EventSource.
type Watch struct {
	Source    string // name of the EventSource
	Account   string // service account as namespace/name
	Resource  schema.GroupVersionResource
	Namespace string // empty: all
	Selector  labels.Selector

	entry watch
}

// Watches returns what the EventSources watch.
func (s *Simulation) Watches() []Watch {
	var out []Watch
	for _, w := range s.watches {
		gvr := w.entry.GroupVersionResource
		out = append(out, Watch{
			Source: w.source, Account: w.account, Namespace: w.entry.Namespace, Selector: w.selector, entry: w,
			Resource: schema.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource},
		})
	}
	return out
}

// EventFor returns the event of a change, if the EventSource publishes one.
func (w Watch) EventFor(c cluster.Change) (Event, bool) { return w.entry.eventFor(nil, c) }

// Subscriber is one dependency of a trigger that an event reaches.
type Subscriber struct {
	simulation   *Simulation
	subscription subscription
	dependency   eventsv1.EventDependency
	message      *cloudevents.Event
	made         *transforms // of the event
}

// Subscribers returns what an event reaches. The number of the event is unique.
func (s *Simulation) Subscribers(e Event, number int) ([]Subscriber, error) {
	message, err := cloudEvent(e, number, s.now())
	if err != nil {
		return nil, err
	}
	var out []Subscriber
	made := newTransforms()
	for _, sub := range s.subscriptions {
		for _, d := range sub.dependencies {
			if matches(d, e) {
				out = append(out, Subscriber{s, sub, d, message, made})
			}
		}
	}
	return out, nil
}

// Trigger names the trigger. Events reach it one after the other.
func (u Subscriber) Trigger() string {
	return u.subscription.sensor.Name + "/" + u.subscription.trigger.Template.Name
}

// Deliver runs the transform and the filter, and executes the trigger if the event passes.
// It calls attempted after each attempt: the retries of a dead-letter trigger take minutes.
func (u Subscriber) Deliver(ctx context.Context, attempted func(*Delivery)) (*Delivery, error) {
	delivery := u.delivery()
	delivery.attempted = attempted
	return delivery, u.deliver(ctx, delivery)
}

// delivery returns the record of the event that reaches the dependency.
func (u Subscriber) delivery() *Delivery {
	return &Delivery{
		Sensor: u.subscription.sensor.Name, Dependency: u.dependency.Name, Trigger: u.subscription.trigger.Template.Name,
		Program: programOf(u.dependency),
	}
}

func programOf(d eventsv1.EventDependency) string {
	if d.Transform == nil {
		return ""
	}
	return d.Transform.JQ
}

// Run is the run of a Workflow of an operator.
type Run struct{ run *run }

// RunOf returns the run of a created Workflow; ok is false for any other change, and for a
// Workflow that is no operator's.
func (s *Simulation) RunOf(change cluster.Change) (r Run, ok bool, err error) {
	one, err := s.runOf(change)
	return Run{one}, one != nil, err
}

// Pause returns how long the Workflow waits before its first step.
func (r Run) Pause() time.Duration { return r.run.pause() }

// Kept returns how long the Workflow is kept after its end; false: without limit.
func (r Run) Kept(failed bool) (time.Duration, bool) {
	strategy := r.run.spec.TTLStrategy
	if strategy == nil {
		return 0, false
	}
	seconds := strategy.SecondsAfterSuccess
	if failed {
		seconds = strategy.SecondsAfterFailure
	}
	if seconds == nil {
		seconds = strategy.SecondsAfterCompletion
	}
	if seconds == nil {
		return 0, false
	}
	return time.Duration(*seconds) * time.Second, true
}

// Mutexes returns the names of the mutexes that the Workflow holds while it runs, sorted.
func (r Run) Mutexes() ([]string, error) {
	if r.run.spec.Synchronization == nil {
		return nil, nil
	}
	filled, err := filled(*r.run.spec.Synchronization, r.run.values)
	if err != nil {
		return nil, fmt.Errorf("in Workflow %s: %w", r.run.record.Name, err)
	}
	var out []string
	for _, m := range filled.Mutexes {
		out = append(out, r.run.record.Namespace+"/"+m.Name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Workflow returns the record of the run, which is complete after Do.
func (r Run) Workflow() *Workflow { return r.run.record }

// Do runs the Workflow.
func (r Run) Do(ctx context.Context) error {
	if err := r.run.writeStatus("Running", ""); err != nil {
		return err
	}
	return r.run.all(ctx)
}

// Target is what a path of the API names.
type Target struct {
	RequestInfo
	Group, Version, Resource string
}

// Target parses a path of the API, with or without a query.
func (s *Simulation) Target(path string) Target {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return Target{}
	}
	out, _ := s.target(r)
	return out
}

func (s *Simulation) target(r *http.Request) (Target, bool) {
	req, err := s.cluster.Parse(r, nil)
	if err != nil {
		return Target{}, false
	}
	k := req.Kind
	return Target{
		RequestInfo: RequestInfo{Kind: k.Kind, Namespace: req.Namespace, Name: req.Name, Subresource: req.Subresource},
		Group:       k.Group, Version: k.Version, Resource: k.Plural,
	}, true
}
