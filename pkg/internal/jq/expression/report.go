package expression

import (
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// report adds a problem at a node that has none yet.
func (a *analyser) report(node any, p Problem) {
	if a.pathsOnly > 0 {
		return
	}
	p.Offset, p.Length = 0, len(a.text)
	if s, ok := a.spans[node]; ok {
		p.Offset, p.Length = s.At, s.End-s.At
	}
	if p.FixEnd == 0 {
		p.FixAt, p.FixEnd = p.Offset, p.Offset+p.Length
	}
	if a.dashed(p) {
		return
	}
	for _, other := range a.problems {
		if other.Offset == p.Offset && other.Length == p.Length && (other.Message == p.Message || !other.Warning) {
			return
		}
	}
	a.problems = append(a.problems, p)
}

func (a *analyser) fail(node any, code, message, hint string) {
	a.report(node, Problem{Code: code, Message: message, Hint: hint})
}

// failAdvised reports a problem whose hint may say what is meant.
func (a *analyser) failAdvised(node any, code, message string, what advice) {
	a.report(node, Problem{Code: code, Message: message, Hint: what.hint(), guessed: what.meant != ""})
}

// failWith reports a problem that another text in the place of the node fixes.
func (a *analyser) failWith(node any, message, fix string) {
	a.report(node, Problem{Code: BadExpression, Message: message, Fix: fix})
}

// misfit reports a value that can never be valid, unless the error is caught.
func (a *analyser) misfit(node any, message, hint string) {
	if a.lenient == 0 {
		a.fail(node, WrongType, message, hint)
	}
}

// shown returns the text of a node for a message.
func (a *analyser) shown(node any) string {
	text := a.text
	if s, ok := a.spans[node]; ok {
		text = text[s.At:s.End]
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:57]) + "..."
	}
	return text
}

// source returns the whole text of a node.
func (a *analyser) source(node any) string {
	if s, ok := a.spans[node]; ok {
		return a.text[s.At:s.End]
	}
	return a.text
}

// called returns how messages name a value: by its path, if it has one.
func (a *analyser) called(node any, v value) string {
	if len(v.from) == 1 && len(v.from[0].path) > 0 {
		return v.from[0].String()
	}
	return a.shown(node)
}

// wants reports a value that can never be of a kind, and one that can be missing where
// null is not accepted. what is the start of the message: "the key must be".
func (a *analyser) wants(node any, v value, want kinds, what string) {
	if v.kinds&want == 0 && v.kinds&^null != 0 {
		a.misfit(node, fmt.Sprintf("%s %s, and %s is %s", what, want&^null, a.called(node, v), v.kinds&^null), "")
		return
	}
	if want&null == 0 {
		a.missing(node, v, fmt.Sprintf("%s %s", what, want))
	}
}

// missing warns of an optional field where null fails or does damage.
func (a *analyser) missing(node any, v value, damage string) {
	if v.absent == nil || a.lenient > 0 || a.guarded(v.absent.read) {
		return
	}
	if a.waitsFor(v) && !a.scope.excludes(v.absent.read) {
		return
	}
	a.report(v.absent.node, Problem{
		Code: MayBeNull, Warning: true,
		Message: fmt.Sprintf("%s may be missing (%s), and %s", v.absent.read, v.absent.why, damage),
		Hint:    fmt.Sprintf("write a default, such as (%s // %s)", a.written(node, v, v.absent.read), defaultFor(node, v)),
	})
}

// written returns the path of a value at a node, which is below another path, as it may be written there.
func (a *analyser) written(node any, v value, from read) string {
	path := from.String()
	if whole := a.called(node, v); strings.HasPrefix(whole, path) {
		path = whole
	}
	if at := strings.LastIndex(path, each); at >= 0 { // inside map and similar functions, elements have no other path
		path = "." + strings.TrimPrefix(path[at+len(each):], ".")
	}
	return path
}

// defaultFor returns a default that the function at a node takes, if it is one.
func defaultFor(node any, v value) string {
	zero := v.kinds.zero()
	f, ok := node.(*gojq.Func)
	if !ok {
		return zero
	}
	for _, given := range []string{zero, `"0"`, `"false"`, `"1970-01-01T00:00:00Z"`, `"10.0.0.0/8"`} {
		source, _ := withFunctions(given+"|"+f.String(), &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: f}})
		if p, err := compile(source, nil); err == nil {
			if _, err := p.Run(nil, Vars{}); err == nil {
				return given
			}
		}
	}
	return zero
}

// sure removes the reason why a value can be missing, if a condition tests the value.
func (a *analyser) sure(v value) value {
	if v.absent != nil && a.guarded(v.absent.read) {
		v.absent = nil
	}
	return v
}

// guarded reports whether a condition tests a path, or a path below it.
func (a *analyser) guarded(path read) bool {
	for _, g := range a.guards {
		if path.covers(g) {
			return true
		}
	}
	return false
}
