package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// changes finds what can change of other objects that a template reads. The status of a
// single object counts as constant: most fields of it are assigned once.
type changes struct {
	c        *compiler
	children []Child
	optional []string // the children that may be left out
	within   []string // the children that are being looked at
	awaited  []string // what the template waits for, children by their names and others as $related.NAME
}

// reads returns what a program reads of other objects, that can change, and that the names
// do not depend on.
func (f *changes) reads(program *expression.Program, names []*expression.Program) []changing {
	var out []changing
	add := func(root string, paths map[string][][]string, list func(string) bool, change func(string, []string) schema.Change,
		named func(*expression.Program) map[string][][]string,
	) {
		for _, name := range slices.Sorted(maps.Keys(paths)) {
			for _, path := range paths[name] {
				known := func(p *expression.Program) bool { return covered(path, named(p)[name]) }
				how := change(name, path)
				if how == schema.NoChange || slices.ContainsFunc(names, known) {
					continue
				}
				one := changing{name: strings.Join(append([]string{root + "." + name}, path...), "."), how: how, of: true}
				if list(name) {
					one.name = "the list " + root + "." + name
				}
				if !slices.Contains(out, one) {
					out = append(out, one)
				}
			}
		}
	}
	add("$children", program.ReadsChildren(), func(name string) bool { return f.child(name).ForEach != nil }, f.childChange,
		(*expression.Program).ReadsChildren)
	isList := func(name string) bool { r, is := f.related(name); return is && multiple(r) }
	relatedChange := func(name string, path []string) schema.Change {
		switch {
		case f.relatedChanges(name, path):
			return schema.Changes
		case !slices.Contains(f.awaited, relatedRoot+name):
			return schema.Appears // it may be made later
		}
		return schema.NoChange
	}
	add("$related", program.RelatedPaths(), isList, relatedChange, (*expression.Program).RelatedPaths)
	return out
}

const relatedRoot = "$related."

// relatedIn returns the related object that the text of a need names, as $related.NAME.
func relatedIn(text string) []string {
	rest, is := strings.CutPrefix(text, relatedRoot)
	if !is {
		return nil
	}
	name, _, _ := strings.Cut(rest, ".")
	return []string{relatedRoot + name}
}

func (f *changes) child(name string) Child {
	for _, child := range f.children {
		if child.Name == name {
			return child
		}
	}
	return Child{}
}

// childChange returns how a field of a child can change. An expression that tolerates null is
// computed before there is the child.
func (f *changes) childChange(name string, path []string) schema.Change {
	switch {
	case f.childChanges(name, path):
		return schema.Changes
	case f.child(name).Object != nil && !slices.Contains(f.awaited, name):
		return schema.Appears
	}
	return schema.NoChange
}

// childChanges reports whether a field of a child can change.
func (f *changes) childChanges(name string, path []string) bool {
	child := f.child(name)
	if child.Object == nil || slices.Contains(f.within, name) {
		return false
	}
	f.within = append(f.within, name)
	defer func() { f.within = f.within[:len(f.within)-1] }()
	if f.listChanges(child) || slices.Contains(f.optional, name) && f.programChanges(child.When) || rewritten(path) {
		return true
	}
	return slices.ContainsFunc(child.Object.Parts(), func(p expression.Part) bool {
		return schema.Overlap(p.Path, path) && f.anyChanges(p.Reads(), p.ReadsChildren(), p.RelatedPaths())
	})
}

// listChanges reports whether the list of forEach can change.
func (f *changes) listChanges(child Child) bool {
	return child.ForEach != nil && f.programChanges(child.ForEach)
}

func (f *changes) programChanges(p *expression.Program) bool {
	return p != nil && f.anyChanges(p.Reads(), p.ReadsChildren(), p.RelatedPaths())
}

// anyChanges reports whether one of the fields can change: of the custom resource, of
// children, or of related objects.
func (f *changes) anyChanges(own [][]string, children, related map[string][][]string) bool {
	among := func(of map[string][][]string, changes func(string, []string) bool) bool {
		for name, paths := range of {
			if slices.ContainsFunc(paths, func(path []string) bool { return changes(name, path) }) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(own, func(path []string) bool { return f.c.changeOf(path) != schema.NoChange }) ||
		among(children, f.childChanges) || among(related, f.relatedChanges)
}

func (f *changes) related(name string) (v1alpha1.Related, bool) {
	for _, r := range f.c.d.Operator.Spec.Related {
		if r.Name == name {
			return r, true
		}
	}
	return v1alpha1.Related{}, false
}

// relatedChanges reports whether a field of a related object can change.
func (f *changes) relatedChanges(name string, path []string) bool {
	r, is := f.related(name)
	if !is || r.Schedule != "" || multiple(r) || rewritten(path) {
		return is
	}
	scope := expression.Scope{
		Input: f.c.scope.Input, Name: f.c.scope.Name, Variables: f.c.scope.Variables, Parameters: f.c.scope.Parameters,
	}
	for _, text := range append(slices.Clone(r.Names), r.Namespace) {
		rule, _ := expression.Template(text, scope, nil)
		if f.programChanges(rule) {
			return true // another object
		}
	}
	_, changes := mutableField([][]string{path})
	group, _ := source.SplitAPIVersion(r.APIVersion)
	return changes && path[0] != "status" && !keepsField(group, r.Kind, path)
}

// rewritten reports whether the API server changes a value with each write of the object.
func rewritten(path []string) bool {
	return len(path) < 1 || path[0] == "metadata" &&
		(len(path) == 1 || slices.Contains([]string{"generation", "resourceVersion", "managedFields"}, path[1]))
}
