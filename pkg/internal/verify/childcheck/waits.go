package childcheck

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// unwritten is a value in a ConfigMap or a Secret that another child waits for, although the
// template does not write it for each custom resource. Usually, nothing else does.
type unwritten struct {
	by   *run     // the child that has it
	path []string // data and the key
}

// endlessWaits warns of a child that waits for unwritten values.
func (f *family) endlessWaits(child int) diag.List {
	waiting := f.runs[child]
	if len(waiting.child.Object.Needs()) == 0 {
		return nil
	}
	if findings := f.waitsForMetadata(child); len(findings) > 0 || f.samples.schema == nil {
		return findings
	}
	values := f.contents(waiting)
	tried := slices.Concat(f.samples.plausible, f.samples.unlikely)
	for _, v := range values {
		tried = append(tried, v.by.having...)
	}
	for _, cr := range tried {
		if _, waits := waiting.waitsForNone(values, cr); !waits {
			continue
		}
		least := f.samples.schema.Shrink(cr.written, func(object map[string]any) bool {
			_, waits := waiting.waitsForNone(values, f.samples.served(object))
			return waits
		})
		missing, _ := waiting.waitsForNone(values, f.samples.served(least))
		return f.endlessWait(child, missing, least)
	}
	return nil
}

// waitsForMetadata warns of a child that waits for the labels or annotations of a related object, which may have none.
func (f *family) waitsForMetadata(child int) diag.List {
	var findings diag.List
	t := f.runs[child]
	for _, n := range t.child.Object.Needs() {
		for _, r := range t.p.Related {
			for _, field := range []string{"labels", "annotations"} {
				path := []string{"metadata", field}
				value := expression.Origin{Root: "$related", Path: append([]string{r.Name}, path...)}.String()
				always := field == "labels" && slices.Contains([]string{"Namespace", "Node"}, r.Kind.Kind)
				if n.Text != value || always {
					continue
				}
				message := fmt.Sprintf("the %s waits for %s, and an object without %s has none: then it waits forever",
					t.child.Kind.Kind, value, field)
				findings.Warn(f.at(child, t.readsRelated(r.Name, path)...), diag.EndlessWait, message, "write "+value+" // {}")
			}
		}
	}
	return findings
}

// readsRelated returns where the template reads a field of a related object.
func (t *run) readsRelated(name string, field []string) []string {
	for _, part := range t.child.Object.Parts() {
		if slices.ContainsFunc(part.RelatedPaths()[name], func(read []string) bool { return slices.Equal(read, field) }) {
			return part.Path
		}
	}
	return nil
}

// endlessWait returns the warning about a value that a child waits for.
func (f *family) endlessWait(child int, v unwritten, least map[string]any) diag.List {
	var findings diag.List
	c, kind := v.by.child.Name, f.runs[child].child.Kind.Kind
	value := expression.Origin{Root: "$children", Path: append([]string{c}, v.path...)}.String()
	field := expression.Origin{Root: ".", Path: v.path}
	message := fmt.Sprintf("the template of child %s writes no %s: the %s waits forever", c, field, kind)
	hint := "write it there, or give it a default here (" + value + " // …)"
	if schema.ValueAt(v.by.template, v.path...) != nil {
		message = fmt.Sprintf("%s is not there, and the %s waits forever, where the custom resource has %s", value, kind, specOf(least))
		hint = "give it a default, in child " + c + " or here (//), or leave this child out with when"
	}
	findings.Warn(f.at(child, v.readIn(f.runs[child])...), diag.EndlessWait, message, hint)
	return findings
}

// contents returns the values in ConfigMaps and Secrets of others that a child reads. It leaves
// out those that others than the template write.
func (f *family) contents(t *run) []unwritten {
	var out []unwritten
	read := t.child.Object.ReadsChildren()
	for _, name := range slices.Sorted(maps.Keys(read)) {
		i := slices.IndexFunc(f.runs, func(r *run) bool { return r != nil && r.child.Name == name })
		if i < 0 || !holdsTexts(f.runs[i].child) {
			continue
		}
		if schema.ValueAt(f.declared(i).Template, "type") == string(corev1.SecretTypeServiceAccountToken) {
			continue
		}
		for _, path := range read[name] {
			if len(path) != 2 || path[0] != "data" && path[0] != "binaryData" {
				continue
			}
			if _, random := f.runs[i].child.Generate[path[1]]; !random {
				out = append(out, unwritten{f.runs[i], path})
			}
		}
	}
	return out
}

// holdsTexts reports whether the operator keeps the content of a child as its template has it.
func holdsTexts(c plan.Child) bool {
	return c.Kind.Group == "" && (c.Kind.Kind == "ConfigMap" || c.Kind.Kind == "Secret") &&
		c.ForEach == nil && c.Update != plan.Never && c.Guessed == nil
}

// waitsForNone reports whether the child of a custom resource waits for values that are not
// written, and would not wait if they were. It returns one of them.
func (t *run) waitsForNone(values []unwritten, cr customResource) (missing unwritten, waits bool) {
	there := t.otherChildren(cr)
	with := there
	for _, v := range slices.Backward(values) {
		path := append([]string{v.by.child.Name}, v.path...)
		if there[path[0]] != nil && schema.ValueAt(there, path...) == nil {
			missing, with = v, withText(with, path)
		}
	}
	if missing.by == nil {
		return missing, false
	}
	items, _, err := t.items(cr, expression.Vars{Children: there})
	return missing, err == nil && slices.ContainsFunc(items, func(item any) bool {
		return t.child.Object.Waits(cr.served, expression.Vars{Children: there, Item: item}) &&
			!t.child.Object.Waits(cr.served, expression.Vars{Children: with, Item: item})
	})
}

// withText returns an object with a text at a path.
func withText(in map[string]any, path []string) map[string]any {
	out := maps.Clone(in)
	if out == nil {
		out = map[string]any{}
	}
	if out[path[0]] = "text"; len(path) > 1 {
		inner, _ := in[path[0]].(map[string]any)
		out[path[0]] = withText(inner, path[1:])
	}
	return out
}

// readIn returns the place in the template of a child that reads the value.
func (v unwritten) readIn(t *run) []string {
	for _, p := range t.child.Object.Parts() {
		if slices.ContainsFunc(p.ReadsChildren()[v.by.child.Name], func(path []string) bool { return slices.Equal(path, v.path) }) {
			return p.Path
		}
	}
	return nil
}
