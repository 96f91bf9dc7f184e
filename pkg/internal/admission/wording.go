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
	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/internal/resource"
)

// wantedType finds the type that the API server's validator asks for.
var wantedType = regexp.MustCompile(`^must be of type ([a-z0-9,-]+)`)

// regex is what the API server adds for those who read it.
var regex = regexp.MustCompile(`,? regex used for validation is '.*'\)`)

// worded says what the API server says, for people who look at their file: the
// value that stands there, not its Go type. s may be nil.
func worded(r *problem.Report, err *field.Error, object map[string]any, s *resource.Schema) problem.Problem {
	path := pathOf(err)
	p := problem.Problem{Object: problem.Reference(r.Object), Path: path, Code: diag.BadValue}
	value, has := valueAt(object, path)
	detail := regex.ReplaceAllString(strings.TrimPrefix(err.Detail, err.Field+" in body "), ")")
	wanted := wantedType.FindStringSubmatch(detail)
	switch {
	case err.Type == field.ErrorTypeRequired:
		p.Code, p.Message = diag.MissingKey, "missing field "+path
		if detail != "" {
			p.Message += ": " + detail
		}
		p.Hint = described(s, object, path)
	case err.Type == field.ErrorTypeDuplicate:
		p.Code, p.Message = diag.DuplicateValue, fmt.Sprintf("%s: %s is there already", path, shown(err.BadValue))
	case wanted != nil && isJSONType(wanted[1]):
		p.Code, p.Message = diag.WrongType, fmt.Sprintf("%s is %s, want %s", path, describe(value), oneOfTypes(strings.Split(wanted[1], ",")))
		p.Hint = typeHint(value, strings.Split(wanted[1], ","))
	case wanted != nil:
		p.Message = fmt.Sprintf("%s is %s, want the format %s", path, shown(value), wanted[1])
	case err.Type == field.ErrorTypeNotSupported:
		p.Message, p.Hint = notSupported(path, value, s, object, detail)
	case err.Type == field.ErrorTypeInternal || !has || !scalar(value):
		p.Path, p.Message = part(path, value, err), prefixed(path, judged(err, detail))
	default:
		p.Message = fmt.Sprintf("%s is %s: %s", path, shown(value), detail)
	}
	if path == "metadata.name" && err.Type != field.ErrorTypeRequired {
		p.Code, p.Hint = diag.BadName, nameHint(value)
	}
	return p
}

// pathOf is where an error is; the root has no path.
func pathOf(err *field.Error) string {
	path := strings.TrimPrefix(strings.TrimPrefix(err.Field, "<nil>"), ".")
	if found := validated.FindStringSubmatch(err.Detail); path == "" && found != nil {
		return found[1]
	}
	return path
}

// validated finds the path in what is said of anyOf, oneOf, allOf and not.
var validated = regexp.MustCompile(`^"([^"]+)" must (?:not )?validate`)

func prefixed(path, message string) string {
	if path == "" || strings.HasPrefix(strings.TrimPrefix(message, `"`), path) {
		return message
	}
	return path + ": " + message
}

// part is the entry of a map that an error is about, where it names one.
func part(path string, value any, err *field.Error) string {
	entries, _ := value.(map[string]any)
	text, isText := err.BadValue.(string)
	if _, has := entries[text]; has && isText {
		return path + "[" + text + "]"
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if isText && text != "" && entries[key] == text {
			return path + "[" + key + "]"
		}
	}
	return path
}

// judged is what was said of a part of a value, such as of one label.
func judged(err *field.Error, detail string) string {
	if text, ok := err.BadValue.(string); ok && text != "" && !slices.Contains([]string{"object", "array", "string", "null"}, text) {
		return fmt.Sprintf("%q: %s", text, detail)
	}
	return detail
}

var jsonTypes = map[string]string{
	"object": "an object", "array": "a list", "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false", "null": "null",
}

func isJSONType(text string) bool {
	for word := range strings.SplitSeq(text, ",") {
		if jsonTypes[word] == "" {
			return false
		}
	}
	return true
}

func oneOfTypes(types []string) string {
	var out []string
	for _, t := range types {
		out = append(out, jsonTypes[t])
	}
	return strings.Join(out, " or ")
}

// describe says what a value of JSON is.
func describe(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "the string " + shown(value)
	case int64:
		return "the integer " + shown(value)
	case float64:
		return "the number " + shown(value)
	case bool:
		return "the boolean " + shown(value)
	}
	return shown(value)
}

// shown is a value in a message, not too long.
func shown(value any) string {
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

// typeHint explains the ways in which YAML reads a scalar otherwise than meant.
func typeHint(value any, want []string) string {
	text, isText := value.(string)
	switch {
	case !isText && scalar(value) && slices.Contains(want, "string"):
		return "quote it: without quotes YAML reads " + describe(value)
	case isText && slices.Contains(want, "boolean") && (text == "true" || text == "false"):
		return "remove the quotes"
	case isText && (slices.Contains(want, "integer") || slices.Contains(want, "number")):
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return "remove the quotes"
		}
	case scalar(value) && slices.Contains(want, "array"):
		return fmt.Sprintf("write a list: [%s]", shown(value))
	case value == nil:
		return "remove the field, or write a value"
	}
	return ""
}

func notSupported(path string, value any, s *resource.Schema, object map[string]any, detail string) (message, hint string) {
	message = fmt.Sprintf("%s is %s: %s", path, shown(value), detail)
	text, isText := value.(string)
	if !isText || s == nil {
		return message, ""
	}
	place, ok := s.At(diag.Steps(object, path)...)
	if !ok {
		return message, ""
	}
	var candidates []string
	for _, legal := range place.Enum() {
		if legal, ok := legal.(string); ok {
			candidates = append(candidates, legal)
		}
	}
	return message, diag.DidYouMean(text, candidates, strings.ToLower)
}

var notInNames = regexp.MustCompile(`[^a-z0-9.-]+`)

// nameHint is the name that is probably meant.
func nameHint(value any) string {
	text, _ := value.(string)
	legal := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-.")
	if legal == "" || legal == text || len(legal) > 63 {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", legal)
}

// described is what the schema says of a field that is not there.
func described(s *resource.Schema, object map[string]any, path string) string {
	if s == nil {
		return ""
	}
	place, ok := s.At(diag.Steps(object, path)...)
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(place.Description(), "\n")
	if runes := []rune(text); len(runes) > 120 {
		text = string(runes[:120]) + "…"
	}
	return text
}

// unknownHint says which field is meant, or where it belongs.
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
	return "fields here: " + strings.Join(candidates, ", ")
}

func fieldsAt(s *resource.Schema, parent []string) []string {
	if slices.Equal(parent, []string{"metadata"}) {
		fields := map[string]reflect.Type{}
		argo.JsonFields(reflect.TypeFor[metav1.ObjectMeta](), fields)
		var out []string
		for name := range fields {
			out = append(out, name)
		}
		slices.Sort(out)
		return out
	}
	place, ok := s.At(parent...)
	if !ok {
		return nil
	}
	out := place.Fields()
	if len(parent) == 0 {
		out = append(out, "apiVersion", "kind", "metadata")
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// nearestOf is a hint with the word that is meant, or with all of them.
func nearestOf(word string, candidates []string, what string) string {
	return cmp.Or(diag.DidYouMean(word, candidates, strings.ToLower), what+": "+strings.Join(candidates, ", "))
}

func valueAt(object map[string]any, path string) (any, bool) {
	var value any = object
	for _, word := range diag.Steps(object, path) {
		switch inner := value.(type) {
		case map[string]any:
			var has bool
			if value, has = inner[word]; !has {
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
