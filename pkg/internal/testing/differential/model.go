package differential

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// model evaluates the expressions of a definition on the objects of a cluster, as the
// documentation describes them. It knows nothing of events, engines and observed state.
type model struct {
	w        *world
	cr       map[string]any
	children map[string]any
	related  map[string]any
}

func newModel(w *world) (*model, error) {
	cr, err := w.Get(w.cr)
	if err != nil || cr == nil {
		return nil, err
	}
	m := &model{w: w, cr: decoded[map[string]any](cr), children: map[string]any{}}
	m.related = m.relatedObjects()
	for _, c := range w.plan.Children {
		m.children[c.Name] = m.live(c)
	}
	return m, nil
}

// live returns the objects of a child: one or nil, and a list with forEach.
func (m *model) live(c plan.Child) any {
	list := []any{}
	for _, o := range m.objectsOf(c) {
		list = append(list, decoded[map[string]any](o))
	}
	switch {
	case c.ForEach != nil:
		return list
	case len(list) == 0:
		return nil
	}
	return list[0]
}

func (m *model) objectsOf(c plan.Child) []map[string]any {
	return slices.DeleteFunc(m.w.own(), func(o map[string]any) bool {
		return textAt(o, "metadata", "labels", "argoperator.dev/child") != c.Name
	})
}

// relatedObjects reads the objects of the only related entry.
func (m *model) relatedObjects() map[string]any {
	entry, _ := at(m.w.c.spec, "related").([]any)
	if len(entry) == 0 {
		return nil
	}
	rel := entry[0].(map[string]any)
	tier := textAt(m.cr, "metadata", "labels", "tier")
	wanted := func(o map[string]any) bool {
		team := textAt(o, "metadata", "labels", "team")
		names, _ := rel["names"].([]any)
		switch {
		case textAt(o, "kind") != rel["kind"] || o["apiVersion"] != rel["apiVersion"]:
			return false
		case rel["kind"] == "ConfigMap" && textAt(o, "metadata", "namespace") != namespace:
			return false
		case len(names) == 1 && names[0] != "settings":
			return textAt(o, "metadata", "name") == or(tier, "settings")
		case len(names) > 0:
			return slices.Contains(names, o["metadata"].(map[string]any)["name"])
		case at(rel, "labelSelector", "matchLabels") != nil:
			return team == or(tier, "x")
		case at(rel, "labelSelector", "matchExpressions") != nil:
			return team != ""
		}
		return true
	}
	list := []any{}
	for _, o := range m.w.Objects() {
		if wanted(o) {
			list = append(list, decoded[map[string]any](o))
		}
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(placeOf(a.(map[string]any)), placeOf(b.(map[string]any))) })
	var value any = list
	if m.w.c.related == "one" {
		value = nil
		if len(list) > 0 {
			value = list[0]
		}
	}
	return map[string]any{"rel": value}
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (m *model) run(p *expression.Program, item, index any) (any, error) {
	return p.Run(m.cr, expression.Vars{Children: m.children, Related: m.related, Item: item, Index: index})
}

// differences compares the cluster with the results of the expressions. All children
// must have been made ready.
func (m *model) differences() []string {
	var out []string
	for _, c := range m.w.plan.Children {
		out = append(out, m.childDifferences(c)...)
	}
	status, _ := m.cr["status"].(map[string]any)
	for _, f := range m.w.plan.Status.Fields {
		if f.Name == "conditions" {
			continue
		}
		want, err := m.run(f.Value, nil, nil)
		if err != nil {
			want = nil
		}
		if diff := difference(decoded[map[string]any](map[string]any{"status": want}), map[string]any{"status": status[f.Name]}); diff != "" {
			out = append(out, fmt.Sprintf("the custom resource has another %s.%s", f.Name, diff))
		}
	}
	return out
}

// lacksRelated reports whether a child waits for a value of a related object that does not
// exist, which no custom resource can help.
func (m *model) lacksRelated() bool {
	if m.related == nil || m.related["rel"] != nil {
		return false
	}
	return slices.ContainsFunc(m.w.plan.Children, m.waits)
}

// waits reports whether a child waits for a value of another object. Until then it stays as it
// is, or was shortly before.
func (m *model) waits(c plan.Child) bool {
	return len(c.Object.Needs()) > 0 && slices.ContainsFunc(m.items(c), func(item any) bool {
		return c.Object.Waits(m.cr, expression.Vars{Children: m.children, Related: m.related, Item: item})
	})
}

// withoutRandom returns a Secret without its random values, and those that it lacks.
func withoutRandom(c plan.Child, there map[string]any) (rest map[string]any, lacking []string) {
	if len(c.Generate) == 0 {
		return there, nil
	}
	data, _ := there["data"].(map[string]any)
	data = maps.Clone(data)
	for _, key := range slices.Sorted(maps.Keys(c.Generate)) {
		if textAt(there, "data", key) == "" {
			lacking = append(lacking, placeOf(there)+" has no random value "+key)
		}
		delete(data, key)
	}
	return with(there, "data", data), lacking
}

// held reports whether a child is not made because another one, which has to be there first,
// waits for a value.
func (m *model) held(c plan.Child) bool {
	return slices.ContainsFunc(m.w.plan.Children, func(other plan.Child) bool {
		return slices.Contains(slices.Concat(c.DependsOn, c.Deciders), other.Name) &&
			len(m.objectsOf(other)) < len(m.items(other)) && (m.waits(other) || m.held(other))
	})
}

// changing reports whether a controller has not yet observed a change of one of the children.
func (m *model) changing(names []string) bool {
	return slices.ContainsFunc(m.w.own(), func(o map[string]any) bool {
		observed := at(o, "status", "observedGeneration")
		return observed != nil && slices.Contains(names, textAt(o, "metadata", "labels", "argoperator.dev/child")) &&
			fmt.Sprint(observed) != fmt.Sprint(at(o, "metadata", "generation"))
	})
}

// childDifferences compares the objects of a child with its template.
func (m *model) childDifferences(c plan.Child) []string {
	var out []string
	expected := map[string]bool{}
	live := map[string]map[string]any{}
	for _, o := range m.objectsOf(c) {
		live[placeOf(o)] = o
	}
	for index, item := range m.items(c) {
		object, err := m.run(c.Object, item, index)
		if err != nil || c.Object.Waits(m.cr, expression.Vars{Children: m.children, Related: m.related, Item: item, Index: index}) {
			return nil // what the operator reports then is not compared
		}
		want, _ := solid(object).(map[string]any)
		if c.Kind.Namespaced && textAt(want, "metadata", "namespace") == "" {
			want = with(want, "metadata", with(want["metadata"].(map[string]any), "namespace", namespace))
		}
		if metadata := want["metadata"].(map[string]any); !c.Kind.Namespaced {
			delete(metadata, "namespace")
		}
		key := placeOf(want)
		expected[key] = true
		switch there := live[key]; {
		case there == nil && m.held(c):
		case there == nil:
			out = append(out, key+" is missing")
		case c.Update != plan.Never:
			rest, lacking := withoutRandom(c, there)
			out = append(append(out, lacking...), contentDifferences(want, rest)...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(live)) {
		if !expected[key] {
			out = append(out, key+" is there, and no template makes it")
		}
	}
	return out
}

// items returns the items of a child: one nil without forEach, none if it is not wanted.
func (m *model) items(c plan.Child) []any {
	if c.When != nil {
		if yes, err := m.run(c.When, nil, nil); err != nil || yes != true {
			return nil
		}
	}
	if c.ForEach == nil {
		return []any{nil}
	}
	list, err := m.run(c.ForEach, nil, nil)
	if err != nil {
		return nil
	}
	items, _ := list.([]any)
	return items
}

// contentDifferences compares an object with its template: the template's fields must be
// there, and its texts no others.
func contentDifferences(want, there map[string]any) []string {
	want = with(want)
	if data, ok := want["stringData"].(map[string]any); ok {
		encoded := map[string]any{}
		for key, value := range data {
			encoded[key] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(value)))
		}
		delete(want, "stringData")
		want["data"] = encoded
	}
	var out []string
	managed := there
	there = decoded[map[string]any](there)
	if !includes(there, decoded[any](want)) {
		out = append(out, placeOf(there)+" differs from its template: "+missing(there, decoded[any](want), ""))
	}
	if data, ok := there["data"].(map[string]any); ok && want["data"] != nil {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if at(want, "data", key) == nil && !slices.Contains(managersOf(managed, "f:data", "f:"+key), byHand) {
				out = append(out, fmt.Sprintf("%s has data.%s, which its template does not set", placeOf(there), key))
			}
		}
	}
	return out
}

// includes reports whether a value has all fields of another.
func includes(value, part any) bool { return missing(value, part, "") == "" }

// missing describes the first field of part that a value does not have.
func missing(value, part any, path string) string {
	switch part := part.(type) {
	case map[string]any:
		mapping, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if why := missing(mapping[key], part[key], path+"."+key); why != "" {
				return why
			}
		}
		return ""
	case []any:
		list, _ := value.([]any)
		if len(list) != len(part) {
			return fmt.Sprintf("%s is %v, want %v", path, value, part)
		}
		for i := range part {
			if why := missing(list[i], part[i], fmt.Sprintf("%s[%d]", path, i)); why != "" {
				return why
			}
		}
		return ""
	}
	// An empty text may be left out, and null in a list of texts is an empty one.
	if fmt.Sprint(value) != fmt.Sprint(part) && (value != nil || part != "") && (value != "" || part != nil) {
		return fmt.Sprintf("%s is %v, want %v", path, value, part)
	}
	return ""
}

func decodedText(data string) any {
	var out any
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		panic(err) // unreachable: encoded before
	}
	return out
}
