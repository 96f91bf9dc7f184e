package resource

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// demand combines everything that a value must satisfy: the limits of its own schema,
// and those of the branches chosen for it, here and in its parents.
type demand struct {
	kind          string // JSON type that a branch requires; "" is that of the schema
	min, max      float64
	exclusiveMin  bool
	exclusiveMax  bool
	multiples     []float64
	short, long   int // runes
	patterns      []string
	formats       []string
	few, many     int // items
	minProperties int
	maxProperties int
	enum          []any // values that all enums allow
	limited       bool  // there is an enum
	excluded      []any // by a not
	required      map[string]bool
	avoid         map[string]bool // fields that would violate a oneOf or a not
	parts         []*nested       // passed on to fields and items
}

// demandOf collects the demands on a value and chooses branches.
func (m *maker) demandOf(n *node, parts []*nested) demand {
	d := demand{
		min: math.Inf(-1), max: math.Inf(1), long: math.MaxInt, many: math.MaxInt, maxProperties: math.MaxInt,
		required: map[string]bool{}, avoid: map[string]bool{},
	}
	m.add(&d, n.ValueValidation)
	for _, part := range parts {
		m.addPart(&d, part)
	}
	return d
}

func (m *maker) addPart(d *demand, part *nested) {
	d.parts = append(d.parts, part)
	if part.ForbiddenGenerics.Type != "" {
		d.kind = part.ForbiddenGenerics.Type
	}
	m.add(d, &part.ValueValidation)
}

func (m *maker) add(d *demand, v *schema.ValueValidation) {
	if v == nil {
		return
	}
	d.limit(v)
	for i := range v.AllOf {
		m.addPart(d, &v.AllOf[i])
	}
	if len(v.AnyOf) > 0 {
		m.addPart(d, &v.AnyOf[m.choose(len(v.AnyOf))])
	}
	if len(v.OneOf) > 0 {
		chosen := m.choose(len(v.OneOf))
		for i := range v.OneOf {
			if i != chosen {
				d.leaveOut(&v.OneOf[i], v.OneOf[chosen].Required)
			}
		}
		m.addPart(d, &v.OneOf[chosen])
	}
	if v.Not != nil {
		d.leaveOut(v.Not, nil)
	}
}

// limit applies the simple limits of a schema to the demand.
func (d *demand) limit(v *schema.ValueValidation) {
	if v.Minimum != nil && *v.Minimum >= d.min {
		d.min, d.exclusiveMin = *v.Minimum, v.ExclusiveMinimum
	}
	if v.Maximum != nil && *v.Maximum <= d.max {
		d.max, d.exclusiveMax = *v.Maximum, v.ExclusiveMaximum
	}
	if v.MultipleOf != nil {
		d.multiples = append(d.multiples, *v.MultipleOf)
	}
	if v.Pattern != "" {
		d.patterns = append(d.patterns, v.Pattern)
	}
	if v.Format != "" {
		d.formats = append(d.formats, v.Format)
	}
	atLeast(&d.short, v.MinLength)
	atMost(&d.long, v.MaxLength)
	atLeast(&d.few, v.MinItems)
	atMost(&d.many, v.MaxItems)
	atLeast(&d.minProperties, v.MinProperties)
	atMost(&d.maxProperties, v.MaxProperties)
	for _, name := range v.Required {
		d.required[name] = true
	}
	if len(v.Enum) > 0 {
		d.narrow(v.Enum)
	}
}

func (d *demand) narrow(enum []schema.JSON) {
	var allowed []any
	for _, value := range enum {
		if !d.limited || contains(d.enum, value.Object) {
			allowed = append(allowed, value.Object)
		}
	}
	d.enum, d.limited = allowed, true
}

// leaveOut records how to violate a branch: without its required fields, and without
// its enum's values.
func (d *demand) leaveOut(branch *nested, except []string) {
	for _, name := range branch.Required {
		if !slices.Contains(except, name) {
			d.avoid[name] = true
		}
	}
	for _, value := range branch.Enum {
		d.excluded = append(d.excluded, value.Object)
	}
	for i := range branch.AnyOf {
		d.leaveOut(&branch.AnyOf[i], except)
	}
}

// under returns the demands of the chosen branches on a field.
func (d *demand) under(name string) []*nested {
	var out []*nested
	for _, part := range d.parts {
		if property, ok := part.Properties[name]; ok {
			out = append(out, &property)
		} else if part.AdditionalProperties != nil {
			out = append(out, part.AdditionalProperties)
		}
	}
	return out
}

// underItems returns the demands of the chosen branches on the items of a list.
func (d *demand) underItems() []*nested {
	var out []*nested
	for _, part := range d.parts {
		if part.Items != nil {
			out = append(out, part.Items)
		}
	}
	return out
}

// fits reports whether a scalar satisfies the demand.
func (m *maker) fits(d *demand, value any) bool {
	if d.limited && !contains(d.enum, value) || contains(d.excluded, value) {
		return false
	}
	switch v := value.(type) {
	case string:
		return m.fitsText(d, v)
	case int64:
		return d.fitsNumber(float64(v))
	case float64:
		return d.fitsNumber(v)
	}
	return true
}

func (d *demand) fitsNumber(v float64) bool {
	if v < d.min || v > d.max || d.exclusiveMin && v == d.min || d.exclusiveMax && v == d.max {
		return false
	}
	return !slices.ContainsFunc(d.multiples, func(of float64) bool {
		quotient := v / of
		return quotient != math.Trunc(quotient)
	})
}

func (m *maker) fitsText(d *demand, v string) bool {
	if count := utf8.RuneCountInString(v); count < d.short || count > d.long {
		return false
	}
	for _, p := range d.patterns {
		if compiled := m.pattern(p); compiled == nil || !compiled.MatchString(v) {
			return false
		}
	}
	return !slices.ContainsFunc(d.formats, func(format string) bool {
		name := normal(format)
		if !strfmt.Default.ContainsName(name) { // only newer API servers validate it
			return formatTexts[name] != nil && !slices.Contains(formatTexts[name], v)
		}
		return formatTexts[name] != nil && !strfmt.Default.Validates(name, v)
	})
}

// normal returns a format's name in the form that the API server compares.
func normal(format string) string { return strings.ReplaceAll(format, "-", "") }

func atLeast(limit *int, v *int64) {
	if v != nil {
		*limit = max(*limit, int(*v))
	}
}

func atMost(limit *int, v *int64) {
	if v != nil {
		*limit = min(*limit, int(*v))
	}
}

func contains(values []any, value any) bool {
	text := jsonText(value)
	return slices.ContainsFunc(values, func(v any) bool { return jsonText(v) == text })
}

// jsonText returns a value as JSON, for comparison.
func jsonText(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}
