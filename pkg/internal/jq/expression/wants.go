package expression

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// mayBeNull reports whether the expression can yield null, or nothing.
func (e *expr) mayBeNull() bool { return e.min == 0 || e.max > 1 || e.kinds&null != 0 }

// wantKind reports a mapping, a list or a string where the schema has another kind.
func (c *templates) wantKind(path []string, got kinds, want schema.Type, hint string) {
	if ofType(want)&got == 0 {
		c.problem(
			Problem{
				Path:    path,
				Code:    WrongType,
				Message: fmt.Sprintf("%s must be %s, and this is %s", c.field(path), ofType(want), got),
				Hint:    cmp.Or(hint, hintFor(want)),
			},
		)
	}
}

// hintFor returns what to write for a value of a type.
func hintFor(want schema.Type) string {
	switch ofType(want) &^ null {
	case boolean:
		return "write true or false"
	case integer:
		return "write a whole number, such as 1"
	case number:
		return "write a number, such as 1"
	case array:
		return "write a list: begin each item with -, or write [ITEM, ITEM]"
	case object:
		if fields := want.Fields(); 0 < len(fields) && len(fields) <= mostFields {
			return "write a mapping with the fields that you need of: " + strings.Join(fields, ", ")
		}
		return "write a mapping: KEY: VALUE"
	}
	return ""
}

// mostFields limits the fields that a hint lists.
const mostFields = 14

// field formats the path of a value in the template: spec.containers[0].args[2].
func (c *templates) field(path []string) string {
	if len(path) == 0 {
		return "the value"
	}
	var b strings.Builder
	at := c.whole
	if _, list := at.([]any); list {
		b.WriteString(c.scope.List)
	}
	for _, name := range path {
		if items, ok := at.([]any); ok {
			i, _ := strconv.Atoi(name)
			at = items[i]
			b.WriteString("[" + name + "]")
			continue
		}
		fields, _ := at.(map[string]any)
		at = fields[name]
		b.WriteString(strings.TrimPrefix(read{inputRoot, []string{name}}.String(), "."[:min(1, max(0, 1-b.Len()))]))
	}
	return b.String()
}

func (c *templates) wantLiteral(path []string, literal any, want schema.Type) {
	if literal == nil {
		return
	}
	hint := fixLiteral(literal, ofType(want))
	if text, ok := literal.(string); ok && hint == "" {
		hint = blockHint(text, nil)
	}
	c.wantKind(path, ofLiteral(literal), want, hint)
}

// wantField returns the schema of a key of a mapping.
func (c *templates) wantField(path []string, key string, want schema.Type) schema.Type {
	if want.Kind() != schema.Object {
		return schema.Any()
	}
	t, known := want.Field(key)
	if known {
		return t
	}
	at := append(slices.Clip(path), key)
	c.problem(Problem{
		Path: at, OnKey: true, Code: UnknownField, Message: fmt.Sprintf("%s: no such field%s", c.field(at), c.of()),
		Hint: c.keyHint(path, key, want.Fields()),
	})
	return schema.Any()
}

// childKeys are keys of a child that users write into its template.
var childKeys = []string{"when", "forEach", "dependsOn", "readyWhen", "onDelete", "update", "adopt", "variables"}

// keyHint returns what to write for a key that is not a field of its mapping.
func (c *templates) keyHint(path []string, key string, fields []string) string {
	if len(path) == 0 && c.kind != "" && slices.Contains(childKeys, key) {
		return key + " is a key of the child: move it next to template"
	}
	if owner, ok := c.enclosing(path, key); ok {
		return key + " is a field of " + owner + ": move it there, with less indentation"
	}
	if best := nearest(key, fields); best != "" {
		return "did you mean " + best + "?"
	}
	if 0 < len(fields) && len(fields) <= mostFields {
		return "fields: " + strings.Join(fields, ", ")
	}
	return ""
}

// enclosing returns the innermost mapping around the one at a path that has a field.
func (c *templates) enclosing(path []string, key string) (owner string, ok bool) {
	t := c.want
	for i, name := range path {
		if slices.Contains(t.Fields(), key) {
			owner, ok = c.field(path[:i]), true
			if i == 0 {
				owner = "the object"
			}
		}
		if t.Kind() == schema.Array {
			t = t.Item()
			continue
		}
		t, _ = t.Field(name)
	}
	return owner, ok
}

// of returns the kind of the template for the end of a message.
func (c *templates) of() string {
	if c.kind == "" {
		return ""
	}
	return " in " + c.kind
}

// wantValue reports an expression that can never yield a value of the schema.
func (c *templates) wantValue(e *expr, want schema.Type) {
	got, wanted := e.kinds&^null, ofType(want)
	if got != 0 && got&wanted == 0 {
		fix, caveat := c.fix(e, got, wanted)
		if allowed := schema.Strings(want); got == boolean && len(allowed) > 0 {
			fix = chosen(e.text, allowed)
		}
		c.wrong(e, fmt.Sprintf("%s must be %s, and %s is %s", c.field(e.path), wanted, e.text, got), fix, caveat, "")
		return
	}
	if e.item != nil && got == array {
		c.wantItem(e, e.item, want.Item(), e.withoutNull())
	}
	c.wantAllowed(e, want)
	if e.shape != nil && (got == object || got == array) {
		fix, caveat := e.fixItems(want)
		c.fit(e, c.field(e.path), e.shape, want, fix, caveat)
	}
}

// wrong reports an expression of a wrong type. fix is jq to write instead, or "".
func (c *templates) wrong(e *expr, message, fix, caveat, hint string) {
	c.problem(Problem{
		Path: e.path, Offset: e.at, Length: len(e.text), Code: WrongType, Message: message, Hint: hint,
		Fix: fix, Caveat: caveat, FixAt: e.at, FixEnd: e.at + len(e.text),
	})
}

// fit compares two schemas, field by field.
func (c *templates) fit(e *expr, at string, got, want schema.Type, fix, caveat string) {
	g, w := ofType(got)&^null, ofType(want)
	if g&w == 0 {
		hint := ""
		if step := conversion(g, w); fix == "" && step != "" {
			hint = strings.TrimSuffix("write | "+step+" after the value; "+cautious(step), "; ")
		}
		c.wrong(e, fmt.Sprintf("%s must be %s, and in %s it is %s", at, w, e.text, g), fix, caveat, hint)
		return
	}
	if strings.Count(at, ".") > 20 {
		return // schemas of schemas are recursive
	}
	if got.Kind() == schema.Array && want.Kind() == schema.Array {
		c.fit(e, at+"[]", got.Item(), want.Item(), fix, caveat)
	}
	if got.Kind() != schema.Object || want.Kind() != schema.Object {
		return
	}
	for _, name := range got.Fields() {
		t, _ := got.Field(name)
		w, known := want.Field(name)
		if !known {
			c.problem(Problem{
				Path: e.path, Offset: e.at, Length: len(e.text), Code: UnknownField,
				Message: fmt.Sprintf("%s.%s: no such field%s, but %s may contain it", at, name, c.of(), e.text),
			})
			continue
		}
		c.fit(e, at+"."+name, t, w, "", "")
	}
}

// wantText checks an expression inside a string.
func (c *templates) wantText(e *expr) {
	if got := e.kinds &^ null; got != 0 && got&^(array|object) == 0 {
		c.wrong(e, fmt.Sprintf("%s is %s, which cannot be part of a string", e.text, got), e.asJSON(got), "for its JSON", "")
		return
	}
	if e.absent == nil {
		return
	}
	hint := e.withDefault()
	if len(e.path) == 2 && e.path[0] == "metadata" && (e.path[1] == "name" || e.path[1] == "namespace") {
		hint = e.given() // an empty part makes a name that is not valid
	}
	c.warn(e, "null cannot be part of a string", c.orWhen(e.absent, hint))
	if fix := c.orNull(); c.scope.Omits && fix != "" {
		p := &c.problems[len(c.problems)-1]
		p.Fix, p.FixAt, p.FixEnd = fix, 0, len(c.text)
	}
}

// orNull returns the text as an expression that is null if a part of it is; "" if it has
// several lines.
func (c *templates) orNull() string {
	parts, err := split(c.text)
	if err != nil || strings.Contains(c.text, "\n") {
		return ""
	}
	var given []string
	text := ""
	for _, p := range parts {
		if !p.expr {
			literal := jq.Quote(p.text)
			text += literal[1 : len(literal)-1]
			continue
		}
		source := strings.TrimSpace(p.text)
		text += `\(` + source + `)`
		part := &templates{scope: c.scope, given: c.given, trial: true}
		e := part.analysed(nil, p)
		if e == nil || e.absent == nil {
			continue
		}
		if !jqhint.PlainPath(source) {
			source = e.absent.read.String()
		}
		if there := source + " != null"; !slices.Contains(given, there) {
			given = append(given, there)
		}
	}
	return `${ if ` + strings.Join(given, " and ") + ` then "` + text + `" else null end }`
}

// wantNeeded warns of a required field that can be omitted.
func (c *templates) wantNeeded(n node, path []string) {
	if n.expr == nil || n.expr.absent == nil {
		return
	}
	c.warn(n.expr, c.field(path)+" is required", c.orWhen(n.expr.absent, n.expr.given()))
}

// given returns a hint to have a value always.
func (e *expr) given() string {
	if read := e.absent.read.String(); strings.HasPrefix(read, ".spec.") {
		return "in the schema, write required=true or a default for " + read
	}
	return e.withDefault()
}

// wantItem warns of an item of a list that can be null where the API server rejects null, or reads a text.
func (c *templates) wantItem(e *expr, is *absence, want schema.Type, hint string) {
	if want.Kind() == schema.Unknown || want.Nullable() || is.root.others() && c.scope.Waits && !c.scope.excludes(is.read) {
		return
	}
	if _, validated := schema.Default(want); validated { // by the schema of a custom resource
		c.warnOf(e, is, "the API server rejects null in a list", hint)
	} else if schema.OfKubernetes(want) && want.Kind() == schema.String {
		c.warnOf(e, is, "the API server reads null in a list as an empty text", hint)
	}
}

// withoutNull returns a hint to omit an item that is null from a list that is an expression.
func (e *expr) withoutNull() string {
	inner, ok := strings.CutSuffix(strings.TrimPrefix(e.text, "["), "]")
	if !ok || strings.ContainsAny(inner, ",[|") || !strings.HasPrefix(e.text, "[") {
		return "write // empty after the value, which omits it"
	}
	return "write [" + strings.TrimSpace(inner) + " // empty], which omits it"
}

// orWhen puts before a hint how to omit the whole child while an optional object of the
// custom resource is missing.
func (c *templates) orWhen(is *absence, hint string) string {
	if !c.scope.Waits || c.scope.Given != "" || !is.object || is.root != inputRoot || slices.ContainsFunc(is.path, isItem) {
		return hint
	}
	return "write when: " + is.read.String() + " != null in the child; or " + hint
}

func (c *templates) warn(e *expr, damage, hint string) { c.warnOf(e, e.absent, damage, hint) }

func (c *templates) warnOf(e *expr, is *absence, damage, hint string) {
	at := jq.Span{End: len(e.text)}
	if s, ok := e.spans[is.node]; ok {
		at = s
	}
	c.problem(Problem{
		Path: e.path, Offset: e.at + at.At, Length: at.End - at.At, Code: MayBeNull, Warning: true,
		Message: fmt.Sprintf("%s may be missing (%s), and %s", is.read, is.why, damage), Hint: hint,
	})
}

// withDefault returns a hint to write a default.
func (e *expr) withDefault() string {
	return fmt.Sprintf("write a default, such as %s // %s", e.text, e.kinds.zero())
}

func (c *templates) wantBoolean(e *expr) {
	if got := e.kinds &^ null; got != 0 && got&boolean == 0 {
		fix, advice := e.asCondition()
		c.wrong(e, fmt.Sprintf("a condition must be true or false, and %s is %s", e.text, got), fix, advice, "")
	}
}

func (c *templates) wantArray(e *expr) {
	if got := e.kinds &^ null; got != 0 && got&array == 0 {
		fix, advice := e.asArray()
		c.wrong(e, fmt.Sprintf("forEach must be an array, and %s is %s", e.text, got), fix, advice, "")
	} else if e.absent != nil {
		c.warn(e, "forEach fails with null", e.withDefault())
	}
}
