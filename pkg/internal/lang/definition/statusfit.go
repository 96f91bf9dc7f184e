package definition

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// StatusProblem returns why the API server would reject the status that an operator
// writes, or "": the schema requires fields that are not computed, or its conditions
// differ from Kubernetes conditions. The operator then writes no status. If the schema
// is unknown, it returns "".
func (d *Definition) StatusProblem() string {
	problem, _ := d.statusProblem()
	return problem
}

// statusProblem also returns a hint for the owner of the kind.
func (d *Definition) statusProblem() (problem, hint string) {
	root := d.Schema(d.WorkingVersion())
	if e := d.Operator.Spec.API.Existing; root == nil || e != nil && !e.Status {
		return "", ""
	}
	status, ok := root.Properties["status"]
	if !ok {
		return "", ""
	}
	const foreign = "the kind's own controller writes the conditions"
	if problem := shortschema.Conform(open(status.Properties["conditions"]), []any{exampleCondition()}); problem != "" {
		return "status.conditions: " + problem, foreign
	}
	if problem := shortschema.Conform(open(status.Properties["observedGeneration"]), 1.0); problem != "" {
		return "status.observedGeneration: " + problem, foreign
	}
	missing := slices.DeleteFunc(slices.Sorted(slices.Values(status.Required)), d.computes)
	if len(missing) > 0 {
		return "status requires " + strings.Join(missing, ", "), "compute these fields under spec.status"
	}
	return "", ""
}

// computes reports whether every status write of the operator includes a field.
func (d *Definition) computes(field string) bool {
	if d.GivenCRD() == nil {
		return false // the observed state is written before it
	}
	_, computed := d.Operator.Spec.Status[field]
	return computed || field == "conditions" || field == "observedGeneration" || d.Operator.Spec.Logic != nil
}

func exampleCondition() map[string]any {
	return map[string]any{
		"type": "Ready", "status": "True", "reason": "Reconciled", "message": "all children are ready (1)",
		"lastTransitionTime": "2000-01-01T00:00:00Z", "observedGeneration": 1.0,
	}
}

// open returns a schema that drops unknown fields, as the API server does, instead of
// rejecting them.
func open(s props) *props {
	yes := true
	out := s.DeepCopy()
	if out.Type == "" && !out.XIntOrString {
		out.XPreserveUnknownFields = &yes
	}
	if out.Type == "array" && (out.Items == nil || out.Items.Schema == nil) {
		return &props{XPreserveUnknownFields: &yes}
	}
	if out.Type == "array" && out.Items.Schema.Type == "object" {
		out.Items.Schema.XPreserveUnknownFields = &yes
	}
	return out
}

// statusFits reports a status that the API server would reject. For an existing kind
// this is a warning, because another controller may own the status.
func (c *checker) statusFits() {
	problem, hint := c.def.statusProblem()
	if problem == "" {
		return
	}
	message := "the API server would reject the operator's status: " + problem
	at := source.PathOf("spec", "status")
	switch {
	case c.def.GivenCRD() == nil:
		c.addKey(
			source.PathOf("spec", "api"),
			diag.BadSchema,
			message,
			"remove conditions and required from schema.status: argoperator adds the conditions of Kubernetes",
		)
	case len(c.op.Spec.Status) > 0:
		c.addKey(at, diag.BadSchema, message, "compute every required field, or remove the key: the operator then writes no status")
	default:
		form := "crd"
		if c.def.ExistingCRD != nil {
			form = "existing"
		}
		c.warn(source.PathOf("spec", "api", form), diag.StatusNotWritten, message+"; the operator writes no status", hint)
	}
}
