package argo

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// Fill sets a Go value from the JSON value of an object in which Shape finds no problem.
// encoding/json would first learn every type that the object could contain.
func Fill(target reflect.Value, value any) error {
	t := target.Type()
	switch {
	case t.Kind() == reflect.Pointer && value != nil:
		target.Set(reflect.New(t.Elem()))
		return Fill(target.Elem(), value)
	case t == reflect.TypeFor[wfv1.ParallelSteps](): // its own decoding decodes twice
		return Fill(reflect.ValueOf(&target.Addr().Interface().(*wfv1.ParallelSteps).Steps).Elem(), value)
	case known(t).itself:
		data, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return target.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(data)
	case value == nil:
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		return fillObject(target, v)
	case []any:
		target.Set(reflect.MakeSlice(t, len(v), len(v)))
		for i, item := range v {
			if err := Fill(target.Index(i), item); err != nil {
				return err
			}
		}
		return nil
	case string:
		return fillText(target, v)
	case bool:
		target.SetBool(v)
	case int64, uint64, float64:
		number := reflect.ValueOf(v)
		if f, ok := v.(float64); ok && number.Convert(t).Convert(number.Type()).Float() != f && t.Kind() != reflect.Float32 {
			return fmt.Errorf("%v does not fit %s", f, t)
		}
		target.Set(number.Convert(t))
	default:
		return fmt.Errorf("cannot read %T as %s", value, t)
	}
	return nil
}

func fillObject(target reflect.Value, object map[string]any) error {
	t := target.Type()
	if t.Kind() == reflect.Struct {
		fields := known(t).fields
		for key, inner := range object {
			if err := Fill(fieldAt(target, fields[key].index), inner); err != nil {
				return err
			}
		}
		return nil
	}
	entries := reflect.MakeMapWithSize(t, len(object))
	for key, inner := range object {
		entry := reflect.New(t.Elem()).Elem()
		if err := Fill(entry, inner); err != nil {
			return err
		}
		entries.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), entry)
	}
	target.Set(entries)
	return nil
}

func fillText(target reflect.Value, text string) error {
	if target.Kind() == reflect.String {
		target.SetString(text)
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		target.SetBytes(data)
	}
	return err
}

// fieldAt returns a field of a struct. It makes the embedded structs that contain it.
func fieldAt(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
