package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// helm maps the objects of Helm templates to the fields of a custom resource.
var helm = map[string]string{
	"Values": ".spec.FIELD", "Release": ".metadata.name", "Chart": "", "Files": "", "Capabilities": "", "Template": "",
}

// rootHint suggests a path for a field that the input itself does not have, if it can.
func (a *analyser) rootHint(name string, node any) advice {
	path := a.pathAfter(a.spans[node].End)
	switch is, ofHelm := helm[name]; {
	case ofHelm && is != "" && !a.scope.Live:
		return advice{sentence: ". is the custom resource: write " + a.helmPath(name, path)}
	case ofHelm:
		return advice{sentence: ". is " + a.input() + ": it has no " + name + " of Helm"}
	case name == "children" && a.scope.Children != nil && len(path) > 0:
		return advice{meant: read{childrenRoot, path}.String()}
	case name == "children":
		return advice{sentence: a.scope.NoChildren}
	case (name == "item" || name == "index") && a.scope.Each:
		return advice{meant: "$" + name}
	}
	return advice{meant: anyOf(a.inside(func(field string) bool { return field == name }, path))}
}

// helmPath converts a Helm path to a path of the custom resource.
func (a *analyser) helmPath(name string, path []string) string {
	switch {
	case name == "Values" && len(path) > 0:
		same := func(field string) bool { return field == path[0] }
		if found := a.fieldOf("spec", same); found != "" {
			return read{inputRoot, append([]string{"spec"}, path...)}.String()
		}
	case name == "Release" && len(path) > 0 && path[0] == "Namespace":
		return ".metadata.namespace"
	}
	return helm[name]
}

func (a *analyser) input() string {
	if a.scope.Live {
		return a.scope.Name
	}
	return "the custom resource"
}

// inside returns the paths of a field one level deeper, because users forget that level.
func (a *analyser) inside(same func(string) bool, path []string) []string {
	var found []string
	for _, part := range []string{"spec", "metadata", "status"} {
		if field := a.fieldOf(part, same); field != "" {
			found = append(found, read{inputRoot, append([]string{part, field}, path...)}.String())
		}
	}
	return found
}

// anyOf joins what can be meant, for a message.
func anyOf(found []string) string { return strings.Join(found, " or ") }

// fieldOf returns the first matching field of a field of the input, or "".
func (a *analyser) fieldOf(part string, same func(string) bool) string {
	if a.scope.Input == nil {
		return ""
	}
	t, known := a.scope.Input.Field(part)
	if !known || t.Kind() != schema.Object {
		return ""
	}
	fields := t.Fields()
	if at := slices.IndexFunc(fields, same); at >= 0 {
		return fields[at]
	}
	return ""
}

// assigned reports an assignment instead of a comparison.
func (a *analyser) assigned(q *gojq.Query) {
	for q.Term != nil && q.Term.Type == gojq.TermTypeQuery && len(q.Term.SuffixList) == 0 { // with or without definitions before it
		q = q.Term.Query
	}
	if q.Op == gojq.OpAssign {
		a.failWith(q, a.shown(q)+" assigns a value, but a condition compares values", a.source(q.Left)+" == "+a.source(q.Right))
	}
}

// dash is a name with - or / in it, which jq parses as an operator.
type dash struct {
	jq.Span
	path, key string // the object that is read, and the name
	said      bool
}

// mappings are fields whose keys can contain dots.
var mappings = []string{".labels", ".annotations", ".matchLabels", ".nodeSelector", ".data", ".stringData"}

// dashes finds .a.b-c and .a.b/c-d, written without space, in which a word is not a
// function.
func dashes(tokens []jq.Token) []dash {
	var found []dash
	if slices.ContainsFunc(tokens, func(t jq.Token) bool { return t.Text == "def" }) {
		return nil // its names are functions
	}
	for from := 0; from < len(tokens); from++ {
		if tokens[from].Kind != jq.TokenIndex {
			continue
		}
		run := tokens[from : from+joined(tokens[from:])]
		if slices.ContainsFunc(run, unknownWord) {
			found = append(found, dashOf(run))
		}
		from += len(run) - 1
	}
	return found
}

// unknownWord reports whether a token is neither a function nor a keyword.
func unknownWord(t jq.Token) bool {
	keywords := []string{"if", "try", "reduce", "foreach", "label", "true", "false", "null"}
	_, refused := impure[t.Text]
	return t.Kind == jq.TokenWord && !refused && !slices.Contains(keywords, t.Text) && arities(t.Text) == ""
}

// joined counts the leading tokens that are names joined by - and /.
func joined(tokens []jq.Token) int {
	operator := func(t jq.Token) bool { return t.Text == "-" || t.Text == "/" }
	n := 1
	for ; n < len(tokens) && !tokens[n].Space; n++ {
		named := tokens[n].Kind == jq.TokenIndex || operator(tokens[n]) || operator(tokens[n-1]) && tokens[n].Kind == jq.TokenWord
		if !named {
			break
		}
	}
	if operator(tokens[n-1]) {
		n--
	}
	return n
}

// dashOf separates the name from the path before it: the name starts below a mapping,
// or with the last field before the first operator.
func dashOf(tokens []jq.Token) dash {
	key := slices.IndexFunc(tokens, func(t jq.Token) bool { return slices.Contains(mappings, t.Text) }) + 1
	if key == 0 || key == len(tokens) || tokens[key].Kind != jq.TokenIndex {
		key = max(1, slices.IndexFunc(tokens, func(t jq.Token) bool { return t.Kind != jq.TokenIndex })) - 1
	}
	d := dash{Span: jq.Span{At: tokens[0].At, End: tokens[len(tokens)-1].End()}}
	for i, t := range tokens {
		if i < key {
			d.path += t.Text
		} else {
			d.key += t.Text
		}
	}
	d.key = strings.TrimPrefix(d.key, ".")
	return d
}

// joinedTexts returns the name as a field and a text that follows it: .a.b + "-c".
func (d dash) joinedTexts() []string {
	at := strings.IndexAny(d.key, "-/")
	if at <= 0 {
		return nil
	}
	return []string{d.path + "." + d.key[:at] + " + " + jq.Quote(d.key[at:])}
}

// isDashedChild reports whether a name with a dash is that of a child or a related object,
// which is an error at its name.
func (a *analyser) isDashedChild(d dash) bool {
	for variable, types := range map[string]map[string]schema.Type{"$children": a.scope.Children, "$related": a.scope.Related} {
		for name := range types {
			rest, ok := strings.CutPrefix(d.key, name)
			if ok && strings.ContainsAny(name, "-/") && (rest == "" || rest[0] == '.') &&
				strings.HasSuffix(a.text[:d.At]+d.path, variable) {
				return true
			}
		}
	}
	return false
}

// dashed reports a name that contains an operator once, instead of the errors of its
// parts.
func (a *analyser) dashed(p Problem) bool {
	for i, d := range a.dashes {
		if p.Offset >= d.End || p.Offset+p.Length <= d.At {
			continue
		}
		if !d.said {
			a.dashes[i].said = true
			path := d.path
			if path == "" {
				path = "."
			}
			a.problems = append(a.problems, Problem{
				Offset: d.At, Length: d.End - d.At, Code: BadExpression,
				Message: fmt.Sprintf("%s: jq subtracts at - and divides at /; a name that contains them needs quotes", a.text[d.At:d.End]),
				Fix:     path + "[" + jq.Quote(d.key) + "]", FixAt: d.At, FixEnd: d.End, otherFixes: d.joinedTexts(),
				Hint: `quote such a name, as in .metadata.labels["some-name"]`, Known: a.isDashedChild(d),
			})
		}
		return true
	}
	return false
}
