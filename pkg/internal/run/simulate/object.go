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

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// path returns the API path of an object with a suffix.
func (s *Simulation) path(o cluster.Object, suffix string) string {
	return s.kind(o).Path(o.GetNamespace(), o.GetName()) + suffix
}

func (s *Simulation) kind(o cluster.Object) cluster.Kind {
	return s.cluster.Kinds.Of(o.GroupVersionKind(), s.watched)
}

// withNamespace returns a copy of a user's object with the namespace that kubectl
// would use: default if none is set.
func (s *Simulation) withNamespace(fields map[string]any) cluster.Object {
	o := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	if s.kind(o).Namespaced && o.GetNamespace() == "" {
		o.SetNamespace("default")
	}
	return o
}

// notInYAML matches characters that are not allowed in YAML; the API server decodes
// applied objects as YAML.
var notInYAML = regexp.MustCompile("[\x7f-\u009f\u2028\u2029\ufeff\ufffe\uffff]")

// EscapeForYAML makes JSON valid YAML too.
func EscapeForYAML(json []byte) []byte {
	return notInYAML.ReplaceAllFunc(json, func(letter []byte) []byte {
		r, _ := utf8.DecodeRune(letter)
		return fmt.Appendf(nil, `\u%04x`, r)
	})
}

// kubectl is the field manager of users.
const kubectl = "kubectl"

// Apply writes an object like kubectl apply and keeps the fields of other managers.
// An object read from a cluster keeps its uid and generation; other server-side
// metadata is dropped.
func (s *Simulation) Apply(fields map[string]any) error {
	o := s.withNamespace(fields)
	s.cluster.Identities[s.key(o)] = cluster.Identity{UID: o.GetUID(), Generation: o.GetGeneration()}
	for _, name := range []string{"uid", "generation", "resourceVersion", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", name)
	}
	if _, err := s.send(http.MethodPatch, s.path(o, "?fieldManager="+kubectl+"&force=true"), o); err != nil {
		return fmt.Errorf("writing %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// Delete deletes an object like kubectl delete.
func (s *Simulation) Delete(fields map[string]any) error {
	o := s.withNamespace(fields)
	if _, err := s.send(http.MethodDelete, s.path(o, ""), nil); err != nil {
		return fmt.Errorf("deleting %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// Get returns the current state of an object, or nil if it does not exist.
func (s *Simulation) Get(fields map[string]any) (map[string]any, error) {
	answer, err := s.send(http.MethodGet, s.path(s.withNamespace(fields), ""), nil)
	if cluster.IsNotFound(err) {
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
		body = EscapeForYAML(body)
	}
	req, err := http.NewRequest(method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	return s.Do(req)
}

// controller is the field manager of the controllers of other kinds.
const controller = "kube-controller-manager"

// WriteStatus writes a status as the object's controller does.
func (s *Simulation) WriteStatus(o map[string]any, status any) error {
	if fields, ok := status.(map[string]any); ok {
		status = s.CompleteConditions(o, fields)
	}
	change := map[string]any{"status": status}
	err := s.Patch(o, "status", controller, change)
	if cluster.IsNotFound(err) { // the kind has no status subresource
		return s.Patch(o, "", controller, change)
	}
	return err
}

// Put writes an object that does not belong to the operator, with its status as its
// controller writes it.
func (s *Simulation) Put(o map[string]any) error {
	if err := s.Apply(o); err != nil || o["status"] == nil {
		return err
	}
	return s.WriteStatus(o, o["status"])
}

// CompleteConditions adds the reason, the message and the last transition time to
// the conditions of a status if the kind's schema requires them, as a controller
// would.
func (s *Simulation) CompleteConditions(fields, status map[string]any) map[string]any {
	given, _ := status["conditions"].([]any)
	required := shapes.RequiredOfConditions(s.kind(s.withNamespace(fields)).Fields)
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

// StatusFields names the status fields that the kind's controller sets, as far as
// its schema shows.
func (s *Simulation) StatusFields(fields map[string]any) []string {
	return shapes.Reports(s.kind(s.withNamespace(fields)).Fields)
}
