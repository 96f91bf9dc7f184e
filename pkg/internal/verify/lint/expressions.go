package lint

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/Knetic/govaluate"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/expr/env"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// tag matches a tag of Argo.
var tag = lazily(`\{\{[^{}]*\}\}`)

// expressionTag matches a tag with an expression.
var expressionTag = lazily(`\{\{=((?:[^}]|\}[^}])*)\}\}`)

func invalidExpressions(i *inspection, f flow) {
	for _, t := range f.templates() {
		e := sync.OnceValue(func() scope { return i.scopeOf(f, t) }) // most templates have no expression
		for at, text := range i.taggedIn(t) {
			if !strings.Contains(text, "{{=") {
				continue
			}
			for _, m := range expressionTag().FindAllStringSubmatch(text, -1) {
				here := e()
				if strings.HasSuffix(at.String(), ".resource.manifest") {
					here.only, here.closed = nil, nil // what Argo cannot evaluate may be for the object
				}
				i.expression(at, here, m[1], false)
			}
		}
		eachCall(t, func(at *field.Path, c call) {
			i.when(at.Child("when"), c.when)
			i.whenOfItems(at, c)
			i.hooks(at, e, c.hooks)
		})
		if r := t.RetryStrategy; r != nil {
			i.expression(t.path.Child("retryStrategy", "expression"), retried, r.Expression, true)
		}
		if t.Metrics != nil {
			for n, m := range t.Metrics.Prometheus {
				i.when(t.path.Child("metrics", "prometheus").Index(n).Child("when"), m.When)
			}
		}
		if t.DAG != nil {
			for n, task := range t.DAG.Tasks {
				i.depends(t.path.Child("dag", "tasks").Index(n).Child("depends"), task.Depends)
			}
			i.neverRun(f, t)
		}
		for n, p := range t.Outputs.Parameters {
			if p.ValueFrom != nil {
				at := t.path.Child("outputs", "parameters").Index(n).Child("valueFrom", "expression")
				i.expressionIn(at, e, p.ValueFrom.Expression, false)
			}
		}
		for n, a := range t.Outputs.Artifacts {
			i.expressionIn(t.path.Child("outputs", "artifacts").Index(n).Child("fromExpression"), e, a.FromExpression, false)
		}
		if h := t.HTTP; h != nil {
			i.expression(t.path.Child("http", "successCondition"), answered, h.SuccessCondition, true)
		}
		if d := t.Data; d != nil {
			for n, step := range d.Transformation {
				at := t.path.Child("data", "transformation").Index(n).Child("expression")
				i.expression(at, scope{only: []string{"data"}}, step.Expression, false)
			}
		}
		if r := t.Resource; r != nil {
			i.selector(t.path.Child("resource", "successCondition"), r.SuccessCondition)
			i.selector(t.path.Child("resource", "failureCondition"), r.FailureCondition)
		}
	}
	i.hooks(f.path, func() scope { return i.scopeOf(f, template{}) }, f.spec.Hooks)
	if r := f.spec.RetryStrategy; r != nil {
		i.expression(f.path.Child("retryStrategy", "expression"), retried, r.Expression, true)
	}
}

func (i *inspection) hooks(at *field.Path, e func() scope, hooks wfv1.LifecycleHooks) {
	for name, hook := range hooks {
		i.expressionIn(at.Child("hooks").Child(string(name), "expression"), e, hook.Expression, true)
	}
}

// selector checks a condition of a resource template.
func (i *inspection) selector(at *field.Path, text string) {
	if _, err := labels.Parse(tag().ReplaceAllString(text, "tag")); err != nil {
		i.reportHint(at, "write conditions like status.succeeded > 0, joined by commas", "%v", err)
	}
}

// comparedStatus matches a comparison with a status.
var comparedStatus = lazily(`\{\{\s*((?:(?:workflow|(?:steps|tasks)\.[-\w]+)\.)?status)\s*\}\}["']?\s*(?:==|!=)\s*["']?([A-Za-z]+)["']?`)

// statuses are the values of a status.
var statuses = []string{
	string(wfv1.NodeSucceeded), string(wfv1.NodeFailed), string(wfv1.NodeError), string(wfv1.NodeSkipped), string(wfv1.NodeOmitted),
	string(wfv1.NodeRunning), string(wfv1.NodePending), "Daemoned",
}

// depends checks which results of other tasks a task waits for. In it, the controller replaces the hyphens of names.
func (i *inspection) depends(at *field.Path, text string) {
	if text == "" || strings.Contains(text, "{{") {
		return
	}
	if _, err := parsed(strings.ReplaceAll(text, "-", "_")); err != nil {
		i.reportHint(at, "join tasks with && and ||, such as (a.Succeeded || b.Failed) && c", "%v", err)
	}
}

// when checks a condition of a step. Argo reads a word without quotes as text.
func (i *inspection) when(at *field.Path, text string) {
	if text == "" || expressionTag().MatchString(text) {
		return
	}
	const unknown = "tag"
	parsed, err := govaluate.NewEvaluableExpression(tag().ReplaceAllString(text, unknown))
	if err != nil {
		i.report(at, "%v", err)
		return
	}
	if m := comparedStatus().FindStringSubmatch(text); m != nil && !slices.Contains(statuses, m[2]) {
		i.reportHint(at, oneOf(m[2], statuses), "%s is never %s", m[1], m[2])
		return
	}
	tokens := parsed.Tokens()
	word := func(n int) bool {
		return n >= 0 && n < len(tokens) && tokens[n].Kind == govaluate.VARIABLE && tokens[n].Value != unknown
	}
	for n, one := range tokens {
		if one.Kind == govaluate.MODIFIER && one.Value != "+" && (word(n-1) || word(n+1)) {
			i.reportHint(at, "quote the texts on both sides", "%v calculates with a text here", one.Value)
			return
		}
	}
}

// invalidSelector checks the expressions of a WorkflowEventBinding.
func invalidSelector(i *inspection, b *wfv1.WorkflowEventBinding) {
	e := scope{only: []string{"payload", "metadata", "discriminator", "namespace"}}
	i.expression(field.NewPath("spec", "event", "selector"), e, b.Spec.Event.Selector, true)
	submit, at := b.Spec.Submit, field.NewPath("spec", "submit")
	if submit == nil {
		return
	}
	i.expression(at.Child("metadata", "name"), e, submit.Name, false)
	i.expression(at.Child("metadata", "generateName"), e, submit.GenerateName, false)
	for where, texts := range map[string]map[string]string{"labels": submit.Labels, "annotations": submit.Annotations} {
		for key, text := range texts {
			i.expression(at.Child("metadata", where).Key(key), e, text, false)
		}
	}
	for n := 0; submit.Arguments != nil && n < len(submit.Arguments.Parameters); n++ {
		if from := submit.Arguments.Parameters[n].ValueFrom; from != nil {
			i.expression(at.Child("arguments", "parameters").Index(n).Child("valueFrom", "event"), e, from.Event, false)
		}
	}
}

// invalidCondition checks the condition of a CronWorkflow, which has no variables outside of tags.
func invalidCondition(i *inspection, c *wfv1.CronWorkflow) {
	if s := c.Spec.StopStrategy; s != nil {
		i.expression(field.NewPath("spec", "stopStrategy", "expression"), scheduled, s.Expression, true)
	}
	for _, m := range expressionTag().FindAllStringSubmatch(c.Spec.When, -1) {
		i.expression(field.NewPath("spec", "when"), scheduled, m[1], false)
	}
	at := field.NewPath("spec", "when")
	if found := lacksBrace(c.Spec.When); found != "" {
		i.reportHint(at, braceHint, "the tag %s lacks a brace", found)
		return
	}
	if c.Spec.When == "" || strings.Contains(c.Spec.When, "{{") {
		return
	}
	condition, err := govaluate.NewEvaluableExpression(c.Spec.When)
	if err != nil {
		i.report(at, "%v", err)
	} else if _, err = condition.Evaluate(nil); err != nil {
		i.reportHint(at, "write {{= "+c.Spec.When+" }}", "%v", err)
	}
}

// scheduled is the scope of the conditions of a CronWorkflow.
var scheduled = scope{
	known: map[string]any{
		"cronworkflow.name": "", "cronworkflow.namespace": "", "cronworkflow.labels": nil, "cronworkflow.annotations": nil,
		"cronworkflow.failed": nil, "cronworkflow.succeeded": nil, "cronworkflow.lastScheduledTime": nil,
	},
	names: map[string]bool{"failed": true, "succeeded": true, "lastScheduledTime": true, "namespace": true},
	only:  []string{"cronworkflow"}, closed: []string{"cronworkflow"},
}

// parsed parses an expression. The library would add a drawing to the error.
func parsed(text string) (*parser.Tree, error) {
	tree, err := parser.Parse(text)
	if wrong := (*file.Error)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("%s, at character %d of the expression", wrong.Message, wrong.Column+1)
	}
	return tree, err
}

// scope is what an expression can use: the values that are certainly there, and the names of
// parameters, steps and tasks.
type scope struct {
	known  map[string]any
	names  map[string]bool
	only   []string // there are no other names than these, and functions; nil: there may be others
	closed []string // values that have no other fields than those in known
	absent string   // a name that exists elsewhere
}

// answered is the scope of the condition of an http template.
var answered = scope{
	known: map[string]any{
		"request.method": "", "request.url": "", "request.body": "", "request.bodyBytes": nil, "request.headers": nil,
		"response.statusCode": 0, "response.body": "", "response.headers": nil,
	},
	names: map[string]bool{"headers": true, "body": true, "method": true, "url": true, "statusCode": true},
	only:  []string{"request", "response"}, closed: []string{"request", "response"},
}

// retried is the scope of the expressions of retryStrategy.
var retried = scope{
	names: map[string]bool{"exitCode": true, "status": true, "duration": true, "message": true},
	known: map[string]any{
		"retries": "", "lastRetry.exitCode": "", "lastRetry.status": "", "lastRetry.duration": "", "lastRetry.message": "",
	},
	only: []string{"retries", "lastRetry"}, closed: []string{"lastRetry"},
}

// inTags are the names that an expression in a tag can use, of them some only in metrics.
var inTags = []string{
	"workflow", "inputs", "outputs", "steps", "tasks", "item", "pod", "node", "retries", "lastRetry", "status", "duration", "exitCode",
	"resourcesDuration",
}

// scopeOf returns the scope of the expressions of a template: all values are texts.
func (i *inspection) scopeOf(f flow, t template) scope {
	e := scope{known: map[string]any{}, names: map[string]bool{}}
	for _, name := range append([]string{"result"}, slices.Concat(wordsAfter["inputs"], wordsAfter["steps"])...) {
		e.names[name] = true
	}
	alone := f.spec.WorkflowTemplateRef == nil && f.spec.TemplateDefaults == nil && i.set.defaults.TemplateDefaults == nil
	if alone && !strings.Contains(t.path.String(), ".inline") { // an inline template also has the names of its caller
		e.only = inTags
		if t.path != nil {
			e.closed = append(e.closed, "inputs", "inputs.parameters")
			e.known["inputs.artifacts"] = nil
		}
		if templateSpec(i.Object) == nil && !f.writes.others && !f.writes.arguments.all {
			e.closed = append(e.closed, "workflow.parameters")
		}
	}
	switch {
	case t.DAG != nil:
		e.absent = "steps"
	case len(t.Steps) > 0:
		e.absent = "tasks"
	}
	for _, name := range wordsAfter["workflow"] {
		e.known["workflow."+name] = nil
	}
	delete(e.known, "workflow.parameters")
	for _, name := range []string{
		"workflow.name", "workflow.namespace", "workflow.uid", "workflow.serviceAccountName", "workflow.status", "workflow.parameters.json",
	} {
		e.known[name] = ""
	}
	if e.only != nil {
		e.closed = append(e.closed, "workflow")
	}
	for _, name := range []string{"exitCode", "status", "duration", "message"} {
		e.known["lastRetry."+name] = ""
	}
	for _, p := range f.spec.Arguments.Parameters {
		e.known["workflow.parameters."+p.Name] = ""
		e.names[p.Name] = true
	}
	for _, p := range t.Inputs.Parameters {
		e.known["inputs.parameters."+p.Name] = ""
		e.names[p.Name] = true
	}
	kind := "steps"
	if t.DAG != nil {
		kind = "tasks"
	}
	e.known[kind+".name"] = ""
	if e.only != nil && (t.DAG != nil || len(t.Steps) > 0) {
		e.closed = append(e.closed, kind)
	}
	eachCall(t, func(_ *field.Path, c call) {
		e.names[c.name] = true
		at := kind + "." + c.name + "."
		for _, of := range []string{"id", "ip", "status", "startedAt", "finishedAt", "exitCode", "hostNodeName", "outputs.result"} {
			e.known[at+of] = ""
		}
		if e.only != nil {
			e.closed = append(e.closed, kind+"."+c.name)
		}
		n := slices.IndexFunc(f.spec.Templates, func(t wfv1.Template) bool { return t.Name == c.template })
		if e.only == nil || c.ref != nil || c.inline != nil || c.repeated || n < 0 {
			return
		}
		if !f.spec.Templates[n].HasOutput() {
			delete(e.known, at+"outputs.result")
		}
		e.known[at+"outputs.artifacts"] = any(nil)
		for _, p := range f.spec.Templates[n].Outputs.Parameters {
			e.known[at+"outputs.parameters."+p.Name] = ""
			e.names[p.Name] = true
		}
		if f.spec.Templates[n].Plugin == nil { // which may return any
			e.closed = append(e.closed, at+"outputs", at+"outputs.parameters")
		}
	})
	return e
}

// guarded matches an expression that may expect a value not to be there.
var guarded = lazily(`\?\?|\?\.|\bin\b`)

// types returns the types of the scope. What it does not know may be anything.
func (e scope) types() types.Map {
	all := types.Map{types.Extra: types.Any}
	if e.only != nil {
		all = types.Map{"sprig": types.Any}
	}
	for _, name := range e.only {
		all[name] = types.Any
	}
	maps.Copy(all, functionTypes())
	in := func(path []string) types.Map {
		of := all
		for _, step := range path {
			next, ok := of[step].(types.Map)
			if !ok {
				next = types.Map{types.Extra: types.Any}
				of[step] = next
			}
			of = next
		}
		return of
	}
	for path, value := range e.known {
		steps := strings.Split(path, ".")
		last := len(steps) - 1
		in(steps[:last])[steps[last]] = types.Any
		if value != nil {
			in(steps[:last])[steps[last]] = types.TypeOf(value)
		}
	}
	for _, path := range e.closed {
		delete(in(strings.Split(path, ".")), types.Extra)
	}
	return all
}

// bare matches the list of all parameters, which is a text in JSON.
var bare = lazily(`\b(workflow|inputs)\.parameters\s*([^.\[\s]|$)`)

// expressionIn is expression with a scope that is made if there is an expression.
func (i *inspection) expressionIn(at *field.Path, e func() scope, text string, condition bool) {
	if text != "" {
		i.expression(at, e(), text, condition)
	}
}

// expression checks an expression that Argo evaluates with expr; a condition is true or false.
func (i *inspection) expression(at *field.Path, e scope, text string, condition bool) {
	if text == "" {
		return
	}
	constant := tag().ReplaceAllString(text, "tag") // Argo replaces tags before it evaluates
	tree, err := parsed(constant)
	if err != nil {
		i.report(at, "%v", err)
		return
	}
	if i.names(at, e, tree.Node) || bare().MatchString(text) {
		return
	}
	if guarded().MatchString(text) {
		e.closed = nil
	}
	known := e.types()
	known["tag"] = types.Any
	options := []expr.Option{expr.Env(known)}
	if condition {
		options = append(options, expr.AsBool())
	}
	if _, err = expr.Compile(constant, options...); err == nil {
		err = e.argumentsOf(tree.Node)
	}
	wrong := (*file.Error)(nil)
	if is := errors.As(err, &wrong); constant != text && (!is || !strings.HasPrefix(wrong.Message, "unknown ")) {
		return // what Argo writes for a tag may have any type
	} else if is {
		message := wrong.Message
		hint := "use values of one type: asInt(…) and asFloat(…) convert a text"
		if name, is := strings.CutPrefix(wrong.Message, "unknown name "); is {
			hint = cmp.Or(diag.DidYouMean(name, e.only, strings.ToLower),
				"it can use "+strings.Join(e.only, ", ")+", and quote a text: '"+name+"'")
		}
		if name, is := strings.CutPrefix(wrong.Message, unknownField); is {
			whole := fieldOf(tree.Node, name)
			message = "there is no " + whole
			hint = cmp.Or(diag.DidYouMean(name, slices.Sorted(maps.Keys(e.names)), strings.ToLower),
				"correct the name, or add what it names")
			if whole == "workflow."+name { // newer versions may have more words
				if hint = diag.DidYouMean(name, wordsAfter["workflow"], strings.ToLower); hint == "" {
					return
				}
			}
		}
		i.reportHint(at, hint, "%s", message)
	} else if err != nil {
		i.report(at, "%v", err)
	}
}

// unknownField begins the message of the compiler about a field that a value does not have.
const unknownField = "unknown field "

// argumentsOf returns the first unknown field in the arguments of a function of sprig, which the compiler does not look at.
func (e scope) argumentsOf(root ast.Node) (found error) {
	ast.Walk(&root, visitor(func(n ast.Node) {
		call, is := n.(*ast.CallNode)
		if !is || found != nil {
			return
		}
		if of, _ := rootOf(call.Callee); of == nil || of.Value != "sprig" {
			return
		}
		for _, argument := range call.Arguments {
			_, err := expr.Compile(argument.String(), expr.Env(e.types()))
			if wrong := (*file.Error)(nil); errors.As(err, &wrong) && strings.HasPrefix(wrong.Message, unknownField) {
				found = err
			}
		}
	}))
	return found
}

// fieldOf returns the text of the first field with a name in an expression.
func fieldOf(root ast.Node, name string) string {
	found := name
	ast.Walk(&root, visitor(func(n ast.Node) {
		if member, ok := n.(*ast.MemberNode); ok && found == name && lastName(member) == name {
			found = member.String()
		}
	}))
	return found
}

// names reports names in an expression that do not exist, and those that are read as a subtraction.
func (i *inspection) names(at *field.Path, e scope, root ast.Node) (found bool) {
	report := func(hint, format string, args ...any) {
		found = true
		i.reportHint(at, hint, format, args...)
	}
	uses, declares := false, false // what is absent
	defer func() {
		if uses && !declares && e.absent != "" {
			other := map[string]string{"steps": "tasks", "tasks": "steps"}[e.absent]
			report("write "+other, "the template has %s, and no %s", other, e.absent)
		}
	}()
	ast.Walk(&root, visitor(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BinaryNode:
			if of, value := comparison(n); value != "" && !slices.Contains(statuses, value) {
				report(oneOf(value, statuses), "%s is never %s", of, value)
			}
			left, ok := n.Left.(*ast.MemberNode)
			if !ok || n.Operator != "-" {
				return
			}
			first, _ := left.Property.(*ast.StringNode)
			second, rest := rootOf(n.Right)
			if first == nil || second == nil {
				return
			}
			if name := first.Value + "-" + second.Value; e.names[name] {
				report("write "+left.Node.String()+"['"+name+"']"+rest, "%s is a subtraction here", n)
			}
		case *ast.IdentifierNode:
			uses = uses || n.Value == e.absent
		case *ast.VariableDeclaratorNode:
			declares = declares || n.Name == e.absent
		case *ast.CallNode:
			name, ok := n.Callee.(*ast.IdentifierNode)
			if ok && functions()[name.Value] == nil {
				report(nearestKey(name.Value, functions()), "there is no function %s", name.Value)
			}
			if !ok || name.Value != "jsonpath" || len(n.Arguments) != 2 {
				return
			}
			if path, is := n.Arguments[1].(*ast.StringNode); is && !strings.HasPrefix(path.Value, "$") &&
				!strings.HasPrefix(path.Value, "@") {
				report("write $."+strings.TrimPrefix(path.Value, "."), "the path %s does not begin with $", path.Value)
			}
		case *ast.MemberNode:
			root, ok := n.Node.(*ast.IdentifierNode)
			name, text := n.Property.(*ast.StringNode)
			if ok && text && root.Value == "metadata" && slices.Contains(e.only, "metadata") &&
				strings.ToLower(name.Value) != name.Value {
				report(`write metadata["`+strings.ToLower(name.Value)+`"]`, "the names of headers are in lower case")
			}
			if ok && text && root.Value == "sprig" {
				known, _ := functions()["sprig"].(map[string]any)
				if known != nil && known[name.Value] == nil {
					report(nearestKey(name.Value, known), "sprig has no function %s", name.Value)
				}
			}
		}
	}))
	return found
}

// comparison returns the status that a node compares with a text, and the text; "" if it compares something else.
func comparison(n *ast.BinaryNode) (status, text string) {
	if n.Operator != "==" && n.Operator != "!=" {
		return "", ""
	}
	for _, side := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		member, ok := side[0].(*ast.MemberNode)
		value, isText := side[1].(*ast.StringNode)
		if root, _ := rootOf(side[0]); ok && isText && root != nil && lastName(member) == "status" &&
			slices.Contains([]string{"workflow", "steps", "tasks", "lastRetry"}, root.Value) {
			return member.String(), value.Value
		}
	}
	return "", ""
}

// rootOf returns the name at which a chain of fields begins, and the rest of the chain.
func rootOf(n ast.Node) (root *ast.IdentifierNode, rest string) {
	for {
		switch of := n.(type) {
		case *ast.IdentifierNode:
			return of, rest
		case *ast.MemberNode:
			property, ok := of.Property.(*ast.StringNode)
			if !ok {
				return nil, ""
			}
			n, rest = of.Node, "."+property.Value+rest
		default:
			return nil, ""
		}
	}
}

func nearestKey(name string, known map[string]any) string {
	return diag.DidYouMean(name, slices.Sorted(maps.Keys(known)), strings.ToLower)
}

// functions are the functions that an expression can call.
var functions = sync.OnceValue(func() map[string]any { return env.GetFuncMap(map[string]any{}) })

// functionTypes are their types.
var functionTypes = sync.OnceValue(func() types.Map {
	out := types.Map{}
	for name, function := range functions() {
		if reflect.TypeOf(function).Kind() == reflect.Func {
			out[name] = types.TypeOf(function)
		}
	}
	return out
})

type visitor func(ast.Node)

func (v visitor) Visit(node *ast.Node) { v(*node) }
