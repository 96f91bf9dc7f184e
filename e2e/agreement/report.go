package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The least agreement, in percent.
const (
	leastComputed = 98
	leastOverall  = 98
)

// tally counts the answers about mutations.
type tally struct{ mutations, accepted, refused int }

func (t *tally) add(a answer) {
	t.mutations++
	switch {
	case a.agrees():
	case a.ours == "":
		t.accepted++
	default:
		t.refused++
	}
}

func (t tally) percent() float64 {
	return 100 * float64(t.mutations-t.accepted-t.refused) / float64(max(t.mutations, 1))
}

func (t tally) row(name string) string {
	return fmt.Sprintf("| %s | %d | %.2f | %d | %d |\n", name, t.mutations, t.percent(), t.accepted, t.refused)
}

// category is a known reason for disagreements.
type category struct {
	name, reason string
	is           func(a answer) bool
}

// categories are in the order in which they apply; the last one takes the rest.
var categories = []category{
	{
		"integers that do not fit", "The API server keeps the lowest 32 bits of a number that is too large, so it stores another number than the template computes. argoperator refuses it.",
		func(a answer) bool { return strings.Contains(a.ours, "does not fit int32") },
	},
	{
		"lists merged by server-side apply", "In a StatefulSet, whose pods the API server does not validate, and in a few other places, only server-side apply refuses two entries with one key. `argoperator render` and `argoperator test` do refuse them; `argoperator lint` does not.",
		func(a answer) bool {
			return strings.Contains(a.server, "failed to create typed patch object")
		},
	},
	{
		"in-tree volume drivers", "The fields of storage drivers that Kubernetes has removed or deprecated are not validated.",
		func(a answer) bool { return a.kind == "PersistentVolume" },
	},
	{"others", "Rules too rare to be restated.", func(answer) bool { return true }},
}

type report struct {
	all, computed tally
	kinds         map[string]*tally
	reasons       map[string]*tally
	refused       []answer // by argoperator alone, for no known reason
}

func newReport(answers []answer, computed fields) *report {
	r := &report{kinds: map[string]*tally{}, reasons: map[string]*tally{}}
	for _, a := range answers {
		if r.kinds[a.kind] == nil {
			r.kinds[a.kind] = &tally{}
		}
		r.kinds[a.kind].add(a)
		r.all.add(a)
		if computed.has(a.kind, a.path) {
			r.computed.add(a)
		}
		if a.agrees() {
			continue
		}
		i := slices.IndexFunc(categories, func(c category) bool { return c.is(a) })
		name := categories[i].name
		if r.reasons[name] == nil {
			r.reasons[name] = &tally{}
		}
		r.reasons[name].add(a)
		if i > 0 && a.server == "" {
			r.refused = append(r.refused, a)
		}
	}
	return r
}

// check returns an error if the two sides agree too rarely, or if argoperator refuses
// what the API server accepts.
func (r *report) check() error {
	var errs []error
	if got := r.computed.percent(); got < leastComputed {
		errs = append(errs, fmt.Errorf("they agree about %.1f %% of the fields that templates compute, want %d", got, leastComputed))
	}
	if got := r.all.percent(); got < leastOverall {
		errs = append(errs, fmt.Errorf("they agree about %.1f %% of all fields, want %d", got, leastOverall))
	}
	for _, a := range r.refused {
		errs = append(errs, fmt.Errorf("only argoperator refuses %s %s (%s): %s", a.kind, pathText(a.path), a.what, a.ours))
	}
	return errors.Join(errs...)
}

const introduction = `# Agreement with the API server

argoperator validates the children of an operator without a cluster: ` + "`lint`" + ` with sample custom resources, ` + "`render` and `test`" + `
in a simulated API server. ` + "`make agreement`" + ` compares this validation with the real one. It takes a realistic object of each
built-in kind, changes one field at a time, and applies the result server-side with the code of Kubernetes 1.33.1:
decoding, merging, defaults, and the validation of the kind. The changes are the same for every field of a type: missing,
null and empty values, values of other types, numbers out of range, texts in every form that some field refuses, unknown
fields, repeated entries and bad keys. Fields that the original does not have are added.

*False accepts* are refused by the API server alone, *false refusals* by argoperator alone. Fields that *templates compute*
have an expression in a template of the [examples](../../examples) or of the [ports](../../testdata/ports) of other tools'
operators, or are inside a field that has one; fields of pods count for every kind with pods.

This page is generated.

`

func (r *report) page() string {
	var b strings.Builder
	b.WriteString(introduction)
	header := func(name string) {
		fmt.Fprintf(&b, "| %s | Mutations | Agreement (%%) | False accepts | False refusals |\n|---|---:|---:|---:|---:|\n", name)
	}
	header("Fields")
	b.WriteString(r.computed.row("that templates compute"))
	b.WriteString(r.all.row("all"))
	b.WriteString("\n## By kind\n\n")
	header("Kind")
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		b.WriteString(r.kinds[kind].row(kind))
	}
	b.WriteString("\n## Known disagreements\n\n| Category | False accepts | False refusals | Reason |\n|---|---:|---:|---|\n")
	for _, c := range categories {
		if t := r.reasons[c.name]; t != nil {
			fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", c.name, t.accepted, t.refused, c.reason)
		}
	}
	b.WriteString(closing)
	return b.String()
}

const closing = `
## Accepted, but a warning

Two things pass the API server and fail afterwards. ` + "`argoperator lint`" + ` warns of them:

- an image whose name the kubelet refuses with the reason InvalidImageName, such as ` + "`Busy Box://`" + `;
- the pod template and the volume claims of a StatefulSet: the API server validates them when the controller creates the
  pods.
`
