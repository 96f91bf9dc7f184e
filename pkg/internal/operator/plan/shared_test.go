package plan

import (
	"reflect"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// TestSharedKeys covers that a finding about a setting that differs names a key of the
// definition.
func TestSharedKeys(t *testing.T) {
	for i := range reflect.TypeFor[Shared]().NumField() {
		field := reflect.TypeFor[Shared]().Field(i)
		key := field.Tag.Get("key")
		section := reflect.TypeFor[v1alpha1.Spec]()
		for name := range strings.SplitSeq(key, ".") {
			if section = fieldOf(section, name); section == nil {
				t.Fatalf("%s: the definition has no key %q", field.Name, key)
			}
		}
	}
}

// fieldOf returns the type of a key; nil if there is none.
func fieldOf(section reflect.Type, name string) reflect.Type {
	for i := range section.NumField() {
		if field, _, _ := strings.Cut(section.Field(i).Tag.Get("json"), ","); field == name && name != "" {
			return section.Field(i).Type
		}
	}
	return nil
}
