package resource

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Minimal makes an object with the required fields only, each with its default
// or the smallest value: the number nearest to zero, the shortest text that
// says something, the fewest items.
func (s *Schema) Minimal() (map[string]any, error) { return s.sample(fixed(), smallest) }

// Start makes an object to start from: the required fields only, with readable
// values.
func (s *Schema) Start() (map[string]any, error) {
	m := s.maker(fixed(), typical)
	m.optional = 0
	return s.sampleBy(m)
}

// Full makes an object with every field that can be there at once, with its
// default, its example or a readable value, and one item in every list.
func (s *Schema) Full() (map[string]any, error) { return s.sample(fixed(), typical) }

// Random makes any legal object. The same source gives the same objects.
func (s *Schema) Random(r *rand.Rand) (map[string]any, error) { return s.sample(r, random) }

// Sensible is the schema, with samples in which texts that have a default keep it.
func (s *Schema) Sensible() *Schema {
	out := *s
	out.sensible = true
	return &out
}

func (s *Schema) maker(r *rand.Rand, taste taste) *maker {
	m := newMaker(r, taste)
	m.sensible = s.sensible
	return m
}

// fixed is a source that gives the same values always.
func fixed() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// sample makes an object that is legal as it is and with its defaults. An error
// says what stood in the way of the last try.
func (s *Schema) sample(r *rand.Rand, taste taste) (map[string]any, error) {
	return s.sampleBy(s.maker(r, taste))
}

func (s *Schema) sampleBy(m *maker) (map[string]any, error) {
	value, try, err := m.search(s.root, nil, s.judge, func(m *maker) (any, error) {
		value, err := m.draw(s.root, nil, "")
		if err == nil {
			s.address(m, value.(map[string]any))
		}
		return value, err
	})
	if err != nil {
		return nil, fmt.Errorf("no sample of %s was found: %w", s.kind.Kind, err)
	}
	if try > 0 {
		value = m.settle(s.root, nil, value, func(v any) bool { return len(s.judge(v)) == 0 })
	}
	return value.(map[string]any), nil
}

// address writes what the object is and how it is called.
func (s *Schema) address(m *maker, object map[string]any) {
	meta := map[string]any{"name": s.name(m)}
	if s.kind.Namespaced {
		meta["namespace"] = "default"
	}
	object["apiVersion"], object["kind"], object["metadata"] = s.kind.apiVersion(), s.kind.Kind, meta
}

// name is "sample", or another one where the schema or a rule wants it.
func (s *Schema) name(m *maker) string {
	if texts := m.hintTexts(); m.taste == random && len(texts) > 0 && m.r.IntN(2) == 0 {
		return texts[0]
	}
	property, ok := s.structural.Properties["metadata"].Properties["name"]
	if !ok {
		return "sample"
	}
	d := m.demandOf(&node{Structural: &property}, nil)
	if m.fits(&d, "sample") {
		return "sample"
	}
	if value, err := m.make(newNode(&property, nil), nil, "name"); err == nil {
		return value.(string)
	}
	return "sample"
}

// judge is the API server, on an object as it is and with its defaults.
func (s *Schema) judge(value any) field.ErrorList {
	object := value.(map[string]any)
	if errs := s.Validate(object, nil); len(errs) > 0 {
		return errs
	}
	whole := runtime.DeepCopyJSON(object)
	s.Default(whole)
	return s.Validate(whole, nil)
}

// forSamples is the schema's root without what is not up to a sample.
func (s *Schema) forSamples(root *node) *node {
	root.whole = true
	root.names = slices.DeleteFunc(root.names, func(name string) bool {
		switch name {
		case "apiVersion", "kind", "metadata":
			return true
		}
		return name == "status" && s.kind.Status
	})
	return root
}
