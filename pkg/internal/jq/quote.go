package jq

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Literal returns a value as JSON on one line, which is jq too.
func Literal(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Quote returns a text as a string literal of jq.
func Quote(s string) string {
	text, err := Literal(s)
	if err != nil { // unreachable: every string has a form in JSON
		panic(err)
	}
	return text
}
