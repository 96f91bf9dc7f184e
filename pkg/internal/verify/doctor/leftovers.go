package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Identity identifies an object.
type Identity struct {
	schema.GroupVersionKind
	Namespace, Name string
}

// Object returns an object with this identity, for kubectl delete.
func (i Identity) Object() *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: i.Namespace, Name: i.Name}}
	o.SetGroupVersionKind(i.GroupVersionKind)
	return o
}

// unversioned is the identity without the version: kubectl may read another one than
// was applied.
func (i Identity) unversioned() Identity {
	i.Version = ""
	return i
}

// operatorKinds are the resources that may belong to an operator. A
// CustomResourceDefinition is not among them: with it all custom resources go.
var operatorKinds = []string{
	"configmaps", "secrets", "serviceaccounts",
	"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
	"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
	"networkpolicies.networking.k8s.io",
	"validatingadmissionpolicies.admissionregistration.k8s.io", "validatingadmissionpolicybindings.admissionregistration.k8s.io",
	"eventsources.argoproj.io", "sensors.argoproj.io", "workflowtemplates.argoproj.io", "cronworkflows.argoproj.io",
	"podmonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com",
}

// Leftovers returns the objects in the cluster that an earlier version of an operator
// made and this one does not: its own, and the objects of children that its definition
// no longer has.
func Leftovers(ctx context.Context, ask Ask, needs Requirements) ([]Identity, error) {
	out, said, err := ask(ctx, nil, "api-resources", "--verbs=list,delete", "--output=name")
	if err != nil {
		return nil, errors.New(firstLine(said, err))
	}
	served := strings.Fields(string(out))
	own := slices.DeleteFunc(slices.Clone(operatorKinds), func(kind string) bool { return !slices.Contains(served, kind) })
	left, err := labelled(ctx, ask, own, "app.kubernetes.io/managed-by=argoperator,app.kubernetes.io/name="+needs.Operator)
	if err != nil {
		return nil, err
	}
	left = slices.DeleteFunc(left, func(o ownedObject) bool {
		made := slices.ContainsFunc(needs.Objects, func(i Identity) bool { return i.unversioned() == o.unversioned() })
		return made || !needs.own(o.Identity)
	})
	selector := "app.kubernetes.io/managed-by=" + needs.ManagedBy + ",argoperator.dev/child"
	if len(needs.Children) > 0 {
		selector += ",argoperator.dev/child notin (" + strings.Join(needs.Children, ",") + ")"
	}
	children, err := labelled(ctx, ask, served, selector)
	if err != nil {
		return nil, err
	}
	children = slices.DeleteFunc(children, func(o ownedObject) bool { return !o.isChildOf(needs) })
	var all []Identity
	for _, o := range append(left, children...) {
		all = append(all, o.Identity)
	}
	slices.SortFunc(all, func(a, b Identity) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all), nil
}

// ownedObject is an object with what tells whose it is.
type ownedObject struct {
	Identity
	annotations map[string]string
	owners      []schema.GroupVersionKind
}

// own reports whether an object with the operator's labels is of this installation:
// operators in other namespaces may have the same name.
func (r Requirements) own(o Identity) bool {
	return o.Namespace == r.Namespace ||
		strings.HasPrefix(o.Name, r.Namespace+":"+r.Operator) || strings.HasPrefix(o.Name, r.Namespace+"."+r.Operator+".")
}

// isChildOf reports whether an object with the labels of a child is one. Controllers
// copy labels to objects of their own, but not annotations.
func (o ownedObject) isChildOf(r Requirements) bool {
	if o.annotations["argoperator.dev/owner"] == "" {
		return false
	}
	for _, owner := range o.owners {
		if owner.Group == r.Group && owner.Kind == r.Kind {
			return true
		}
	}
	return len(o.owners) == 0
}

// labelled lists the objects of some kinds that match a selector.
func labelled(ctx context.Context, ask Ask, kinds []string, selector string) ([]ownedObject, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	out, said, err := ask(ctx, nil, "get", strings.Join(kinds, ","), "--all-namespaces", "--selector", selector, "--output=json")
	var list struct {
		Items []struct {
			APIVersion, Kind string
			Metadata         struct {
				Name, Namespace string
				Annotations     map[string]string
				OwnerReferences []struct{ APIVersion, Kind string }
			}
		}
	}
	if err != nil {
		return nil, errors.New(firstLine(said, err))
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("kubectl did not print JSON: %w", err)
	}
	var all []ownedObject
	for _, item := range list.Items {
		m := item.Metadata
		one := ownedObject{
			Identity:    Identity{schema.FromAPIVersionAndKind(item.APIVersion, item.Kind), m.Namespace, m.Name},
			annotations: m.Annotations,
		}
		for _, owner := range m.OwnerReferences {
			one.owners = append(one.owners, schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
		}
		all = append(all, one)
	}
	return all, nil
}

// leftovers reports the objects of an earlier version.
func leftovers(v *visit) Check {
	const name = "Leftovers"
	all, err := Leftovers(v.ctx, v.ask, v.needs)
	switch {
	case err != nil:
		return Check{name, Warning, "cannot be listed: " + err.Error(), "run doctor with permission to list them"}
	case len(all) == 0:
		return Check{name, OK, "no objects of an earlier version of the operator", ""}
	}
	var names, commands []string
	for i, o := range all {
		names = append(names, strings.TrimPrefix(o.Namespace+"/", "/")+o.Kind+"/"+o.Name)
		resource := strings.ToLower(o.GroupKind().String())
		if i == 0 || o.Namespace != all[i-1].Namespace {
			commands = append(commands, strings.TrimSuffix("kubectl delete -n "+o.Namespace, " -n "))
		}
		commands[len(commands)-1] += " " + resource + "/" + o.Name
	}
	const most = 10
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return Check{
		name,
		Warning,
		"objects that an earlier version of the operator created and this one does not contain: " + strings.Join(names, ", "),
		strings.Join(commands, "; "),
	}
}
