package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
)

// What users, or the operator's own accounts, must not write although their roles
// let them. RBAC knows no fields, so ValidatingAdmissionPolicies say it: they are
// evaluated in the API server and need no pod.

// Policy is a ValidatingAdmissionPolicy and its binding.
type Policy struct {
	Name       string    // what it is about; its object is called after the operator too
	Kinds      []Kind    // whose objects it is about, with their subresources
	Creates    bool      // it is about creates too, not only updates
	Accounts   []Account // for whom it holds, or with Exempt, for whom it does not
	Exempt     bool
	Namespaces []string // of the objects; empty: all
	Rule       string   // CEL over object and oldObject
	Message    string   // what a refused user reads
	Why        string
}

// policies lists the policies of an operator.
func policies(p *Plan) []Policy {
	if !p.Install.AdmissionPolicies {
		return nil
	}
	list := []Policy{{
		Name: "accounts", Kinds: []Kind{eventSource, sensorKind}, Accounts: []Account{Actor, Resyncer},
		Namespaces: []string{p.Install.Namespace}, Rule: annotationsOnly,
		Message: "this service account may change annotations only",
		Why:     "the accounts that replay events and restart pods may not choose what those pods run, nor by which service account",
	}}
	if p.Reconcile.Memory == InAnnotations {
		list = append(list, Policy{
			Name: "observed", Kinds: []Kind{p.API.Kind}, Accounts: []Account{p.Reconcile.Execution.Writer}, Exempt: true,
			Namespaces: p.Install.WatchNamespaces, Rule: annotationsKept(annotationPrefix(p)),
			Message: fmt.Sprintf("only operator %s writes annotations that begin with %s", p.Runtime.Operator, annotationPrefix(p)),
			Why:     "what the operator has observed of the children is kept in annotations, and decides what it changes and deletes",
		})
	}
	if kinds := unownedKinds(p); len(kinds) > 0 {
		list = append(list, Policy{
			Name: "children", Kinds: kinds, Creates: true, Accounts: []Account{p.Reconcile.Execution.Writer}, Exempt: true,
			Namespaces: p.Install.WatchNamespaces, Rule: notLabelled(p.Runtime.Operator),
			Message: fmt.Sprintf("only operator %s labels objects as its children", p.Runtime.Operator),
			Why:     "children that their custom resource cannot own are known by their labels",
		})
	}
	return list
}

// sensorKind is the kind of a Sensor itself.
var sensorKind = Kind{Group: argo, Version: "v1alpha1", Kind: "Sensor", Plural: "sensors", Namespaced: true}

// annotationPrefix is how the annotations of a custom resource begin in which the
// operator keeps what it has observed: another operator may watch the same kind.
func annotationPrefix(p *Plan) string { return p.Runtime.Operator + ".argoperator.dev/" }

// unownedKinds are the kinds of children that their custom resource cannot own,
// or must not.
func unownedKinds(p *Plan) []Kind {
	var out []Kind
	for _, c := range p.Children {
		if unowned(p, c) && !slices.Contains(out, c.Kind) {
			out = append(out, c.Kind)
		}
	}
	return out
}

func unowned(p *Plan, c Child) bool {
	switch {
	case c.Orphan:
		return true
	case !p.API.Kind.Namespaced:
		return false
	case !c.Kind.Namespaced:
		return true
	case c.Object == nil: // the logic chooses the namespace
		return p.Reconcile.Finalizer != ""
	}
	return !c.Beside
}

// annotationsOnly lets nothing differ but annotations, the object's own and those
// of the pod that is made of it.
var annotationsOnly = strings.Join([]string{
	same("object.metadata.labels", "oldObject.metadata.labels"),
	same("object.metadata.ownerReferences", "oldObject.metadata.ownerReferences"),
	same("object.metadata.finalizers", "oldObject.metadata.finalizers"),
	sameBut("object.spec", "oldObject.spec", "template"),
	sameBut("object.spec.template", "oldObject.spec.template", "metadata"),
	sameBut("object.spec.template.metadata", "oldObject.spec.template.metadata", "annotations"),
}, " && ")

// same tells whether a field is the same in both, or in neither.
func same(a, b string) string {
	return fmt.Sprintf("(has(%[1]s) ? has(%[2]s) && %[1]s == %[2]s : !has(%[2]s))", a, b)
}

// sameBut tells whether an object has the same fields in both, but for one.
func sameBut(a, b, key string) string {
	within := func(a, b string) string {
		return fmt.Sprintf("%[1]s.all(k, k == '%[3]s' || (k in %[2]s && %[1]s[k] == %[2]s[k]))", a, b, key)
	}
	return fmt.Sprintf("(has(%[1]s) && has(%[2]s) ? %[3]s && %[4]s : !has(%[1]s) && !has(%[2]s))", a, b, within(a, b), within(b, a))
}

// annotationsKept lets annotations of a prefix go, and no new value come.
func annotationsKept(prefix string) string {
	return fmt.Sprintf("!has(object.metadata.annotations) || object.metadata.annotations.all(k, !k.startsWith('%s') || "+
		"(has(oldObject.metadata.annotations) && k in oldObject.metadata.annotations && oldObject.metadata.annotations[k] == object.metadata.annotations[k]))", prefix)
}

// notLabelled keeps an object from becoming a child of the operator.
func notLabelled(operator string) string {
	child := func(of string) string {
		return fmt.Sprintf("has(%[1]s.metadata.labels) && '%[2]s' in %[1]s.metadata.labels && %[1]s.metadata.labels['%[2]s'] == '%[3]s' && '%[4]s' in %[1]s.metadata.labels",
			of, ManagedBy, operator, OwnerUID)
	}
	return fmt.Sprintf("!(%s) || (oldObject != null && %s && object.metadata.labels['%[3]s'] == oldObject.metadata.labels['%[3]s'])", child("object"), child("oldObject"), OwnerUID)
}

// unprotected warns of an operator that relies on what users may write, because
// its policies are left out.
func unprotected(p *Plan, d *definition.Definition) diag.List {
	var findings diag.List
	if p.Install.AdmissionPolicies {
		return nil
	}
	at := d.Position("spec", "install", "admissionPolicies")
	if p.Reconcile.Memory == InAnnotations {
		findings.Warn(at, diag.NoAdmissionPolicy,
			fmt.Sprintf("whoever may edit a %s can write the annotations that say which objects are its children, and so have the operator change or delete others", p.API.Kind.Kind),
			"leave out install.admissionPolicies, or write a policy of your own that protects annotations of "+annotationPrefix(p))
	}
	for _, k := range unownedKinds(p) {
		findings.Warn(at, diag.NoAdmissionPolicy,
			fmt.Sprintf("whoever may edit a %s can label it as a child, and so have the operator change or delete it", k.Kind),
			"leave out install.admissionPolicies, or write a policy of your own that protects the label "+OwnerUID)
	}
	return findings
}
