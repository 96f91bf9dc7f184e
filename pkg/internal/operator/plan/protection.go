package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// Writes that users, or the operator's own accounts, must not do although RBAC allows
// them. RBAC does not distinguish fields, so ValidatingAdmissionPolicies restrict them:
// the API server evaluates these without a webhook pod.

// Policy is a ValidatingAdmissionPolicy and its binding.
type Policy struct {
	Name       string    // the suffix of its object's name
	Kinds      []Kind    // the kinds it applies to, with their subresources
	Creates    bool      // it applies to creates as well as updates
	Accounts   []Account // the accounts it applies to, or with Exempt, those it does not apply to
	Exempt     bool
	Namespaces []string // of the objects; empty: all
	Rule       string   // CEL over object and oldObject
	Shown      bool     // also, a Workflow must be one in which a worker runs a reconcile to show it
	Message    string   // shown to a user whose request is rejected
	Why        string
}

// policies returns the policies of an operator.
func policies(p *decided) []Policy {
	if !p.Shared.AdmissionPolicies {
		return nil
	}
	var list []Policy
	if p.Shared.Group == "" { // else the group has it
		list = accountPolicies(p)
	}
	if p.Reconcile.StateLocation == InAnnotations {
		list = append(list, Policy{
			Name: "observed", Kinds: []Kind{p.API.Kind}, Accounts: writers(), Exempt: true,
			Namespaces: p.Shared.WatchNamespaces, Rule: noNewAnnotations(p.annotationPrefix()),
			Message: fmt.Sprintf("only operator %s writes annotations that begin with %s", p.Operator.Name, p.annotationPrefix()),
			Why:     "protects the observed state in annotations, which decides what the operator changes and deletes",
		})
	}
	if p.Reconcile.StateLocation == InStatus {
		list = append(list, Policy{
			Name: "observed", Kinds: []Kind{p.API.Kind}, Accounts: writers(), Exempt: true,
			Namespaces: p.Shared.WatchNamespaces, Rule: "object.?status.?children == oldObject.?status.?children",
			Message: fmt.Sprintf("only operator %s writes status.children", p.Operator.Name),
			Why:     "protects the observed state in the status, which decides what the operator changes and deletes",
		})
	}
	if kinds := p.labelledKinds(); len(kinds) > 0 {
		list = append(list, Policy{
			Name: "children", Kinds: kinds, Creates: true, Accounts: writers(), Exempt: true,
			Namespaces: p.Shared.WatchNamespaces, Rule: notLabelled(p.Operator.Name, p.Shared.Namespace),
			Message: fmt.Sprintf("only operator %s sets and changes the labels and the annotation of its children", p.Operator.Name),
			Why:     "protects the labels and annotations that decide what the operator changes and deletes, and on which events it acts",
		})
	}
	return list
}

// accountPolicies restrict the service accounts.
func accountPolicies(p *decided) []Policy {
	if !p.Shared.AdmissionPolicies {
		return nil
	}
	list := []Policy{{
		Name: "accounts", Kinds: []Kind{eventSourceKind, sensorKind}, Accounts: []Account{SensorAccount, p.resyncAccount()},
		Namespaces: []string{p.Shared.Namespace}, Rule: annotationsOnly,
		Message: "this service account may change annotations only",
		Why:     "prevents the service accounts that replay events and restart pods from changing what those pods run",
	}}
	if p.Reconcile.Diagnoses {
		list = append(list, diagnosisPolicy(p))
	}
	if p.Reconcile.Shows {
		list = append(list, showPolicy(p))
	}
	return list
}

// ListedChildren returns how many children the observed state lists object by object,
// and of how many of them the operator deletes the objects before their custom resource
// goes.
func (p *decided) ListedChildren() (listed, finalized int) {
	for _, c := range p.Children {
		if p.Reconcile.StateLocation == InStatus && p.listed(c) {
			listed++
			if p.needsFinalizer(c) {
				finalized++
			}
		}
	}
	return listed, finalized
}

// sensorKind is the kind of a Sensor itself.
var sensorKind = Kind{Group: ArgoGroup, Version: "v1alpha1", Kind: "Sensor", Plural: "sensors", Namespaced: true}

// annotationPrefix returns the prefix of the annotations with the observed state. It
// includes the operator's name because several operators may watch the same kind.
func (p *declared) annotationPrefix() string { return p.Operator.Name + ".argoperator.dev/" }

// labelledKinds returns the kinds of children whose labels and annotations decide what
// the operator does: they identify the children without an owner reference, tell whether to
// replace an object, or start a pod.
func (p *decided) labelledKinds() []Kind {
	var out []Kind
	for _, c := range p.Children {
		if (p.Reconcile.Execution.RunsPods || p.unowned(c) || c.Replaced != nil) && !slices.Contains(out, c.Kind) {
			out = append(out, c.Kind)
		}
	}
	return out
}

// unownedKinds returns the kinds of children that cannot, or must not, have an owner
// reference to their custom resource.
func (p *decided) unownedKinds() []Kind {
	var out []Kind
	for _, c := range p.Children {
		if p.unowned(c) && !slices.Contains(out, c.Kind) {
			out = append(out, c.Kind)
		}
	}
	return out
}

func (p *decided) unowned(c Child) bool {
	if c.Object == nil && c.Kind.Namespaced && p.API.Kind.Namespaced { // the logic chooses the namespace
		return c.Orphan || p.Reconcile.Finalizer != ""
	}
	return c.Orphan || p.elsewhere(c)
}

// hasUnowned reports whether a child of the kind is known by its labels, because it
// cannot or must not have an owner reference. The API server rejects a second controller
// in owner references, but knows nothing of labels.
func (p *declared) hasUnowned(k Kind) bool {
	return slices.ContainsFunc(p.Children, func(c Child) bool { return c.Kind.same(k) && (c.Orphan || p.elsewhere(c)) })
}

// mayAdoptChild reports whether an object to adopt can be a child of another custom resource. Its owner reference does
// not protect it then: the operator applied it for one, and removes it when it applies the object for the other.
func (p *declared) mayAdoptChild(c Child) bool {
	return slices.ContainsFunc(p.Children, func(other Child) bool {
		return other.Kind.same(c.Kind) &&
			(other.ObjectName == nil || c.ObjectName.MayEqualOf(other.ObjectName, ".metadata.name", ".metadata.namespace"))
	})
}

// elsewhere reports whether a child is where its custom resource cannot own it.
func (p *declared) elsewhere(c Child) bool {
	return p.API.Kind.Namespaced && (!c.Kind.Namespaced || c.Object != nil && !c.SameNamespace)
}

// needsFinalizer reports whether the operator has to delete the objects of a child
// before their custom resource goes, because nothing else would.
func (p *declared) needsFinalizer(c Child) bool {
	return c.Object != nil && (!c.Orphan && p.elsewhere(c) || c.Policy != nil)
}

// deletes reports whether the operator deletes objects of a child while their custom
// resource stays: because they are no longer wanted, or to replace them.
func (p *declared) deletes(c Child) bool {
	related := func(e *expression.Program) bool { return e != nil && e.UsesRelated() }
	return c.Object == nil || c.Policy != nil || c.When != nil || c.Replaced != nil || p.listed(c) ||
		related(c.ObjectName) || related(c.Namespace)
}

// annotationsOnly allows changes of annotations only, those of the object and of its
// pod template.
var annotationsOnly = strings.Join([]string{
	sameField("object.metadata.labels", "oldObject.metadata.labels"),
	sameField("object.metadata.ownerReferences", "oldObject.metadata.ownerReferences"),
	sameField("object.metadata.finalizers", "oldObject.metadata.finalizers"),
	sameExcept("object.spec", "oldObject.spec", "template"),
	sameExcept("object.spec.template", "oldObject.spec.template", "metadata"),
	sameExcept("object.spec.template.metadata", "oldObject.spec.template.metadata", "annotations"),
}, " && ")

// ownStatus is CEL that allows no status of a Workflow that its creator writes. The status is not
// a subresource, and Argo runs the spec that it finds in it instead of that of a WorkflowTemplate.
const ownStatus = "(oldObject == null ? !has(object.status) : object.?status == oldObject.?status)"

// onlyTemplates returns CEL that allows Workflows of some WorkflowTemplates, with arguments and a
// priority and nothing else.
func onlyTemplates(names ...string) string {
	return fmt.Sprintf(
		"object.spec.all(k, k in ['arguments', 'priority', 'workflowTemplateRef']) && "+
			"object.spec.workflowTemplateRef.all(k, k == 'name') && object.spec.workflowTemplateRef.name in ['%s'] && %s",
		strings.Join(names, "', '"), ownStatus,
	)
}

// sameField returns CEL that tells whether a field is equal in both objects, or absent
// from both.
func sameField(a, b string) string {
	return fmt.Sprintf("(has(%[1]s) ? has(%[2]s) && %[1]s == %[2]s : !has(%[2]s))", a, b)
}

// sameExcept returns CEL that tells whether all fields but one are equal in both
// objects.
func sameExcept(a, b, key string) string {
	within := func(a, b string) string {
		return fmt.Sprintf("%[1]s.all(k, k == '%[3]s' || (k in %[2]s && %[1]s[k] == %[2]s[k]))", a, b, key)
	}
	return fmt.Sprintf("(has(%[1]s) && has(%[2]s) ? %[3]s && %[4]s : !has(%[1]s) && !has(%[2]s))", a, b, within(a, b), within(b, a))
}

// noNewAnnotations returns CEL that allows removing annotations with a prefix but not
// setting them.
func noNewAnnotations(prefix string) string {
	return fmt.Sprintf("!has(object.metadata.annotations) || object.metadata.annotations.all(k, !k.startsWith('%s') || "+
		"(has(oldObject.metadata.annotations) && k in oldObject.metadata.annotations && oldObject.metadata.annotations[k] == "+
		"object.metadata.annotations[k]))", prefix)
}

// notLabelled returns CEL that keeps an object from becoming a child of the operator, and
// a child from ceasing to be one, from naming another owner and from being replaced. An
// operator of the same name in another namespace has children of its own; those of earlier
// versions have no label with the namespace.
func notLabelled(operator, namespace string) string {
	child := func(of string) string {
		return fmt.Sprintf(
			"(has(%[1]s.metadata.labels) && '%[2]s' in %[1]s.metadata.labels && %[1]s.metadata.labels['%[2]s'] == '%[3]s' && '%[4]s' in "+
				"%[1]s.metadata.labels && %[1]s.metadata.labels[?'%[5]s'].orValue('%[6]s') == '%[6]s')",
			of,
			ManagedBy,
			operator,
			OwnerUID,
			OperatorNamespace,
			namespace,
		)
	}
	same := func(field, key string) string {
		return fmt.Sprintf("object.metadata.?%[1]s[?'%[2]s'] == oldObject.metadata.?%[1]s[?'%[2]s']", field, key)
	}
	return fmt.Sprintf("oldObject == null ? !%[1]s : (!%[1]s && !%[2]s || %[1]s && %[2]s && %[3]s)",
		child("object"), child("oldObject"), strings.Join([]string{
			same("labels", OwnerUID), same("labels", ChildLabel), same("labels", OperatorNamespace),
			same("annotations", OwnerAnnotation), same("annotations", fixedAnnotation),
		}, " && "))
}

// unprotected warns of an operator that trusts fields which users can write, because
// its policies are disabled.
func unprotected(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	if p.Shared.AdmissionPolicies {
		return nil
	}
	at := d.Position("spec", "install", "admissionPolicies")
	if p.Reconcile.StateLocation == InAnnotations {
		findings.Warn(
			at,
			diag.NoAdmissionPolicy,
			fmt.Sprintf(
				"users who can edit %s can change the annotations that identify its children, and so make the operator change or "+
					"delete other objects",
				article.With(p.API.Kind.Kind),
			),
			"remove install.admissionPolicies, or write your own policy that protects annotations of "+p.annotationPrefix(),
		)
	}
	if p.Reconcile.StateLocation == InStatus {
		findings.Warn(
			at,
			diag.NoAdmissionPolicy,
			fmt.Sprintf(
				"users who can edit the status of %s can change the observed state of its children, and so make the operator change or "+
					"delete other objects",
				article.With(p.API.Kind.Kind),
			),
			"remove install.admissionPolicies, or write your own policy that protects status.children",
		)
	}
	for _, k := range p.unownedKinds() {
		findings.Warn(at, diag.NoAdmissionPolicy,
			fmt.Sprintf(
				"users who can edit %s can label it as a child, and so make the operator change or delete it",
				article.With(k.Kind),
			),
			"remove install.admissionPolicies, or write your own policy that protects the label "+OwnerUID)
	}
	for i, c := range p.Children {
		first := slices.IndexFunc(p.Children, func(o Child) bool { return o.Kind == c.Kind && o.Replaced != nil }) == i
		if first && !slices.Contains(p.unownedKinds(), c.Kind) {
			findings.Warn(at, diag.NoAdmissionPolicy,
				fmt.Sprintf(
					"users who can edit %s can change its annotations, and so make the operator replace it",
					article.With(c.Kind.Kind),
				),
				"remove install.admissionPolicies, or write your own policy that protects the annotation "+fixedAnnotation)
		}
	}
	return findings
}
