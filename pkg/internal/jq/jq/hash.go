package jq

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/itchyny/gojq"
)

// Hash is the name of a function that jq does not have: pods do. WithHash makes it known.
const Hash = "sha256"

const hashName = "%sha256"

// WithHash changes the calls of Hash to HashFunction, which Compile adds, and reports whether
// there are any. A program that defines a function of this name keeps its own.
func WithHash(query *gojq.Query) bool {
	var calls []*gojq.Func
	own := false
	Walk(query, func(node any) bool {
		switch node := node.(type) {
		case *gojq.Query:
			own = own || slices.ContainsFunc(node.FuncDefs, func(d *gojq.FuncDef) bool { return d.Name == Hash })
		case *gojq.Func:
			if node.Name == Hash && len(node.Args) == 0 {
				calls = append(calls, node)
			}
		}
		return !own
	})
	if own {
		return false
	}
	for _, call := range calls {
		call.Name = hashName
	}
	return len(calls) > 0
}

// HashFunction is that function.
func HashFunction() gojq.CompilerOption { return gojq.WithFunction(hashName, 0, 0, hash) }

// hash returns the SHA-256 of a text in UTF-8, as 64 hexadecimal digits.
func hash(value any, _ []any) any {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("%s cannot be applied to: %s (%s)", Hash, gojq.TypeOf(value), gojq.Preview(value))
	}
	sum := sha256.Sum256([]byte(string([]rune(text)))) // without bytes that are not UTF-8
	return hex.EncodeToString(sum[:])
}
