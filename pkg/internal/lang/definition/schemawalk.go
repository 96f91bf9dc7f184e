package definition

import (
	"cmp"
	"fmt"

	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// resolved is the result of looking up a path in a schema.
type resolved struct {
	schema *props // nil: the schema is open, as below preserve-unknown-fields
	fail   string // the problem, or ""
	hint   string
}

// resolve looks up a path in a schema.
func resolve(root *props, path []source.JSONPathStep, kind string) resolved {
	at, walked := root, ""
	for i, step := range path {
		if i == 0 {
			if meta := objectField(step.Field); meta != nil {
				at, walked = meta, "."+step.Field
				continue
			}
		}
		next, known := childOf(at, step)
		if !known {
			r := resolved{fail: fmt.Sprintf("%s: no such field in %s", walked+step.String(), kind)}
			if best := source.Nearest(step.Field, source.SortedKeys(at.Properties)); best != "" && !step.Element {
				r.hint = fmt.Sprintf("did you mean %s.%s?", walked, best)
			} else if len(at.Properties) > 0 {
				r.hint = source.DidYouMean(step.Field, source.SortedKeys(at.Properties), "fields of "+cmp.Or(walked, kind))
			}
			return r
		}
		if next == nil {
			return resolved{}
		}
		at, walked = next, walked+step.String()
	}
	return resolved{schema: at}
}

// childOf returns the schema of one step below a schema. It returns nil and true if the
// schema is open there, and false if it has no such field.
func childOf(s *props, step source.JSONPathStep) (*props, bool) {
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.XEmbeddedResource || shortschema.KindOf(s) == "any" {
		if field, ok := s.Properties[step.Field]; ok && !step.Element {
			return &field, true
		}
		return nil, true
	}
	if step.Element {
		if s.Items == nil || s.Items.Schema == nil {
			return nil, false
		}
		return s.Items.Schema, true
	}
	if field, ok := s.Properties[step.Field]; ok {
		return &field, true
	}
	if more := s.AdditionalProperties; more != nil {
		return more.Schema, more.Allows || more.Schema != nil
	}
	return nil, false
}

// objectField returns the schema of a field that every object has, or nil.
func objectField(name string) *props {
	text := props{Type: "string"}
	date := props{Type: "string", Format: "date-time"}
	switch name {
	case "apiVersion", "kind":
		return &text
	case "metadata":
		open := props{Type: "object", XPreserveUnknownFields: new(true)}
		return &props{Type: "object", Properties: map[string]props{
			"name": text, "namespace": text, "generateName": text, "uid": text, "resourceVersion": text,
			"generation":        {Type: "integer", Format: "int64"},
			"creationTimestamp": date, "deletionTimestamp": date,
			"deletionGracePeriodSeconds": {Type: "integer", Format: "int64"},
			"labels":                     open, "annotations": open,
			"finalizers": {Type: "array"}, "ownerReferences": {Type: "array"}, "managedFields": {Type: "array"},
		}}
	}
	return nil
}
