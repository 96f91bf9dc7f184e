package simulate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
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
func (w Watch) EventFor(c cluster.Change) (Event, bool) { return w.entry.eventFor(c) }

// Message is an event for its triggers.
type Message struct {
	Event Event
	// Subscribers are the triggers that the event reaches.
	Subscribers []Subscriber
}

// Subscriber is one dependency of a trigger.
type Subscriber struct {
	Sensor, Trigger string // names; events reach a trigger one after the other
	Program         string // jq of the transform
	deliver         func(ctx context.Context, attempted func(*Delivery)) (*Delivery, error)
}

// Deliver runs the transform and the filter, and executes the trigger if the event passes.
// It calls attempted after each attempt: the retries of a dead-letter trigger take minutes.
func (s Subscriber) Deliver(ctx context.Context, attempted func(*Delivery)) (*Delivery, error) {
	return s.deliver(ctx, attempted)
}

// Message returns an event for its triggers. The number is unique.
func (s *Simulation) Message(e Event, number int) (Message, error) {
	message, err := cloudEvent(e, number, s.now())
	if err != nil {
		return Message{}, err
	}
	out := Message{Event: e}
	made := newTransforms()
	for _, sub := range s.subscriptions {
		for _, d := range sub.dependencies {
			if !matches(d, e) {
				continue
			}
			out.Subscribers = append(out.Subscribers, Subscriber{
				Sensor: sub.sensor.Name, Trigger: sub.trigger.Template.Name, Program: programOf(d),
				deliver: func(ctx context.Context, attempted func(*Delivery)) (*Delivery, error) {
					delivery := sub.delivery(d)
					delivery.attempted = attempted
					return delivery, s.deliver(ctx, sub, d, message, made, delivery)
				},
			})
		}
	}
	return out, nil
}

// Program returns the jq of a dependency's transform.
func (s *Simulation) Program(sensor, dependency string) string {
	for _, sub := range s.subscriptions {
		for _, d := range sub.dependencies {
			if sub.sensor.Name == sensor && d.Name == dependency {
				return programOf(d)
			}
		}
	}
	return ""
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
	req, err := s.cluster.Parse(r, nil)
	if err != nil {
		return Target{}
	}
	k := req.Kind
	return Target{
		RequestInfo: RequestInfo{Kind: k.Kind, Namespace: req.Namespace, Name: req.Name, Subresource: req.Subresource},
		Group:       k.Group, Version: k.Version, Resource: k.Plural,
	}
}
