package testsuite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// valueOf returns the value at a path, or nil.
func valueOf(o map[string]any, path ...string) any {
	var v any = o
	for _, key := range path {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

func textOf(o map[string]any, path ...string) string {
	text, _ := valueOf(o, path...).(string)
	return text
}

func kindOf(o map[string]any) string { return textOf(o, "kind") }

func nameOf(o map[string]any) string { return textOf(o, "metadata", "name") }

func namespaceOf(o map[string]any) string { return textOf(o, "metadata", "namespace") }

// placeOf returns the kind, namespace and name of an object.
func placeOf(o map[string]any) string {
	return strings.Replace(fmt.Sprintf("%s %s/%s", kindOf(o), namespaceOf(o), nameOf(o)), " /", " ", 1)
}

// placesOf lists objects for a message.
func placesOf(objects []map[string]any) string {
	if len(objects) == 0 {
		return "there is none"
	}
	var all []string
	for _, o := range objects {
		all = append(all, placeOf(o))
	}
	return "there is " + strings.Join(all, ", ")
}

// namespace returns the namespace of the custom resource, by default "default".
func (p *testRun) namespace() string {
	return cmp.Or(namespaceOf(p.resource), "default")
}

// children returns the custom resource's children: by owner reference, or by label
// where owner references cannot be used.
func (p *testRun) children() []map[string]any {
	if p.uid == "" {
		return nil
	}
	return slices.DeleteFunc(p.s.Objects(), func(o map[string]any) bool {
		if o["kind"] == "Event" && o["apiVersion"] == "v1" {
			return true
		}
		owners, _ := valueOf(o, "metadata", "ownerReferences").([]any)
		owned := slices.ContainsFunc(owners, func(owner any) bool {
			fields, _ := owner.(map[string]any)
			return fields["uid"] == p.uid
		})
		return !owned && textOf(o, "metadata", "labels", v1alpha1.Group+"/owner-uid") != p.uid
	})
}

// referenceOf returns a reference to a partial object. A name that is an expression is compared
// once the object is found.
func referenceOf(partial map[string]any) v1alpha1.Reference {
	text := func(path ...string) string {
		if _, isCondition := conditionOf(valueOf(partial, path...)); isCondition {
			return ""
		}
		return textOf(partial, path...)
	}
	return v1alpha1.Reference{
		APIVersion: textOf(partial, "apiVersion"), Kind: kindOf(partial),
		Name: text("metadata", "name"), Namespace: text("metadata", "namespace"),
	}
}

// child returns the child that a reference identifies.
func (p *testRun) child(r v1alpha1.Reference) (map[string]any, missed) {
	return one(r, p.children(), "child of the custom resource is a")
}

// object returns any object that a reference identifies, by default in the custom
// resource's namespace.
func (p *testRun) object(r v1alpha1.Reference) (map[string]any, missed) {
	here := slices.DeleteFunc(p.s.Objects(), func(o map[string]any) bool {
		return r.Namespace == "" && namespaceOf(o) != "" && namespaceOf(o) != p.namespace()
	})
	found, why := one(r, here, "object is a")
	if found != nil {
		return found, missed{}
	}
	if elsewhere, _ := one(r, p.s.Objects(), ""); elsewhere != nil {
		place := placesOf([]map[string]any{elsewhere})
		why.message = fmt.Sprintf("%s; %s in another namespace, which the test has to name", why.message, place)
	}
	return nil, why
}

// missed says why a reference identifies no object.
type missed struct {
	message string
	first   v1alpha1.Reference // what the reference lacks to identify the first of several objects
}

// one returns the only object that matches a reference, or why there is none.
func one(r v1alpha1.Reference, objects []map[string]any, what string) (found map[string]any, why missed) {
	sameKind := slices.DeleteFunc(slices.Clone(objects), func(o map[string]any) bool {
		return kindOf(o) != r.Kind || r.APIVersion != "" && r.APIVersion != o["apiVersion"]
	})
	matching := slices.DeleteFunc(slices.Clone(sameKind), func(o map[string]any) bool {
		return r.Name != "" && r.Name != nameOf(o) || r.Namespace != "" && r.Namespace != namespaceOf(o)
	})
	name := strings.TrimSpace(r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
	switch {
	case len(matching) == 1:
		return matching[0], missed{}
	case len(matching) > 1:
		all := strings.TrimPrefix(placesOf(matching), "there is ")
		return nil, missed{fmt.Sprintf("%s matches several objects: %s", name, all), distinction(matching)}
	case len(sameKind) > 0:
		return nil, missed{message: fmt.Sprintf("no %s %s; %s", what, name, placesOf(sameKind))}
	}
	return nil, missed{message: fmt.Sprintf("no %s %s", what, name)}
}

// distinction returns what distinguishes the first of several objects from the others.
func distinction(objects []map[string]any) v1alpha1.Reference {
	var r v1alpha1.Reference
	for _, part := range []struct {
		of   func(o map[string]any) string
		into *string
	}{
		{nameOf, &r.Name},
		{namespaceOf, &r.Namespace},
		{func(o map[string]any) string { return textOf(o, "apiVersion") }, &r.APIVersion},
	} {
		value := part.of(objects[0])
		same := slices.DeleteFunc(slices.Clone(objects), func(o map[string]any) bool { return part.of(o) != value })
		if len(same) < len(objects) {
			*part.into, objects = value, same
		}
	}
	return r
}

// hint returns what to write in the reference.
func (m missed) hint() string {
	return adding(map[string]string{"apiVersion": m.first.APIVersion, "name": m.first.Name, "namespace": m.first.Namespace}, "%s")
}

// hintIn returns what to write in the partial object.
func (m missed) hintIn(partial map[string]any) string {
	inside, outside := "metadata: {%s}", adding(map[string]string{"apiVersion": m.first.APIVersion}, "%s")
	if partial["metadata"] != nil {
		inside = "%s in metadata"
	}
	inside = adding(map[string]string{"name": m.first.Name, "namespace": m.first.Namespace}, inside)
	return strings.Trim(outside+"; "+inside, "; ")
}

// adding returns a hint to write keys with their values; "" if none has one.
func adding(values map[string]string, format string) string {
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	text, err := yaml.Marshal(values)
	if err != nil || len(values) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "write " + fmt.Sprintf(format, strings.Join(lines, ", "))
}

// copied returns a copy of an object without bookkeeping.
func copied(o map[string]any) map[string]any { return withoutBookkeeping(simulate.Merged(o, nil)) }

// difference summarizes how two objects differ.
func difference(a, b map[string]any) string {
	var out []string
	differences(a, b, "", &out)
	if len(out) > 4 {
		out = append(out[:4], fmt.Sprintf("and %d more", len(out)-4))
	}
	return strings.Join(out, "; ")
}

func differences(a, b any, path string, out *[]string) {
	counters := []string{".metadata.resourceVersion", ".metadata.managedFields", ".metadata.generation"}
	if slices.Contains(counters, path) || reflect.DeepEqual(a, b) {
		return
	}
	before, isMap := a.(map[string]any)
	after, both := b.(map[string]any)
	if !isMap || !both {
		*out = append(*out, fmt.Sprintf("%s from %s to %s", strings.TrimPrefix(path, "."), shown(a), shown(b)))
		return
	}
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		differences(before[key], after[key], path+"."+key, out)
	}
}

// maxShown limits the length of a value in a message.
const maxShown = 160

// shown formats a value for a message.
func shown(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(data))
	if text == "null" {
		return "nothing"
	}
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}
