package plan

import (
	"encoding/json"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// A schedule is a related entry with times in place of objects. The last time is a value
// like a field of an object: it is a part of the digest of what is related, so that a worker
// which was away sees that one has passed. The worker comes back when the next one is due.

// Schedule is such an entry.
type Schedule struct {
	Name string
	At   []string        // its place in the definition
	Rule json.RawMessage // schedule and timeZone, for the pod

	Times, Zone *expression.Program
	Constant    bool // so that each custom resource has it
}

// LongestSchedule is the number of characters of a schedule: custom resources choose it, and
// the worker must not take long to read it.
const LongestSchedule = 1000

// LastScheduleTime is the field of $related.NAME.
const LastScheduleTime = "lastScheduleTime"

// scheduleType is the type of $related.NAME.
func scheduleType() schema.Type {
	return schema.OpenAPI(&apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{LastScheduleTime},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{LastScheduleTime: {Type: "string", Format: "date-time"}},
	})
}

// schedules compiles the schedules of the definition.
func (c *compiler) schedules() []Schedule {
	var out []Schedule
	scope := c.resourceOnly("schedule")
	for i, r := range c.d.Operator.Spec.Related {
		if r.Schedule == "" {
			continue
		}
		at := []string{"spec", "related", strconv.Itoa(i)}
		text := func(value, key string) *expression.Program {
			program, problems := expression.Template(value, scope, schema.Of(schema.String))
			c.report(problems, append(slices.Clone(at), key)...)
			return program
		}
		out = append(out, Schedule{
			Name: r.Name, At: at, Times: text(r.Schedule, "schedule"), Zone: text(r.TimeZone, "timeZone"), Constant: isConstantSchedule(r),
			Rule: c.forPod(map[string]any{"schedule": r.Schedule, "timeZone": r.TimeZone}, scope, at...),
		})
	}
	return out
}

// alwaysRelated returns the names of $related.NAME that are never null: constant schedules.
func alwaysRelated(d *definition.Definition) []string {
	var names []string
	for _, r := range d.Operator.Spec.Related {
		if isConstantSchedule(r) {
			names = append(names, r.Name)
		}
	}
	return names
}

func isConstantSchedule(r v1alpha1.Related) bool {
	return r.Schedule != "" && !schema.IsComputed(r.Schedule)
}

// hasRelated reports whether custom resources depend on objects of others, or on times.
func (p *declared) hasRelated() bool { return len(p.Related)+len(p.Schedules) > 0 }
