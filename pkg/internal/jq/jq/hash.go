package jq

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/itchyny/gojq"
)

// Hash is the name of a function that jq does not have: pods do. WithHash makes it known.
const Hash = "sha256"

const hashName = "%sha256"

// WithHash defines Hash before a query that calls it, and reports whether it did. Calls of a
// function of this name that the query itself defines need nothing.
func WithHash(query *gojq.Query, variables ...string) bool {
	calls := false
	Walk(query, func(node any) bool {
		f, ok := node.(*gojq.Func)
		calls = calls || ok && f.Name == Hash && len(f.Args) == 0
		return !calls
	})
	if !calls {
		return false
	}
	if _, err := Compile(query, variables...); err == nil {
		return false
	}
	query.FuncDefs = append([]*gojq.FuncDef{{Name: Hash, Body: call(hashName)}}, query.FuncDefs...)
	return true
}

// HashFunction is what it calls. Compile has it.
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
