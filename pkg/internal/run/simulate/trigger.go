package simulate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/sensors/triggers"
	httptrigger "github.com/argoproj/argo-events/pkg/sensors/triggers/http"
	k8strigger "github.com/argoproj/argo-events/pkg/sensors/triggers/standard-k8s"
	sharedutil "github.com/argoproj/argo-events/pkg/shared/util"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// events are the events that a trigger's parameters read, by dependency.
type events = map[string]*eventsv1.Event

// fire executes a trigger as the Sensor does, with the retries of its retry
// strategy and then the dead-letter trigger.
func (s *Simulation) fire(ctx context.Context, sensor *eventsv1.Sensor, trigger *eventsv1.Trigger, by events, delivery *Delivery) error {
	failed := true
	backoff := s.backoff(trigger)
	for i := range attempts(trigger) {
		if i > 0 {
			pause(ctx, backoff.Step())
		}
		attempt, err := s.attempt(ctx, sensor, trigger.DeepCopy(), by)
		if err != nil {
			return err
		}
		delivery.Attempts = append(delivery.Attempts, attempt)
		if delivery.attempted != nil {
			delivery.attempted(delivery)
		}
		if failed = attempt.Failure != ""; !failed {
			break
		}
	}
	if failed && trigger.DlqTrigger != nil {
		return s.fire(ctx, sensor, trigger.DlqTrigger, by, delivery)
	}
	return nil
}

// backoff returns the pauses between two attempts: none in memory, where nothing else
// changes meanwhile.
func (s *Simulation) backoff(t *eventsv1.Trigger) *wait.Backoff {
	if s.remote != nil && t.RetryStrategy != nil {
		if backoff, err := sharedutil.Convert2WaitBackoff(t.RetryStrategy); err == nil {
			return backoff
		}
	}
	return &wait.Backoff{}
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// attempts returns how often a trigger is tried. Without atLeastOnce Argo never
// retries.
func attempts(t *eventsv1.Trigger) int {
	if t.RetryStrategy == nil || !t.AtLeastOnce {
		return 1
	}
	return max(1, int(t.RetryStrategy.GetSteps()))
}

// attempt executes a trigger once. The trigger is a copy, because parameters change
// it.
func (s *Simulation) attempt(ctx context.Context, sensor *eventsv1.Sensor, trigger *eventsv1.Trigger, by events) (Attempt, error) {
	out := Attempt{Trigger: trigger.Template.Name}
	if err := triggers.ApplyTemplateParameters(by, trigger); err != nil {
		out.Failure = fmt.Sprintf("the template's parameters failed: %v", err)
		return out, nil
	}
	recorder := &cluster.Recorder{Cluster: s.api, Account: accountOf(sensor)}
	implementation, err := s.implementation(ctx, sensor, trigger, recorder)
	if err != nil {
		return out, err
	}
	if implementation == nil {
		out.Note = "a trigger of this type is not simulated"
		if trigger.Template.Log != nil {
			out.Note = "logs the event"
		}
		return out, nil
	}
	err = execute(ctx, implementation, by)
	var broken *brokenError
	if errors.As(err, &broken) {
		return out, broken.err
	}
	out.Calls = recorder.TakeCalls()
	s.normalizeCalls(out.Calls)
	if err != nil {
		out.Failure = failureOf(err, out.Calls)
	}
	return out, nil
}

// failureOf returns why a trigger failed: the answer of the API server, which Argo Events
// reduces to a status code.
func failureOf(err error, calls []cluster.Call) string {
	if n := len(calls); n > 0 && calls[n-1].Status >= http.StatusMultipleChoices {
		return "the API server responded " + calls[n-1].Outcome()
	}
	return err.Error()
}

// execute does what the Sensor does with a trigger. Where Argo's code panics, the
// Sensor's pod would crash.
func execute(ctx context.Context, t implementation, by events) (err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("the Sensor would crash: %v", crash)
		}
	}()
	fetched, err := t.FetchResource(ctx)
	if err != nil {
		return err
	}
	resource, err := t.ApplyResourceParameters(by, fetched)
	if err != nil {
		return err
	}
	answer, err := t.Execute(ctx, by, resource)
	if err != nil {
		return err
	}
	return t.ApplyPolicy(ctx, answer)
}

// accountOf returns the service account of a Sensor's pod.
func accountOf(sensor *eventsv1.Sensor) string {
	if sensor.Spec.Template == nil {
		return ""
	}
	return sensor.Namespace + "/" + sensor.Spec.Template.ServiceAccountName
}

// implementation is Argo's code for one type of trigger.
type implementation interface {
	FetchResource(ctx context.Context) (any, error)
	ApplyResourceParameters(events map[string]*eventsv1.Event, resource any) (any, error)
	Execute(ctx context.Context, events map[string]*eventsv1.Event, resource any) (any, error)
	ApplyPolicy(ctx context.Context, resource any) error
}

// implementation returns nil for a type that does not act on the cluster.
func (s *Simulation) implementation(
	ctx context.Context,
	sensor *eventsv1.Sensor,
	trigger *eventsv1.Trigger,
	recorder *cluster.Recorder,
) (implementation, error) {
	silent := zap.NewNop().Sugar()
	switch t := trigger.Template; {
	case t.HTTP != nil:
		// certificates, tokens and passwords are in volumes of the pod
		t.HTTP.TLS, t.HTTP.SecureHeaders, t.HTTP.BasicAuth = nil, nil, nil
		clients := sharedutil.NewStringKeyedMap[*http.Client]()
		clients.Store(t.Name, &http.Client{Transport: recorder})
		if w := s.workerOf(t.HTTP); w != nil {
			clients.Store(t.Name, &http.Client{Transport: workerTransport{w, ctx}})
		}
		return httptrigger.NewHTTPTrigger(clients, sensor, trigger, silent)
	case t.K8s != nil:
		client, err := dynamic.NewForConfig(&rest.Config{Host: "http://cluster", Transport: recorder, QPS: -1, UserAgent: "argo-events"})
		if err != nil {
			return nil, fmt.Errorf("creating a client: %w", err)
		}
		return k8strigger.NewStandardK8sTrigger(nil, client, sensor, trigger, silent), nil
	}
	return nil, nil
}
