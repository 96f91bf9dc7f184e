package shortschema

import (
	"maps"
	"strings"
)

// JSONSchema returns a schema for validators of JSON Schema, draft 7. Fields that it does not
// declare are rejected, as Conform does.
func JSONSchema(s *props) map[string]any {
	return jsonSchema(decodeJSON(RawJSON(s)).(map[string]any))
}

func jsonSchema(s map[string]any) map[string]any {
	out := maps.Clone(s)
	for _, bound := range []string{"minimum", "maximum"} { // draft 4 has a boolean for them
		exclusive := "exclusive" + strings.ToUpper(bound[:1]) + bound[1:]
		if s[exclusive] == true {
			out[exclusive] = out[bound]
			delete(out, bound)
		} else {
			delete(out, exclusive)
		}
	}
	if s["x-kubernetes-int-or-string"] == true {
		out["type"] = []any{"integer", "string"}
		delete(out, "anyOf")
	}
	if s["nullable"] == true {
		if kind, is := s["type"].(string); is {
			out["type"] = []any{kind, "null"}
		}
	}
	fields, _ := s["properties"].(map[string]any)
	if len(fields) > 0 {
		below := map[string]any{}
		for name, field := range fields {
			below[name] = jsonSchema(field.(map[string]any))
		}
		out["properties"] = below
		if s["additionalProperties"] == nil && s["x-kubernetes-preserve-unknown-fields"] == nil {
			out["additionalProperties"] = false
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, is := s[key].(map[string]any); is {
			out[key] = jsonSchema(inner)
		}
	}
	maps.DeleteFunc(out, func(key string, _ any) bool { return strings.HasPrefix(key, "x-kubernetes-") || key == "nullable" })
	return out
}
