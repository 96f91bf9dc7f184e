package expression

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// value describes the values that an expression yields.
type value struct {
	kinds  kinds
	shape  schema.Type // of an object or an array; nil if unknown
	empty  bool        // {} or [], which is valid for every shape
	from   []read      // the paths that it can come from; none if it was computed
	absent *absence    // why it can be null, if known; then kinds includes null
	item   *absence    // why an item of an array can be null, if known
	items  []read      // the paths that the items of an array come from, if one of them can be null
	of     []read      // the paths that the items of an array come from, if it is not a path itself
	text   *string     // the constant string
}

// absence is an optional field.
type absence struct {
	read
	node   any // where it is read
	why    string
	object bool // it is an object, if it is there
}

// some returns a value with known kinds.
func some(k kinds) value { return value{kinds: k} }

func typed(t schema.Type) value { return value{kinds: ofType(t), shape: t} }

// unknown returns a value of any kind.
func unknown() value { return value{kinds: anything} }

// listOf returns an array of values.
func listOf(item value) value {
	return value{kinds: array, shape: schema.ListOf(item.toType())}
}

// join returns a value that is one or the other.
func join(a, b value) value {
	switch {
	case a.kinds == 0:
		return b
	case b.kinds == 0:
		return a
	}
	joined := value{kinds: a.kinds | b.kinds, from: slices.Concat(a.from, b.from), of: slices.Concat(a.of, b.of), absent: a.absent}
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

// present returns the value without null.
func (v value) present() value {
	v.kinds &^= null
	v.absent = nil
	return v
}

// each is the path element for any index or key.
const each = "[]"

// item returns the path element of one index.
func item(index string) string { return "[" + index + "]" }

// isItem reports whether a path element is an index. It is wrong for a field with a
// name of that form.
func isItem(name string) bool { return strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") }

// below extends the paths of a value.
func below(from []read, name string) []read {
	extended := make([]read, len(from))
	for i, f := range from {
		extended[i] = read{f.root, append(slices.Clip(f.path), name)}
	}
	return extended
}

// String formats the path as jq.
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
