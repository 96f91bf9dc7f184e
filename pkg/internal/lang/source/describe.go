package source

import (
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Describe describes a node for a message: `the string "3"`, "an integer", "a list".
func Describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int":
		return "the integer " + n.Value
	case "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the boolean " + n.Value
	case "!!null":
		return "null"
	}
	return "the string " + strconv.Quote(Shorten(n.Value))
}

// Shorten truncates a text to 40 characters.
func Shorten(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return s
}

// wanted describes the YAML of a Go type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	}
	return "a string"
}

// subject returns the value at a path for a message.
func subject(p Path) string {
	if len(p) == 0 {
		return "the document"
	}
	return p.String()
}

// Inside returns the mapping at a path for a message.
func Inside(p Path) string {
	if len(p) == 0 {
		return ""
	}
	return " in " + p.String()
}

func nullHint(t reflect.Type) string {
	switch wanted(t) {
	case "a list":
		return "remove the key, or write []"
	case "a mapping":
		return "remove the key, or write {}"
	}
	return "remove the key, or write a value"
}
