package argoperator_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// TestCallerOwnsObjects clears everything that a run returned, and requires
// that the next run returns the same.
func TestCallerOwnsObjects(t *testing.T) {
	for _, name := range benchmarked {
		t.Run(name, func(t *testing.T) {
			source := sourceOf(t, name)
			objects := operatorOf(t, source).Objects
			want, err := output.Stream(objects)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				empty(reflect.ValueOf(o))
			}
			got, err := output.Stream(operatorOf(t, source).Objects)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the next run shares the returned objects (-before +after):\n%s", diff)
			}
		})
	}
}

// empty zeroes all values that a value refers to.
func empty(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			empty(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			empty(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			empty(v.Index(i))
		}
	case reflect.Map:
		if !v.CanInterface() {
			return
		}
		for _, key := range v.MapKeys() {
			empty(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Value{})
		}
	}
	if v.CanSet() {
		v.SetZero()
	}
}
