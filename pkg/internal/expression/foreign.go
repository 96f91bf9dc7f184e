package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// foreign maps functions of other languages to their equivalent in jq: a function, or a
// hint.
var foreign = map[string]string{
	"len": "length", "size": "length", "count": "length", "keys_unsorted": "keys",
	"lower": "ascii_downcase", "toLower": "ascii_downcase", "toLowerCase": "ascii_downcase", "lowerAscii": "ascii_downcase", "downcase": "ascii_downcase",
	"upper": "ascii_upcase", "toUpper": "ascii_upcase", "toUpperCase": "ascii_upcase", "upperAscii": "ascii_upcase", "upcase": "ascii_upcase",
	"startsWith": "startswith", "hasPrefix": "startswith", "endsWith": "endswith", "hasSuffix": "endswith",
	"trimPrefix": "ltrimstr", "trimSuffix": "rtrimstr", "strip": "trim", "matches": "test", "regexMatch": "test",
	"toString": "tostring", "string": "tostring", "str": "tostring", "int": "tonumber", "int64": "tonumber", "atoi": "tonumber", "float": "tonumber",
	"toJson": "tojson", "toJSON": "tojson", "fromJson": "fromjson", "splitList": "split", "filter": "select", "uniq": "unique", "sum": "add",
	"b64enc": "@base64", "b64dec": "@base64d", "base64": "@base64",
	"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null",

	"quote": "leave it out, values need no quotes", "squote": "leave it out, values need no quotes",
	"nindent": "leave it out, values need no indentation", "indent": "leave it out, values need no indentation",
	"toYaml":  "leave it out, an expression by itself keeps the kind of its value; | tojson makes a text of it",
	"default": `write // before what is used instead of null: .spec.field // "value"`, "coalesce": `write // between them: .spec.a // .spec.b`,
	"ternary": "write if … then … else … end", "required": "say required=true in the schema",
	"printf": `write a text with \( ) in it: "\(.metadata.name)-web"`, "format": `write a text with \( ) in it: "\(.metadata.name)-web"`,
	"replace": `write gsub("a"; "b")`, "trunc": "write .[:63]", "substr": "write .[0:8]",
	"list": "write [1, 2]", "dict": "write {key: 1}", "include": "there are no named templates", "lookup": "of the cluster only $children.NAME is known",
}

// foreignHint returns the jq equivalent of a function of another language, or "".
func foreignHint(name string) string {
	known := foreign[name]
	if known == "" || strings.Contains(known, " ") {
		return known
	}
	return "write " + known + " instead"
}

// noFunction suggests a function for an unknown name.
func (a *analyser) noFunction(f *gojq.Func, known []string) string {
	s := a.spans[f]
	path := a.pathAfter(s.End)
	if hint := a.fieldHint(f.Name, path, len(f.Args)); hint != "" {
		return hint
	}
	if hint := a.foreignCall(f, s); hint != "" {
		return hint
	}
	if best := nearest(f.Name, known); best != "" {
		return "did you mean " + best + "?"
	}
	if len(f.Args) == 0 && f.Name == strings.ToUpper(f.Name) {
		return "a Sensor shows no environment; fields are read as .spec.field"
	}
	return ""
}

// fieldHint suggests a dot or a $ before a name.
func (a *analyser) fieldHint(name string, path []string, args int) string {
	if args > 0 {
		return ""
	}
	inputs := []string{"schema", "self", "this", "cr", "parent", "object", "resource", "instance"}
	switch {
	case slices.Contains(inputs, name) && len(path) > 0:
		return "write " + read{inputRoot, path}.String() + ": . is the custom resource"
	case name == "children" && a.scope.Children != nil && len(path) > 0:
		return "did you mean " + read{childrenRoot, path}.String() + "?"
	case (name == "item" || name == "index") && a.scope.Each:
		return "did you mean $" + name + "?"
	}
	if a.scope.Input != nil && slices.Contains(a.scope.Input.Fields(), name) {
		return "did you mean " + read{inputRoot, append([]string{name}, path...)}.String() + "?"
	}
	same := func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "_", "")) }
	if _, taken := foreign[name]; taken {
		return ""
	}
	return a.inside(same, path)
}

// foreignCall rewrites a call of a function of another language to jq.
func (a *analyser) foreignCall(f *gojq.Func, s jq.Span) string {
	hint := foreignHint(f.Name)
	before, piped := strings.CutSuffix(strings.TrimRight(a.text[:s.At], " \t\r\n"), "|")
	before = strings.TrimSpace(before)
	switch known := foreign[f.Name]; {
	case known == "":
	case f.Name == "default" && len(f.Args) == 1 && piped && plainPath(before):
		return "write " + before + " // " + a.shown(f.Args[0])
	case strings.Contains(known, " "):
	case len(f.Args) == 1 && !piped && builtinTakes(known, 0):
		return "write (" + a.shown(f.Args[0]) + " | " + known + ")"
	}
	return hint
}

// builtinTakes reports whether a function of jq has a variant with this number of
// arguments.
func builtinTakes(name string, args int) bool {
	_, ok := builtins()[fmt.Sprintf("%s/%d", name, args)]
	return ok
}

// pathAfter returns the path, such as .a.b, at an offset of the text.
func (a *analyser) pathAfter(at int) []string {
	var path []string
	tokens, _, _ := jq.Lex(a.text)
	for _, t := range tokens {
		if t.At == at && t.Kind == jq.TokenIndex && at > 0 {
			path = append(path, t.Text[1:])
			at += len(t.Text)
		}
	}
	return path
}

// counted formats the number of arguments.
func counted(args int) string {
	switch args {
	case 0:
		return "no argument"
	case 1:
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", args)
}

// arities lists the variants of a function for a message: "split(a) or split(a; b)".
func arities(name string) string {
	all := []string{}
	for n := range 5 {
		special := slices.Contains([]string{
			"empty/0", "error/0", "error/1", "not/0", "select/1", "map/1", "first/0", "last/0", "first/1", "last/1", "limit/2", "skip/2", "nth/2", "has/1",
			"values/0", "nulls/0", "booleans/0", "numbers/0", "strings/0", "arrays/0", "objects/0", "iterables/0", "scalars/0",
		}, fmt.Sprintf("%s/%d", name, n))
		if !special && !builtinTakes(name, n) {
			continue
		}
		call := name
		if n > 0 {
			call += "(" + strings.Join([]string{"a", "b", "c", "d"}[:n], "; ") + ")"
		}
		all = append(all, call)
	}
	return strings.Join(all, " or ")
}
