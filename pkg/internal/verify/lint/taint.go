package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/expr-lang/expr/ast"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// names is a set of parameters; nil is none.
type names struct {
	all bool // an event can write any
	of  map[string]bool
}

func (n names) has(name string) bool { return n.all || n.of[name] }

// writes are what events write into a trigger's Workflow.
type writes struct {
	arguments names
	spec      wfv1.WorkflowSpec // with eventTag in place of what events write
	others    bool              // events write more than arguments
}

// eventTag stands for what an event writes into a field: it is an argument that no Workflow has.
const (
	eventArgument = "data-of-the-event"
	eventTag      = "{{workflow.parameters." + eventArgument + "}}"
)

// written returns what events write into a trigger's Workflow; those of watches are changes of objects.
func written(t argo.Trigger, wf *wfv1.Workflow, watches bool) writes {
	out := writes{arguments: names{of: map[string]bool{eventArgument: true}}, spec: wf.Spec}
	marked, _ := fieldsOf(wf).(map[string]any)
	for _, p := range t.AllParameters() {
		index, isArgument := argumentAt(p.Dest)
		switch {
		case p.List == "parameters" && !strings.Contains(p.Dest, "arguments"), strings.HasPrefix(p.Dest, "metadata."),
			isChecked(p.Src), watches && isPlainField(p.Src):
		case p.List != "parameters" && isArgument && index >= 0 && index < len(wf.Spec.Arguments.Parameters):
			out.arguments.of[wf.Spec.Arguments.Parameters[index].Name] = true
		case p.List != "parameters" && mark(marked, argo.Segments(p.Dest)):
			out.others = true
		default:
			out.arguments.all, out.others = true, true
		}
	}
	var changed wfv1.Workflow
	if data, err := json.Marshal(marked); out.others && err == nil && json.Unmarshal(data, &changed) == nil {
		out.spec = changed.Spec
	}
	return out
}

// checking matches a template whose result depends on the event, and is no text of it: what does not
// fit a pattern, for example, does not pass.
var checking = lazily(`\b(regexFind|mustRegexFind|regexReplaceAll\w*|mustRegexReplaceAll\w*|int|int64|float64|atoi|toDecimal|len` +
	`|eq|ne|lt|gt|le|ge|has|contains|hasPrefix|hasSuffix|empty|sha1sum|sha256sum|sha512sum|adler32sum|b64enc|b32enc)\b`)

func isChecked(src *eventsv1.TriggerParameterSource) bool {
	constant := src != nil && src.DataKey == "" && src.DataTemplate == "" && src.ContextTemplate == "" // the EventSource writes the context
	return constant || src != nil && checking().MatchString(src.DataTemplate)
}

// plainFields are the fields of a watched object in which the API server allows no special characters.
var plainFields = []string{
	"body.metadata.name", "body.metadata.namespace", "body.metadata.uid", "body.metadata.generation", "body.metadata.resourceVersion",
	"body.metadata.creationTimestamp", "body.kind", "body.apiVersion", "type",
}

func isPlainField(src *eventsv1.TriggerParameterSource) bool {
	return src != nil && src.DataTemplate == "" && src.ContextTemplate == "" && src.ContextKey == "" &&
		slices.Contains(plainFields, src.DataKey)
}

// mark writes eventTag at a path of fields that is there. A path to more than a value is not marked.
func mark(in any, path []string) bool {
	last := len(path) == 1
	switch v := in.(type) {
	case map[string]any:
		inner, ok := v[path[0]]
		if !last {
			return ok && mark(inner, path[1:])
		}
		if _, isText := inner.(string); ok && !isText {
			return false
		}
		v[path[0]] = eventTag
		return true
	case []any:
		n, err := strconv.Atoi(path[0])
		if err != nil || n < 0 || n >= len(v) {
			return false
		}
		if !last {
			return mark(v[n], path[1:])
		}
		if _, isText := v[n].(string); !isText {
			return false
		}
		v[n] = eventTag
		return true
	}
	return false
}

// argumentAt returns the position of the argument whose value a parameter writes; -1 is a new one.
func argumentAt(dest string) (index int, is bool) {
	place, isValue := strings.CutSuffix(dest, ".value")
	position, isArgument := strings.CutPrefix(place, "spec.arguments.parameters.")
	index, err := strconv.Atoi(position)
	return index, isValue && isArgument && err == nil
}

// taint follows what events write through the calls of templates.
type taint struct {
	set    *objectSet
	inputs map[string]map[string]bool // of templates, by templateID: the inputs that events write
	args   map[string]names           // of the Workflows that use a template, by templateID
}

// templateID identifies a template of a flow.
func templateID(in manifest.Object, f flow, name string) string {
	return fmt.Sprintf("%p %s %s", in, f.path, name)
}

func newTaint(s *objectSet) *taint {
	t := &taint{s, map[string]map[string]bool{}, map[string]names{}}
	for _, sensor := range argo.All[*eventsv1.Sensor](s.all) {
		for _, f := range s.flows[sensor] {
			t.start(sensor, f.marked(), f.writes.arguments, "")
		}
	}
	return t
}

// start follows the arguments of a Workflow, and those of the template that it refers to; its own
// entrypoint comes first.
func (t *taint) start(in manifest.Object, f flow, by names, entrypoint string) {
	entrypoint = cmp.Or(entrypoint, f.spec.Entrypoint)
	if ref := f.spec.WorkflowTemplateRef; ref != nil {
		for object, other := range t.set.referred(ref.Name, ref.ClusterScope, f.namespace) {
			t.start(object, other, by, entrypoint)
		}
	}
	for _, name := range append([]string{entrypoint, f.spec.OnExit}, hooks(f.spec.Hooks)...) {
		t.enter(in, f, name, by.of, by)
	}
}

func hooks(of wfv1.LifecycleHooks) []string {
	var out []string
	for _, hook := range of {
		out = append(out, hook.Template)
	}
	return out
}

// enter follows a call of a template whose inputs events write in part.
func (t *taint) enter(in manifest.Object, f flow, name string, inputs map[string]bool, by names) {
	for _, one := range f.templates() {
		if one.Name != name || name == "" {
			continue
		}
		if t.record(templateID(in, f, name), inputs, by) {
			t.calls(in, f, one, by)
		}
	}
}

// record adds what events write of a template. It returns false if nothing is new.
func (t *taint) record(id string, inputs map[string]bool, by names) bool {
	known, seen := t.inputs[id]
	if !seen {
		known = map[string]bool{}
		t.inputs[id] = known
	}
	before, args := len(known), t.args[id]
	for name := range inputs {
		known[name] = true
	}
	merged := names{args.all || by.all, map[string]bool{}}
	for _, of := range []map[string]bool{args.of, by.of} {
		for name := range of {
			merged.of[name] = true
		}
	}
	t.args[id] = merged
	return !seen || len(known) > before || merged.all != args.all || len(merged.of) > len(args.of)
}

// calls follows the calls in a template.
func (t *taint) calls(in manifest.Object, f flow, of template, by names) {
	eachCall(of, func(_ *field.Path, c call) {
		each := len(t.tags(in, f, of, c.withParam)) > 0
		inputs := map[string]bool{}
		for _, p := range c.arguments.Parameters {
			if p.Value != nil && (len(t.tags(in, f, of, p.Value.String())) > 0 || each && itemTag().MatchString(p.Value.String())) {
				inputs[p.Name] = true
			}
		}
		switch {
		case c.ref != nil:
			for object, other := range t.set.referred(c.ref.Name, c.ref.ClusterScope, f.namespace) {
				t.enter(object, other, c.ref.Template, inputs, by)
			}
		case c.inline != nil:
			t.enter(in, f, c.inline.Name, inputs, by)
		default:
			t.enter(in, f, c.template, inputs, by)
		}
		for _, hook := range c.hooks {
			t.enter(in, f, hook.Template, nil, by)
		}
	})
}

var (
	// itemTag matches a tag of an item of withParam.
	itemTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{=?[^}]*\bitem\b[^}]*\}\}`) })
	// parameterIn matches a parameter in a tag.
	parameterIn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(workflow|inputs)\.parameters(?:\.([-\w]+)|\[['"]([-\w]+)['"]\])?`)
	})
)

// tags returns the tags in a text of a template that have a value which events write.
func (t *taint) tags(in manifest.Object, f flow, of template, text string) []string {
	id := templateID(in, f, of.Name)
	var out []string
	for _, tag := range userTags(text) {
		if slices.ContainsFunc(parameterIn().FindAllStringSubmatch(tag, -1), func(m []string) bool {
			name := m[2] + m[3]
			if m[1] == "inputs" {
				return name == "" && len(t.inputs[id]) > 0 || t.inputs[id][name]
			}
			args := t.args[id]
			return name == "" && (args.all || len(args.of) > 0) || name != "" && args.has(name)
		}) {
			out = append(out, tag)
		}
	}
	return out
}

// withoutText are functions whose result has no text of their arguments: numbers, booleans, hashes and encodings.
var withoutText = []string{
	"len", "asInt", "asFloat", "int", "int64", "float", "float64", "atoi", "toDecimal", "round", "floor", "ceil", "abs", "count", "indexOf",
	"all", "any", "none", "one", "empty", "contains", "has", "hasPrefix", "hasSuffix", "regexMatch", "mustRegexMatch", "toBase64", "b64enc",
	"b32enc", "sha1sum", "sha256sum", "sha512sum", "adler32sum",
}

// harmless reports whether a tag is an expression whose result cannot contain a text that somebody chooses.
func harmless(tag string) bool {
	m := expressionTag().FindStringSubmatch(tag)
	if m == nil {
		return false
	}
	tree, err := parsed(m[1])
	return err == nil && withoutInput(tree.Node)
}

func withoutInput(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode, *ast.UnaryNode, *ast.PredicateNode:
		return true
	case *ast.ConditionalNode:
		return withoutInput(n.Exp1) && withoutInput(n.Exp2)
	case *ast.BinaryNode:
		return n.Operator != "+" && n.Operator != "??" && n.Operator != ".." || withoutInput(n.Left) && withoutInput(n.Right)
	case *ast.BuiltinNode:
		return slices.Contains(withoutText, n.Name)
	case *ast.CallNode:
		return slices.Contains(withoutText, lastName(n.Callee))
	}
	return false
}

// lastName returns the name of a function, without that of its library.
func lastName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			return name.Value
		}
	}
	return ""
}
