package definition

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Test is one complete test: every file is read. Treat it as read-only.
type Test struct {
	v1alpha1.OperatorTest
	// File that contains it, as the user named it.
	File string
	// Resource is the custom resource; Objects exist before the test.
	Resource map[string]any
	Objects  []map[string]any
	// Applied are the objects that steps apply, by the step's index.
	Applied map[int][]map[string]any
	// Next are the definitions that steps apply, by the step's index.
	Next map[int]source.Input
	// Goldens are the contents of the golden files of steps, by the step's index. A
	// missing file has no entry.
	Goldens map[int][]byte

	positions source.Positions
}

// Position returns the position of the value at a path, like Definition.Position.
func (t *Test) Position(path ...string) diag.Position { return t.positions.At(path) }

// KeyPosition returns the position of the key of a path.
func (t *Test) KeyPosition(path ...string) diag.Position { return t.positions.AtKey(path) }

// ResourcePosition returns the position of a field of the custom resource, or of the name
// of its file.
func (t *Test) ResourcePosition(path []string) diag.Position {
	return t.Position(append([]string{"spec", "resource", "object"}, path...)...)
}

// Written reports whether there is a value at a path.
func (t *Test) Written(path ...string) bool { return t.positions.Written(path) }

// Golden returns the name of a step's golden file, relative to the test.
func (t *Test) Golden(step int) string {
	return path.Join(path.Dir(t.File), t.Spec.Steps[step].Expect.Golden)
}

// ParseTests reads the tests of one file and reports every problem. The input's
// directory is that of the operator; paths must not leave it. base is the file's
// directory within it, "." for the directory itself. A test with an error is not
// returned. Definitions in the same file are skipped, and in lenient mode also
// documents of other kinds.
func ParseTests(in source.Input, base string) ([]*Test, diag.List) {
	docs, list := source.Load(in.Name, in.Data, func(text []byte) bool {
		return !in.Lenient || strings.Contains(string(text), v1alpha1.TestKind)
	})
	var tests []*Test
	seen := map[string]diag.Position{}
	for _, doc := range docs {
		if !isTest(doc, in.Lenient) {
			continue
		}
		test, found := oneTest(in, base, doc)
		if first, again := seen[test.Metadata.Name]; again && test.Metadata.Name != "" {
			found.Add(
				doc.At([]string{"metadata", "name"}),
				diag.DuplicateValue,
				fmt.Sprintf(
					"the file contains two tests named %s",
					test.Metadata.Name,
				),
				fmt.Sprintf("rename one; the first is on line %d", first.Line),
			)
		}
		seen[test.Metadata.Name] = doc.At([]string{"metadata", "name"})
		list = append(list, found...)
		if !found.HasErrors() && !doc.Repaired() {
			tests = append(tests, test)
		}
	}
	return tests, list.Sorted()
}

// isTest reports whether a document is meant as a test. In a directory, it must have
// the apiVersion.
func isTest(doc source.Document, lenient bool) bool {
	ours := strings.HasPrefix(doc.Text("apiVersion"), v1alpha1.Group+"/")
	switch kind := doc.Text("kind"); {
	case kind == v1alpha1.Kind && ours:
		return false
	case lenient:
		return ours || kind == v1alpha1.TestKind
	}
	return true
}

// testChecker holds one document and its findings.
type testChecker struct {
	*checker
	test *Test
}

func oneTest(in source.Input, base string, doc source.Document) (*Test, diag.List) {
	doc.Grafted = map[*yaml.Node]source.Positions{}
	test := &Test{
		File: in.Name, Applied: map[int][]map[string]any{}, Next: map[int]source.Input{}, Goldens: map[int][]byte{},
		positions: doc.Positions,
	}
	c := &testChecker{checker: &checker{Positions: doc.Positions, in: in, base: base, found: doc.Found}, test: test}
	c.dec = source.NewDecoder(in.Name, &c.found)
	c.dec.Kind = reflect.TypeFor[v1alpha1.OperatorTest]()
	if !c.isOf(v1alpha1.TestKind) {
		return test, c.found
	}
	c.dec.Value(doc.Root, reflect.ValueOf(&test.OperatorTest).Elem(), nil)
	c.testName()
	c.givens()
	c.steps()
	c.definitions()
	return test, c.found
}

var testName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`) })

func (c *testChecker) testName() {
	name, p := c.test.Metadata.Name, source.PathOf("metadata", "name")
	if c.has(name, p) && !testName().MatchString(name) {
		c.add(
			p,
			diag.BadName,
			fmt.Sprintf("%q is not a test name", name),
			"use lower-case letters, digits and '-', with a letter or digit at both ends",
		)
	}
	c.has(c.test.Spec.Operator, source.PathOf("spec", "operator"))
	c.has(c.test.Spec.NotIdempotent, source.PathOf("spec", "notIdempotent"))
}

// givens reads the objects of the test.
func (c *testChecker) givens() {
	spec := &c.test.Spec
	p := source.PathOf("spec", "resource")
	if found := c.given(spec.Resource, p); len(found) == 1 {
		c.test.Resource = found[0]
	} else if len(found) > 1 {
		c.add(p.To("file"), diag.BadValue, fmt.Sprintf("%s contains %d objects, want one", spec.Resource.File, len(found)),
			"put the others under spec.objects")
	}
	for i, g := range spec.Objects {
		c.test.Objects = append(c.test.Objects, c.given(g, source.PathOf("spec", "objects", i))...)
	}
	for i, s := range spec.Steps {
		if s.Apply != nil {
			c.test.Applied[i] = c.given(*s.Apply, source.PathOf("spec", "steps", i, "apply"))
		}
	}
}

// given returns one inline object, or those of a file.
func (c *testChecker) given(g v1alpha1.Given, p source.Path) []map[string]any {
	if c.wasRejected(p) || !c.Written(p) {
		return nil
	}
	switch inline, file := c.Written(p.To("object")), c.Written(p.To("file")); {
	case inline && file:
		c.addKey(p.To("file"), diag.ConflictingKeys, "object and file cannot be combined", "remove one of them")
	case file:
		return c.objectFile(g.File, p.To("file"))
	case inline && !c.wasRejected(p.To("object")):
		if problem := MissingName(g.Object); problem != "" {
			c.add(p.To("object"), diag.MissingKey, "the object "+problem, "")
			return nil
		}
		return []map[string]any{g.Object}
	case !inline:
		c.missing(p, "file", "write file: FILE, or the object itself under object")
	}
	return nil
}

func (c *testChecker) objectFile(name string, p source.Path) []map[string]any {
	if c.wasRejected(p) || !c.has(name, p) {
		return nil
	}
	data, ok := c.beside(name, p)
	if !ok {
		return nil
	}
	objects, found := source.Objects(source.Input{Name: path.Join(path.Dir(c.in.Name), name), Data: data}, source.NotEmpty)
	c.found = append(c.found, found...)
	var out []map[string]any
	for _, o := range objects {
		if problem := MissingName(o.Fields); problem != "" {
			c.found.Add(o.Position(""), diag.MissingKey, "the object "+problem, "")
			continue
		}
		out = append(out, o.Fields)
	}
	if len(objects) == 0 && len(found) == 0 {
		c.add(p, diag.WrongKind, name+" contains no object", "write an object into it")
	}
	return out
}

// definitions reads the definitions that steps apply.
func (c *testChecker) definitions() {
	for i, s := range c.test.Spec.Steps {
		p := source.PathOf("spec", "steps", i, "definition")
		if s.Definition == nil || c.wasRejected(p) || !c.has(s.Definition.File, p.To("file")) {
			continue
		}
		name := s.Definition.File
		data, ok := c.beside(name, p.To("file"))
		if !ok {
			continue
		}
		dir, err := fs.Sub(c.in.Dir, path.Dir(path.Join(c.base, name)))
		if err != nil {
			c.add(p.To("file"), diag.FileNotFound, name+" cannot be read: "+err.Error(), "")
			continue
		}
		c.test.Next[i] = source.Input{Name: path.Join(path.Dir(c.in.Name), name), Data: data, Dir: dir, Unlocked: true}
	}
}

// AppliedByTests returns the definitions that steps of the tests in a file apply, as paths relative
// to the file. It takes what it understands of tests with errors.
func AppliedByTests(in source.Input) []string {
	mayTest := func(text []byte) bool { return bytes.Contains(text, []byte(v1alpha1.TestKind)) }
	if !mayTest(in.Data) {
		return nil // most files need not be parsed
	}
	objects, _ := source.Objects(in, mayTest)
	var out []string
	for _, o := range objects {
		steps, _ := schema.ValueAt(o.Fields, "spec", "steps").([]any)
		for _, step := range steps {
			if file, ok := schema.ValueAt(step, "definition", "file").(string); ok && o.Text("kind") == v1alpha1.TestKind {
				out = append(out, file)
			}
		}
	}
	return out
}

// beside reads a file that is named relative to the test.
func (c *testChecker) beside(name string, p source.Path) ([]byte, bool) {
	if joined := path.Join(c.base, name); !path.IsAbs(name) && !strings.HasPrefix(joined, "../") {
		return c.readFile(p, joined)
	}
	c.add(
		p,
		diag.PathOutsideDirectory,
		name+" is outside of the directory of the definition",
		"write a path relative to the test, below that directory",
	)
	return nil, false
}

// MissingName returns what an object lacks to be identified, or "".
func MissingName(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	for _, one := range []struct {
		value any
		key   string
	}{{o["apiVersion"], "apiVersion"}, {o["kind"], "kind"}, {metadata["name"], "metadata.name"}} {
		if text, ok := one.value.(string); !ok && one.value != nil {
			return fmt.Sprintf("has a %s that is no text, but %v: quote it", one.key, one.value)
		} else if text == "" {
			return "has no " + one.key
		}
	}
	return ""
}
