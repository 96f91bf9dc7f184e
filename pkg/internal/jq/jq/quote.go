package jq

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Literal returns a value as JSON on one line, which is valid jq.
func Literal(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Quote returns a string literal of jq.
func Quote(s string) string {
	text, err := Literal(s)
	if err != nil { // unreachable: every string can be encoded
		panic(err)
	}
	return text
}
