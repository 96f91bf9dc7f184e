package expression

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// kinds is a set of JSON types that a value may have. It is never too small: an unknown
// value may have any type.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	integer
	fraction
	str
	array
	object

	number   = integer | fraction
	anything = null | boolean | number | str | array | object
)

// String formats a set for a message: "an integer or a string".
func (k kinds) String() string {
	switch k & anything {
	case 0:
		return "nothing"
	case anything:
		return "anything"
	}
	for _, most := range [...]kinds{0, boolean, number, str, array, object} {
		if k&^null == anything&^null&^most {
			return "anything but " + max(null, most).String()
		}
	}
	var words []string
	if k&number == number {
		words, k = append(words, "a number"), k&^number
	}
	for _, one := range [...]struct {
		kind kinds
		word string
	}{
		{boolean, "a boolean"},
		{integer, "an integer"},
		{fraction, "a fraction"},
		{str, "a string"},
		{array, "an array"},
		{object, "an object"},
		{null, "null"},
	} {
		if k&one.kind != 0 {
			words = append(words, one.word)
		}
	}
	return strings.Join(words, " or ")
}

// ofType returns the kinds of a type.
func ofType(t schema.Type) kinds {
	k := map[schema.Kind]kinds{
		schema.Object: object, schema.Array: array, schema.String: str, schema.Integer: integer, schema.Number: number,
		schema.Boolean: boolean, schema.IntOrString: integer | str, schema.Quantity: number | str,
	}[t.Kind()]
	switch {
	case k == 0:
		return anything
	case t.Nullable():
		return k | null
	}
	return k
}

// ofLiteral returns the kind of a template's value.
func ofLiteral(v any) kinds {
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case string:
		return str
	case map[string]any:
		return object
	case []any:
		return array
	case float64:
		if v != math.Trunc(v) {
			return fraction
		}
	case json.Number:
		if f, err := v.Float64(); err != nil || f != math.Trunc(f) {
			return fraction
		}
	}
	return integer
}

// toType returns the schema of a value that becomes part of an object or an array.
func (v value) toType() schema.Type {
	switch k := v.kinds &^ null; k {
	case object, array:
		if v.shape != nil {
			return v.shape
		}
		return schema.Of(map[kinds]schema.Kind{object: schema.Object, array: schema.Array}[k])
	case str:
		return schema.Of(schema.String)
	case boolean:
		return schema.Of(schema.Boolean)
	case integer:
		return schema.Of(schema.Integer)
	case fraction, number:
		return schema.Of(schema.Number)
	case integer | str:
		return schema.Of(schema.IntOrString)
	case number | str:
		return schema.Of(schema.Quantity)
	}
	return schema.Any()
}

// zero returns a default of a kind for a hint, as jq.
func (k kinds) zero() string {
	switch k &^= null; {
	case k&^number == 0:
		return "0"
	case k == array:
		return "[]"
	case k == object:
		return "{}"
	case k == boolean:
		return "false"
	}
	return `""`
}
