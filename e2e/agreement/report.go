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
	leastUpdates  = 98
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
	refuses      bool // argoperator may refuse what the API server accepts
}

// categories are in the order in which they apply; the last one takes the rest.
var categories = []category{
	{
		"integers that do not fit", "The API server keeps the lowest 32 bits of a number that is too large. It then stores another number than the template computes. argoperator rejects it.",
		func(a answer) bool { return strings.Contains(a.ours, "does not fit int32") },
		true,
	},
	{
		"lists merged by server-side apply", "In a StatefulSet and in a few other places, only server-side apply rejects two entries with one key. `argoperator render` and `argoperator test` reject them, too. `argoperator lint` does not.",
		func(a answer) bool {
			return strings.Contains(a.server, "failed to create typed patch object")
		},
		false,
	},
	{
		"in-tree volume drivers", "The fields of storage drivers that Kubernetes has removed or deprecated are not validated.",
		func(a answer) bool { return !a.update && a.kind == "PersistentVolume" },
		false,
	},
	{
		"features that are off", "Kubernetes 1.33 drops a field of a feature that is off by default, so that nothing changes. Later versions have it: resources of Pods and claims of devices, stop signals, classes of volume attributes.",
		func(a answer) bool {
			path := pathText(a.path)
			pods := a.kind == "Pod" && strings.HasPrefix(path, "spec.resources") || strings.Contains(path, "template.spec.resources")
			return a.update && (pods || slices.ContainsFunc(featureFields, func(f string) bool { return strings.Contains(path, f) }))
		},
		true,
	},
	{
		"two fields for one value", "The API server copies `serviceAccountName` to `serviceAccount` and `dataSource` to `dataSourceRef`. An update that removes or changes one of them has no effect on the other, which then counts.",
		func(a answer) bool {
			return a.update && slices.ContainsFunc(copiedFields, func(f string) bool { return strings.Contains(pathText(a.path), f) })
		},
		true,
	},
	{"others", "Rules that are too rare to repeat in argoperator.", func(answer) bool { return true }, false},
}

// featureFields and copiedFields are parts of the paths of known disagreements.
var (
	featureFields = []string{"resourceClaims", "resources.claims", "stopSignal", "volumeAttributesClassName"}
	copiedFields  = []string{"spec.serviceAccount", "spec.dataSource"}
)

type report struct {
	all, computed tally // of creations
	updates       tally
	kinds         map[string]*tally // of creations
	updated       map[string]*tally
	reasons       map[string]*tally
	refused       []answer // by argoperator alone, for no known reason
}

func newReport(answers []answer, computed fields) *report {
	r := &report{kinds: map[string]*tally{}, updated: map[string]*tally{}, reasons: map[string]*tally{}}
	for _, a := range answers {
		kinds, all := r.kinds, &r.all
		if a.update {
			kinds, all = r.updated, &r.updates
		}
		if kinds[a.kind] == nil {
			kinds[a.kind] = &tally{}
		}
		kinds[a.kind].add(a)
		all.add(a)
		if !a.update && computed.has(a.kind, a.path) {
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
		if !categories[i].refuses && a.server == "" {
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
	if got := r.updates.percent(); got < leastUpdates {
		errs = append(errs, fmt.Errorf("they agree about %.1f %% of all updates, want %d", got, leastUpdates))
	}
	for _, a := range r.refused {
		errs = append(errs, fmt.Errorf("only argoperator refuses %s: %s", a.name(), a.ours))
	}
	return errors.Join(errs...)
}

const introduction = `# Agreement with the API server

<!-- Generated by make agreement. Do not edit. -->

argoperator validates the children of an operator without a cluster. This page shows how often it gives the same answer as the API
server. Example: both reject ` + "`replicas: many`" + ` in a Deployment, so they agree.

` + "`make agreement`" + ` takes a realistic object of each built-in kind and changes one field at a time. It gives each result to argoperator,
and applies it server-side with the code of Kubernetes 1.33.1: decoding, merging, defaults, and the validation of the kind.

The changes are the same for every field of a type:

- missing, null and empty values; values of other types
- numbers out of range; strings in every form that some field rejects
- unknown fields, repeated entries and bad keys; fields that the original does not have

| term | meaning |
|---|---|
| false accept | only the API server rejects it |
| false refusal | only argoperator rejects it |
| fields that templates compute | those with an expression in a template of the [examples](../../examples) or of the [ports](../../testdata/ports), and fields inside them; fields of pods count for every kind with pods |

` + "`argoperator lint`" + ` validates children with sample custom resources, ` + "`render`" + ` and ` + "`test`" + ` in an in-memory API server.

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
	b.WriteString(updates)
	header("Updates of")
	for _, kind := range slices.Sorted(maps.Keys(r.updated)) {
		b.WriteString(r.updated[kind].row(kind))
	}
	b.WriteString(r.updates.row("all"))
	b.WriteString("\n## Known disagreements\n\n| Category | False accepts | False refusals | Reason |\n|---|---:|---:|---|\n")
	for _, c := range categories {
		if t := r.reasons[c.name]; t != nil {
			fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", c.name, t.accepted, t.refused, c.reason)
		}
	}
	b.WriteString(closing)
	return b.String()
}

const updates = `
## Updates

Some fields cannot change after creation, others only in one direction. Each pair of an original and a valid change of one field is
an update, there and back. Kubernetes answers with its validation of updates, argoperator with its API server in memory, where claims
count as bound. ` + "`argoperator lint`" + ` and ` + "`update: Recreate`" + ` use the same rules
([immutable fields](../how-to/immutable-fields.md)).

`

const closing = `
## Accepted, with a warning

The API server accepts two things that fail afterwards. ` + "`argoperator lint`" + ` warns of them:

- an image name that the kubelet rejects with the reason InvalidImageName, such as ` + "`Busy Box://`" + `
- errors in the pod template or in the volume claims of a StatefulSet: the API server validates those when the controller creates the
  pods
`
