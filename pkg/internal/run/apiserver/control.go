package apiserver

import (
	"net/http"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// controllerManager is the field manager of what the controllers write.
const controllerManager = "kube-controller-manager"

// settle lets the controllers work until nothing changes any more.
func (s *Server) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		changes := s.cluster.TakeChanges()
		if len(changes) == 0 {
			if s.cluster.CollectGarbage() == 0 {
				return
			}
			continue
		}
		s.log.add(changes)
		s.configure(changes)
		for _, c := range changes {
			s.react(c)
		}
	}
}

// configure takes over what changes mean for the API server itself.
func (s *Server) configure(changes []cluster.Change) {
	groups := map[string]bool{}
	for _, c := range changes {
		groups[c.Resource.Group] = true
	}
	if groups[rbacv1.GroupName] {
		s.grants = argo.GrantsOf(argo.NewObjects(slices.Concat(
			objects(typed[rbacv1.ClusterRole](s, rbacv1.GroupName, "clusterroles")),
			objects(typed[rbacv1.ClusterRoleBinding](s, rbacv1.GroupName, "clusterrolebindings")),
			objects(typed[rbacv1.Role](s, rbacv1.GroupName, "roles")),
			objects(typed[rbacv1.RoleBinding](s, rbacv1.GroupName, "rolebindings")),
		)))
	}
	if groups[admissionregistrationv1.GroupName] {
		s.admit()
	}
	if groups[apiextensionsv1.GroupName] {
		s.serveKinds()
	}
}

// serveKinds serves the kinds of the CustomResourceDefinitions.
func (s *Server) serveKinds() {
	s.defined = typed[apiextensionsv1.CustomResourceDefinition](s, cluster.Definitions.Group, cluster.Definitions.Resource)
	for _, crd := range s.defined {
		hidden := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return !v.Served }
		crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, hidden)
	}
	// It fails for a schema that the API server would not have accepted, whose kind has no fields then.
	_ = s.cluster.Serve(cluster.CustomKinds(objects(s.defined), nil), cluster.NewCache())
}

// admit checks writes by the admission policies.
func (s *Server) admit() {
	var out []cluster.Policy
	group := admissionregistrationv1.GroupName
	policies := typed[admissionregistrationv1.ValidatingAdmissionPolicy](s, group, "validatingadmissionpolicies")
	for _, binding := range typed[admissionregistrationv1.ValidatingAdmissionPolicyBinding](s, group, "validatingadmissionpolicybindings") {
		for _, policy := range policies {
			if policy.Name != binding.Spec.PolicyName {
				continue
			}
			if bound, err := cluster.NewPolicy(policy, binding); err == nil { // else its selector is not valid
				out = append(out, bound)
			}
		}
	}
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	s.cluster.Policies = out
}

// react does what the controllers of an object do when it changes.
func (s *Server) react(c cluster.Change) {
	s.finishDefinition(c)
	o := s.current(c)
	if o == nil || o.GetDeletionTimestamp() != nil {
		return
	}
	switch {
	case c.Resource == cluster.Definitions:
		s.establish(o)
	case s.options.Ready != nil:
		s.ready(o)
	}
}

// current returns the changed object as it is now; nil: it is gone.
func (s *Server) current(c cluster.Change) cluster.Object {
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	return s.cluster.Objects[cluster.Key{GroupResource: c.Resource, Namespace: c.Object().GetNamespace(), Name: c.Object().GetName()}]
}

// ready gives an object the status that its controllers give it.
func (s *Server) ready(o cluster.Object) {
	want := s.options.Ready(o.DeepCopy().Object)
	if want == nil || holds(o.Object["status"], want) {
		return
	}
	now := time.Now().UTC().Format(time.RFC3339)
	list, _ := want["conditions"].([]any)
	for _, c := range list {
		if c, ok := c.(map[string]any); ok {
			c["lastTransitionTime"] = now
		}
	}
	s.write(http.MethodPatch, s.path(o, "status"), map[string]any{"status": want})
}

// holds reports whether a value has all that is wanted, at any time.
func holds(value, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := value.(map[string]any)
		for name, w := range want {
			if name != "lastTransitionTime" && !holds(fields[name], w) {
				return false
			}
		}
		return true
	case []any:
		items, _ := value.([]any)
		return slices.EqualFunc(items, want, holds)
	}
	return value == want
}

// definitions returns the CustomResourceDefinitions with the versions that are served.
func (s *Server) definitions() []*apiextensionsv1.CustomResourceDefinition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.defined
}

// cleanup is the finalizer with which a CustomResourceDefinition waits for its objects.
const cleanup = "customresourcecleanup.apiextensions.k8s.io"

// establish tells that the kind of a CustomResourceDefinition is served.
func (s *Server) establish(o cluster.Object) {
	if !slices.Contains(o.GetFinalizers(), cleanup) {
		s.write(http.MethodPatch, s.path(o, ""), map[string]any{
			"metadata": map[string]any{"finalizers": append(o.GetFinalizers(), cleanup)},
		})
	}
	spec, _ := o.Object["spec"].(map[string]any)
	stored, _, _ := unstructured.NestedSlice(o.Object, "status", "storedVersions")
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["storage"] == true && !slices.Contains(stored, v["name"]) {
			stored = append(stored, v["name"])
		}
	}
	condition := func(kind, reason, message string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "message": message}
	}
	want := map[string]any{
		"acceptedNames": spec["names"], "storedVersions": stored,
		"conditions": []any{
			condition("NamesAccepted", "NoConflicts", "no conflicts found"),
			condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
		},
	}
	if holds(o.Object["status"], want) {
		return
	}
	s.write(http.MethodPatch, s.path(o, "status"), map[string]any{"status": want})
}

// finishDefinition ends a CustomResourceDefinition that is being deleted when its last object
// has gone. The change is one of it, or of one of its objects.
func (s *Server) finishDefinition(c cluster.Change) {
	for _, crd := range s.defined {
		objects := schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
		isIt := c.Resource == cluster.Definitions && c.Object().GetName() == crd.Name
		if crd.DeletionTimestamp == nil || c.Resource != objects && !isIt {
			continue
		}
		left := s.list(objects)
		for _, one := range left {
			if one.GetDeletionTimestamp() == nil {
				s.write(http.MethodDelete, s.path(one, ""), map[string]any{"propagationPolicy": metav1.DeletePropagationBackground})
			}
		}
		if len(left) == 0 {
			rest := slices.DeleteFunc(slices.Clone(crd.Finalizers), func(f string) bool { return f == cleanup })
			path := cluster.Path(cluster.Definitions.WithVersion("v1"), "", crd.Name)
			s.write(http.MethodPatch, path, map[string]any{"metadata": map[string]any{"finalizers": rest}})
		}
	}
}

// list returns the objects of a resource.
func (s *Server) list(r schema.GroupResource) []cluster.Object {
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	return s.cluster.List(r, "")
}

// typed returns the objects of a resource as their Go type, without those that do not fit.
func typed[T any, P interface {
	*T
	manifest.Object
}](s *Server, group, resource string) []P {
	var out []P
	for _, o := range s.list(schema.GroupResource{Group: group, Resource: resource}) {
		one := P(new(T))
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, one); err == nil {
			out = append(out, one)
		}
	}
	return out
}

// objects returns objects of one type as a list of any.
func objects[P manifest.Object](list []P) []manifest.Object {
	out := make([]manifest.Object, len(list))
	for i, o := range list {
		out[i] = o
	}
	return out
}
