package argoperator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
)

const (
	// sampleName is a name that no custom resource of a user has, so that the API server
	// does not compare a sample with an object that exists.
	sampleName = "argoperator-sample"
	// userManager is the field manager of users who apply custom resources.
	userManager = "kubectl"
	// defaultNamespace is that of objects without one in a simulation.
	defaultNamespace = "default"
)

const earlierKind = "the server may have an earlier version of the CustomResourceDefinition; compare with argoperator diff --live"

// SampleObjects returns sample custom resources of the operator and what its templates
// make of them, for an API server to check. The custom resources are in the namespace,
// unless the operator watches others only.
func (o Operator) SampleObjects(namespace string) []dryrun.Object {
	if watched := o.plan.Shared.WatchNamespaces; len(watched) > 0 && !slices.Contains(watched, namespace) {
		namespace = watched[0]
	}
	samples := childcheck.Objects(o.definition, o.plan, sampleName, namespace)
	var out []dryrun.Object
	for _, cr := range samples.CustomResources {
		out = append(out, dryrun.Object{
			Fields: cr.Fields, Sample: cr.Sample, Manager: userManager, Source: o.source("api"), At: o.apiPosition, Hint: earlierKind,
			Lenient: true,
		})
	}
	for i, c := range o.plan.Children {
		for _, object := range samples.Children[c.Name] {
			one := o.child(i, object.Fields)
			one.Sample = object.Sample
			out = append(out, one)
		}
	}
	return out
}

// source identifies a part of the definition among all definitions.
func (o Operator) source(part string) string {
	return o.plan.Shared.Namespace + "/" + o.Name + " " + part
}

// child returns an object of a child.
func (o Operator) child(i int, fields map[string]any) dryrun.Object {
	at := []string{"spec", "children", strconv.Itoa(i), "template"}
	template := o.definition.Operator.Spec.Children[i].Template
	return dryrun.Object{
		Fields: fields, Manager: o.plan.FieldManager(), Source: o.source(o.plan.Children[i].Name),
		At:       func(path []string) diag.Position { return o.definition.Position(slices.Concat(at, path)...) },
		Template: template,
	}
}

// apiPosition returns the position of a field in the schema of the API.
func (o Operator) apiPosition(path []string) diag.Position {
	spec := o.definition.Operator.Spec
	at := []string{"spec", "api"}
	working := o.definition.WorkingVersion()
	i := slices.IndexFunc(spec.API.Versions, func(v v1alpha1.Version) bool { return v.Name == working })
	if i >= 0 && len(path) > 0 {
		at = append(at, "versions", strconv.Itoa(i), "schema")
		at = append(at, path...)
	}
	return o.definition.Position(at...)
}

// Applied returns an object that an operator has applied in a simulation, for an API
// server to check; false if it is no child and no part of an object of others. defaulted
// reports whether the custom resource names no namespace: then those children that are
// beside it name none either.
func (r Result) Applied(object map[string]any, manager string, defaulted bool) (dryrun.Object, bool) {
	for _, o := range r.Operators {
		if i := o.plan.ChildOf(object); i >= 0 {
			c := o.plan.Children[i]
			if defaulted && (c.SameNamespace || c.Object == nil) {
				object = withoutDefaultNamespace(object)
			}
			one := o.child(i, object)
			one.Manager = cmp.Or(manager, one.Manager)
			return one, true
		}
	}
	for _, o := range r.Operators {
		if i := o.plan.PatchOf(object); i >= 0 && !o.plan.API.Kind.Is(object) {
			return o.patch(i, object, manager), true
		}
	}
	return dryrun.Object{}, false
}

// patch returns the fields that a patch sets in an object of others.
func (o Operator) patch(i int, fields map[string]any, manager string) dryrun.Object {
	at := []string{"spec", "patches", strconv.Itoa(i), "template"}
	return dryrun.Object{
		Fields: fields, Manager: cmp.Or(manager, o.plan.FieldManager()), Source: o.source("patch " + o.plan.Patches[i].Name), Partial: true,
		At: func(path []string) diag.Position { return o.definition.Position(slices.Concat(at, path)...) },
	}
}

// Status returns the status of a custom resource of the operators, for an API server to
// check; false if it has none.
func (r Result) Status(cr map[string]any, defaulted bool) (dryrun.Object, bool) {
	status, _ := cr["status"].(map[string]any)
	for _, o := range r.Operators {
		if !o.plan.API.Kind.Is(cr) || len(status) == 0 || !o.plan.API.Kind.StatusSubresource {
			continue
		}
		if defaulted {
			cr = withoutDefaultNamespace(cr)
		}
		return dryrun.Object{
			Fields: cr, Manager: o.plan.FieldManager(), Source: o.source("status"), Status: true, Hint: earlierKind,
			At: func(path []string) diag.Position { // in an answer, a path begins with status
				return o.definition.Position(slices.Concat([]string{"spec", "status"}, path[min(1, len(path)):])...)
			},
		}, true
	}
	return dryrun.Object{}, false
}

// CustomResource returns a custom resource of a test or of a simulation, for an API server
// to check. at may be nil for a sample: its fields are in no file.
func (r Result) CustomResource(fields map[string]any, defaulted bool, at func(path []string) diag.Position) dryrun.Object {
	if defaulted {
		fields = withoutDefaultNamespace(fields)
	}
	out := customResource(fields, at)
	for _, o := range r.Operators {
		if at == nil && o.plan.API.Kind.Is(fields) {
			out.At = o.apiPosition
		}
	}
	return out
}

func customResource(fields map[string]any, at func(path []string) diag.Position) dryrun.Object {
	return dryrun.Object{Fields: fields, Manager: userManager, Source: fmt.Sprint(fields["kind"], fields["metadata"]), At: at}
}

// Checked returns the custom resource and its status, for an API server to check.
func (r Resource) Checked() []dryrun.Object {
	out := []dryrun.Object{customResource(r.Object, r.written.At)}
	if status, _ := r.Object["status"].(map[string]any); len(status) > 0 {
		one := out[0]
		one.Status = true
		out = append(out, one)
	}
	return out
}

// withoutDefaultNamespace returns an object without the namespace that a simulation has
// given to it.
func withoutDefaultNamespace(object map[string]any) map[string]any {
	if !InDefaultNamespace(object) {
		return object
	}
	metadata, _ := object["metadata"].(map[string]any)
	object, metadata = maps.Clone(object), maps.Clone(metadata)
	delete(metadata, "namespace")
	object["metadata"] = metadata
	return object
}

// InDefaultNamespace reports whether an object names the namespace that a simulation
// gives to those without one.
func InDefaultNamespace(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata["namespace"] == defaultNamespace
}
