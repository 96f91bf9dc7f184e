package childcheck

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// podTemplate validates what the pods of the operator have in addition, as in a pod.
func podTemplate(d *definition.Definition) diag.List {
	given := d.Operator.Spec.Install.PodTemplate
	if given == nil {
		return nil
	}
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "docker.io/library/main:1"}}}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(given)
	if err != nil {
		panic(fmt.Sprintf("childcheck: decoded YAML does not encode: %v", err)) // unreachable
	}
	delete(fields, "metadata") // package definition checks it
	maps.Copy(spec, fields)
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "main"}, "spec": spec}
	var out diag.List
	for _, p := range admission.Child(pod, nil) {
		at := append([]string{"spec", "install", "podTemplate"}, p.Segments()[1:]...)
		out.Add(d.PositionOfKey(at...), diag.BadValue, diag.About(p.Path, p.Message), p.Hint)
	}
	return out
}
