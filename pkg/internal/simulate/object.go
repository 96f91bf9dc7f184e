package simulate

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
	shapes "github.com/argoperator/argoperator/pkg/internal/schema"
)

// path is where the API serves an object; suffix is appended.
func (s *Simulation) path(o cluster.Object, suffix string) string {
	k := s.kind(o)
	out := "/api/" + k.Version
	if k.Group != "" {
		out = "/apis/" + k.Group + "/" + k.Version
	}
	if k.Namespaced {
		out += "/namespaces/" + o.GetNamespace()
	}
	return out + "/" + k.Plural + "/" + o.GetName() + suffix
}

func (s *Simulation) kind(o cluster.Object) cluster.Kind {
	return s.cluster.Kinds.Of(o.GroupVersionKind(), s.watched)
}

// placed is a user's object where it would go: without a namespace, kubectl
// takes default.
func (s *Simulation) placed(fields map[string]any) cluster.Object {
	o := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	if s.kind(o).Namespaced && o.GetNamespace() == "" {
		o.SetNamespace("default")
	}
	return o
}

// notInYAML is what YAML does not take as it is; the API server reads what is
// applied as YAML.
var notInYAML = regexp.MustCompile("[\x7f-\u009f\u2028\u2029\ufeff\ufffe\uffff]")

// kubectl is the field manager of what users write.
const kubectl = "kubectl"

// Apply writes an object as a user does with kubectl apply: what others have
// written into it stays. One that was read from a cluster keeps its uid and its
// generation; what else the API server puts into an object does not count.
func (s *Simulation) Apply(fields map[string]any) error {
	o := s.placed(fields)
	s.cluster.Given[s.key(o)] = cluster.Identity{Uid: o.GetUID(), Generation: o.GetGeneration()}
	for _, name := range []string{"uid", "generation", "resourceVersion", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", name)
	}
	if _, err := s.send(http.MethodPatch, s.path(o, "?fieldManager="+kubectl+"&force=true"), o); err != nil {
		return fmt.Errorf("writing %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// Delete deletes an object as a user does.
func (s *Simulation) Delete(fields map[string]any) error {
	o := s.placed(fields)
	if _, err := s.send(http.MethodDelete, s.path(o, ""), nil); err != nil {
		return fmt.Errorf("deleting %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// Get returns an object as it is now, nil where there is none.
func (s *Simulation) Get(fields map[string]any) (map[string]any, error) {
	answer, err := s.send(http.MethodGet, s.path(s.placed(fields), ""), nil)
	if cluster.NotFound(err) {
		return nil, nil
	}
	return answer, err
}

func (s *Simulation) send(method, path string, o cluster.Object) (map[string]any, error) {
	var body []byte
	if o != nil {
		var err error
		if body, err = o.MarshalJSON(); err != nil {
			return nil, fmt.Errorf("encoding an object: %w", err)
		}
		body = notInYAML.ReplaceAllFunc(body, func(letter []byte) []byte {
			r, _ := utf8.DecodeRune(letter)
			return fmt.Appendf(nil, `\u%04x`, r)
		})
	}
	req, err := http.NewRequest(method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	return s.Do(req)
}

// Conditions completes the conditions of a status as the schema of the object's
// kind requires them, because a controller would: their reason, their message and
// the time of their last change.
func (s *Simulation) Conditions(fields, status map[string]any) map[string]any {
	given, _ := status["conditions"].([]any)
	required := shapes.RequiredOfConditions(s.kind(s.placed(fields)).Fields)
	if len(given) == 0 || len(required) == 0 {
		return status
	}
	list := make([]any, len(given))
	for i, one := range given {
		list[i] = one
		if one, ok := one.(map[string]any); ok {
			complete := map[string]any{"reason": one["type"], "message": "", "lastTransitionTime": "2000-01-01T00:00:00Z"}
			maps.DeleteFunc(complete, func(key string, _ any) bool { return !slices.Contains(required, key) })
			maps.Copy(complete, one)
			list[i] = complete
		}
	}
	status = maps.Clone(status)
	status["conditions"] = list
	return status
}

// Reports names the fields of an object's status by which the controller of its
// kind reports, as far as a schema says so.
func (s *Simulation) Reports(fields map[string]any) []string {
	return shapes.Reports(s.kind(s.placed(fields)).Fields)
}
