package jq

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// Limits of a value. The API server accepts requests of up to 3 MiB.
const (
	maxText   = 4 << 20   // bytes of all strings in it
	maxValues = 1 << 20   // values in it, counting duplicates
	maxDepth  = 10_000    // as for encoding/json
	maxIndex  = 1 << 20   // largest index to which a list grows by writing to it
	maxMatch  = 3 << 20   // bytes of text in which a regular expression searches for one match
	maxSearch = 128 << 10 // ... for all matches: gojq counts the characters before each
	maxBits   = 1 << 16   // of an integer
)

const smaller = "give the texts, numbers and lists that it works on a maximum in the schema (maxLength, maximum, maxItems)"

// The functions that the bounder adds to programs. No program can call or define them,
// because their names are not valid jq.
const (
	boundedName      = "%bounded"
	shortName        = "%short"
	matchableName    = "%matchable"
	searchableName   = "%searchable"
	transposableName = "%transposable"
	nearName         = "%near"
	nearEventName    = "%nearEvent"
	nearPathsName    = "%nearPaths"
	timesName        = "%times"
	withoutName      = "%without"
	joinName         = "%join"
	pathName         = "%path" // path(f), which a program may redefine
)

// guards returns these functions. They panic with a LimitError, which no `try` catches.
var guards = sync.OnceValue(func() []gojq.CompilerOption {
	return []gojq.CompilerOption{
		gojq.WithFunction(boundedName, 0, 0, bounded),
		gojq.WithFunction(shortName, 0, 0, short),
		gojq.WithFunction(matchableName, 0, 0, matchable),
		gojq.WithFunction(searchableName, 0, 0, searchable),
		gojq.WithFunction(transposableName, 0, 0, transposable),
		gojq.WithFunction(nearName, 0, 0, near),
		gojq.WithFunction(nearEventName, 0, 0, nearEvent),
		gojq.WithFunction(nearPathsName, 1, 1, nearPaths),
		gojq.WithFunction(timesName, 2, 2, times),
		gojq.WithFunction(withoutName, 2, 2, without),
		gojq.WithFunction(joinName, 1, 1, join),
	}
})

func tooLarge(format string, args ...any) *LimitError {
	return &LimitError{fmt.Sprintf(format, args...), smaller}
}

// bounded returns its input if that is small enough to be encoded as text. Before that,
// values that share parts use little memory.
func bounded(value any, _ []any) any {
	s := size{}
	s.add(value, 0)
	return value
}

// size is the size of the counted part of a value.
type size struct{ values, text int }

func (s *size) add(value any, depth int) {
	switch value := value.(type) {
	case string:
		s.text += len(value)
	case []any:
		s.values += len(value)
		s.check(depth)
		for _, v := range value {
			s.add(v, depth+1)
		}
	case map[string]any:
		s.values += len(value)
		s.check(depth)
		for key, v := range value {
			s.text += len(key)
			s.add(v, depth+1)
		}
	}
	s.check(depth)
}

func (s *size) check(depth int) {
	switch {
	case s.text > maxText:
		panic(tooLarge("makes more than %d MiB of text", maxText>>20))
	case s.values > maxValues:
		panic(tooLarge("makes a value that holds more than %d others", maxValues))
	case depth > maxDepth:
		panic(tooLarge("makes a value that is more than %d levels deep", maxDepth))
	}
}

// short is bounded without the nested values.
func short(value any, _ []any) any {
	s := size{}
	switch value := value.(type) {
	case string:
		s.text = len(value)
	case []any:
		s.values = len(value)
	case map[string]any:
		s.values = len(value)
	}
	s.check(0)
	return value
}

func matchable(value any, _ []any) any { return searched(value, maxMatch) }

func searchable(value any, _ []any) any { return searched(value, maxSearch) }

func searched(value any, limit int) any {
	if text, ok := value.(string); ok && len(text) > limit {
		panic(tooLarge("matches a regular expression with more than %d KiB of text", limit>>10))
	}
	return value
}

func transposable(value any, _ []any) any {
	rows, _ := value.([]any)
	widest := 0
	for _, row := range rows {
		if row, ok := row.([]any); ok {
			widest = max(widest, len(row))
		}
	}
	(&size{values: len(rows) * widest}).check(0)
	return value
}

// near returns a path that can be written: for a far index, gojq would fill a list with
// null.
func near(path any, _ []any) any {
	keys, _ := path.([]any)
	for _, key := range keys {
		if number(key) > maxIndex {
			panic(tooLarge("writes to an index of more than %d", maxIndex))
		}
	}
	return path
}

// nearEvent is near for an event of a stream, [path, value].
func nearEvent(event any, _ []any) any {
	if pair, ok := event.([]any); ok && len(pair) > 0 {
		near(pair[0], nil)
	}
	return event
}

// nearPaths returns its input if all paths are near.
func nearPaths(input any, args []any) any {
	paths, _ := args[0].([]any)
	for _, path := range paths {
		near(path, nil)
	}
	return input
}

// number returns the value of a number; 0 for other values.
func number(value any) float64 {
	switch value := value.(type) {
	case int:
		return float64(value)
	case float64:
		return value
	case *big.Int:
		f, _ := new(big.Float).SetInt(value).Float64()
		return f
	case interface{ Float64() (float64, error) }: // json.Number
		f, _ := value.Float64()
		return f
	}
	return 0
}

// times multiplies.
func times(_ any, args []any) any {
	for i, one := range args {
		other := args[1-i]
		if text, ok := one.(string); ok && float64(len(text))*math.Max(number(other), 0) > maxText {
			panic(tooLarge("makes more than %d MiB of text", maxText>>20))
		}
	}
	if bits(args[0])+bits(args[1]) > maxBits {
		panic(tooLarge("makes an integer of more than %d bits", maxBits))
	}
	return builtin("$a * $b").of(nil, args[0], args[1])
}

// without subtracts. gojq compares every item of a list with every item of the other in one step.
func without(_ any, args []any) any {
	if crossed(args[0], args[1]) > MaxSteps {
		panic(&LimitError{unending, endless})
	}
	return builtin("$a - $b").of(nil, args[0], args[1])
}

func bits(value any) int {
	if value, ok := value.(*big.Int); ok {
		return value.BitLen()
	}
	return 0
}

// join joins strings.
func join(list any, args []any) any {
	bounded(list, nil)
	separator, _ := args[0].(string)
	switch list := list.(type) {
	case []any:
		(&size{text: len(list) * len(separator)}).check(0)
	case map[string]any:
		(&size{text: len(list) * len(separator)}).check(0)
	}
	if texts, ok := textsOf(list); ok && args[0] == any(separator) {
		return strings.Join(texts, separator)
	}
	return builtin("join($a)").of(list, args[0], nil)
}

// textsOf returns the items of a list if all are strings, which is the usual case.
func textsOf(value any) ([]string, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if texts[i], ok = item.(string); !ok {
			return nil, false
		}
	}
	return texts, true
}

// operation is jq without a limit on $a and $b.
type operation struct{ code *gojq.Code }

func (o operation) of(input, a, b any) any {
	value, _ := o.code.Run(input, a, b).Next()
	return value
}

var operations sync.Map // operation by its jq

func builtin(source string) operation {
	if known, ok := operations.Load(source); ok {
		return known.(operation)
	}
	query, err := gojq.Parse(source)
	if err != nil {
		panic(err) // unreachable
	}
	code, err := gojq.Compile(query, gojq.WithVariables([]string{"$a", "$b"}))
	if err != nil {
		panic(err) // unreachable
	}
	made := operation{code}
	operations.Store(source, made)
	return made
}
