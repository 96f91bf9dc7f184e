package lint

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// binding is a RoleBinding or a ClusterRoleBinding.
type binding struct {
	role     rbacv1.RoleRef
	subjects []rbacv1.Subject
}

func bindingIn(o manifest.Object) (binding, bool) {
	switch o := o.(type) {
	case *rbacv1.RoleBinding:
		return binding{o.RoleRef, o.Subjects}, true
	case *rbacv1.ClusterRoleBinding:
		return binding{o.RoleRef, o.Subjects}, true
	}
	return binding{}, false
}

// eachBinding calls check for every binding.
func eachBinding(check func(*inspection, binding)) func(*inspection) {
	return func(i *inspection) {
		if b, ok := bindingIn(i.Object); ok {
			check(i, b)
		}
	}
}

func bindsNobody(i *inspection, b binding) {
	if len(b.subjects) == 0 {
		i.report(field.NewPath("subjects"), "the binding grants %s %s to nobody", b.role.Kind, b.role.Name)
	}
}

func bindsNothing(i *inspection, b binding) {
	for _, o := range i.set.all.List {
		if i.set.isRole(o, b.role, i.Object.GetNamespace()) {
			return
		}
	}
	system := slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, b.role.Name) || strings.HasPrefix(b.role.Name, "system:")
	unbound := slices.IndexFunc(i.set.all.List, func(o manifest.Object) bool {
		return i.set.unbound(o, b.role.Kind, i.Object.GetNamespace())
	})
	if unbound >= 0 && !system {
		i.reportHint(field.NewPath("roleRef", "name"), "did you mean "+i.set.all.List[unbound].GetName()+"?",
			"there is no %s %s in the files, and nothing binds %[1]s %[3]s", b.role.Kind, b.role.Name, i.set.all.List[unbound].GetName())
	}
}

// isRole reports whether an object is the role of a binding in a namespace.
func (s *objectSet) isRole(o manifest.Object, ref rbacv1.RoleRef, namespace string) bool {
	return o.GetObjectKind().GroupVersionKind().Kind == ref.Kind && o.GetName() == ref.Name &&
		(ref.Kind == "ClusterRole" || sameNamespace(o.GetNamespace(), namespace))
}

// unbound reports whether an object is a role that no binding refers to.
func (s *objectSet) unbound(o manifest.Object, kind, namespace string) bool {
	switch o := o.(type) {
	case *rbacv1.ClusterRole:
		if kind != "ClusterRole" || aggregates(o) {
			return false
		}
	case *rbacv1.Role:
		if kind != "Role" || !sameNamespace(o.Namespace, namespace) {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(s.all.List, func(other manifest.Object) bool {
		b, ok := bindingIn(other)
		return ok && s.isRole(o, b.role, other.GetNamespace())
	})
}

// aggregates reports whether a ClusterRole takes part in aggregation, so that it needs no
// binding.
func aggregates(role *rbacv1.ClusterRole) bool {
	for key := range role.Labels {
		if strings.Contains(key, "/aggregate-to-") {
			return true
		}
	}
	return role.AggregationRule != nil
}

func sameNamespace(a, b string) bool { return a == b || a == "" || b == "" }

func missingAccount(i *inspection) {
	if b, ok := bindingIn(i.Object); ok {
		bindsUnknown(i, b)
	}
	account := func(at *field.Path, namespace, name string) {
		if name == "" || name == "default" || strings.Contains(name, "{{") || i.set.creates(namespace, name) {
			return
		}
		if spare := i.set.spareAccount(namespace, name); spare != "" {
			i.reportHint(at, "did you mean "+spare+"?", "there is no ServiceAccount %s in the files, and nothing uses %s", name, spare)
		}
	}
	at := field.NewPath("spec", "template", "serviceAccountName")
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		account(at, o.Namespace, argo.EventsAccount(o.Spec.Template))
	case *eventsv1.Sensor:
		account(at, o.Namespace, argo.EventsAccount(o.Spec.Template))
	}
	for _, f := range i.set.flows[i.Object] {
		account(f.path.Child("serviceAccountName"), f.namespace, f.spec.ServiceAccountName)
	}
}

// creates reports whether a ServiceAccount is among the objects.
func (s *objectSet) creates(namespace, name string) bool {
	_, ok := find[*corev1.ServiceAccount](s.all, namespace, name)
	return ok
}

// runs reports whether an object uses a ServiceAccount, or argo-server for its users.
func (s *objectSet) runs(sa *corev1.ServiceAccount) bool {
	_, forUsers := sa.Annotations[common.AnnotationKeyRBACRule]
	deployed := slices.ContainsFunc(argo.All[*appsv1.Deployment](s.all), func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.ServiceAccountName == sa.Name && sameNamespace(d.Namespace, sa.Namespace)
	})
	return deployed || forUsers || len(s.accounts[sa.Name]) > 0
}

// spareAccount returns a ServiceAccount among the objects that no object uses: one whose name contains another or is almost
// that, or one that has permissions on Argo's kinds, of these the one with the nearest name.
func (s *objectSet) spareAccount(namespace, name string) string {
	var spare []string
	for _, sa := range argo.All[*corev1.ServiceAccount](s.all) {
		if sa.Name == name || s.runs(sa) || !sameNamespace(sa.Namespace, namespace) {
			continue
		}
		near := diag.Nearest(name, []string{sa.Name}, strings.ToLower) != "" && letters(name) != letters(sa.Name)
		if near || strings.Contains(sa.Name, name) {
			return sa.Name
		}
		of := argo.Account{Namespace: sa.Namespace, Name: sa.Name}
		if slices.ContainsFunc(s.grants, func(g argo.Grant) bool {
			return sameAccount(g.Account, of) && slices.Contains(g.Rule.APIGroups, argo.Group)
		}) {
			spare = append(spare, sa.Name)
		}
	}
	if near := diag.Nearest(name, spare, strings.ToLower); near != "" || len(spare) == 0 {
		return near
	}
	return spare[0]
}

func bindsEveryone(i *inspection, b binding) {
	for n, subject := range b.subjects {
		everyone := slices.Contains([]string{"system:authenticated", "system:unauthenticated", "system:serviceaccounts"}, subject.Name)
		if subject.Kind == rbacv1.GroupKind && everyone {
			i.report(field.NewPath("subjects").Index(n), "the binding grants %s %s to %s", b.role.Kind, b.role.Name, subject.Name)
		}
	}
}

func bindsUnknown(i *inspection, b binding) {
	for n, subject := range b.subjects {
		if subject.Kind != rbacv1.ServiceAccountKind || subject.Name == "default" {
			continue
		}
		siblings := slices.ContainsFunc(argo.All[*corev1.ServiceAccount](i.set.all), func(sa *corev1.ServiceAccount) bool {
			return sameNamespace(sa.Namespace, subject.Namespace)
		})
		if siblings && !i.set.creates(subject.Namespace, subject.Name) {
			i.report(field.NewPath("subjects").Index(n), "there is no ServiceAccount %s in the files", subject.Name)
		}
	}
}
