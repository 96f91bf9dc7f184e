package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// keepShown is how long, in seconds, a Workflow that shows a reconcile is kept after a success.
// An annotation that is older asks for none any more: templates/runtime/show.py.
const keepShown int32 = 60 * 60

// shownSpec is the spec of the Workflow in which a worker runs one reconcile, to show it. Its
// pods stay until it is deleted, because their logs are what it is for. The worker has shown
// the failure on the status and tries again itself, so there is neither an exit handler nor a
// retry.
func shownSpec(p *plan.Plan) wfv1.WorkflowSpec {
	templates := reconcileTemplates(p)
	spec := workflowSpecOf(p, plan.WorkerAccount)
	kept := keepShown
	spec.PodGC, spec.TTLStrategy.SecondsAfterSuccess = nil, &kept
	spec.Entrypoint = templates[0].Name
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	spec.Templates = templates
	for i := range templates {
		templates[i].RetryStrategy = nil
		templates[i].Volumes = append(templates[i].Volumes, configMapVolume("operators", operatorsConfigMap(p, p.Names.Worker), nil))
		if c := templates[i].Container; c != nil {
			inShown(p, c)
		}
		if set := templates[i].ContainerSet; set != nil {
			for k := range set.Containers {
				if c := &set.Containers[k]; c.Name != logicName {
					inShown(p, &c.Container)
				}
			}
		}
	}
	return spec
}

// inShown changes a container of argoperator's own steps for such a Workflow.
func inShown(p *plan.Plan, c *corev1.Container) {
	for i := range c.Env {
		if c.Env[i].Name == "ARGOPERATOR_CONFIG" {
			c.Env[i].Value = operatorsDir + "/" + configFile(p)
		}
	}
	c.Env = append(c.Env, until)
	c.VolumeMounts = append(c.VolumeMounts, readOnly("operators", operatorsDir))
}

// until tells a pod that may have waited for long whether the worker still leaves the custom
// resource to it.
var until = corev1.EnvVar{Name: "ARGOPERATOR_UNTIL", Value: "{{workflow.parameters.until}}"}

// ShownVariable is the variable of a worker that has the spec, by the operator's name. It is not
// in the ConfigMap, which is large.
const ShownVariable = "ARGOPERATOR_SHOWS"

// shownEnv passes the spec to the worker. Kubernetes would expand a dollar sign.
func shownEnv(p *plan.Plan) []corev1.EnvVar {
	if !p.Reconcile.Shows {
		return nil
	}
	value := fmt.Sprintf(`{%q:%s}`, p.Operator.Name, compact(shownSpec(p)))
	return []corev1.EnvVar{{Name: ShownVariable, Value: strings.ReplaceAll(value, "$", `\u0024`)}}
}

// compact returns a spec as JSON without empty values.
func compact(spec wfv1.WorkflowSpec) json.RawMessage {
	data, err := json.Marshal(spec)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err == nil {
		data, err = json.Marshal(withoutEmpty(fields))
	}
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	return data
}

// withoutEmpty removes the empty values that the types of Argo and Kubernetes encode although
// they are optional. Others mean something, such as emptyDir.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(key string, item any) bool {
			optional := slices.Contains([]string{"arguments", "inputs", "outputs", "metadata", "resources"}, key)
			return item == nil || key == "name" && item == "" || optional && reflect.DeepEqual(item, map[string]any{})
		})
		for key, item := range v {
			v[key] = withoutEmpty(item)
		}
	case []any:
		for i, item := range v {
			v[i] = withoutEmpty(item)
		}
	}
	return value
}

// onlyShown returns CEL that allows a Workflow of this spec, with arguments, and no other one.
// The maps and lists of CEL have values of one type, so each value is converted to the dynamic
// one.
func onlyShown(p *plan.Plan) string {
	var fields map[string]any
	if err := json.Unmarshal(compact(shownSpec(p)), &fields); err != nil {
		panic(fmt.Sprintf("manifest: plain data does not decode: %v", err)) // unreachable
	}
	return "dyn(object.spec) == " + celOf(fields, `, "arguments": dyn(object.spec.arguments)`)
}

// celOf returns plain data as a literal of CEL. The text more is added to the fields of a map.
func celOf(value any, more string) string {
	var out []string
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, celOf(key, "")+": dyn("+celOf(v[key], "")+")")
		}
		return "{" + strings.Join(out, ", ") + more + "}"
	case []any:
		for _, item := range v {
			out = append(out, "dyn("+celOf(item, "")+")")
		}
		return "[" + strings.Join(out, ", ") + "]"
	case float64:
		return fmt.Sprintf("%d", int64(v))
	default:
		data, _ := json.Marshal(v) // a string, a boolean: their JSON is CEL
		return string(data)
	}
}
