package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
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
	"configmaps", "secrets", "serviceaccounts", "services", "deployments.apps",
	"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
	"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
	"networkpolicies.networking.k8s.io", "leases.coordination.k8s.io",
	"validatingadmissionpolicies.admissionregistration.k8s.io", "validatingadmissionpolicybindings.admissionregistration.k8s.io",
	"eventsources.argoproj.io", "sensors.argoproj.io", "workflowtemplates.argoproj.io", "cronworkflows.argoproj.io",
	"podmonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com",
}

// Leftover is an object that an earlier version of an operator seems to have made. Users
// may write labels, so they are no proof.
type Leftover struct {
	Identity
	Why   string // what the object was
	Doubt string // why it is perhaps an object of others, or what would go with it; empty: it may be deleted
}

// String returns the object and what is known of it.
func (l Leftover) String() string {
	text := strings.TrimPrefix(l.Namespace+"/", "/") + l.Kind + "/" + l.Name + ": " + l.Why
	if l.Doubt != "" {
		text += ", but " + l.Doubt
	}
	return text
}

// tooMuch are the kinds of children that are never deleted, with what would go with
// them.
var tooMuch = map[schema.GroupKind]string{
	{Kind: "Namespace"}:        "everything in it would go with it",
	{Kind: "PersistentVolume"}: "its data may go with it",
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: "all of its objects would go with it",
}

// ownSuffixes end the names of an operator's objects of the kinds that others have in its
// namespace, too.
var ownSuffixes = []string{
	"source", "sensor", "resync", "workflow", "token", "sensor-token", "logic", "runtime", "config", "operators", "worker",
}

// Leftovers returns the objects in the cluster that an earlier version of an operator
// made and this one does not: its own, and the objects of children that its definition
// no longer has.
func Leftovers(ctx context.Context, ask Ask, needs Requirements) ([]Leftover, error) {
	own, children, err := needs.labelledObjects(ctx, ask)
	if err != nil {
		return nil, err
	}
	var all []Leftover
	for _, o := range own {
		if !needs.makes(o.Identity) && needs.own(o.Identity) && !o.controlled() {
			all = append(all, Leftover{o.Identity, "a part of the operator " + needs.Operator, needs.doubtName(o.Identity)})
		}
	}
	children = slices.DeleteFunc(children, func(o ownedObject) bool { return !o.isChildOf(needs) })
	var uids map[string]string
	if slices.ContainsFunc(children, func(o ownedObject) bool { return len(o.owners) == 0 }) {
		uids = customResources(ctx, ask, needs)
	}
	for _, o := range children {
		why := fmt.Sprintf("the child %s of %s %s", o.labels[plan.ChildLabel], needs.Kind, o.annotations[plan.OwnerAnnotation])
		all = append(all, Leftover{o.Identity, why, o.doubt(needs, uids)})
	}
	slices.SortFunc(all, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(all, func(a, b Leftover) bool { return a.Identity == b.Identity }), nil
}

// labelledObjects returns the objects that have the labels of the operator, and of children
// that its definition lacks. Kinds may go between the two questions; then it asks again.
func (r Requirements) labelledObjects(ctx context.Context, ask Ask) (own, children []ownedObject, err error) {
	selector := plan.ManagedBy + "=" + r.ManagedBy + "," + plan.ChildLabel
	if len(r.Children) > 0 {
		selector += "," + plan.ChildLabel + " notin (" + strings.Join(r.Children, ",") + ")"
	}
	served, err := servedKinds(ctx, ask)
	for err == nil {
		kinds := slices.DeleteFunc(slices.Clone(operatorKinds), func(kind string) bool { return !slices.Contains(served, kind) })
		if own, err = labelled(ctx, ask, kinds, plan.ManagedBy+"=argoperator,app.kubernetes.io/name="+r.Operator); err == nil {
			children, err = labelled(ctx, ask, served, selector)
		}
		now, failed := served, err
		if failed != nil {
			now, err = servedKinds(ctx, ask)
		}
		if slices.Equal(served, now) {
			return own, children, failed
		}
		served = now
	}
	return nil, nil, err
}

// servedKinds returns the kinds of which objects can be listed and deleted.
func servedKinds(ctx context.Context, ask Ask) ([]string, error) {
	out, said, err := ask(ctx, nil, "api-resources", "--verbs=list,delete", "--output=name")
	if err != nil {
		return nil, errors.New(firstLine(said, err))
	}
	return slices.Sorted(slices.Values(strings.Fields(string(out)))), nil
}

// ownedObject is an object with what tells whose it is.
type ownedObject struct {
	Identity
	labels, annotations map[string]string
	owners              []metav1.OwnerReference
	fields              []metav1.ManagedFieldsEntry
}

// makes reports whether an object is one of the operator, or the Lease that its worker makes.
func (r Requirements) makes(o Identity) bool {
	if o.Kind == "Lease" {
		o.GroupVersionKind = schema.GroupVersionKind{Group: "apps", Kind: "Deployment"}
	}
	return slices.ContainsFunc(r.Objects, func(i Identity) bool { return i.unversioned() == o.unversioned() })
}

// own reports whether an object with the operator's labels is of this installation:
// operators in other namespaces may have the same name.
func (r Requirements) own(o Identity) bool {
	return o.Namespace == r.Namespace ||
		strings.HasPrefix(o.Name, r.Namespace+":"+r.Operator) || strings.HasPrefix(o.Name, r.Namespace+"."+r.Operator+".")
}

// doubtName returns why an object of the operator's namespace is perhaps an object of
// others.
func (r Requirements) doubtName(o Identity) string {
	suffix, named := strings.CutPrefix(o.Name, r.Operator+"-")
	common := o.Group == "" && o.Namespace != ""
	shard := func(rest string) bool { return strings.Trim(rest, "0123456789") == "" }
	switch first, rest, _ := strings.Cut(suffix, "-"); {
	case r.Kind == "" && slices.Contains([]string{"worker", "operators", "logic"}, first), first == "worker" && shard(rest):
		suffix = first // of one operator of a group, or the Service of a shard
	}
	if o.Namespace == "" || o.Name == r.Operator || named && (!common || slices.Contains(ownSuffixes, suffix)) {
		return ""
	}
	return "its name is not one that argoperator gives a " + o.Kind
}

// controlled reports whether a controller made an object, as Argo Events makes a Deployment
// for each EventSource and Sensor, with their labels.
func (o ownedObject) controlled() bool {
	return metav1.GetControllerOfNoCopy(&metav1.ObjectMeta{OwnerReferences: o.owners}) != nil
}

// isChildOf reports whether an object with the labels of a child is one. Controllers
// copy labels to objects of their own, but not annotations.
func (o ownedObject) isChildOf(r Requirements) bool {
	if o.annotations[plan.OwnerAnnotation] == "" || cmp.Or(o.labels[plan.OperatorNamespace], r.Namespace) != r.Namespace {
		return false
	}
	return len(o.owners) == 0 || slices.ContainsFunc(o.owners, r.owns)
}

// owns reports whether an owner is a custom resource of the operator.
func (r Requirements) owns(owner metav1.OwnerReference) bool {
	return owner.Kind == r.Kind && schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group == r.Group
}

// doubt returns why a child is perhaps an object of others. uids are those of the custom
// resources.
func (o ownedObject) doubt(r Requirements, uids map[string]string) string {
	if what, much := tooMuch[o.GroupKind()]; much {
		return what
	}
	uid := o.labels[plan.OwnerUID]
	owns := func(owner metav1.OwnerReference) bool { return r.owns(owner) && string(owner.UID) == uid }
	owned := uid != "" && slices.ContainsFunc(o.owners, owns)
	switch {
	case len(o.owners) > 0 && !owned, len(o.owners) == 0 && (uid == "" || uids[o.annotations[plan.OwnerAnnotation]] != uid):
		return "there is no such " + r.Kind
	case !slices.ContainsFunc(o.fields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == r.ManagedBy && f.Operation == metav1.ManagedFieldsOperationApply && f.FieldsV1 != nil &&
			bytes.Contains(f.FieldsV1.Raw, []byte(`"f:`+plan.OwnerUID+`"`))
	}):
		return "others have written its labels"
	}
	return ""
}

// customResources returns the uids of the custom resources by NAMESPACE.NAME; none if they
// cannot be read.
func customResources(ctx context.Context, ask Ask, needs Requirements) map[string]string {
	list, _ := listed(ctx, ask, strings.TrimSuffix(needs.Plural+"."+needs.Group, "."), "--output=json")
	uids := map[string]string{}
	for _, o := range list {
		uids[o.Metadata.Namespace+"."+o.Metadata.Name] = string(o.Metadata.UID)
	}
	return uids
}

// labelled lists the objects of some kinds that match a selector.
func labelled(ctx context.Context, ask Ask, kinds []string, selector string) ([]ownedObject, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	list, err := listed(ctx, ask, strings.Join(kinds, ","), "--selector", selector, "--output=json", "--show-managed-fields")
	var all []ownedObject
	for _, item := range list {
		m := item.Metadata
		all = append(all, ownedObject{
			Identity: Identity{schema.FromAPIVersionAndKind(item.APIVersion, item.Kind), m.Namespace, m.Name},
			labels:   m.Labels, annotations: m.Annotations, owners: m.OwnerReferences, fields: m.ManagedFields,
		})
	}
	return all, err
}

// item is an object of a list.
type item struct {
	APIVersion, Kind string
	Metadata         metav1.ObjectMeta
}

// listed lists objects in all namespaces. There are none of a kind whose CustomResourceDefinition
// has been deleted since kubectl learnt of it.
func listed(ctx context.Context, ask Ask, kinds string, more ...string) ([]item, error) {
	out, said, err := ask(ctx, nil, slices.Concat([]string{"get", kinds, "--all-namespaces"}, more, []string{"--ignore-not-found"})...)
	if err != nil {
		return nil, errors.New(firstLine(said, err))
	}
	if len(bytes.TrimSpace(out)) == 0 { // then kubectl prints no empty list
		return nil, nil
	}
	var list struct{ Items []item }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("kubectl did not print JSON: %w", err)
	}
	return list.Items, nil
}

// leftovers reports the objects of an earlier version.
func leftovers(v *visit) Check {
	const name = "Leftovers"
	all, err := Leftovers(v.ctx, v.ask, v.needs)
	if err != nil {
		return Check{name, Warning, "cannot be listed: " + err.Error(), "run doctor with permission to list them"}
	}
	found := len(all)
	all = slices.DeleteFunc(all, func(l Leftover) bool { return l.Doubt != "" })
	switch {
	case len(all) == 0 && found > 0:
		return Check{
			name, Warning, fmt.Sprintf("%d objects have labels of the operator, and are perhaps those of others", found),
			"argoperator generate --uninstall=leftovers lists them",
		}
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
