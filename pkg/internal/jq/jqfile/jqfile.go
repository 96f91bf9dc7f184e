package jqfile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Set is a prelude of definitions and the programs that use them. Its fields are exported
// for package gosource.
type Set struct {
	Prelude   []*gojq.FuncDef
	Programs  []Named  // by the name of the file
	Bodies    []Named  // of the prelude, for Definition
	Recursive []string // the recursive definitions
}

// Named is a query with a name.
type Named struct {
	Name  string
	Query *gojq.Query
}

// preludeFile has the definitions that all programs of a directory share.
const preludeFile = "prelude.jq"

// Parse parses the jq files of a directory. Definitions of the prelude may read the
// variables that a program binds before its first definition or condition.
func Parse(files fs.FS) (*Set, error) {
	names, err := fs.Glob(files, "*.jq")
	if err != nil {
		return nil, err
	}
	s := &Set{}
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		query, err := gojq.Parse(string(source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		query = (&rewriter{query: fold}).of(query)
		s.define(query)
		if name == preludeFile {
			s.Prelude = query.FuncDefs
			continue
		}
		s.Programs = append(s.Programs, Named{strings.TrimSuffix(path.Base(name), ".jq"), query})
	}
	s.expand()
	return s, nil
}

// define records the recursive definitions of a file.
func (s *Set) define(query *gojq.Query) {
	each(query, func(q *gojq.Query) {
		for _, d := range q.FuncDefs {
			if callsOf(d.Name, d.Body) > 0 && !s.isRecursive(d.Name) {
				s.Recursive = append(s.Recursive, d.Name)
			}
		}
	})
}

func (s *Set) isRecursive(name string) bool { return slices.Contains(s.Recursive, name) }

// find returns the query of a name, which must exist.
func find(list []Named, name string) *gojq.Query {
	for _, n := range list {
		if n.Name == name {
			return n.Query
		}
	}
	panic("jqfile: there is no " + name) // unreachable
}

// Defines reports whether the program of a file has a definition.
func (s *Set) Defines(program, name string) bool {
	return slices.ContainsFunc(find(s.Programs, program).FuncDefs, func(d *gojq.FuncDef) bool { return d.Name == name })
}

// Program returns the program of a file with its holes filled in. If a hole has two
// values, the first one is used.
func (s *Set) Program(name string, holes ...Holes) string {
	program := find(s.Programs, name)
	r := &rewriter{query: func(q *gojq.Query) *gojq.Query { return fold(filled(q, holes)) }}
	var defs []*gojq.FuncDef
	for _, d := range called(s.Prelude, program, holes) {
		defs = append(defs, r.def(d))
	}
	return printed(inline(below(r.of(program), defs), s.isRecursive))
}

// Definition returns the body of a definition of the prelude without arguments. The
// holes of the definitions with arguments that it calls are filled too.
func (s *Set) Definition(name string, holes ...Holes) Value {
	body := find(s.Bodies, name)
	r := &rewriter{query: func(q *gojq.Query) *gojq.Query { return fold(filled(q, holes)) }}
	return Value{r.of(body)}
}

// expand inlines the definitions of the prelude that take filters in the bodies of those
// after them.
func (s *Set) expand() {
	withArguments := map[string]*gojq.FuncDef{}
	r := &rewriter{query: func(q *gojq.Query) *gojq.Query { return expanded(q, withArguments) }}
	for _, d := range s.Prelude {
		body := r.of(d.Body)
		s.Bodies = append(s.Bodies, Named{d.Name, body})
		if len(d.Args) > 0 && !takesValues(d) && !s.isRecursive(d.Name) {
			whole := *d
			whole.Body = body
			withArguments[d.Name] = &whole
		}
	}
}

// below inserts definitions after the variables that a program binds first.
func below(program *gojq.Query, defs []*gojq.FuncDef) *gojq.Query {
	c := *program
	if len(program.FuncDefs) == 0 && program.Op == gojq.OpPipe && len(program.Patterns) > 0 {
		c.Right = below(program.Right, defs)
		return &c
	}
	c.FuncDefs = append(defs, program.FuncDefs...)
	return &c
}

// called returns the definitions that a program uses, directly and indirectly. The
// holes of unused definitions may have no values.
func called(defs []*gojq.FuncDef, program *gojq.Query, holes []Holes) []*gojq.FuncDef {
	byName, needed := map[string]*gojq.FuncDef{}, map[string]bool{}
	for _, d := range defs {
		byName[d.Name] = d
	}
	var need func(q *gojq.Query)
	need = func(q *gojq.Query) {
		each(q, func(q *gojq.Query) {
			if q.Term == nil || q.Term.Type != gojq.TermTypeFunc {
				return
			}
			name := q.Term.Func.Name
			if d := byName[name]; d != nil && !needed[name] {
				needed[name] = true
				need(d.Body)
			} else if v, ok := value(holes, name); ok && !needed[name] {
				needed[name] = true
				need(v.query)
			}
		})
	}
	need(program)
	var out []*gojq.FuncDef
	for _, d := range defs {
		if needed[d.Name] {
			out = append(out, d)
		}
	}
	return out
}

// filled replaces a hole by its value.
func filled(q *gojq.Query, holes []Holes) *gojq.Query {
	if q.Term == nil || q.Term.Type != gojq.TermTypeFunc || !strings.Contains(q.Term.Func.Name, "::") {
		return q
	}
	if v, ok := value(holes, q.Term.Func.Name); ok {
		return inPlace(q, v.query)
	}
	return q // of a disabled option; printed rejects the others
}

func value(holes []Holes, name string) (Value, bool) {
	for _, h := range holes {
		if v, ok := h[name]; ok {
			return v, true
		}
	}
	return Value{}, false
}
