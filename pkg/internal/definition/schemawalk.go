package definition

// childOf returns the schema of one step below a schema; nil and true where
// anything may stand, false where nothing can.
func childOf(s *props, step pathStep) (*props, bool) {
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.XEmbeddedResource || kindOf(s) == "any" {
		if field, ok := s.Properties[step.field]; ok && !step.entry {
			return &field, true
		}
		return nil, true
	}
	if step.entry {
		if s.Items == nil || s.Items.Schema == nil {
			return nil, false
		}
		return s.Items.Schema, true
	}
	if field, ok := s.Properties[step.field]; ok {
		return &field, true
	}
	if more := s.AdditionalProperties; more != nil {
		return more.Schema, more.Allows || more.Schema != nil
	}
	return nil, false
}

// objectField is the schema of a field that every object has; nil for others.
func objectField(name string) *props {
	text := props{Type: "string"}
	date := props{Type: "string", Format: "date-time"}
	switch name {
	case "apiVersion", "kind":
		return &text
	case "metadata":
		open := props{Type: "object", XPreserveUnknownFields: ptr(true)}
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
