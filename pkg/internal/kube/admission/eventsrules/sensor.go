package eventsrules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/robfig/cron/v3"
)

// Sensor returns the error with which Argo Events refuses a Sensor on its EventBus.
func Sensor(s *eventsv1.Sensor, bus *eventsv1.EventBus) error {
	switch {
	case s == nil:
		return errors.New("nil sensor")
	case bus == nil:
		return errors.New("nil eventbus")
	}
	return cmp.Or(dependencies(s.Spec.Dependencies, bus.Spec.NATS != nil), triggers(s.Spec.Triggers))
}

// dependencies checks the dependencies of a Sensor. NATS streaming (STAN) delivers
// an event to one dependency only.
func dependencies(list []eventsv1.EventDependency, stan bool) error {
	if len(list) == 0 {
		return errors.New("no event dependencies found")
	}
	seen := map[string]bool{}
	for _, d := range list {
		event := d.EventSourceName + "-$$$-" + d.EventName
		if err := cmp.Or(
			require(d.Name != "", "event dependency must define a name"),
			require(d.EventSourceName != "", "event dependency must define the EventSourceName"),
			require(d.EventName != "", "event dependency must define the EventName"),
			require(!stan || !seen[event], "event '%s' from EventSource '%s' is referenced for more than one dependency in this Sensor "+
				"object", d.EventName, d.EventSourceName),
			optional(d.Filters, filter),
			logicalOperator(d.FiltersLogicalOperator),
		); err != nil {
			return err
		}
		seen[event] = true
	}
	return nil
}

func filter(f *eventsv1.EventDependencyFilter) error {
	c := f.Context
	return cmp.Or(
		logicalOperator(f.ExprLogicalOperator),
		logicalOperator(f.DataLogicalOperator),
		first(f.Exprs, exprFilter),
		first(f.Data, dataFilter),
		require(c == nil || c.Type != "" || c.Subject != "" || c.Source != "" || c.DataContentType != "",
			"no fields specified in ctx filter (aka all events will be discarded)"),
		optional(f.Time, timeFilter),
	)
}

func logicalOperator(o eventsv1.LogicalOperator) error {
	return oneOf(
		"logical operator %s not supported",
		o,
		eventsv1.AndLogicalOperator,
		eventsv1.OrLogicalOperator,
		eventsv1.EmptyLogicalOperator,
	)
}

func exprFilter(f eventsv1.ExprFilter) error {
	unnamed := func(p eventsv1.PayloadField) bool { return p.Path == "" || p.Name == "" }
	return cmp.Or(
		require(f.Expr != "" && len(f.Fields) > 0, "one of expr filters is not valid (expr and fields must be not empty)"),
		require(!slices.ContainsFunc(f.Fields, unnamed), "one of expr filters is not valid (path and name in a field must be not empty)"),
	)
}

func dataFilter(f eventsv1.DataFilter) error {
	return cmp.Or(
		oneOf("comparator %s not supported", f.Comparator, eventsv1.GreaterThanOrEqualTo, eventsv1.GreaterThan, eventsv1.EqualTo,
			eventsv1.NotEqualTo, eventsv1.LessThan, eventsv1.LessThanOrEqualTo, eventsv1.EmptyComparator),
		require(
			f.Path != "" && f.Type != "" && len(f.Value) > 0,
			"one of data filters is not valid (type, path and value must be not empty)",
		),
		require(!slices.Contains(f.Value, ""), "one of data filters is not valid (value must be not empty)"),
	)
}

// timeFilter reads both times as those of today, like Argo: its error has the date.
func timeFilter(f *eventsv1.TimeFilter) error {
	zone, err := time.LoadLocation(f.Timezone)
	if err != nil {
		return fmt.Errorf("invalid timezone '%s': %w", f.Timezone, err)
	}
	today := time.Now().In(zone).Format(time.DateOnly)
	start, err := time.ParseInLocation(time.DateTime, today+" "+f.Start, zone)
	if err != nil {
		return err
	}
	stop, err := time.ParseInLocation(time.DateTime, today+" "+f.Stop, zone)
	if err != nil {
		return err
	}
	return require(!stop.Equal(start), "invalid event time filter: stop '%s' is equal to start '%s", f.Stop, f.Start)
}

func triggers(list []eventsv1.Trigger) error {
	if len(list) == 0 {
		return errors.New("no triggers found")
	}
	seen := map[string]bool{}
	for _, t := range list {
		if err := trigger(t); err != nil {
			return err
		}
		if seen[t.Template.Name] {
			return fmt.Errorf("duplicate trigger name: %s", t.Template.Name)
		}
		seen[t.Template.Name] = true
	}
	return nil
}

func trigger(t eventsv1.Trigger) error {
	if err := template(t.Template); err != nil {
		return err
	}
	if err := cmp.Or(policy(t), each("template parameter", t.Parameters, parameter)); err != nil || t.DlqTrigger == nil {
		return err
	}
	return cmp.Or(
		require(t.AtLeastOnce, "to use dlqTrigger, trigger.atLeastOnce must be set to true"),
		require(t.DlqTrigger.AtLeastOnce, "atLeastOnce must be set to true within the dlqTrigger"),
		trigger(*t.DlqTrigger),
	)
}

func policy(t eventsv1.Trigger) error {
	switch p := t.Policy; {
	case p == nil:
	case t.Template.K8s != nil, t.Template.ArgoWorkflow != nil:
		return require(p.K8s == nil || p.K8s.Labels != nil, "resource labels are not specified")
	case t.Template.HTTP != nil, t.Template.AWSLambda != nil:
		return require(p.Status == nil || p.Status.Allow != nil, "list of allowed response status is not specified")
	}
	return nil
}

func template(t *eventsv1.TriggerTemplate) error {
	if t == nil {
		return errors.New("trigger template can't be nil")
	}
	if err := cmp.Or(require(t.Name != "", "trigger must define a name"), first(t.ConditionsReset, conditionsReset)); err != nil {
		return err
	}
	if err := optional(t.K8s, k8sTrigger); err != nil {
		return fmt.Errorf("trigger for template %s is invalid, %w", t.Name, err)
	}
	if err := cmp.Or(
		optional(t.ArgoWorkflow, workflowTrigger),
		optional(t.HTTP, httpTrigger),
		optional(t.AWSLambda, lambdaTrigger),
		optional(t.Kafka, kafkaTrigger),
		optional(t.NATS, natsTrigger),
		optional(t.Slack, slackTrigger),
		optional(t.OpenWhisk, openWhiskTrigger),
		optional(t.CustomTrigger, customTrigger),
		optional(t.Email, emailTrigger),
	); err != nil {
		return fmt.Errorf("template %s is invalid, %w", t.Name, err)
	}
	return nil
}

// schedules reads the fields that Argo reads, so no descriptors such as @daily.
var schedules = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

func conditionsReset(c eventsv1.ConditionsResetCriteria) error {
	if c.ByTime == nil {
		return errors.New("invalid conditionsReset")
	}
	schedule := c.ByTime.Cron
	if strings.Contains(schedule, "TZ=") && !strings.Contains(schedule, " ") { // the parser panics, also in Argo's controller
		return fmt.Errorf("invalid cron expression %q", schedule)
	}
	_, unreadable := schedules.Parse(schedule)
	_, unknown := time.LoadLocation(c.ByTime.Timezone)
	return cmp.Or(
		require(unreadable == nil, "invalid cron expression %q", schedule),
		require(unknown == nil, "invalid timezone %q", c.ByTime.Timezone),
	)
}

// optional checks what is set.
func optional[T any](value *T, check func(*T) error) error {
	if value == nil {
		return nil
	}
	return check(value)
}

// first returns the first error of a list.
func first[T any](list []T, check func(T) error) error {
	for _, entry := range list {
		if err := check(entry); err != nil {
			return err
		}
	}
	return nil
}

// require returns an error with the text unless the condition holds.
func require(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// oneOf returns an error with the value unless it is allowed.
func oneOf[T ~string](format string, value T, allowed ...T) error {
	return require(slices.Contains(allowed, value), format, value)
}
