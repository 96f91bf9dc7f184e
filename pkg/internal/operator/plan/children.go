package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// compiler compiles the expressions of one definition.
type compiler struct {
	d        *definition.Definition
	api      API
	scope    expression.Scope // of expressions that are computed from the custom resource
	findings diag.List
	common   map[string]any // labels and annotations of all children, if they are right
	draft    bool           // the definition has errors
	finally  []func(children []Child)
}

func newCompiler(d *definition.Definition, api API) *compiler {
	c := &compiler{d: d, api: api}
	c.scope = expression.Scope{
		Input:    parentType(d, api.Kind),
		Name:     api.Kind.Kind + " " + api.Kind.Version,
		Children: map[string]schema.Type{},
		Related:  relatedTypes(d),
		Always:   alwaysRelated(d),

		Parameters: parameters(d),
	}
	for _, child := range d.Operator.Spec.Children {
		t := childType(d, child)
		if child.ForEach != "" {
			t = schema.ListOf(t)
		}
		c.scope.Children[child.Name] = t
	}
	return c
}

func parentType(d *definition.Definition, k Kind) schema.Type {
	var t schema.Type
	if s := d.Schema(d.WorkingVersion()); s != nil {
		t = schema.Resource(s)
	} else if builtin, ok := schema.Builtin(k.APIVersion(), k.Kind); ok {
		t = builtin
	}
	if t != nil && !k.Namespaced {
		return schema.ClusterScoped(t)
	}
	return t
}

func childType(d *definition.Definition, child v1alpha1.Child) schema.Type {
	return schema.OfKind(d.ChildSchema(child.Name), child.APIVersion, child.Kind)
}

// report converts problems below a path of the definition to findings.
func (c *compiler) report(problems []expression.Problem, path ...string) {
	for _, p := range problems {
		at := append(slices.Clone(path), p.Path...)
		position := c.d.PositionIn(p.Offset, at...)
		if p.OnKey {
			position = c.d.PositionOfKey(at...)
		}
		if p.Known || c.draft && c.d.Guessed(position) && (p.Warning || p.Length == 0) {
			continue // the line may also not be YAML, and mean another value
		}
		code := p.Code
		if code == "" {
			code = diag.BadExpression
		}
		f := diag.Finding{Position: position, Severity: diag.Error, Code: code, Message: p.Message, Hint: p.Hint}
		if p.Warning {
			f.Severity = diag.Warning
		}
		if p.Fix != "" {
			f = f.Writing(c.d.Rewritten(p.FixAt, p.FixEnd, p.Fix, at...))
			f.Hint = join(f.Hint, p.Caveat)
		}
		c.findings = append(c.findings, f)
	}
}

func (c *compiler) children() []Child {
	c.commonMetadata()
	var out []Child
	for i, declared := range c.d.Operator.Spec.Children {
		at := []string{"spec", "children", strconv.Itoa(i)}
		child, path := c.sound(
			at,
			func() Child { return c.child(declared, at...) },
		), append(
			slices.Clip(at),
			"template",
			"metadata",
			"name",
		)
		for j, other := range out {
			switch {
			case !child.sameObject(other):
			case child.When != nil && other.When != nil:
				child.Alternatives, out[j].Alternatives = append(child.Alternatives, other.Name), append(other.Alternatives, child.Name)
			default:
				c.findings.Add(c.d.Position(path...), diag.DuplicateValue,
					fmt.Sprintf("this is the same %s as that of child %q", child.Kind.Kind, other.Name),
					"use different names, add `when` to both so that only one is true at a time, or merge the two children")
			}
		}
		out = append(out, child)
	}
	for _, check := range c.finally {
		check(out)
	}
	waitForNamespaces(out)
	waitForDeciders(out)
	for i, child := range out {
		c.unique(child, out, "spec", "children", strconv.Itoa(i), "template", "metadata", "name")
	}
	if !c.draft {
		c.cycles(out)
	}
	return out
}

// deleteAfter compiles when custom resources are deleted.
func (c *compiler) deleteAfter() json.RawMessage {
	text := c.d.Operator.Spec.DeleteAfter
	if text == "" {
		return nil
	}
	scope := c.resourceOnly("deleteAfter")
	if c.expression(text, scope, "number", "spec", "deleteAfter") == nil {
		return nil
	}
	node, problems := scope.BareForPod(text)
	c.report(problems, "spec", "deleteAfter")
	return encode(node)
}

// resourceOnly returns the scope of a key whose expressions may read only the custom resource.
func (c *compiler) resourceOnly(key string) expression.Scope {
	scope := c.scope
	scope.NoChildren, scope.Children, scope.Related = key+" may read only the custom resource", nil, nil
	return scope
}

// sameObject reports whether two children are certainly one object.
func (c Child) sameObject(other Child) bool {
	if c.ObjectName == nil || other.ObjectName == nil || c.ForEach != nil || other.ForEach != nil {
		return false
	}
	place := func(c Child) string {
		if c.Namespace == nil || c.SameNamespace {
			return ""
		}
		return c.Namespace.Source()
	}
	return c.Kind.Group == other.Kind.Group && c.Kind.Kind == other.Kind.Kind &&
		c.ObjectName.Source() == other.ObjectName.Source() && place(c) == place(other)
}

func (c *compiler) child(in v1alpha1.Child, path ...string) Child {
	group, version := source.SplitAPIVersion(in.APIVersion)
	out := Child{
		Name:      in.Name,
		Orphan:    in.OnDelete != "Delete",
		Adopt:     in.Adopt,
		Update:    Update(in.Update),
		DependsOn: slices.Clone(in.DependsOn),
		Generate:  in.Generate,
		Kind: Kind{
			Group: group, Version: version, Kind: in.Kind, Plural: in.Plural,
			Namespaced: in.Scope != "Cluster", StatusSubresource: true,
		},
	}
	ours := !c.api.Existing && out.Kind.Group == c.api.Kind.Group && out.Kind.Kind == c.api.Kind.Kind // no custom resource for the operator
	out.ReportsStatus = !ours && len(schema.Reports(c.d.ChildSchema(in.Name))) > 0
	out.HasTexts = in.APIVersion == "v1" && in.Kind == "Secret" && in.Template["stringData"] != nil
	c.replaced(&out, in, path)
	if in.Template == nil {
		return out
	}
	at := func(more ...string) []string { return append(slices.Clone(path), more...) }
	var own map[string]any
	in.Template, own = c.overCommon(in.Template)
	scope := c.conditions(&out, in, path)
	scope.Variables = c.variables(in.Variables, scope, at("variables")...)
	c.compileForPod(&out, in, scope, path)
	if out.Orphan && in.OnDelete != "Orphan" {
		c.policy(&out, in.OnDelete, at("onDelete")...)
	}
	if c.api.SelectorJQ != "" { // objects that the selector does not match have no children
		out.When, _ = expression.Expression(scope.Given, c.scope, "boolean")
	}
	var problems []expression.Problem
	out.Object, problems = expression.Template(in.Template, scope, childType(c.d, in))
	c.report(whereWritten(problems, own, scope, childType(c.d, in)), at("template")...)
	if in.ReadyWhen != "" {
		live := expression.Scope{
			Input: childType(c.d, in), Name: "the live " + in.Kind, Live: true, Zero: zeroIn(in, out.Object, scope),
			NoChildren: "readyWhen reads the live child itself: .", Parameters: c.scope.Parameters,
		}
		out.Ready = c.expression(in.ReadyWhen, live, "boolean", at("readyWhen")...)
	}
	c.unread(in.Variables, scope.Variables, at("variables")...)
	if c.draft && out.Object == nil {
		out.Object, out.Guessed = c.guess(in.Template, problems, scope, childType(c.d, in))
	}
	out.needs = needsOf(out.ForEach, out.Object)
	c.namespaced(in, at("template", "metadata"))
	if c.draft && !named(in.Template) {
		return out // that is reported
	}
	c.identity(&out, in, scope)
	c.clusterScoped(out, in.Template, at("template", "metadata")...)
	if !c.draft || !c.d.Doubtful(path...) {
		c.finally = append(c.finally, func(children []Child) { c.immutable(out, in, scope, children, at("template")) })
	}
	out.InexactPaths = inexact(c.d, c.api.Kind, out.Object, out.When, out.ForEach)
	return out
}

// zeroIn returns whether a number that the template of a child writes can be 0, judging by the template
// and the condition.
func zeroIn(in v1alpha1.Child, object *expression.Program, scope expression.Scope) func(path []string) bool {
	types := map[string]schema.Type{".": scope.Input, "$item": scope.Item}
	return func(path []string) bool {
		value := schema.ValueAt(in.Template, path...)
		if object == nil || !schema.IsComputed(value) {
			return value != nil && fmt.Sprint(value) == "0"
		}
		mayBeZero := func(from expression.Origin) bool {
			of := types[from.Root]
			tested := expression.TestsNumber(in.When, from.String()) || expression.TestsNumber(fmt.Sprint(value), from.String())
			return of != nil && schema.MayBeZero(schema.At(of, from.Path...)) && !tested
		}
		return slices.ContainsFunc(object.Parts(), func(p expression.Part) bool {
			return p.Whole && slices.Equal(p.Path, path) && slices.ContainsFunc(p.Is(), mayBeZero)
		})
	}
}

// policy compiles an expression that chooses what happens to a child when its custom resource is
// deleted. The child has no owner reference then, so that only the operator decides.
func (c *compiler) policy(out *Child, text string, at ...string) {
	scope := c.resourceOnly("onDelete")
	var problems []expression.Problem
	out.Policy, problems = expression.Template(text, scope, schema.OpenAPI(&apiextensionsv1.JSONSchemaProps{
		Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"Delete"`)}, {Raw: []byte(`"Orphan"`)}},
	}))
	c.report(problems, at...)
	out.podPrograms.policy = c.forPod(text, scope, at...)
}

// forPod compiles a value for the pod, and reports what the pod cannot evaluate.
func (c *compiler) forPod(value any, scope expression.Scope, at ...string) json.RawMessage {
	node, problems := scope.ForPod(value)
	c.report(problems, at...)
	return encode(node)
}

// namespaced reports a namespaced child without a namespace, which a cluster-scoped
// custom resource does not have either.
func (c *compiler) namespaced(in v1alpha1.Child, at []string) {
	metadata, _ := in.Template["metadata"].(map[string]any)
	if namespace := metadata["namespace"]; c.api.Kind.Namespaced || in.Scope != "Namespaced" || namespace != nil && namespace != "" {
		return
	}
	c.findings.Add(c.d.Position(at...), diag.MissingKey,
		fmt.Sprintf("%s has no namespace, so metadata.namespace of the %s is missing", article.With(c.api.Kind.Kind), in.Kind),
		c.namespaceHint())
}

// namespaceHint returns how to place a child of a cluster-scoped custom resource. The values
// are quoted, because a template may have its metadata between the braces of YAML.
func (c *compiler) namespaceHint() string {
	for _, other := range c.d.Operator.Spec.Children {
		metadata, _ := other.Template["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		if other.APIVersion == "v1" && other.Kind == "Namespace" && other.ForEach == "" && name != "" {
			return fmt.Sprintf("write namespace: %s, which is the name of child %s", source.Scalar(name, true, 0), other.Name)
		}
	}
	return `write namespace: "NAME" for a namespace that exists, or add a child of kind Namespace and write its name`
}

// conditions compiles forEach and `when`. It returns the scope of the template.
func (c *compiler) conditions(out *Child, in v1alpha1.Child, path []string) expression.Scope {
	selected := c.scope
	selected.Given = c.api.SelectorJQ
	if in.When != "" {
		out.When = c.expression(in.When, selected, "boolean", append(slices.Clone(path), "when")...)
	}
	scope := c.scope
	scope.Given, scope.Waits = cmp.Or(in.When, c.misplacedWhen(in), c.api.SelectorJQ), true
	if c.api.SelectorJQ != "" && out.When != nil {
		scope.Given = "(" + c.api.SelectorJQ + ") and (" + out.When.Source() + ")"
	}
	scope.Optional = c.leftOut(in)
	scope.Each = c.draft && c.d.Doubtful(path...)
	if in.ForEach != "" {
		out.ForEach = c.expression(in.ForEach, scope, "array", append(slices.Clone(path), "forEach")...)
		scope.Each = true
		if out.ForEach != nil {
			scope.Item = out.ForEach.Type().Item()
		}
	}
	return scope
}

// leftOut returns the children that may be left out while this one is not.
func (c *compiler) leftOut(in v1alpha1.Child) []string {
	var out []string
	for _, other := range c.d.Operator.Spec.Children {
		if other.When != "" && other.ForEach == "" && other.Name != in.Name && !expression.Implies(in.When, other.When) {
			out = append(out, other.Name)
		}
	}
	return out
}

// misplacedWhen returns the condition that is in a template in place of its child, or "".
func (c *compiler) misplacedWhen(in v1alpha1.Child) string {
	when, _ := in.Template["when"].(string)
	if when == "" {
		return ""
	}
	if _, known := childType(c.d, in).Field("when"); known {
		return ""
	}
	return when
}

// compileForPod compiles the programs of a child for the pod, and stores what the pod
// cannot evaluate.
func (c *compiler) compileForPod(out *Child, in v1alpha1.Child, scope expression.Scope, path []string) {
	bare := func(key, source string, unfitted *[]Reason) json.RawMessage {
		if source == "" {
			return nil
		}
		node, problems := scope.BareForPod(source)
		*unfitted = append(*unfitted, reasonsOf(problems, append(slices.Clone(path), key))...)
		return encode(node)
	}
	bare("readyWhen", in.ReadyWhen, &out.readyNotInPod)
	out.podPrograms.when = bare("when", in.When, &out.notInPod)
	out.podPrograms.forEach = bare("forEach", in.ForEach, &out.notInPod)
	node, problems := scope.ForPod(in.Template)
	out.notInPod = append(out.notInPod, reasonsOf(problems, append(slices.Clone(path), "template"))...)
	out.podPrograms.object = encode(node)
	out.podPrograms.identity = podIdentity(in.Template, scope)
}

// podIdentity returns the program of the name and namespace of a template's objects for
// the pod, or nil if the pod cannot evaluate it.
func podIdentity(template map[string]any, scope expression.Scope) json.RawMessage {
	metadata, _ := template["metadata"].(map[string]any)
	where := map[string]any{}
	for _, key := range []string{"name", "namespace"} {
		if value, ok := metadata[key]; ok {
			where[key] = value
		}
	}
	node, problems := scope.ForPod(where)
	if len(problems) > 0 {
		return nil
	}
	return encode(node)
}

func reasonsOf(problems []expression.Problem, path []string) []Reason {
	var out []Reason
	for _, p := range problems {
		out = append(out, Reason{Path: append(slices.Clone(path), p.Path...), Message: p.Message, Hint: p.Hint})
	}
	return out
}

// identity compiles the name and namespace of a child. Their problems are reported with
// the template.
func (c *compiler) identity(out *Child, in v1alpha1.Child, scope expression.Scope) {
	metadata, _ := in.Template["metadata"].(map[string]any)
	out.ObjectName, _ = expression.Template(metadata["name"], scope, schema.Of(schema.String))
	namespace, written := metadata["namespace"]
	out.SameNamespace = !written
	if written {
		out.Namespace, _ = expression.Template(namespace, scope, schema.Of(schema.String))
		out.SameNamespace = out.Namespace != nil && out.Namespace.Source() == ".metadata.namespace"
	}
	if out.ObjectName == nil {
		return
	}
}

func (c *compiler) expression(source string, scope expression.Scope, want string, path ...string) *expression.Program {
	program, problems := expression.Expression(source, scope, want)
	c.report(problems, path...)
	return program
}

// status compiles each field of the status separately.
func (c *compiler) status() Status {
	declared := c.d.Operator.Spec.Status
	want := schema.Any()
	if c.scope.Input != nil {
		want, _ = c.scope.Input.Field("status")
	}
	out := Status{ChildPaths: map[string][][]string{}}
	scope := c.scope
	scope.Omits = true
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		t, _ := want.Field(key)
		scope.List = "status." + key
		program, problems := expression.Template(declared[key], scope, t)
		c.report(problems, "spec", "status", key)
		if program == nil {
			continue
		}
		out.Fields = append(out.Fields, StatusField{Name: key, Value: program, InexactPaths: inexact(c.d, c.api.Kind, program)})
		for name, paths := range program.ReadsChildren() {
			out.ChildPaths[name] = append(out.ChildPaths[name], paths...)
		}
	}
	if len(declared) == 0 {
		return out
	}
	node, problems := scope.ForPod(declared)
	out.NotInPod = reasonsOf(problems, []string{"spec", "status"})
	if len(problems) == 0 {
		out.PodFields = encode(node)
	}
	return out
}
