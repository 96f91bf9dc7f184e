package admission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// toProblem turns an error of the API server into a problem with the value from the
// user's file instead of its Go type. s may be nil.
func toProblem(r *problem.Report, err *field.Error, object map[string]any, s *resource.Schema) problem.Problem {
	path := pathOf(err)
	p := problem.Problem{Object: problem.Reference(r.Object), Path: path, Code: diag.BadValue}
	value, exists := valueAt(object, path)
	detail, want := detailOf(err)
	switch {
	case err.Type == field.ErrorTypeRequired:
		p.Code, p.Message = diag.MissingKey, "missing field "+path
		if detail != "" {
			p.Message += ": " + detail
		}
		p.Hint = missingHint(s, object, path)
	case err.Type == field.ErrorTypeDuplicate:
		p.Code, p.Message = diag.DuplicateValue, fmt.Sprintf("%s: duplicate value %s", path, formatValue(err.BadValue))
	case areJSONTypes(want):
		p.Code, p.Message = diag.WrongType, fmt.Sprintf("%s is %s, want %s", path, describeValue(value), oneOfTypes(want))
		p.Hint = typeHint(value, want)
	case want != nil:
		p.Message = fmt.Sprintf("%s is %s, expected the format %s", path, formatValue(value), strings.Join(want, ","))
	case err.Type == field.ErrorTypeNotSupported:
		p.Message, p.Hint = fmt.Sprintf("%s is %s: %s", path, formatValue(value), detail), supportedHint(err)
	case err.Type == field.ErrorTypeInternal || !exists || !scalar(value):
		p.Path, p.Message = entryPath(path, value, err), prefixPath(path, partDetail(err, detail))
	default:
		p.Message = fmt.Sprintf("%s is %s: %s", path, formatValue(value), detail)
	}
	if path == "metadata.name" && err.Type != field.ErrorTypeRequired {
		p.Code, p.Hint = diag.BadName, nameHint(value)
	}
	return p
}

// entryPath returns the path of the map entry that an error names, if any.
func entryPath(path string, value any, err *field.Error) string {
	entries, _ := value.(map[string]any)
	text, isText := err.BadValue.(string)
	if _, exists := entries[text]; exists && isText {
		return path + "[" + text + "]"
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if isText && text != "" && entries[key] == text {
			return path + "[" + key + "]"
		}
	}
	return path
}

// partDetail returns the detail of an error about a part of a value, such as one
// label.
func partDetail(err *field.Error, detail string) string {
	if text, ok := err.BadValue.(string); ok && text != "" && !slices.Contains([]string{"object", "array", "string", "null"}, text) {
		return fmt.Sprintf("%q: %s", text, detail)
	}
	return detail
}

var jsonTypes = map[string]string{
	"object": "an object", "array": "a list", "string": "a string", "integer": "an integer", "number": "a number",
	"boolean": "true or false", "null": "null",
}

func areJSONTypes(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return jsonTypes[word] == "" })
}

func oneOfTypes(types []string) string {
	var out []string
	for _, t := range types {
		out = append(out, jsonTypes[t])
	}
	return strings.Join(out, " or ")
}

// describeValue returns the type and value of a JSON value.
func describeValue(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "the string " + formatValue(value)
	case int64:
		return "the integer " + formatValue(value)
	case float64:
		return "the number " + formatValue(value)
	case bool:
		return "the boolean " + formatValue(value)
	}
	return formatValue(value)
}

// formatValue returns a value for a message, truncated to 60 characters.
func formatValue(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if runes := []rune(string(data)); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return string(data)
}

func scalar(value any) bool {
	switch value.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

// typeHint explains how YAML read a scalar as another type than intended.
func typeHint(value any, want []string) string {
	text, isText := value.(string)
	switch {
	case !isText && scalar(value) && slices.Contains(want, "string"):
		return "quote it: without quotes YAML reads " + describeValue(value)
	case isText && slices.Contains(want, "boolean") && (text == "true" || text == "false"):
		return "remove the quotes"
	case isText && (slices.Contains(want, "integer") || slices.Contains(want, "number")):
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return "remove the quotes"
		}
	case scalar(value) && slices.Contains(want, "array"):
		return fmt.Sprintf("use a list: [%s]", formatValue(value))
	case value == nil:
		return "remove the field, or set a value"
	}
	return ""
}

// lastStep returns the key at the end of a path, or tells that an item of a list is there.
func lastStep(path string) (key string, isItem bool) {
	segments := problem.Problem{Path: path}.Segments()
	if len(segments) == 0 {
		return "", false
	}
	key = segments[len(segments)-1]
	_, err := strconv.Atoi(key)
	return key, err == nil && strings.HasSuffix(path, "]")
}

// supportedHint returns the supported value that an unsupported one misspells, or the only one there is.
func supportedHint(err *field.Error) string {
	value := ""
	if of := reflect.ValueOf(err.BadValue); of.Kind() == reflect.String { // of any type
		value = of.String()
	}
	values := supported(err)
	key, isItem := lastStep(err.Field)
	switch {
	case value == "":
		return ""
	case len(values) == 1 && !isItem:
		return "write " + key + ": " + values[0]
	}
	return diag.DidYouMean(value, values, strings.ToLower)
}

var notInNames = regexp.MustCompile(`[^a-z0-9.-]+`)

// nameHint suggests the nearest valid name.
func nameHint(value any) string {
	text, _ := value.(string)
	legal := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-.")
	if legal == "" || legal == text || len(legal) > 63 {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", legal)
}

// missingHint returns how to write a missing field, and the schema's description of it.
func missingHint(s *resource.Schema, object map[string]any, path string) string {
	if s == nil {
		return ""
	}
	steps := diag.Steps(object, path)
	schema, ok := s.At(steps...)
	if !ok || len(steps) == 0 {
		return ""
	}
	text, _, _ := strings.Cut(schema.Description(), "\n")
	if runes := []rune(text); len(runes) > 120 {
		text = string(runes[:120]) + "…"
	}
	return strings.TrimSuffix("add "+steps[len(steps)-1]+": …; "+text, "; ")
}

// unknownHint suggests the intended field, or the path where the field belongs.
func unknownHint(s *resource.Schema, object map[string]any, path string) string {
	all := diag.Steps(object, path)
	name, parent := all[len(all)-1], all[:len(all)-1]
	candidates := fieldsAt(s, parent)
	if hint := diag.DidYouMean(name, candidates, diag.FoldKey); hint != "" {
		return hint
	}
	if places := s.PathsWith(name); len(places) == 1 && places[0] != "" {
		return fmt.Sprintf("%s belongs in %s", name, places[0])
	}
	if len(candidates) == 0 || len(candidates) > 14 {
		return ""
	}
	return "fields: " + strings.Join(candidates, ", ")
}

func fieldsAt(s *resource.Schema, parent []string) []string {
	if slices.Equal(parent, []string{"metadata"}) {
		return slices.Sorted(maps.Keys(argo.JSONFields(reflect.TypeFor[metav1.ObjectMeta]())))
	}
	schema, ok := s.At(parent...)
	if !ok {
		return nil
	}
	out := schema.Fields()
	if len(parent) == 0 {
		out = append(out, "apiVersion", "kind", "metadata")
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// nearestHint suggests the nearest candidate, or lists all of them.
func nearestHint(word string, candidates []string, what string) string {
	return cmp.Or(diag.DidYouMean(word, candidates, strings.ToLower), what+": "+strings.Join(candidates, ", "))
}

func valueAt(object map[string]any, path string) (any, bool) {
	var value any = object
	for _, word := range diag.Steps(object, path) {
		switch inner := value.(type) {
		case map[string]any:
			var exists bool
			if value, exists = inner[word]; !exists {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(word)
			if err != nil || i >= len(inner) {
				return nil, false
			}
			value = inner[i]
		default:
			return nil, false
		}
	}
	return value, true
}
