package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// The data flow says who decides the values that an operator writes and reads: fields of
// the custom resource, labels, other children and related objects, through $item, the
// selection of related objects and the templates of other children. It may name a source
// that decides nothing, and omits none.

// Who decides a value.
type Who string

// Those who decide values.
const (
	ByAuthor     Who = "author"     // who writes the custom resource
	ByEditor     Who = "editor"     // who changes a child or a related object
	ByController Who = "controller" // what writes the status of a child or of a related object
	ByServer     Who = "server"     // the API server, or a right to a whole namespace
)

// Source is a value that decides another one.
type Source struct {
	Path   string // as jq: .spec.team, $children.a.data.name
	Who    Who
	By     string   // in a sentence: every user who can create a Team
	Limit  string   // of its values, as the schema has it; "": none
	Finite bool     // the schema lists all of its values, or it is a boolean
	Values []string // those of an enum of the schema
	// Selects is the related entry of which the value selects the objects; "": it is a part of the value itself.
	Selects string
	Field   []string // the path in the custom resource; nil: it is in another object
}

// Free reports whether users choose any value.
func (s Source) Free() bool { return !s.Finite && (s.Who == ByAuthor || s.Who == ByEditor) }

// String names the source in a sentence.
func (s Source) String() string {
	if s.Selects != "" {
		return s.Path + ", which selects related " + s.Selects
	}
	return s.Path
}

// Flow is the data flow of a definition.
type Flow struct {
	p *declared
	d *definition.Definition
}

// Flow returns the data flow of the definition of a plan.
func (p *declared) Flow(d *definition.Definition) *Flow { return &Flow{p, d} }

// Program returns the sources of the result of a child's program. The child is the zero
// value for a program of a related entry.
func (f *Flow) Program(c Child, p *expression.Program) []Source {
	if p == nil {
		return nil
	}
	w := walk{Flow: f}
	w.all(c, p.Choices(), p.AllOrigins())
	return w.out
}

// Conditions returns the fields of the custom resource that a condition, or a list, reads.
func (f *Flow) Conditions(p *expression.Program) []Source {
	w := walk{Flow: f}
	if p != nil {
		for _, o := range p.AllOrigins() {
			if o.Root == "." || len(o.Path) > 0 { // a variable is also read for each of its paths
				w.one(Child{}, o)
			}
		}
	}
	return w.out
}

// Part returns the sources of a value of a child's template.
func (f *Flow) Part(c Child, part expression.Part) []Source {
	w := walk{Flow: f}
	w.all(c, part.Choices(), part.AllOrigins())
	return w.out
}

// At returns the sources of a place of a child's template: of the values at, above and
// below it. Each stands for any item of a list.
func (f *Flow) At(c Child, place ...string) []Source {
	w := walk{Flow: f}
	w.at(c, place)
	return w.out
}

// walk collects the sources of one value.
type walk struct {
	*Flow
	out  []Source
	seen []string
}

func (w *walk) add(s Source) {
	if !slices.ContainsFunc(w.out, func(o Source) bool { return o.Path == s.Path && o.Selects == s.Selects }) {
		w.out = append(w.out, s)
	}
}

// at adds the sources of a place of a template.
func (w *walk) at(c Child, place []string) {
	if c.Object == nil {
		return
	}
	for _, part := range c.Object.Parts() {
		n := min(len(part.Path), len(place))
		if !slices.EqualFunc(part.Path[:n], place[:n], sameStep) {
			continue
		}
		if is := part.Is(); len(part.Path) < len(place) && is != nil {
			for _, o := range is {
				o.Path = slices.Concat(o.Path, place[n:])
				w.all(c, []expression.Origin{o}, nil)
			}
			continue
		}
		w.all(c, part.Choices(), part.AllOrigins())
	}
}

// sameStep reports whether two steps of paths may be the same. Steps of a template are the
// indexes of lists.
func sameStep(of, place string) bool { return of == place || place == expression.Each }

// all adds the sources of a value that comes from paths. If one is of a list of other
// objects, what else its expression reads decides which of them it is.
func (w *walk) all(c Child, from, reads []expression.Origin) {
	others := false
	for _, o := range from {
		others = w.one(c, o) || others
	}
	if others {
		w.fields(reads, "")
	}
}

// fields adds the fields of the custom resource among paths.
func (w *walk) fields(paths []expression.Origin, selects string) {
	for _, o := range paths {
		if o.Root == "." && len(o.Path) > 0 {
			w.field(o.Path, selects)
		}
	}
}

// one adds the sources of a path. It reports whether it is one of several other objects.
func (w *walk) one(c Child, o expression.Origin) (others bool) {
	id := c.Name + " " + o.String()
	if slices.Contains(w.seen, id) {
		return false
	}
	w.seen = append(w.seen, id)
	switch o.Root {
	case ".":
		w.field(o.Path, "")
	case "$item":
		return w.item(c, o.Path)
	case "$children":
		return w.child(o)
	case "$related":
		return w.related(o)
	}
	return false
}

// item adds the sources of a path below $item.
func (w *walk) item(c Child, path []string) (others bool) {
	if c.ForEach == nil {
		return false
	}
	for _, part := range c.ForEach.Parts() {
		from := part.ItemsAre()
		if from == nil {
			from, path = part.Choices(), nil
		}
		for _, o := range from {
			o.Path = slices.Concat(o.Path, path)
			others = w.one(c, o) || others
		}
		if others {
			w.fields(part.AllOrigins(), "")
		}
	}
	return others
}

// child adds the sources of a path below $children.
func (w *walk) child(o expression.Origin) (others bool) {
	for _, c := range w.p.Children {
		path, is := pathBelow(o.Path, c.Name)
		if !is {
			continue
		}
		others = others || c.ForEach != nil
		switch strings.Join(path, ".") {
		case "metadata.name":
			w.program(c, c.ObjectName)
			continue
		case "metadata.namespace":
			w.program(c, c.Namespace)
			continue
		}
		w.add(Source{
			Path: o.String(), Who: writer(c.Kind, path, ByEditor),
			By: fmt.Sprintf("every user who can change the %s of child %s", c.Kind.Kind, c.Name),
		})
		if len(path) > 0 {
			w.at(c, path)
		}
	}
	return others
}

func (w *walk) program(c Child, p *expression.Program) {
	if p != nil {
		w.all(c, p.Choices(), p.AllOrigins())
	}
}

// related adds the sources of a path below $related: who changes the objects, and what
// selects them.
func (w *walk) related(o expression.Origin) (others bool) {
	for _, r := range w.p.Related {
		path, is := pathBelow(o.Path, r.Name)
		if !is {
			continue
		}
		others = others || r.Multiple
		w.add(Source{
			Path: o.String(), Who: writer(r.Kind, path, ByEditor),
			By: fmt.Sprintf("every user who can change the %s of related %s", r.Kind.Kind, r.Name),
		})
		for _, p := range []*expression.Program{r.Namespace, r.Selection} {
			if p != nil {
				w.fields(p.AllOrigins(), r.Name)
			}
		}
	}
	return others
}

// writer returns who writes a field of an object of a kind; users are those who write the rest
// of it.
func writer(k Kind, path []string, users Who) Who {
	switch {
	case ofServer(path), k.namespace() && slices.Equal(path, []string{"metadata", "name"}):
		return ByServer
	case len(path) > 0 && path[0] == "status":
		return ByController
	}
	return users
}

// ofServer reports whether the API server sets a field of every object. A namespace is
// chosen by whoever may create the object in it.
func ofServer(path []string) bool {
	return len(path) > 1 && path[0] == "metadata" &&
		slices.Contains([]string{"namespace", "uid", "creationTimestamp", "deletionTimestamp", "generation", "resourceVersion"}, path[1]) ||
		len(path) == 1 && (path[0] == "kind" || path[0] == "apiVersion")
}

// field adds a field of the custom resource; the empty path is all of it.
func (w *walk) field(path []string, selects string) {
	api := w.p.API.Kind
	s := Source{
		Path: expression.Origin{Root: ".", Path: path}.String(), Who: writer(api, path, ByAuthor), Selects: selects, Field: path,
		By: "every user who can create a " + api.Kind,
	}
	if s.Who == ByAuthor {
		s.Limit, s.Values, s.Finite = schemaLimit(w.d.Schema(w.d.WorkingVersion()), path)
	}
	w.add(s)
}
