package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
)

// noFunction suggests a function for an unknown name.
func (a *analyser) noFunction(f *gojq.Func, known []string) advice {
	path := a.pathAfter(a.spans[f].End)
	if hint := a.fieldHint(f.Name, path, len(f.Args)); hint != (advice{}) {
		return hint
	}
	if why := jqhint.Unavailable(f.Name); why != "" {
		return advice{sentence: why}
	}
	if equivalent := jqhint.Equivalent(f.Name); equivalent != "" {
		return advice{sentence: "write " + equivalent}
	}
	if best := nearest(f.Name, known); best != "" {
		return advice{meant: best}
	}
	switch {
	case len(f.Args) > 0:
	case f.Name == strings.ToUpper(f.Name):
		return advice{sentence: "an expression cannot read environment variables: read a field, such as .metadata.name"}
	case len(path) > 0:
		return advice{sentence: "a field begins with a dot, such as .metadata.name"}
	}
	return advice{}
}

// fieldHint suggests a dot or a $ before a name.
func (a *analyser) fieldHint(name string, path []string, args int) advice {
	if args > 0 {
		return advice{}
	}
	switch {
	case slices.Contains(jqhint.Inputs(), name) && len(path) > 0:
		return advice{sentence: "write " + read{inputRoot, path}.String() + ": . is " + a.input()}
	case name == "children" && a.scope.Children != nil && len(path) > 0:
		return advice{meant: read{childrenRoot, path}.String()}
	case (name == "item" || name == "index") && a.scope.Each:
		return advice{meant: "$" + name}
	case (name == "item" || name == "each") && len(path) > 0:
		return advice{sentence: "write forEach: LIST in the child; $item is then an entry of the list"}
	case len(path) > 0 && slices.Contains([]string{"status", "spec", "metadata", "data"}, path[0]) && len(a.scope.Children) > 0:
		return a.asChild(name, path)
	}
	if a.scope.Input != nil && slices.Contains(a.scope.Input.Fields(), name) {
		return advice{meant: read{inputRoot, append([]string{name}, path...)}.String()}
	}
	same := func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "_", "")) }
	return advice{meant: anyOf(a.inside(same, path))}
}

// asChild suggests a child for a name that is followed by a field of an object.
func (a *analyser) asChild(name string, path []string) advice {
	names := slices.Sorted(maps.Keys(a.scope.Children))
	best := nearest(name, names)
	if len(names) == 1 {
		best = names[0]
	}
	if best != "" {
		return advice{meant: read{childrenRoot, append([]string{best}, path...)}.String()}
	}
	return advice{sentence: "read a child as $children.NAME; children: " + strings.Join(names, ", ")}
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
	if args < 2 {
		return []string{"none", "1"}[args]
	}
	return fmt.Sprint(args)
}

// takes formats the numbers of arguments that a function takes.
func takes(name string) string {
	var all []string
	for n := range 5 {
		if isFunction(name, n) {
			all = append(all, map[int]string{0: "no argument", 1: "1 argument"}[n])
			if n > 1 {
				all[len(all)-1] = fmt.Sprintf("%d arguments", n)
			}
		}
	}
	return strings.Join(all, " or ")
}

// specials are the functions of jq that have no entry in builtins.
func specials() []string {
	return []string{
		"empty/0", "error/0", "error/1", "not/0", "select/1", "map/1", "first/0", "last/0", "first/1", "last/1", "limit/2", "skip/2",
		"nth/2", "has/1",
		"values/0", "nulls/0", "booleans/0", "numbers/0", "strings/0", "arrays/0", "objects/0", "iterables/0", "scalars/0",
	}
}

// isFunction reports whether jq has a function with a number of arguments.
func isFunction(name string, args int) bool {
	return builtinTakes(name, args) || slices.Contains(specials(), fmt.Sprintf("%s/%d", name, args))
}

// arities lists the variants of a function for a message: "split(a) or split(a; b)".
func arities(name string) string {
	all := []string{}
	for n := range 5 {
		if !isFunction(name, n) {
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
