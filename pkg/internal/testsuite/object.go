package testsuite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
)

// valueOf is what stands at a path, nil where nothing does.
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

// placeOf is what people call an object by.
func placeOf(o map[string]any) string {
	return strings.Replace(fmt.Sprintf("%s %s/%s", kindOf(o), namespaceOf(o), nameOf(o)), " /", " ", 1)
}

// placesOf names objects in a sentence.
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

// namespace in which the custom resource is, or would be.
func (p *play) namespace() string {
	return cmp.Or(namespaceOf(p.resource), "default")
}

// children of the custom resource: those that it owns, and those that say so
// where owner references do not reach.
func (p *play) children() []map[string]any {
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

// referenceOf is the object that a partial one is about.
func referenceOf(partial map[string]any) v1alpha1.Reference {
	return v1alpha1.Reference{
		APIVersion: textOf(partial, "apiVersion"), Kind: kindOf(partial), Name: nameOf(partial), Namespace: namespaceOf(partial),
	}
}

// child that a reference means.
func (p *play) child(r v1alpha1.Reference) (map[string]any, string) {
	return one(r, p.children(), "child of the custom resource is a")
}

// object that a reference means, whoever made it; without a namespace in that
// of the custom resource.
func (p *play) object(r v1alpha1.Reference) (map[string]any, string) {
	here := slices.DeleteFunc(p.s.Objects(), func(o map[string]any) bool {
		return r.Namespace == "" && namespaceOf(o) != "" && namespaceOf(o) != p.namespace()
	})
	return one(r, here, "object is a")
}

// one is the only object of several that a reference fits, or why there is none.
func one(r v1alpha1.Reference, among []map[string]any, what string) (found map[string]any, why string) {
	kin := slices.DeleteFunc(slices.Clone(among), func(o map[string]any) bool {
		return kindOf(o) != r.Kind || r.APIVersion != "" && r.APIVersion != o["apiVersion"]
	})
	fit := slices.DeleteFunc(slices.Clone(kin), func(o map[string]any) bool {
		return r.Name != "" && r.Name != nameOf(o) || r.Namespace != "" && r.Namespace != namespaceOf(o)
	})
	called := strings.TrimSpace(r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
	switch {
	case len(fit) == 1:
		return fit[0], ""
	case len(fit) > 1:
		return nil, fmt.Sprintf("%s may be any of several; add the name, and the namespace if that differs: %s", called, strings.TrimPrefix(placesOf(fit), "there is "))
	case len(kin) > 0:
		return nil, fmt.Sprintf("no %s %s; %s", what, called, placesOf(kin))
	}
	return nil, fmt.Sprintf("no %s %s", what, called)
}

// copied is an object without notes; the object keeps them.
func copied(o map[string]any) map[string]any { return withoutNotes(simulate.Merged(o, nil)) }

// difference says in a few words where two objects differ.
func difference(a, b map[string]any) string {
	var out []string
	differences(a, b, "", &out)
	if len(out) > 4 {
		out = append(out[:4], fmt.Sprintf("and %d more", len(out)-4))
	}
	return strings.Join(out, "; ")
}

func differences(a, b any, path string, out *[]string) {
	if path == ".metadata.resourceVersion" || path == ".metadata.managedFields" || reflect.DeepEqual(a, b) {
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

// maxShown is how much of a value a message shows.
const maxShown = 160

// shown is a value in a message.
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
