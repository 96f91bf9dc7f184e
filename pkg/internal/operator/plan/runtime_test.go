package plan

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
)

// TestRuntimeKeys demands that a key of the pod's configuration is the name of its Go
// field, so that one search finds both sides.
func TestRuntimeKeys(t *testing.T) {
	for _, of := range []reflect.Type{
		reflect.TypeFor[Runtime](), reflect.TypeFor[RuntimeKind](), reflect.TypeFor[RuntimeRelated](),
		reflect.TypeFor[RuntimeNeed](), reflect.TypeFor[RuntimeToken](),
	} {
		for _, field := range reflect.VisibleFields(of) {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if want := lowerCamel(field.Name); key != want && !field.Anonymous {
				t.Errorf("the key of %s.%s is %q, want %q", of.Name(), field.Name, key, want)
			}
		}
	}
}

// lowerCamel returns a Go name with its first word, which may be an initialism, in lower case.
func lowerCamel(name string) string {
	first := max(strings.IndexFunc(name, unicode.IsLower)-1, 1)
	return strings.ToLower(name[:first]) + name[first:]
}
