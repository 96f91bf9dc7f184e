package shortschema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// foreignTypes maps words of other languages, in lower case, to types of the short form.
func foreignTypes() map[string]string {
	const moment, choice, key = "string | format=date-time", "string | enum=a,b", "core/v1.SecretKeySelector"
	return map[string]string{
		"int": "integer", "int8": "integer", "int16": "integer", "int32": "integer",
		"int64": "integer", "long": "integer", "short": "integer",
		"uint": "integer", "uint8": "integer", "uint16": "integer", "uint32": "integer", "uint64": "integer",
		"float": "number", "float32": "number", "float64": "number", "double": "number", "decimal": "number",
		"bool": "boolean", "str": "string", "text": "string", "char": "string", "varchar": "string",
		"map": "map[string]string", "dict": "map[string]string", "hash": "map[string]string", "labels": "map[string]string",
		"list": "[]string", "array": "[]string", "set": "[]string", "slice": "[]string", "json": "any", "yaml": "any",
		"date": moment, "time": moment, "datetime": moment, "timestamp": moment,
		"bytes": "string | format=byte", "base64": "string | format=byte", "email": "string | format=email",
		"uuid": "string | format=uuid", "guid": "string | format=uuid", "ip": "string | format=ipv4", "ipv4": "string | format=ipv4",
		"ipv6": "string | format=ipv6", "fqdn": "hostname", "uri": "url", "cpu": "quantity", "memory": "quantity", "storage": "quantity",
		"resource.quantity": "quantity", "enum": choice, "choice": choice, "select": choice,
		"secret": key, "secretref": key, "password": key, "token": key, "credentials": key,
		"configmapref": "core/v1.ConfigMapKeySelector", "intorstring": "int-or-string",
		"intstr": "int-or-string", "percent": "int-or-string",
	}
}

// foreignForm is the spelling of a type in another language, with what the short form
// writes instead. $1 is a type, unless the form is verbatim.
type foreignForm struct {
	pattern  *regexp.Regexp
	short    string
	verbatim bool
}

var foreignForms = sync.OnceValue(func() []foreignForm {
	const word = `([A-Za-z][\w-]*)`
	form := func(pattern, short string) foreignForm {
		return foreignForm{regexp.MustCompile(`(?i)^` + pattern + `$`), short, false}
	}
	verbatim := func(pattern, short string) foreignForm {
		return foreignForm{regexp.MustCompile(`(?i)^` + pattern + `$`), short, true}
	}
	return []foreignForm{
		verbatim(`(?:enum|choice|oneof|one of)\s*[(\[<{=: ]\s*([^()\[\]<>{}]+?)\s*[)\]>}]?`, "string | enum=$1"),
		verbatim(`\(?("?[\w.-]+"?(?:\s*,\s*"?[\w.-]+"?)+)\)?`, "string | enum=$1"),
		form(`\{ *(?:map\[\w*\]|string|str|key|any|\*) *: *`+word+` *\}`, "map[string]$1"),
		form(`\[`+word+`\]`, "[]$1"),
		form(word+`\[\]`, "[]$1"),
		form(`(?:list|array|set|slice)(?:\(| of |<|\[)`+word+`[)>\]]?`, "[]$1"),
		form(`(?:map|dict)(?:\(|<|\[)(?:string|str)?[,:]? *`+word+`[)>\]]`, "map[string]$1"),
		form(`map\[\w*\] *`+word, "map[string]$1"),
		form(`[*?]`+word, "$1"),
		form(word+`\?`, "$1"),
		form(`optional[ <(\[]`+word+`[>)\]]?`, "$1"),
		form(word+` optional`, "$1"),
		form(`required `+word, "$1 | required=true"),
		form(word+`(?:!| required)`, "$1 | required=true"),
		form(`(str|string|text|varchar)[(\[](\d+)[)\]]`, "$1 | maxLength=$2"),
		form(`(int|integer|number)\s*[(\[]?\s*(\d+)\s*(?:\.\.+|-|,)\s*(\d+)\s*[)\]]?`, "$1 | minimum=$2 maximum=$3"),
		form(word+` *= *("[^"]*"|[\w.-]+)`, "$1 | default=$2"),
	}
})

// foreignType returns the type of the short form for one of another language, or "".
func (s *Form) foreignType(text string) string {
	if t, ok := foreignTypes()[strings.ToLower(text)]; ok {
		return t
	}
	for _, f := range foreignForms() {
		m := f.pattern.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		first := text[m[2]:m[3]]
		switch {
		case f.verbatim:
			first = strings.Join(strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune(`, "'`, r) }), ",")
		case slices.Contains(s.typeNames(), first) || typeNamed(first, false) != nil:
		default:
			if first = s.meantType(first); first == "" || strings.Contains(first, "|") {
				return ""
			}
		}
		return strings.Replace(string(f.pattern.ExpandString(nil, strings.Replace(f.short, "$1", "\x00", 1), text, m)), "\x00", first, 1)
	}
	return ""
}

// meantType returns the type that is probably meant, or "".
func (s *Form) meantType(text string) string {
	if t := s.foreignType(text); t != "" {
		return t
	}
	if coretypes.Is(text) {
		return source.Nearest(text, coretypes.Names())
	}
	if !strings.Contains(text, ".") && text != "" && text[0] >= 'A' && text[0] <= 'Z' {
		for _, name := range coretypes.Names() {
			if strings.HasSuffix(name, "."+text) {
				return name
			}
		}
	}
	return source.Nearest(text, append(builtinNames(), s.typeNames()...))
}

func builtinNames() []string {
	var out []string
	for _, t := range Types() {
		out = append(out, t.Name)
	}
	return out
}

// typeHint says which types there are.
func (s *Form) typeHint(text string) string {
	if coretypes.Is(text) {
		return "write any, or declare its fields under spec.api.types"
	}
	types := append(builtinNames(), s.typeNames()...)
	slices.Sort(types)
	return "types: " + strings.Join(types, ", ") + ", and those of Kubernetes such as core/v1.EnvVar"
}

// choice matches words between bars.
var choice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\(?"?[\w.-]+"?(?:\s*\|\s*"?[\w.-]+"?)+\)?$`) })

// choiceOf returns the type for a choice such as a | b; "" if a word of it is a type or a
// marker.
func (s *Form) choiceOf(text string) string {
	if !choice().MatchString(text) {
		return ""
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(` |"()`, r) })
	for _, word := range words {
		if _, marker := markerRules()[word]; marker || isOptional(word) || word == "unique" || s.meantType(word) != "" {
			return ""
		}
	}
	return "string | enum=" + strings.Join(words, ",")
}

// foreignMarkers maps words of other languages to markers.
func foreignMarkers() map[string]string {
	return map[string]string{
		"regex": "pattern", "regexp": "pattern", "match": "pattern", "matches": "pattern",
		"values": "enum", "choices": "enum", "options": "enum",
		"oneof": "enum", "in": "enum", "title": "description", "doc": "description", "comment": "description", "help": "description",
		"example": "description", "unique": "uniqueItems", "listtype": "listMapKey", "listmapkeys": "listMapKey", "rule": "validation",
		"cel": "validation", "readonly": "immutable", "const": "enum",
		"gte": "minimum", "lte": "maximum", "ge": "minimum", "le": "maximum", "initial": "default",
	}
}

// isOptional reports whether a marker says what every field is without required=true.
func isOptional(name string) bool { return name == "optional" || name == "omitempty" }

// ofEntries returns, as YAML, the type of a list or a map whose markers belong to its
// entries; "" if it is neither.
func ofEntries(text string, markers []marker) string {
	text = strings.TrimSpace(text)
	if of, ok := strings.CutPrefix(text, "[]"); ok {
		return "[" + ofEntry(of, markers) + "]"
	}
	if of, ok := strings.CutPrefix(text, anyKey); ok {
		return "{\"" + anyKey + "\": " + ofEntry(of, markers) + "}"
	}
	return ""
}

func ofEntry(text string, markers []marker) string {
	if deeper := ofEntries(text, markers); deeper != "" {
		return deeper
	}
	var words []string
	for _, m := range markers {
		words = append(words, m.text())
	}
	value := text + " | " + strings.Join(words, " ")
	if strings.Contains(value, "'") {
		return quote(value)
	}
	return "'" + value + "'"
}

// text returns a marker as it is written.
func (m marker) text() string {
	if m.quoted {
		return m.name + "=" + quote(m.value)
	}
	return m.name + "=" + m.value
}

// entriesHint returns how to write markers of a list or map that apply to its entries only,
// or "", the other markers, and the first of those for entries. field is the text of the
// type, without markers.
func entriesHint(field string, schema *props, markers []marker) (fix, others string, first marker) {
	rules := markerRules()
	entry := schema
	for KindOf(entry) == "array" || KindOf(entry) == "map" {
		if entry.Items != nil {
			entry = entry.Items.Schema
		} else {
			entry = entry.AdditionalProperties.Schema
		}
		if entry == nil {
			return "", "", marker{}
		}
	}
	var inside []marker
	for _, m := range markers {
		fits := rules[m.name].fits
		switch {
		case fits == nil || slices.Contains(fits, KindOf(schema)):
			others += " " + m.text()
		case !slices.Contains(fits, KindOf(entry)):
			return "", "", marker{}
		default:
			inside = append(inside, m)
		}
	}
	if len(inside) == 0 {
		return "", "", marker{}
	}
	return ofEntries(field, inside), strings.TrimSpace(others), inside[0]
}
