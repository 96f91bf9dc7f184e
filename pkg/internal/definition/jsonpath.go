package definition

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/source"
)

// pathStep is one step of a simple JSON path: a field, or an entry of a list.
type pathStep struct {
	field string
	entry bool // [0], [*] or [?(…)]
}

var (
	pathField   = regexp.MustCompile(`^\.([A-Za-z_$][A-Za-z0-9_$-]*)`)
	pathQuoted  = regexp.MustCompile(`^\[['"]([^'"\]]+)['"]\]`)
	pathEscaped = regexp.MustCompile(`^\.((?:[A-Za-z0-9_$/-]|\\\.)+)`)
	pathEntry   = regexp.MustCompile(`^\[(-?[0-9]+|\*|\?\([^()]*\))\]`)
)

// parsePath reads a simple JSON path, such as .spec.ports[0].name.
func parsePath(text string) ([]pathStep, error) {
	var out []pathStep
	if !strings.HasPrefix(text, ".") {
		return nil, fmt.Errorf("the path begins with a dot, as in .spec.size")
	}
	for rest := text; rest != ""; {
		if m := pathField.FindString(rest); m != "" && !strings.HasPrefix(rest[len(m):], `\`) {
			out = append(out, pathStep{field: m[1:]})
			rest = rest[len(m):]
		} else if m := pathEscaped.FindStringSubmatch(rest); m != nil {
			out = append(out, pathStep{field: strings.ReplaceAll(m[1], `\.`, ".")})
			rest = rest[len(m[0]):]
		} else if m := pathQuoted.FindStringSubmatch(rest); m != nil {
			out = append(out, pathStep{field: m[1]})
			rest = rest[len(m[0]):]
		} else if m := pathEntry.FindString(rest); m != "" {
			out = append(out, pathStep{entry: true})
			rest = rest[len(m):]
		} else {
			return nil, fmt.Errorf("cannot read %q", rest)
		}
	}
	return out, nil
}

// simple tells whether a path holds fields only.
func simple(path []pathStep) bool {
	return !slices.ContainsFunc(path, func(s pathStep) bool { return s.entry })
}

// resolved is what a schema says about a path.
type resolved struct {
	schema *props // nil: the schema does not say, as below preserve-unknown-fields
	fail   string // what is wrong, "" if nothing
	hint   string
}

// resolve follows a path through a schema.
func resolve(root *props, path []pathStep, kind string) resolved {
	at, walked := root, ""
	for i, step := range path {
		if i == 0 {
			if meta := objectField(step.field); meta != nil {
				at, walked = meta, "."+step.field
				continue
			}
		}
		next, known := childOf(at, step)
		if !known {
			r := resolved{fail: fmt.Sprintf("%s: no such field in %s", walked+step.String(), kind)}
			if best := source.Nearest(step.field, source.SortedKeys(at.Properties)); best != "" && !step.entry {
				r.hint = fmt.Sprintf("did you mean %s.%s?", walked, best)
			} else if len(at.Properties) > 0 {
				r.hint = source.DidYouMean(step.field, source.SortedKeys(at.Properties), "fields of "+cmp.Or(walked, kind))
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

func (s pathStep) String() string {
	if s.entry {
		return "[]"
	}
	return "." + s.field
}
