package definition

import "github.com/argoperator/argoperator/pkg/apis/v1alpha1"

// derivedName is the name of an emitted object, which the definition may override.
type derivedName struct {
	key    string // in install.names
	value  *string
	kind   string
	suffix string
	limit  int // in characters
}

// of returns the default for an operator's name.
func (d derivedName) of(operator string) string { return operator + d.suffix }

// maxOperatorName returns the maximum length of the operator's name.
func (d derivedName) maxOperatorName() int { return d.limit - len(d.suffix) }

// Length limits of names. Argo Events derives names of Deployments and Pods, and label
// values, from those of EventSources and Sensors, with about 20 more characters. A
// CronWorkflow appends a time to the names of its Workflows.
const (
	maxLabel        = 63
	maxEventName    = 40
	maxCronWorkflow = 52
)

// derivedNames returns the names of all emitted objects.
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
		{"worker", &n.Worker, "Deployment", workerSuffix, maxLabel},
		{"resyncServiceAccount", &n.ResyncServiceAccount, "ServiceAccount", "-resync", maxLabel},
		{"tokenSecret", &n.TokenSecret, "Secret", token, maxLabel},
	}
}

// workerSuffix is that of a worker.
const workerSuffix = "-worker"

// WorkerName returns the name of the worker of an operator or of a group, if a definition
// names no other.
func WorkerName(of string) string { return of + workerSuffix }

// usedNames returns the names that this definition may need. The Secret of the direct
// engine is included only if the definition may run on it.
func (c *checker) usedNames() []derivedName {
	var out []derivedName
	direct := c.mayBeDirect()
	for _, d := range derivedNames(&c.op.Spec.Install) {
		if direct || d.key != "tokenSecret" {
			out = append(out, d)
		}
	}
	return out
}

// mayBeDirect reports whether the definition selects the direct engine, or lets
// argoperator select it.
func (c *checker) mayBeDirect() bool {
	engine := c.op.Spec.Reconcile.Engine
	return engine == "direct" || engine == "auto" && c.op.Spec.Logic == nil
}

// group returns the API group of the operator's kind; "" is the core group.
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

// kind returns the operator's kind, or "" if it is unknown.
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
