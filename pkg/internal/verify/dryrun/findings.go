package dryrun

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// complaint is one cause for which the server rejects objects of one source, or warns
// of them.
type complaint struct {
	Problem
	warning bool
	first   *request // with the smallest sample
	count   int
}

// same identifies the complaints with one cause.
type same struct {
	source, path, message string
	warning               bool
}

// values are the parts of a message that differ from sample to sample.
var values = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"|\d+`) })

// complaints collects the complaints of a check.
type complaints struct {
	known   map[same]*complaint
	list    []*complaint
	checked map[string]tally // by source
}

// tally counts the objects of a source.
type tally struct{ checked, rejected int }

// findings returns what the server said, once for each cause.
func findings(requests []*request) diag.List {
	all := complaints{known: map[same]*complaint{}, checked: map[string]tally{}}
	for _, r := range requests {
		if r.answer.skipped.message == "" {
			all.add(r)
		}
	}
	var out diag.List
	for _, c := range all.list {
		out = append(out, c.finding(all.checked[c.first.Source]))
	}
	return append(out, skipped(requests)...)
}

// add adds the answer to one request.
func (a *complaints) add(r *request) {
	t := a.checked[r.Source]
	t.checked++
	if len(r.answer.problems) > 0 {
		t.rejected++
	}
	a.checked[r.Source] = t
	counted := map[*complaint]bool{}
	for _, p := range r.answer.problems {
		counted[a.one(r, p, false)] = true
	}
	for _, text := range r.answer.warnings {
		counted[a.one(r, Problem{Message: text}, true)] = true
	}
	for c := range counted {
		c.count++
	}
}

// one returns the complaint with the cause of a problem.
func (a *complaints) one(r *request, p Problem, warning bool) *complaint {
	id := same{r.Source, values().ReplaceAllString(p.Path, ""), values().ReplaceAllString(p.Message, ""), warning}
	if p.Path != "" && p.cause != "" {
		id.message = string(p.cause)
	}
	c := a.known[id]
	if c == nil {
		c = &complaint{Problem: p, warning: warning, first: r}
		a.known[id] = c
		a.list = append(a.list, c)
	}
	if len(r.Sample) < len(c.first.Sample) {
		c.Problem, c.first = p, r
	}
	return c
}

// finding returns the finding for a complaint about some of the objects of a source.
func (c *complaint) finding(all tally) diag.Finding {
	path := steps(c.first.fields.Object, c.Path)
	f := diag.Finding{Position: c.first.At(path), Severity: diag.Error, Code: diag.ServerRejected, Hint: c.first.Hint}
	kind, verb := c.first.fields.GetKind(), "rejected"
	if c.warning {
		f.Severity, f.Code, f.Hint, verb = diag.Warning, diag.ServerWarning, "", "warns about"
	}
	f.Message = fmt.Sprintf("the API server %s the %s: %s", verb, kind, diag.About(c.Path, c.Message))
	if c.first.Sample == "" {
		return f
	}
	some := !c.ofAll(all) || c.computedText(path)
	if some || c.first.Lenient && len(path) > 0 {
		f.Severity = diag.Warning
	}
	if some {
		f.Message += ", where the custom resource has " + c.first.Sample
		if !c.warning && f.Hint == "" {
			f.Hint = "restrict the field in the schema (required, default, pattern, maximum …), or guard against the value in the " +
				"expression"
		}
		return f
	}
	if !c.warning {
		f.Message += ", for example where the custom resource has " + c.first.Sample
	}
	return f
}

// ofAll reports whether the complaint is about all objects of its source. The server may
// reject some of them for another reason, such as a quota, before it comes to this one.
func (c *complaint) ofAll(all tally) bool {
	if c.count == all.checked {
		return true
	}
	return !c.warning && all.rejected == all.checked && 2*c.count > all.checked
}

// computedText reports whether an expression computes a text at a path.
func (c *complaint) computedText(path []string) bool {
	if text, ok := schema.ValueAt(c.first.fields.Object, path...).(string); !ok || text == "" {
		return false
	}
	for n := len(path); n > 0; n-- {
		if value := schema.ValueAt(c.first.Template, path[:n]...); value != nil {
			text, _ := value.(string)
			return schema.IsComputed(text)
		}
	}
	return false
}

// skipped returns a warning for each reason why objects were not checked.
func skipped(requests []*request) diag.List {
	counts := map[reason]int{}
	for _, r := range requests {
		counts[r.answer.skipped]++
	}
	var out diag.List
	delete(counts, reason{})
	for _, r := range requests {
		why := r.answer.skipped
		n := counts[why]
		if n == 0 {
			continue
		}
		delete(counts, why)
		things := fmt.Sprintf("%d objects", n)
		if n == 1 {
			things = "1 object"
		}
		out.Warn(r.At(nil), diag.ServerNotChecked, fmt.Sprintf("the API server did not check %s: %s", things, why.message), why.hint)
	}
	return out
}

// steps splits the path of a field. Server-side apply writes the items of a list with
// their keys, as in containers[name="app"].
func steps(object map[string]any, path string) []string {
	head, rest, keyed := strings.Cut(path, `="`)
	if !keyed {
		return diag.Steps(object, path)
	}
	open := strings.LastIndexByte(head, '[')
	selector, after, closed := strings.Cut(path[max(open, 0):], "]")
	if open < 0 || !closed || rest == "" {
		return diag.Steps(object, path)
	}
	list, _ := schema.ValueAt(object, diag.Steps(object, path[:open])...).([]any)
	for i, item := range list {
		if matches(item, selector[1:]) {
			return steps(object, path[:open]+"["+strconv.Itoa(i)+"]"+after)
		}
	}
	return diag.Steps(object, path[:open])
}

// matches reports whether an item of a list has the keys of a selector, such as
// containerPort=80,protocol="TCP".
func matches(item any, selector string) bool {
	fields, ok := item.(map[string]any)
	for pair := range strings.SplitSeq(selector, ",") {
		key, value, _ := strings.Cut(pair, "=")
		ok = ok && fmt.Sprint(fields[key]) == strings.Trim(value, `"`)
	}
	return ok
}
