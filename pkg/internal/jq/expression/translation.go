package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
)

// translation returns an expression that has errors as jq without errors, if it is in
// another language or if a conversion is all that it lacks; else "". If undeclared is set,
// the translation may read fields that the schema lacks.
func (c *templates) translation(path []string, p part, fits use, undeclared bool) string {
	mended := map[string]string{}
	check := func(text string) int {
		better := text
		for steps := range maxChanges {
			problems := c.problemsOf(path, better, fits)
			if undeclared {
				problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Code == UnknownField && p.spelling == "" })
			}
			if !failed(problems) {
				mended[text] = better
				return len(problems) + steps*aStep
			}
			if better = step(better, problems); better == "" {
				break
			}
		}
		return tooMany
	}
	context := jqhint.Context{Function: isFunction, Value: c.named, Kind: c.kindOfText, Check: check, Loop: c.loop}
	return mended[context.Translate(p.text, tooMany)]
}

// aStep is what a translation counts more for each further change that it needs, of at most
// maxChanges.
const (
	aStep      = 10
	maxChanges = 4
)

// step returns a text with the change that one of its problems suggests, or "".
func step(text string, problems []Problem) string {
	for _, p := range problems {
		fix := cmp.Or(p.Fix, p.spelling)
		if p.Warning || fix == "" || p.FixEnd > len(text) {
			continue
		}
		return text[:p.FixAt] + fix + text[p.FixEnd:]
	}
	return ""
}

// verify removes the fixes that leave as many errors as there are.
func (c *templates) verify(path []string, p part, fits use, found []Problem) {
	before := countErrors(found)
	for i := range found {
		one := &found[i]
		if one.Fix == "" || one.Warning {
			continue
		}
		from, to := one.FixAt-p.at, one.FixEnd-p.at
		works := func(fix string) bool {
			return countErrors(c.problemsOf(path, p.text[:from]+fix+p.text[to:], fits)) < before
		}
		all := append([]string{one.Fix}, one.otherFixes...)
		at := slices.IndexFunc(all, works)
		if at >= 0 {
			one.Fix = all[at]
		} else {
			one.Fix, one.Caveat = "", ""
		}
	}
}

// countErrors counts the problems that are errors.
func countErrors(problems []Problem) (n int) {
	for _, p := range problems {
		if !p.Warning {
			n++
		}
	}
	return n
}

// tooMany is the number of problems of an expression with an error.
const tooMany = 1000

// problemsOf returns the problems that a text would have in the place of an expression.
func (c *templates) problemsOf(path []string, text string, fits use) []Problem {
	t := &templates{scope: c.scope, kind: c.kind, whole: c.whole, condition: c.condition, given: c.given, trial: true}
	if e := t.analysed(path, part{text: text, expr: true}); e != nil {
		fits(t, e)
	}
	return t.problems
}

// kindOfText returns the kind of the value of an expression, "" if it can have several, and
// whether it may be null.
func (c *templates) kindOfText(text string) (kind string, nullable bool) {
	t := &templates{scope: c.scope, given: c.given, trial: true}
	e := t.analysed(nil, part{text: text, expr: true})
	if e == nil || failed(t.problems) {
		return "", false
	}
	for _, one := range [...]struct {
		kinds kinds
		name  string
	}{{array, "array"}, {object, "object"}, {str, "string"}, {boolean, "boolean"}, {number, "number"}} {
		if got := e.kinds &^ null; got != 0 && got&^one.kinds == 0 {
			kind = one.name
		}
	}
	return kind, e.absent != nil
}

// named returns what a name of another tool stands for, followed by fields, and how many of
// the fields belong to it.
func (c *templates) named(name, path string) (text string, fields int) {
	if _, refused := impure[name]; refused {
		return "", 0
	}
	a := &analyser{scope: c.scope}
	first, _, _ := strings.Cut(path, ".")
	_, isChild := c.scope.Children[name]
	_, isRelated := c.scope.Related[name]
	switch {
	case name == "item" && c.scope.Each, name == "each" && c.scope.Each && first != "value":
		return "$item", 0
	case name == "each" && c.scope.Each:
		return "$item", 1
	case name == "index" && c.scope.Each:
		return "$index", 0
	case isChild:
		return "$children." + name, 0
	case isRelated:
		return "$related." + name, 0
	case name == "children" && c.scope.Children[first] != nil:
		return "$children." + first, 1
	case a.scope.named(root("$" + name))[first] != nil && root("$"+name).isNamed():
		return "$" + name + "." + first, 1
	case name == "related" && c.scope.Related[first] != nil:
		return "$related." + first, 1
	case a.scope.Live && (first == "status" || first == "spec" || first == "metadata" || first == "data"):
		return ".", 0
	case name == "spec" || name == "status" || name == "metadata":
		return "." + name, 0
	}
	if found := a.inside(func(field string) bool { return field == name }, nil); len(found) == 1 {
		return found[0], 0
	}
	return "", 0
}
