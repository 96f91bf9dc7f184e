package expression

import (
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// builtin describes a function of jq.
type builtin struct {
	takes        kinds // of the input; 0 is anything
	args         []argument
	makes        kinds
	min, max     int         // number of values for one input
	of           schema.Kind // of the elements of an array that it returns
	same         bool        // the array that it returns has the type of its input
	item         bool        // it returns an element of its input, or null
	ignoresInput bool        // it does not use its input
}

// argument is one argument of a function.
type argument struct {
	to    subject
	takes kinds // 0 is any kind
}

// subject is the input that an argument is evaluated with.
type subject byte

const (
	asValue    subject = iota // the input, once for each value
	toInput                   // the input
	toItem                    // each element of the input
	toFirst                   // the result of the first argument
	toAnything                // any value
)

// fn returns a function that yields one value.
func fn(takes, makes kinds, args ...argument) builtin {
	return builtin{takes: takes, args: args, makes: makes, min: 1, max: 1}
}

func (b builtin) list(of schema.Kind) builtin { b.of = of; return b }
func (b builtin) times(least, most int) builtin {
	b.min, b.max = least, most
	return b
}
func (b builtin) alike() builtin  { b.same = true; return b }
func (b builtin) ofItem() builtin { b.item = true; return b }

// ignoresInput returns a function that yields one value, computed from its arguments
// only.
func ignoresInput(makes kinds, args ...argument) builtin {
	b := fn(0, makes, args...)
	b.ignoresInput = true
	return b
}

// builtins returns the functions of gojq, which Sensors run, except those in special,
// kept and impure.
var builtins = sync.OnceValue(func() map[string]builtin {
	var (
		any_  = argument{}
		text  = argument{takes: str}
		num   = argument{takes: number}
		flags = argument{takes: str | null}
		self  = argument{to: toInput}
		item  = argument{to: toItem}
		free  = argument{to: toAnything}
		each  = argument{to: toFirst}
	)
	const listed = array | object
	table := map[string]builtin{
		// Strings.
		"ascii_downcase/0": fn(
			str,
			str,
		), "ascii_upcase/0": fn(str, str), "ltrim/0": fn(str, str), "rtrim/0": fn(str, str), "trim/0": fn(str, str),
		"ltrimstr/1": fn(str, str, text), "rtrimstr/1": fn(str, str, text), "trimstr/1": fn(str, str, text),
		"startswith/1": fn(str, boolean, text), "endswith/1": fn(str, boolean, text),
		"split/1": fn(str, array, text).list(schema.String), "split/2": fn(str, array, text, flags).list(schema.String),
		"join/1":    fn(listed, str, text),
		"explode/0": fn(str, array).list(schema.Integer), "implode/0": fn(array, str), "utf8bytelength/0": fn(str, integer),
		"test/1": fn(str, boolean, text), "test/2": fn(str, boolean, text, flags),
		"match/1": fn(str, object, text).times(0, 1), "match/2": fn(str, object, text, flags).times(0, 2),
		"capture/1": fn(str, object, text).times(0, 1), "capture/2": fn(str, object, text, flags).times(0, 2),
		"scan/1": fn(str, str|array, text).times(0, 2), "scan/2": fn(str, str|array, text, flags).times(0, 2),
		"splits/1": fn(str, str, text).times(1, 2), "splits/2": fn(str, str, text, flags).times(1, 2),
		"sub/2": fn(str, str, text, free), "sub/3": fn(str, str, text, free, flags),
		"gsub/2": fn(str, str, text, free), "gsub/3": fn(str, str, text, free, flags),
		"tostring/0": fn(anything&^null, str), "tojson/0": fn(0, str), "fromjson/0": fn(str, anything), "format/1": fn(0, str, text),
		"sha256/0":      fn(str, str),                                                                 // in pods
		"fingerprint/0": fn(0, str), "quantity/0": fn(number|str, number), "semver/0": fn(str, array), // of ownFunctions
		"cidrhost/1": fn(str, str, num), "cidrsubnet/2": fn(str, str, num, num),
		"tonumber/0": fn(number|str, number), "toboolean/0": fn(boolean|str, boolean),
		"index/1": fn(
			str|array|null,
			integer|null,
			any_,
		), "rindex/1": fn(str|array|null, integer|null, any_), "indices/1": fn(str|array|null, array|null, any_),

		// Arrays and objects.
		"length/0": fn(
			anything&^boolean,
			number,
		), "keys/0": fn(listed, array).list(""), "to_entries/0": fn(listed, array), "from_entries/0": fn(listed, object),
		"with_entries/1": fn(
			listed,
			object,
			free,
		), "map_values/1": fn(listed, listed, item), "add/0": fn(listed, anything), "add/1": ignoresInput(anything, self),
		"any/0": fn(listed, boolean), "any/1": fn(listed, boolean, item), "any/2": ignoresInput(boolean, self, each),
		"all/0": fn(listed, boolean), "all/1": fn(listed, boolean, item), "all/2": ignoresInput(boolean, self, each),
		"reverse/0": fn(array, array).alike(), "sort/0": fn(array, array).alike(), "sort_by/1": fn(array, array, item).alike(),
		"unique/0": fn(array, array).alike(), "unique_by/1": fn(array, array, item).alike(), "group_by/1": fn(array, array, item),
		"min/0": fn(array, anything).ofItem(), "max/0": fn(array, anything).ofItem(),
		"min_by/1": fn(array, anything, item).ofItem(), "max_by/1": fn(array, anything, item).ofItem(),
		"flatten/0": fn(
			listed,
			array,
		), "flatten/1": fn(listed, array, num), "transpose/0": fn(array, array), "bsearch/1": fn(array, integer, any_),
		"contains/1": fn(
			anything&^null,
			boolean,
			any_,
		), "inside/1": fn(anything&^null, boolean, any_), "in/1": fn(str|number, boolean, any_),
		"nth/1": fn(
			array|str|null,
			anything,
			num,
		).ofItem(),
		"combinations/0": fn(array, array).times(0, 2), "combinations/1": fn(0, array, num).times(0, 2),
		"isempty/1": ignoresInput(
			boolean,
			self,
		), "range/1": ignoresInput(number, num).times(0, 2), "range/2": ignoresInput(number, num, num).times(0, 2),
		"range/3": ignoresInput(number, num, num, num).times(0, 2),
		"recurse/0": fn(
			0,
			anything,
		).times(1, 2),
		"recurse/1": fn(0, anything, free).times(1, 2), "recurse/2": fn(0, anything, free, free).times(1, 2),
		"while/2": fn(
			0,
			anything,
			free,
			free,
		).times(0, 2),
		"until/2": fn(0, anything, free, free).times(0, 1), "repeat/1": fn(0, anything, free).times(0, 2),
		"walk/1": fn(
			0,
			anything,
			free,
		).times(0, 1),
		"type/0": fn(0, str), "IN/1": fn(0, boolean, self), "IN/2": ignoresInput(boolean, self, self),
		"INDEX/1": fn(listed, object, item), "INDEX/2": ignoresInput(object, self, each),
		"JOIN/2": fn(
			listed,
			array,
			any_,
			item,
		), "JOIN/3": ignoresInput(array, any_, self, each).times(0, 2),
		"JOIN/4": ignoresInput(anything, any_, self, free, free).times(0, 2),

		// Paths.
		"getpath/1": fn(
			0,
			anything,
			argument{takes: array},
		), "setpath/2": fn(0, anything, argument{takes: array}, any_), "delpaths/1": fn(0, anything, argument{takes: array}),
		"path/1": fn(0, array, self).times(0, 2), "paths/0": fn(0, array).times(0, 2), "paths/1": fn(0, array, free).times(0, 2),
		"del/1": fn(0, anything, free), "pick/1": fn(0, anything, free),
		"tostream/0": fn(
			0,
			array,
		).times(1, 2),
		"fromstream/1": fn(0, anything, self).times(0, 2), "truncate_stream/1": fn(0, anything, free).times(0, 2),

		// Numbers and times.
		"abs/0": fn(number, number), "infinite/0": ignoresInput(number), "nan/0": ignoresInput(number), "isfinite/0": fn(number, boolean),
		"isinfinite/0": fn(
			number,
			boolean,
		), "isnan/0": fn(number, boolean), "isnormal/0": fn(number, boolean), "frexp/0": fn(number, array), "modf/0": fn(number, array),
		"fma/3": ignoresInput(number, num, num, num),
		"gmtime/0": fn(
			number,
			array,
		), "mktime/0": fn(array, number), "strftime/1": fn(number|array, str, text), "strptime/1": fn(str, array, text),
		"todate/0": fn(
			number,
			str,
		), "fromdate/0": fn(str, number), "todateiso8601/0": fn(number, str), "fromdateiso8601/0": fn(str, number),
	}
	for _, name := range [...]string{"floor", "ceil", "round", "trunc", "nearbyint", "rint"} {
		table[name+"/0"] = fn(number, integer)
	}
	for _, name := range [...]string{
		"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "significand", "fabs",
		"sqrt", "cbrt", "exp", "exp10", "exp2", "expm1", "log", "log10", "log1p", "log2", "logb", "gamma", "tgamma", "lgamma", "erf",
		"erfc", "j0", "j1", "y0", "y1",
	} {
		table[name+"/0"] = fn(number, number)
	}
	for _, name := range [...]string{
		"atan2", "copysign", "drem", "fdim", "fmax", "fmin", "fmod", "hypot", "jn", "nextafter", "nexttoward", "remainder", "ldexp",
		"scalb", "scalbln", "yn", "pow",
	} {
		table[name+"/2"] = ignoresInput(number, num, num)
	}
	return table
})
