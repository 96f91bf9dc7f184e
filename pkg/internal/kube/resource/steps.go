package resource

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
)

// Variants returns valid objects that differ from one in a single field: a flipped
// boolean, another value of an enum, an optional field added as in full or removed, a
// number at its limits, zero or negative, a list with another number of items. Only
// values below the paths of about are changed. Unless it requires something that no
// schema expresses, a condition in an expression is true for one of them, or for one of
// their variants. words are values that such conditions compare with. Booleans, enums
// and optional fields come first.
func (s *Schema) Variants(from, full map[string]any, about [][]string, words []any) []map[string]any {
	w := stepper{schema: s, from: from, full: full, about: about, words: words}
	for _, name := range s.root.names {
		w.walk(s.root, name, nil, full[name], from[name])
	}
	return w.valid()
}

// maxVariants limits the variants of one object.
const maxVariants = 192

type stepper struct {
	schema     *Schema
	from, full map[string]any
	about      [][]string
	words      []any
	// candidates are the variants, which may be invalid: first those that usually lead to
	// other parts of a template, then those with other values in the same parts.
	candidates [2][]func() map[string]any
}

const (
	otherPart = iota
	otherValue
)

func (w *stepper) add(rank int, variant func() map[string]any) {
	w.candidates[rank] = append(w.candidates[rank], variant)
}

// valid returns the variants that are valid and differ.
func (w *stepper) valid() []map[string]any {
	var found []map[string]any
	seen := map[string]bool{jsonText(w.from): true}
	for _, variant := range slices.Concat(w.candidates[:]...) {
		if len(found) == maxVariants {
			break
		}
		object := variant()
		if text := jsonText(object); object != nil && !seen[text] {
			seen[text] = true
			if len(w.schema.violations(object)) == 0 {
				found = append(found, object)
			}
		}
	}
	return found
}

// walk generates the variants at and below a field or an item. before is its value in
// from, or nil.
func (w *stepper) walk(parent *node, step string, above []string, full, before any) {
	path := append(slices.Clone(above), step)
	n := parent.inner(step)
	if n == nil || !w.concerns(path) {
		return
	}
	value, object := before, func() map[string]any { return runtime.DeepCopyJSON(w.from) }
	switch {
	case before == nil && full != nil:
		value, object = full, func() map[string]any { return graft(w.schema.root, w.from, w.full, path) }
		w.add(otherPart, object)
	case before != nil && len(above) > 0 && !parent.requires(step):
		w.add(otherPart, func() map[string]any { return without(runtime.DeepCopyJSON(w.from), path) })
	}
	if value != nil {
		branches, values := w.others(n, step, value)
		for rank, list := range [][]any{branches, values} {
			for _, other := range list {
				w.add(rank, func() map[string]any { return replaced(object(), path, other) })
			}
		}
	}
	for _, inner := range stepsInto(full, before) {
		w.walk(n, inner, path, valueAt(full, inner), valueAt(before, inner))
	}
}

// concerns reports whether a path is one of the requested ones, an ancestor or a
// descendant. All items are equal.
func (w *stepper) concerns(path []string) bool {
	names := slices.DeleteFunc(slices.Clone(path), isIndex)
	return slices.ContainsFunc(w.about, func(about []string) bool {
		shared := min(len(about), len(names))
		return slices.Equal(about[:shared], names[:shared])
	})
}

// maxEnum limits the values of one enum.
const maxEnum = 64

// others returns alternative values: those that usually lead to other parts of a
// template, and further ones.
func (w *stepper) others(n *node, name string, value any) (parts, values []any) {
	m := w.schema.maker(fixed(), smallest)
	d := m.demandOf(n, nil)
	if n.Type == "" && !n.XIntOrString {
		parts = w.ofTypes()
	}
	switch value := value.(type) {
	case bool:
		parts = append(parts, !value)
	case int64, float64:
		if !slices.ContainsFunc(d.patterns, isRealistic) {
			values = append(values, int64(0), int64(-1))
			values = append(values, d.limits(n.Type == "integer")...)
		}
		values = append(values, w.wordsLike(value)...)
	case string:
		if !m.settled(n) {
			values = w.wordsLike(value)
		}
	case []any:
		if len(value) > 0 && d.few == 0 {
			parts = append(parts, []any{})
		}
		return parts, w.lengths(n, name, value)
	}
	if d.limited {
		parts, values = nil, nil
		for _, value := range d.enum[:min(len(d.enum), maxEnum)] {
			parts = append(parts, plain(value))
		}
	}
	unfit := func(other any) bool { return !m.fits(&d, other) || contains([]any{value}, other) }
	parts, values = slices.DeleteFunc(parts, unfit), slices.DeleteFunc(values, unfit)
	if n.Nullable {
		parts = append(parts, nil)
	}
	return parts, values
}

// limits returns the smallest and the largest number that the schema allows, if it limits
// them.
func (d *demand) limits(whole bool) []any {
	var out []any
	low, high := d.window(whole)
	if !math.IsInf(d.min, 0) {
		out = append(out, plainNumber(low))
	}
	if !math.IsInf(d.max, 0) {
		out = append(out, plainNumber(high))
	}
	return out
}

// maxLength limits the items of the lists of variants.
const maxLength = 8

// ofTypes returns a value of each type whose name a condition compares with.
func (w *stepper) ofTypes() []any {
	values := map[string]any{
		"string": "text", "number": int64(1), "boolean": true, "array": []any{"item"}, "object": map[string]any{"key": "value"},
	}
	var out []any
	for _, word := range w.words {
		if name, is := word.(string); is && values[name] != nil {
			out = append(out, values[name])
		}
	}
	return out
}

// lengths returns lists that have as many items as a condition compares with.
func (w *stepper) lengths(n *node, name string, value any) []any {
	list, ok := value.([]any)
	if !ok || n.items == nil {
		return nil
	}
	var out []any
	for _, word := range w.words {
		count, ok := word.(float64)
		if !ok || count != math.Trunc(count) || count < 1 || count > maxLength || int(count) == len(list) {
			continue
		}
		m := w.schema.maker(fixed(), typical)
		d := m.demandOf(n, nil)
		if int(count) < d.few || int(count) > d.many {
			continue
		}
		d.few, d.many = int(count), int(count)
		if longer, err := m.array(n, &d, name); err == nil {
			out = append(out, longer)
		}
	}
	return out
}

// wordsLike returns the words of the value's type, and others than the value if it is one of them.
func (w *stepper) wordsLike(value any) []any {
	var out []any
	for _, word := range w.words {
		switch word := word.(type) {
		case float64:
			if _, text := value.(string); !text {
				out = append(out, plainNumber(word))
			}
		case string:
			if _, text := value.(string); text {
				out = append(out, word)
			}
			if word == value && word != "" {
				out = append(out, word+"x", word[:len(word)-1])
			}
		}
	}
	return out
}

// inner returns the node of a field, a key or an item by its index.
func (n *node) inner(step string) *node {
	switch {
	case n.fields[step] != nil:
		return n.fields[step]
	case n.items != nil:
		return n.items
	}
	return n.values
}

// requires reports whether a field is required. Items and map keys are optional.
func (n *node) requires(step string) bool {
	return n.ValueValidation != nil && slices.Contains(n.ValueValidation.Required, step)
}

// stepsInto returns the keys or indexes of two values. Those of the same place occur
// once.
func stepsInto(a, b any) []string {
	keys := map[string]bool{}
	length := 0
	for _, value := range []any{a, b} {
		switch value := value.(type) {
		case map[string]any:
			for key := range value {
				keys[key] = true
			}
		case []any:
			length = max(length, len(value))
		}
	}
	out := slices.Sorted(maps.Keys(keys))
	for i := range length {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

// valueAt returns the value of a key or an index, or nil.
func valueAt(value any, step string) any {
	switch value := value.(type) {
	case map[string]any:
		return value[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i < len(value) {
			return value[i]
		}
	}
	return nil
}

func isIndex(step string) bool {
	_, err := strconv.Atoi(step)
	return err == nil
}

// graft copies an object and adds one value from full, with the fields that the value
// requires.
func graft(root *node, from, full map[string]any, path []string) map[string]any {
	out, _ := grafted(root, from, full, path).(map[string]any)
	return out
}

func grafted(n *node, from, full any, path []string) any {
	if len(path) == 0 {
		return runtime.DeepCopyJSONValue(full)
	}
	step := path[0]
	switch full := full.(type) {
	case map[string]any:
		out, has := runtime.DeepCopyJSONValue(from).(map[string]any)
		if !has {
			out = map[string]any{}
			for name, value := range full {
				if n.requires(name) {
					out[name] = runtime.DeepCopyJSONValue(value)
				}
			}
		}
		out[step] = grafted(n.inner(step), out[step], full[step], path[1:])
		return out
	case []any:
		out, _ := runtime.DeepCopyJSONValue(from).([]any)
		i, err := strconv.Atoi(step)
		if err != nil || i > len(out) || i >= len(full) {
			return from
		}
		if i == len(out) {
			out = append(out, nil)
		}
		out[i] = grafted(n.items, out[i], full[i], path[1:])
		return out
	}
	return from
}

// replaced replaces the existing value at a path.
func replaced(object map[string]any, path []string, value any) map[string]any {
	var at any = object
	for i, step := range path {
		last := i == len(path)-1
		switch holder := at.(type) {
		case map[string]any:
			if last {
				holder[step] = value
			}
		case []any:
			if index, _ := strconv.Atoi(step); last {
				holder[index] = value
			}
		}
		at = valueAt(at, step)
	}
	return object
}

// without removes the existing value at a path.
func without(object map[string]any, path []string) map[string]any {
	last := len(path) - 1
	var holder any = object
	for _, step := range path[:last] {
		holder = valueAt(holder, step)
	}
	switch holder := holder.(type) {
	case map[string]any:
		delete(holder, path[last])
	case []any:
		i, _ := strconv.Atoi(path[last])
		return replaced(object, path[:last], slices.Delete(slices.Clone(holder), i, i+1))
	}
	return object
}

// Shrink removes everything from an object that is not needed for it to be valid and to
// satisfy keep.
func (s *Schema) Shrink(object map[string]any, keep func(map[string]any) bool) map[string]any {
	least := object
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		steps := stepsInto(value, nil)
		slices.Reverse(steps) // so that the indexes of preceding items stay the same
		for _, step := range steps {
			at := append(slices.Clone(path), step)
			fewer := without(runtime.DeepCopyJSON(least), at)
			if len(s.violations(fewer)) == 0 && keep(fewer) {
				least = fewer
				continue
			}
			walk(valueAt(value, step), at)
		}
	}
	for _, name := range s.root.names {
		if value, has := least[name]; has {
			if fewer := without(runtime.DeepCopyJSON(least), []string{name}); len(s.violations(fewer)) == 0 && keep(fewer) {
				least = fewer
				continue
			}
			walk(value, []string{name})
		}
	}
	return least
}

// shortTexts replace longer texts: a harmless one, and then those that few kinds of text
// permit.
var shortTexts = []string{"a", "a/b", "a b", "A"}

// Shorten replaces the texts of an object that are longer than needed for it to be valid and
// to satisfy keep.
func (s *Schema) Shorten(object map[string]any, keep func(map[string]any) bool) map[string]any {
	least := object
	m := newMaker(fixed(), smallest)
	s.visit(object, func(at string, _ *node, d *demand, value any) (any, bool) {
		text, is := value.(string)
		for _, short := range shortTexts {
			if !is || d.limited || len(short) >= len(text) || !m.fits(d, short) {
				continue
			}
			changed := s.visit(least, func(here string, _ *node, _ *demand, _ any) (any, bool) { return short, here == at })
			if len(s.violations(changed)) == 0 && keep(changed) {
				least = changed
				break
			}
		}
		return nil, false
	})
	return least
}

// compared matches the strings and numbers that a program compares with.
var compared = regexp.MustCompile(`(?:[=!]=|[<>]=?|\()\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?))`)

// ComparedValues returns the values that a program compares with, and the neighbours of
// numbers, which are on both sides of a limit.
func ComparedValues(program string) []any {
	var out []any
	for _, found := range compared.FindAllStringSubmatch(program, -1) {
		if text, err := strconv.Unquote(found[1]); err == nil && text != "" {
			out = append(out, text)
		} else if number, err := strconv.ParseFloat(found[2], 64); err == nil {
			out = append(out, number-1, number, number+1)
		}
	}
	slices.SortFunc(out, func(a, b any) int { return slices.Compare([]byte(jsonText(a)), []byte(jsonText(b))) })
	out = slices.Compact(out)
	return out[:min(len(out), maxWords)]
}

// maxWords limits the values tried for each field.
const maxWords = 24

// Causes returns the paths of the texts and numbers that an object has a trait because
// of: with another valid value it does not have the trait.
func (s *Schema) Causes(object map[string]any, has func(map[string]any) bool) map[string]any {
	out := map[string]any{}
	s.visit(object, func(at string, _ *node, d *demand, value any) (any, bool) {
		m := newMaker(fixed(), smallest)
		for _, other := range ordinary(d, value) {
			if other == value || !m.fits(d, other) {
				continue
			}
			changed := s.visit(object, func(here string, _ *node, _ *demand, _ any) (any, bool) { return other, here == at })
			if len(s.violations(changed)) == 0 && !has(changed) {
				out[at] = value
				break
			}
		}
		return nil, false
	})
	return out
}

// ordinary returns alternatives for a text or a number.
func ordinary(d *demand, value any) []any {
	var out []any
	switch value.(type) {
	case string:
		if d.limited {
			return d.enum
		}
		for _, text := range plainTexts {
			out = append(out, text)
		}
	case int64, float64:
		for _, number := range []int64{1, 3, 50, 8080, 0} {
			out = append(out, number)
		}
	}
	return out
}
