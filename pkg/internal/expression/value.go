package expression

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// value is what is known of the values that an expression yields.
type value struct {
	kinds  kinds
	shape  schema.Type // of an object or an array; nil is unknown
	empty  bool        // {} or [], which fits every shape
	from   []read      // the places that it may be; none if it was made
	absent *absence    // why it may be null, if that is known; then kinds has null
	text   *string     // it is this string
}

// absence is an optional field.
type absence struct {
	read
	node any // where it is read
	why  string
}

// some is a value of which the kinds are known.
func some(k kinds) value { return value{kinds: k} }

func typed(t schema.Type) value { return value{kinds: ofType(t), shape: t} }

// unknown is a value of which nothing is known.
func unknown() value { return value{kinds: anything} }

// listOf is an array of values.
func listOf(item value) value {
	return value{kinds: array, shape: schema.ListOf(item.toType())}
}

// join is one value or the other.
func join(a, b value) value {
	switch {
	case a.kinds == 0:
		return b
	case b.kinds == 0:
		return a
	}
	joined := value{kinds: a.kinds | b.kinds, from: slices.Concat(a.from, b.from), absent: a.absent}
	if joined.absent == nil {
		joined.absent = b.absent
	}
	const shaped = object | array
	switch {
	case b.kinds&shaped == 0 || b.empty:
		joined.shape = a.shape
	case a.kinds&shaped == 0 || a.empty:
		joined.shape = b.shape
	}
	if a.text != nil && b.text != nil && *a.text == *b.text {
		joined.text = a.text
	}
	return joined
}

// present is the value without null.
func (v value) present() value {
	v.kinds &^= null
	v.absent = nil
	return v
}

// each stands in a path for any index or key.
const each = "[]"

// item stands in a path for one index.
func item(index string) string { return "[" + index + "]" }

// isItem tells each and item from the names of fields; a field that is named
// like one is taken for one.
func isItem(name string) bool { return strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") }

// below extends the places of a value.
func below(from []read, name string) []read {
	extended := make([]read, len(from))
	for i, f := range from {
		extended[i] = read{f.root, append(slices.Clip(f.path), name)}
	}
	return extended
}

// String is the path as jq.
func (r read) String() string {
	var b strings.Builder
	if r.root != inputRoot {
		b.WriteString(string(r.root))
	}
	for _, name := range r.path {
		switch {
		case isItem(name):
			b.WriteString(name)
		case jq.IsName(name):
			b.WriteString("." + name)
		case b.Len() == 0:
			b.WriteString("." + jq.Quote(name))
		default:
			b.WriteString("[" + jq.Quote(name) + "]")
		}
	}
	if b.Len() == 0 {
		return "."
	}
	return b.String()
}
