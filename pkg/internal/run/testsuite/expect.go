package testsuite

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// expectations compares the result of a step with its expectations.
func (s *stepRun) expectations() {
	children := s.children()
	cr, _ := s.s.Get(s.resource) // read before without an error
	s.failures()
	s.expectChildren(children)
	s.expectObjects()
	s.expectAbsent()
	s.expectResource(cr)
	s.expectEvents()
	s.expectUnchanged()
	s.expectTrace()
	s.expectGolden(children, cr)
}

// failures reports failures that are not expected, and expected ones that did not
// occur.
func (s *stepRun) failures() {
	expected := s.step.Expect.Failures
	met := make([]bool, len(expected))
	natural := len(s.step.Refuse) > 0 || s.step.Replay != nil // refused writes and outdated events cause failures
	all := s.trace.Failures()
	for _, failure := range all {
		fits := false
		for i, part := range expected {
			if strings.Contains(failure.Text, part) {
				met[i], fits = true, true
			}
		}
		if !fits && !s.learns(failure) && (!natural || expected != nil) {
			s.findings.Add(s.atKey(s.test.Action(s.index)), diag.StepFailed, "failed: "+failure.Text, s.failureHint(failure))
		}
	}
	for i, part := range expected {
		if !met[i] {
			s.unmet(s.at("expect", "failures", strconv.Itoa(i)), fmt.Sprintf("no failure contains %q", part),
				describeActual("failed", simulate.Texts(all)))
		}
	}
}

// failureHint says more about what failed, and what to do if it is meant to fail.
func (s *stepRun) failureHint(failure simulate.Failure) string {
	hint := "if this failure is expected, add it to expect.failures"
	if said := s.conflict(failure); said != "" {
		hint = said + "\n" + hint
	}
	if lines := s.trace.LastLines(); lines != "" {
		hint += "; argoperator test --trace shows the whole output of the program; the last lines:\n" + lines
	}
	return hint
}

// conflict returns what Ready reports about a child that the API server answered with a
// conflict: for an object that exists and may not be adopted, the answer has no reason.
func (s *stepRun) conflict(failure simulate.Failure) string {
	if !failure.Conflict {
		return ""
	}
	cr, _ := s.s.Get(s.resource)
	if reason, message := simulate.NotReady(cr); reason == "Failed" && message != "" {
		return "Ready is Failed: " + message
	}
	return ""
}

// describeActual lists what occurred instead.
func describeActual(what string, all []string) string {
	if len(all) == 0 {
		return "nothing " + what
	}
	return what + ": " + strings.Join(all, "\n")
}

func (s *stepRun) expectChildren(children []map[string]any) {
	named := map[string]bool{}
	for i, partial := range s.step.Expect.Children {
		at := []string{"expect", "children", strconv.Itoa(i)}
		child, why := s.child(referenceOf(partial))
		if child == nil {
			s.unmet(s.at(at...), why.message, cmp.Or(why.hintIn(partial), s.lastWriter(referenceOf(partial))))
			continue
		}
		named[placeOf(child)] = true
		s.compare(partial, child, at, placeOf(child)+": ", s.lastWriter(referenceOf(child)))
	}
	if !s.step.Expect.Exactly {
		return
	}
	for _, child := range children {
		if !named[placeOf(child)] {
			s.unmet(s.at("expect", "exactly"), "unexpected child: "+placeOf(child), s.lastWriter(referenceOf(child)))
		}
	}
}

// compare reports mismatches at the position of the expected value.
func (s *stepRun) compare(want, got any, at []string, prefix, hint string) {
	for _, m := range match(want, withText(want, got)) {
		help := hint
		if m.hint != "" {
			help = m.hint
		}
		s.unmet(s.at(append(slices.Clone(at), m.path...)...), strings.TrimSpace(prefix+m.place+" "+m.message), help)
	}
}

// withText returns a Secret with its data as text too, if that is expected: the API server
// only has it encoded.
func withText(want, got any) any {
	wanted, _ := want.(map[string]any)
	o, _ := got.(map[string]any)
	data, _ := o["data"].(map[string]any)
	if wanted["stringData"] == nil || o["kind"] != "Secret" {
		return got
	}
	text := map[string]any{}
	for key, value := range data {
		encoded, _ := value.(string)
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			text[key] = string(decoded)
		}
	}
	o = maps.Clone(o)
	o["stringData"] = text
	return o
}

func (s *stepRun) expectObjects() {
	for i, partial := range s.step.Expect.Objects {
		at := []string{"expect", "objects", strconv.Itoa(i)}
		o, why := s.object(referenceOf(partial))
		if o == nil {
			s.unmet(s.at(at...), why.message, cmp.Or(why.hintIn(partial), s.lastWriter(referenceOf(partial))))
			continue
		}
		s.compare(partial, o, at, placeOf(o)+": ", s.lastWriter(referenceOf(o)))
	}
}

func (s *stepRun) expectAbsent() {
	for i, r := range s.step.Expect.Absent {
		for _, o := range s.s.Objects() {
			if kindOf(o) != r.Kind || r.Name != "" && r.Name != nameOf(o) || r.APIVersion != "" && r.APIVersion != o["apiVersion"] {
				continue
			}
			if ns := namespaceOf(o); ns == "" || r.Namespace == "" || ns == r.Namespace {
				s.unmet(s.at("expect", "absent", strconv.Itoa(i)), placeOf(o)+" exists", s.lastWriter(referenceOf(o)))
			}
		}
	}
}

func (s *stepRun) expectResource(cr map[string]any) {
	e := s.step.Expect
	if e.Gone != nil && *e.Gone != (cr == nil) {
		held := ""
		if cr != nil {
			held = "it has no finalizer"
			if finalizers := valueOf(cr, "metadata", "finalizers"); finalizers != nil {
				held = "it has finalizers: " + shown(finalizers)
			}
		}
		s.unmet(s.at("expect", "gone"), "the custom resource "+map[bool]string{true: "is deleted", false: "still exists"}[cr == nil], held)
	}
	for _, one := range []struct {
		key  string
		want map[string]any
		got  any
		name string
	}{{"resource", e.Resource, cr, ""}, {"status", e.Status, valueOf(cr, "status"), "status."}} {
		switch {
		case one.want == nil:
		case cr == nil:
			s.unmet(s.at("expect", one.key), "the custom resource does not exist", "")
		default:
			s.compare(one.want, one.got, []string{"expect", one.key}, "the custom resource: "+one.name, s.lastWriter(referenceOf(cr)))
		}
	}
}

// expectEvents compares the Events about the custom resource in this step.
func (s *stepRun) expectEvents() {
	wanted := s.step.Expect.Events
	var all []string
	for _, e := range s.events {
		all = append(all, strings.TrimSpace(textOf(e, "type")+" "+textOf(e, "reason")+" "+textOf(e, "message")))
	}
	if wanted != nil && len(wanted) == 0 && len(all) > 0 {
		s.unmet(s.at("expect", "events"), "an Event was created", describeActual("told", all))
	}
	for i, want := range wanted {
		met := slices.ContainsFunc(s.events, func(e map[string]any) bool {
			return (want.Type == "" || want.Type == textOf(e, "type")) && want.Reason == textOf(e, "reason") &&
				strings.Contains(textOf(e, "message"), want.Message)
		})
		if !met {
			name := strings.TrimSpace(want.Type + " " + want.Reason + " " + want.Message)
			s.unmet(s.at("expect", "events", strconv.Itoa(i)), "no Event "+name+" was created in this step", describeActual("told", all))
		}
	}
}

func (s *stepRun) expectUnchanged() {
	if !s.step.Expect.Unchanged {
		return
	}
	for _, change := range s.before.changes(s.snapshot()) {
		s.unmet(s.at("expect", "unchanged"), change, "")
	}
}

func (s *stepRun) expectTrace() {
	want := s.step.Expect.Trace
	if want == nil {
		return
	}
	got := summarize(s.trace)
	for _, one := range []struct {
		key  string
		want *int32
		got  int
	}{
		{"requests", want.Requests, got.requests},
		{"workflows", want.Workflows, got.workflows},
		{"reconciles", want.Reconciles, got.reconciles},
	} {
		if one.want != nil && int(*one.want) != one.got {
			s.unmet(s.at("expect", "trace", one.key), fmt.Sprintf("%d %s, want %d", one.got, one.key, *one.want), "")
		}
	}
	if fired := slices.Sorted(slices.Values(want.Triggers)); want.Triggers != nil && !slices.Equal(fired, got.triggers) {
		s.unmet(s.at("expect", "trace", "triggers"), fmt.Sprintf("%s fired, expected %s", list(got.triggers), list(fired)), "")
	}
}

func list(names []string) string {
	if len(names) == 0 {
		return "no trigger"
	}
	return strings.Join(names, ", ")
}
