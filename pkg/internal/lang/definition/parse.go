package definition

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Parse reads the definitions of one file and reports every problem. It does not return
// a definition that has an error.
func Parse(in source.Input) ([]*Definition, diag.List) {
	defs, _, list := ParseAmong(in, nil)
	return defs, list
}

// ParseAmong is Parse for a file among others, whose kinds its definitions may use. It also
// returns the definitions that have errors, for checks of what is understood of them.
func ParseAmong(in source.Input, kinds Kinds) (defs, broken []*Definition, list diag.List) {
	docs, list := source.Load(in.Name, in.Data, mayDefine(in))
	if len(docs) == 0 && len(list) == 0 && !in.Lenient {
		list.Add(
			startOf(in),
			diag.NoDefinition,
			"the file contains no definition",
			"begin a definition with apiVersion: argoperator.dev/v1alpha1 and kind: Operator",
		)
	}
	tests := 0
	seen := map[string]diag.Position{}
	for _, doc := range docs {
		if in.Lenient && !strings.HasPrefix(doc.Text("apiVersion"), v1alpha1.Group+"/") {
			continue
		}
		if doc.Text("kind") == v1alpha1.TestKind { // the file may contain tests next to the operator
			tests++
			continue
		}
		def, found := one(in, doc, kinds)
		name := doc.Text("metadata", "name")
		if first, again := seen[name]; again && name != "" {
			found.Add(
				doc.At([]string{"metadata", "name"}),
				diag.DuplicateValue,
				fmt.Sprintf(
					"the file contains two definitions named %s",
					name,
				),
				fmt.Sprintf("rename one; the first is on line %d", first.Line),
			)
		} else {
			seen[name] = doc.At([]string{"metadata", "name"})
		}
		list = append(list, found...)
		switch {
		case !found.HasErrors() && !doc.Repaired():
			defs = append(defs, def)
		case def.rejected != nil:
			broken = append(broken, def)
		}
	}
	if tests == len(docs) && tests > 0 && !in.Lenient {
		list.Add(startOf(in), diag.NoDefinition, "the file contains tests and no definition", "run them with argoperator test")
	}
	return defs, broken, list.Sorted()
}

// startOf returns the position of the first line of a file, or of the file if it is
// empty.
func startOf(in source.Input) diag.Position {
	if len(in.Data) == 0 {
		return diag.Position{File: in.Name}
	}
	return diag.Position{File: in.Name, Line: 1, Column: 1}
}

// mayDefine tells which documents of a file may be definitions.
func mayDefine(in source.Input) func([]byte) bool {
	return func(text []byte) bool { return !in.Lenient || bytes.Contains(text, []byte(v1alpha1.Group+"/")) }
}

// decoded returns the checker of a document, which is decoded if it is a definition.
func decoded(in source.Input, doc source.Document) *checker {
	doc.Grafted = map[*yaml.Node]source.Positions{}
	def := &Definition{positions: doc.Positions}
	c := &checker{Positions: doc.Positions, in: in, def: def, op: &def.Operator, found: doc.Found}
	c.dec = source.NewDecoder(in.Name, &c.found)
	if c.isDefinition = c.isOf(v1alpha1.Kind); c.isDefinition {
		c.dec.Value(doc.Root, reflect.ValueOf(c.op).Elem(), nil)
	}
	return c
}

// one decodes, completes and checks one document.
func one(in source.Input, doc source.Document, kinds Kinds) (*Definition, diag.List) {
	c := decoded(in, doc)
	def := c.def
	if c.kinds = kinds; !c.isDefinition {
		return def, c.found
	}
	c.readCRD()
	c.readExisting()
	c.readTemplates()
	c.readRelated()
	c.readPatches()
	c.defaults()
	c.childMetadata()
	for _, check := range checks() {
		check(c)
	}
	c.found = slices.DeleteFunc(c.found, c.guessed)
	c.noteDoubts()
	return def, c.found
}

// guessed reports whether a finding is about a value that stands in a line that is not YAML,
// and may be meant otherwise.
func (c *checker) guessed(f diag.Finding) bool {
	return slices.Contains([]string{diag.WrongType, diag.BadName, diag.BadValue, diag.NullValue}, f.Code) && c.Guessed(f.Position)
}

// checks returns all checks of a definition, in the order of the definition's fields. A
// check may use defaults that an earlier one has set.
func checks() []func(*checker) {
	return []func(*checker){
		(*checker).metadata,
		(*checker).form,
		(*checker).ownAPI,
		(*checker).existing,
		(*checker).selectors,
		(*checker).versions,
		(*checker).schemas,
		(*checker).status,
		(*checker).columns,
		(*checker).subresources,
		(*checker).parameters,
		(*checker).variables,
		(*checker).generate,
		(*checker).children,
		(*checker).dependencies,
		(*checker).related,
		(*checker).patches,
		(*checker).templates,
		(*checker).readFiles,
		(*checker).readChart,
		(*checker).logic,
		(*checker).environment,
		(*checker).logicParameters,
		(*checker).resources,
		(*checker).statusFits,
		(*checker).engine,
		(*checker).finalizer,
		(*checker).reconcile,
		(*checker).install,
		(*checker).eventBus,
		(*checker).monitoring,
		(*checker).podTemplate,
		(*checker).images,
	}
}
