package expression

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// settled reports a call that fails for every input, because of arguments with known values.
func (a *analyser) settled(f *gojq.Func, values []value) {
	if len(values) == 0 {
		return
	}
	of := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	if s, ok := searches[of]; ok {
		a.settledSearch(f, s, values)
	} else if text := values[0].text; of == "format/1" && text != nil && !slices.Contains(formats(), "@"+*text) {
		a.failing(f.Args[0], f, "unknown format @"+*text, formatsHint())
	} else if p, ok := probes[of]; ok {
		a.settledBy(p, f, values)
	}
}

// settledSearch reports a regular expression and flags that jq does not accept.
func (a *analyser) settledSearch(f *gojq.Func, s search, values []value) {
	if flags := values[s.flags].text; s.flags > 0 && flags != nil {
		if err := jq.RegexpError("", *flags); err != nil {
			hint := "flags are g for all matches, i to ignore case, and m so that . matches line breaks, too"
			a.failing(f.Args[s.flags], f, err.Error(), hint)
		}
	}
	if values[0].text == nil {
		return
	}
	var failure *syntax.Error
	if _, err := regexp.Compile(*values[0].text); errors.As(err, &failure) {
		a.failing(f.Args[0], f, fmt.Sprintf("invalid regular expression: %s: `%s`", failure.Code, failure.Expr), regexpHint(failure.Code))
	}
}

// regexpHint returns what to write instead of an invalid regular expression.
func regexpHint(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape:
		return "regular expressions are those of Go: without look-around and back references"
	case syntax.ErrMissingBracket, syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingRepeatArgument:
		return "to match a character such as [, ( or * itself, write [[], [(] or [*]"
	}
	return ""
}

// probe is a call of a function of jq that does not fail: jq for its input, and for its arguments. If it fails
// with other arguments, they fail for every input.
type probe struct {
	input string
	args  []string
}

var probes = map[string]probe{
	"flatten/1": {"[]", []string{"1"}}, "limit/2": {"null", []string{"1", "0"}}, "skip/2": {"null", []string{"1", "0"}},
	"nth/2":      {"null", []string{"0", "0"}},
	"cidrhost/1": {`"0.0.0.0/0"`, []string{"0"}}, "cidrsubnet/2": {`"0.0.0.0/0"`, []string{"32", "0"}},
}

// settledBy reports a call that fails where the probe does not.
func (a *analyser) settledBy(p probe, f *gojq.Func, values []value) {
	args, known := slices.Clone(p.args), false
	for i, v := range values {
		if arg := argumentOf(f.Args[i], v); arg != "" {
			args[i], known = arg, true
		}
	}
	if !known {
		return
	}
	query, err := gojq.Parse(p.input + "|" + f.Name + "(" + strings.Join(args, ";") + ")")
	if err != nil {
		return // unreachable: each argument is a literal
	}
	source, _ := withFunctions(query.String(), query)
	program, err := compile(source, nil)
	if err != nil {
		return // unreachable
	}
	if _, err := program.Run(nil, Vars{}); err != nil && !errors.Is(err, jq.ErrNoValue) {
		var own gojq.ValueError // of error(…)
		why := err.Error()
		if errors.As(err, &own) {
			why = fmt.Sprint(own.Value())
		}
		a.failing(f, f, why, "")
	}
}

// failing reports a call that always fails. Where the error is caught, the expression works without it.
func (a *analyser) failing(node any, f *gojq.Func, why, hint string) {
	caught := a.lenient > 0 || a.defaulted > 0
	a.report(node, Problem{Code: BadExpression, Warning: caught, Message: f.Name + " always fails: " + why, Hint: hint})
}

// argumentOf returns jq for the value of an argument; "" if it is not known.
func argumentOf(q *gojq.Query, v value) string {
	if v.text != nil {
		return jq.Quote(*v.text)
	}
	if q = jq.Unwrap(q); q.Term != nil && len(q.Term.SuffixList) == 0 {
		t := q.Term
		if t.Type == gojq.TermTypeUnary {
			t = t.Unary.Term
		}
		if t.Type == gojq.TermTypeNumber && len(t.SuffixList) == 0 {
			return "(" + q.String() + ")"
		}
	}
	return ""
}
