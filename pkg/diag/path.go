package diag

import (
	"strconv"
	"strings"
)

// Steps splits a path in the API server's notation, such as spec.ports[0].name or
// spec.labels[a.b], into keys and indexes. Keys may contain dots, so it needs the value
// to find their ends.
func Steps(value any, path string) []string {
	path = strings.TrimPrefix(path, ".")
	if path == "" {
		return nil
	}
	if object, ok := value.(map[string]any); ok {
		if key, rest, found := longestKey(object, path); found {
			return append([]string{key}, Steps(object[key], rest)...)
		}
	}
	word, rest := path, ""
	if inner, ok := strings.CutPrefix(path, "["); ok {
		word, rest, _ = strings.Cut(inner, "]")
	} else if i := strings.IndexAny(path, ".["); i > 0 {
		word, rest = path[:i], path[i:]
	}
	var inner any
	if list, ok := value.([]any); ok {
		if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < len(list) {
			inner = list[i]
		}
	}
	return append([]string{word}, Steps(inner, rest)...)
}

// longestKey returns the longest key of an object that is a prefix of a path.
func longestKey(object map[string]any, path string) (key, rest string, found bool) {
	for name := range object {
		for _, form := range []string{name, "[" + name + "]"} {
			after, ok := strings.CutPrefix(path, form)
			if ok && (after == "" || strings.ContainsAny(after[:1], ".[")) && (!found || len(after) < len(rest)) {
				key, rest, found = name, after, true
			}
		}
	}
	return key, rest, found
}

// About returns a message with the path that it is about; "" is the whole object.
func About(path, message string) string {
	if path == "" {
		return message
	}
	return path + ": " + message
}
