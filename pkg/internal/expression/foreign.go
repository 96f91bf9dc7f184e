package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
	"github.com/argoperator/argoperator/pkg/internal/jqhint"
)

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
	if jqhint.Foreign(name) != "" {
		return ""
	}
	return a.inside(same, path)
}

// foreignCall rewrites a call of a function of another language to jq.
func (a *analyser) foreignCall(f *gojq.Func, s jq.Span) string {
	hint := jqhint.ForeignHint(f.Name)
	before, piped := strings.CutSuffix(strings.TrimRight(a.text[:s.At], " \t\r\n"), "|")
	before = strings.TrimSpace(before)
	switch known := jqhint.Foreign(f.Name); {
	case known == "":
	case f.Name == "default" && len(f.Args) == 1 && piped && jqhint.PlainPath(before):
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

// syntaxHint returns how to fix a syntax error.
func syntaxHint(text string, err error) string {
	takesOne := func(name string) bool {
		b, ok := builtins()[name+"/1"]
		return ok && !b.ignoresInput
	}
	return jqhint.Context{Variables: variables(), TakesOne: takesOne}.Syntax(text, err)
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
