package resource

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Minimal generates an object with the required fields only. Each has its default or
// the smallest value: the number nearest to zero, the shortest non-empty text, the
// fewest items.
func (s *Schema) Minimal() (map[string]any, error) { return s.sample(fixed(), smallest) }

// Start generates an object with the required fields only and readable values, as a
// starting point for users.
func (s *Schema) Start() (map[string]any, error) {
	m := s.maker(fixed(), typical)
	m.optional = 0
	return s.sampleBy(m)
}

// Full generates an object with every field that can be set at once, with its default,
// its example or a readable value, and one item in every list.
func (s *Schema) Full() (map[string]any, error) { return s.sample(fixed(), typical) }

// Random generates a valid object. The same source generates the same objects.
func (s *Schema) Random(r *rand.Rand) (map[string]any, error) { return s.sample(r, random) }

// Sensible returns the schema with samples in which texts keep their default.
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

// fixed returns a source that always generates the same values.
func fixed() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// sample generates an object that is valid as it is and with its defaults. An error is
// the problem of the last attempt.
func (s *Schema) sample(r *rand.Rand, taste taste) (map[string]any, error) {
	return s.sampleBy(s.maker(r, taste))
}

func (s *Schema) sampleBy(m *maker) (map[string]any, error) {
	value, try, err := m.search(s.root, nil, s.violations, func(m *maker) (any, error) {
		value, err := m.draw(s.root, nil, "")
		if err == nil {
			s.address(m, value.(map[string]any))
		}
		return value, err
	})
	if err != nil {
		return nil, fmt.Errorf("no sample of %s could be generated: %w", s.kind.Kind, err)
	}
	if try > 0 {
		value = m.settle(s.root, nil, value, func(v any) bool { return len(s.violations(v)) == 0 })
	}
	return value.(map[string]any), nil
}

// address sets apiVersion, kind and metadata.
func (s *Schema) address(m *maker, object map[string]any) {
	meta := map[string]any{"name": s.name(m)}
	if s.kind.Namespaced {
		meta["namespace"] = "default"
	}
	object["apiVersion"], object["kind"], object["metadata"] = s.kind.apiVersion(), s.kind.Kind, meta
}

// name returns "sample", or another name that the schema or a rule requires.
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
	if value, err := m.make(newNode(&property, nil, s.purse), nil, "name"); err == nil {
		return value.(string)
	}
	return "sample"
}

// violations validates an object as it is and with its defaults, like the API server.
func (s *Schema) violations(value any) field.ErrorList {
	object := value.(map[string]any)
	if errs := s.forSample(object); len(errs) > 0 {
		return errs
	}
	whole := runtime.DeepCopyJSON(object)
	s.Default(whole)
	return s.forSample(whole)
}

// forSamples returns the schema's root without the fields that samples do not set.
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
