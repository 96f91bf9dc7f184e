package lint

import (
	"maps"
	"slices"
	"strings"
	"sync"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// resourceVerbs are the verbs that kubectl needs for the action of a resource template.
var resourceVerbs = map[string][]string{
	"create": {"create"}, "apply": {"get", "create", "patch"}, "patch": {"patch"}, "replace": {"get", "update"},
	"delete": {"delete"}, "get": {"get"},
}

// noResourceRights reports resource templates whose service account may not do what they do.
func noResourceRights(i *inspection, f flow) {
	for _, t := range f.templates() {
		account := argo.Pod{Template: t.Template, Spec: f.spec}.Account()
		if t.Resource == nil || len(t.Resource.Flags) > 0 || f.inherits() && t.ServiceAccountName == "" || fromTemplate(account) {
			continue
		}
		object, ok := objectIn(t.Resource.Manifest)
		plural := i.set.pluralOf(object.GroupVersionKind())
		if !ok || plural == "" {
			continue
		}
		verbs := slices.Clone(resourceVerbs[t.Resource.Action])
		if readsResource(t) && !slices.Contains(verbs, "get") {
			verbs = append(verbs, "get")
		}
		c := argo.Call{
			Account: argo.Account{Namespace: f.namespace, Name: account}, Group: object.GroupVersionKind().Group, Resource: plural,
		}
		if !strings.Contains(object.Name, "tag0") {
			c.Name = object.Name
		}
		if lacks := i.set.missing(c, verbs...); len(lacks) > 0 {
			verbs, resource := strings.Join(lacks, " and "), argo.Qualified(c.Group, c.Resource)
			i.reportHint(t.path.Child("resource", "action"), "grant "+verbs+" on "+resource,
				"service account %s cannot %s %s", account, verbs, resource)
		}
	}
}

// readsResource reports whether Argo reads the object of a template after the action.
func readsResource(t template) bool {
	waits := t.Resource.SuccessCondition != "" || t.Resource.FailureCondition != ""
	return t.Resource.Action != "delete" && (waits || slices.ContainsFunc(t.Outputs.Parameters, func(p wfv1.Parameter) bool {
		return p.ValueFrom != nil && p.ValueFrom.JSONPath+p.ValueFrom.JQFilter != ""
	}))
}

// objectIn returns the metadata of the object in a manifest; false if its kind is not known.
func objectIn(text string) (metav1.PartialObjectMetadata, bool) {
	var object metav1.PartialObjectMetadata
	read := placeholder().ReplaceAllString(text, "tag0")
	known := yaml.Unmarshal([]byte(read), &object) == nil && object.Kind != "" && object.APIVersion != "" &&
		!strings.Contains(object.Kind+object.APIVersion, "tag0")
	return object, known
}

// pluralOf returns the name of a resource in the API; "" if it is not known.
func (s *objectSet) pluralOf(kind kubernetes.GroupVersionKind) string {
	for _, k := range builtinResources()[kind.Group] {
		if k.Kind == kind.Kind {
			return k.Plural
		}
	}
	if crd := s.definitionOf(kind.Group, kind.Kind); crd != nil {
		return crd.Spec.Names.Plural
	}
	if slices.Contains(argoKinds, kind.Kind) && kind.Group == argo.Group {
		return schema.GuessedPlural(kind.Kind)
	}
	return ""
}

// sharedObjects reports objects that each item of a step creates with one name: only one of them can.
func sharedObjects(i *inspection, f flow) {
	several := map[string]bool{}
	for before := -1; before < len(several); {
		before = len(several)
		for _, t := range f.templates() {
			eachCall(t, func(_ *field.Path, c call) {
				repeats := len(c.items) > 1 || numbers(c.sequence) > 1 || several[t.Name] && !c.repeated
				if c.ref == nil && c.inline == nil && c.when == "" && repeats {
					several[c.template] = true
				}
			})
		}
	}
	for _, t := range f.templates() {
		r := t.Resource
		if r != nil && r.Action == "create" && len(r.Flags) == 0 && several[t.Name] && t.Name != "" && !expires().MatchString(r.Manifest) {
			if name := nameForAll(r.Manifest); name != "" {
				i.reportHint(t.path.Child("resource", "manifest"), "write generateName, or make the name from a parameter of the item",
					"the name of %s is the same for every item of the step that calls %s, and only one can create it",
					name, t.Name)
			}
		}
	}
}

// numbers returns how many items a sequence has; 0 if it is not known.
func numbers(s *wfv1.Sequence) int {
	switch {
	case s == nil:
		return 0
	case s.Count != nil:
		return s.Count.IntValue()
	case s.End != nil && s.Start != nil:
		return max(s.End.IntValue()-s.Start.IntValue(), s.Start.IntValue()-s.End.IntValue()) + 1
	case s.End != nil:
		return s.End.IntValue() + 1
	}
	return 0
}

// nameForAll returns the kind and name of an object if both and its namespace are the same for all items; otherwise "".
func nameForAll(text string) string {
	object, ok := objectIn(tag().ReplaceAllStringFunc(text, func(found string) string {
		if perItem(found) {
			return found
		}
		return "same"
	}))
	if !ok || object.Name == "" || strings.Contains(object.Name+object.Namespace, "tag0") {
		return ""
	}
	return object.Kind + " " + object.Name
}

// argoResources are the resources of Argo, also those of Argo CD and Argo Rollouts.
var argoResources = sync.OnceValue(func() []string {
	var out []string
	for _, kind := range slices.Concat(argoKinds, uncheckedKinds) {
		out = append(out, schema.GuessedPlural(kind))
	}
	return out
})

// olderResources are resources of Kubernetes that have no schema here.
var olderResources = []string{"bindings", "componentstatuses", "users", "groups", "uids", "podsecuritypolicies"}

// subresources are those of Kubernetes' own kinds, and of kinds with a CustomResourceDefinition.
var subresources = []string{
	"status", "scale", "log", "exec", "portforward", "attach", "proxy", "eviction", "binding", "finalize", "token", "approval",
	"finalizers", "ephemeralcontainers", "resize",
}

// resourcesIn returns the resources of an API group of Kubernetes or Argo; nil for another group.
func resourcesIn(group string) []string {
	if group == argo.Group {
		return argoResources()
	}
	var out []string
	for _, k := range builtinResources()[group] {
		out = append(out, k.Plural)
	}
	return out
}

// grantedResources reports resources that the API groups of a role's rule do not have: almost one that they have, or one of
// another group.
func grantedResources(i *inspection, path *field.Path, rule rbacv1.PolicyRule) {
	var known []string
	for n, group := range rule.APIGroups {
		of := resourcesIn(group)
		if len(of) == 0 {
			i.grantedGroup(path.Child("apiGroups").Index(n), group, rule)
			return
		}
		known = append(known, of...)
	}
	if len(known) == 0 {
		return
	}
	for n, resource := range rule.Resources {
		at := path.Child("resources").Index(n)
		name, sub, _ := strings.Cut(resource, "/")
		if near := diag.Nearest(sub, subresources, strings.ToLower); near != "" && near != sub {
			i.reportHint(at, "did you mean "+name+"/"+near+"?", "there is no subresource %s", resource)
		}
		if slices.Contains(known, name) || slices.Contains(olderResources, name) {
			continue
		}
		hint := diag.DidYouMean(name, known, strings.ToLower)
		if other := i.groupOf(builtinResources(), name); hint == "" && other != i.rule.Fix {
			hint = other
		}
		if hint != "" {
			i.reportHint(at, hint, "the API groups of the rule have no resource %s", name)
		}
	}
}

// grantedGroup reports an API group that has almost the name of one which has the resources of a rule.
func (i *inspection) grantedGroup(at *field.Path, group string, rule rbacv1.PolicyRule) {
	for _, known := range append(slices.Sorted(maps.Keys(builtinResources())), argo.Group) {
		of := resourcesIn(known)
		has := slices.ContainsFunc(rule.Resources, func(resource string) bool {
			name, _, _ := strings.Cut(resource, "/")
			return slices.Contains(of, name)
		})
		near := diag.Nearest(group, []string{known}, strings.ToLower) != ""
		if longer := len(group) - len(known); has && near && longer > -3 && longer < 3 {
			i.reportHint(at, "did you mean "+known+"?", "there is no API group %s with these resources", group)
		}
	}
}
