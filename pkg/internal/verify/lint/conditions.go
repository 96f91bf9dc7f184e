package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Knetic/govaluate"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Argo writes the values of tags into the text of a condition, and reads the result. The checks here do so with the
// values that are in the manifests.

// decided evaluates a condition as the controller does: a word without quotes is a text.
func decided(when string) error {
	if when == "" {
		return nil
	}
	expression, err := govaluate.NewEvaluableExpression(when)
	if err != nil {
		return err
	}
	tokens := expression.Tokens()
	for n := range tokens {
		if tokens[n].Kind == govaluate.VARIABLE {
			tokens[n].Kind = govaluate.STRING
		}
	}
	if expression, err = govaluate.NewEvaluableExpressionFromTokens(tokens); err != nil {
		return err
	}
	result, err := expression.Evaluate(nil)
	if _, is := result.(bool); err == nil && !is {
		return fmt.Errorf("%v is neither true nor false", result)
	}
	return err
}

// readable reports whether Argo can read a condition with some values of its tags.
func readable(when string) bool {
	return slices.ContainsFunc([]string{"1", "true", "'tag'"}, func(value string) bool {
		return decided(tag().ReplaceAllString(when, value)) == nil
	})
}

// given is a value of a tag that is in a manifest.
type given struct{ tag, value string }

// broken returns the condition that one of the values breaks.
func broken(when string, values []given) (filled string, by given, is bool) {
	if when == "" || expressionTag().MatchString(when) || !readable(when) {
		return "", given{}, false
	}
	for _, one := range values {
		filled = strings.ReplaceAll(when, one.tag, one.value)
		for _, other := range values {
			filled = strings.ReplaceAll(filled, other.tag, other.value)
		}
		if !readable(filled) {
			return filled, one, true
		}
	}
	return "", given{}, false
}

// conditions reports conditions that cannot be read with a value which somebody may replace: an argument, or the default
// of an input.
func (i *inspection) conditions(f flow) {
	for _, t := range f.templates() {
		eachCall(t, func(at *field.Path, c call) {
			if filled, by, is := broken(c.when, f.givenIn(t, c.when)); is {
				i.reportHint(at.Child("when"), conditionHint(c.when, by), "with %q for %s, Argo cannot read the condition: %s",
					by.value, by.tag, strings.TrimSpace(filled))
			}
		})
	}
}

// whenOfItems reports a condition that cannot be read with one of the items of its step.
func (i *inspection) whenOfItems(at *field.Path, c call) {
	for _, item := range c.items {
		var values []given
		for _, tag := range tag().FindAllString(c.when, -1) {
			if m := wholeItem().FindStringSubmatch(tag); m != nil {
				values = append(values, given{tag, itemText(item, m[1])})
			}
		}
		if filled, by, is := broken(c.when, values); is {
			i.reportHint(at.Child("when"), conditionHint(c.when, by), "with the item %s, Argo cannot read the condition: %s",
				item.String(), strings.TrimSpace(filled))
			return
		}
	}
}

// conditionHint returns how to write a condition that a value breaks.
func conditionHint(when string, by given) string {
	if quoted := strings.ReplaceAll(when, by.tag, "'"+by.value+"'"); readable(quoted) {
		return "quote the tag: '" + by.tag + "'"
	}
	return "write an expression in {{=…}}, which takes the value as it is"
}

// argumentTag matches a tag of an argument of the Workflow.
var argumentTag = lazily(`^\{\{\s*workflow\.parameters\.([-\w]+)\s*\}\}$`)

// givenIn returns the values that tags in a text of a template have in the manifest.
func (f flow) givenIn(t template, text string) []given {
	var out []given
	for _, tag := range tag().FindAllString(text, -1) {
		for _, value := range f.valuesOf(t, tag, nil) {
			out = append(out, given{tag, value})
		}
	}
	return out
}

// valuesOf returns the values that a tag of a template has in the manifest: not those which events or other tags fill in.
func (f flow) valuesOf(t template, tag string, above []string) []string {
	if m := argumentTag().FindStringSubmatch(tag); m != nil {
		return f.argument(m[1])
	}
	m := inputTag().FindStringSubmatch(tag)
	if m == nil || t.Name == "" || slices.Contains(above, t.Name) {
		return nil
	}
	name, defaults := m[1]+m[2], false
	var out []string
	if t.Name == f.spec.Entrypoint {
		out = append(out, f.argument(name)...)
	}
	for _, caller := range f.templates() {
		eachCall(caller, func(_ *field.Path, c call) {
			if c.template != t.Name || c.ref != nil {
				return
			}
			p := c.arguments.GetParameterByName(name)
			if p == nil || p.Value == nil {
				defaults = defaults || p == nil
				return
			}
			out = append(out, constant(p.Value)...)
			if only := p.Value.String(); tagOnly().MatchString(only) {
				out = append(out, f.valuesOf(caller, only, append(slices.Clip(above), t.Name))...)
			}
		})
	}
	if p := t.Inputs.GetParameterByName(name); defaults && p != nil {
		for _, value := range []*wfv1.AnyString{p.Value, p.Default} {
			if value != nil {
				return append(out, constant(value)...)
			}
		}
	}
	return out
}

// argument returns the value of an argument of the Workflow, if it is in the manifest.
func (f flow) argument(name string) []string {
	p := f.spec.Arguments.GetParameterByName(name)
	if p == nil || p.Value == nil || f.writes.arguments.has(name) {
		return nil
	}
	return constant(p.Value)
}

// tagOnly matches a text that is one tag.
var tagOnly = lazily(`^\{\{[^{}]*\}\}$`)

// constant returns a value without tags, and nothing for another.
func constant(value *wfv1.AnyString) []string {
	if text := value.String(); !fromTemplate(text) {
		return []string{text}
	}
	return nil
}
