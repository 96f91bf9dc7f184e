package definition

import "github.com/argoperator/argoperator/pkg/apis/v1alpha1"

// derivedName is the name of an emitted object that may be overridden.
type derivedName struct {
	key    string // in install.names
	value  *string
	kind   string
	suffix string
	limit  int // in characters
}

// of returns the default for an operator's name.
func (d derivedName) of(operator string) string { return operator + d.suffix }

// room is how many characters the operator's name may have.
func (d derivedName) room() int { return d.limit - len(d.suffix) }

// Limits of names. Argo Events makes Deployments, Pods and label values of the
// names of EventSources and Sensors with some 20 characters of its own; a
// CronWorkflow's Workflows get a time behind its name.
const (
	maxLabel        = 63
	maxEventName    = 40
	maxCronWorkflow = 52
)

// derivedNames lists the names of all emitted objects.
func derivedNames(in *v1alpha1.Install) []derivedName {
	n, token := &in.Names, "-sensor-token"
	if in.TokenRotation != "" {
		token = "-rotated-token"
	}
	return []derivedName{
		{"eventSource", &n.EventSource, "EventSource", "", maxEventName},
		{"sensor", &n.Sensor, "Sensor", "", maxEventName},
		{"workflowTemplate", &n.WorkflowTemplate, "WorkflowTemplate", "-reconcile", maxLabel},
		{"cronWorkflow", &n.CronWorkflow, "CronWorkflow", "-resync", maxCronWorkflow},
		{"configMap", &n.ConfigMap, "ConfigMap", "-logic", maxLabel},
		{"runtimeConfigMap", &n.RuntimeConfigMap, "ConfigMap", "-runtime", maxLabel},
		{"sourceServiceAccount", &n.SourceServiceAccount, "ServiceAccount", "-source", maxLabel},
		{"sensorServiceAccount", &n.SensorServiceAccount, "ServiceAccount", "-sensor", maxLabel},
		{"workflowServiceAccount", &n.WorkflowServiceAccount, "ServiceAccount", "-workflow", maxLabel},
		{"resyncServiceAccount", &n.ResyncServiceAccount, "ServiceAccount", "-resync", maxLabel},
		{"tokenSecret", &n.TokenSecret, "Secret", token, maxLabel},
		{"statusSensor", &n.StatusSensor, "Sensor", "-status", maxEventName},
	}
}

// usedNames lists the names that this definition may need: those of the direct
// engine, which are longer than others, only where it may carry the definition.
func (c *checker) usedNames() []derivedName {
	var out []derivedName
	direct := c.mayBeDirect()
	for _, d := range derivedNames(&c.op.Spec.Install) {
		onlyDirect := d.key == "tokenSecret" || d.key == "statusSensor"
		if direct || !onlyDirect {
			out = append(out, d)
		}
	}
	return out
}

// mayBeDirect tells whether the direct engine is asked for, or may be taken.
func (c *checker) mayBeDirect() bool {
	engine := c.op.Spec.Reconcile.Engine
	return engine == "direct" || engine == "auto" && c.op.Spec.Logic == nil
}

// group returns the API group that the operator works on; "" is the core group.
func (c *checker) group() string {
	api := &c.op.Spec.API
	switch {
	case api.Existing != nil:
		return api.Existing.Group
	case c.def.CRD != nil:
		return c.def.CRD.Spec.Group
	}
	return api.Group
}

// kind returns the kind that the operator works on; "" if it is not known.
func (c *checker) kind() string {
	api := &c.op.Spec.API
	switch {
	case api.Existing != nil:
		return api.Existing.Kind
	case c.def.CRD != nil:
		return c.def.CRD.Spec.Names.Kind
	}
	return api.Kind
}
