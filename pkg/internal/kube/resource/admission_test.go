package resource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

const scaled = `
type: object
required: [size]
properties:
  size: {type: integer}
  mode: {type: string, default: Safe}
x-kubernetes-validations:
- {rule: "self.mode == 'Safe' || self.size < 9", message: too many for that}
`

func scaledSchema(t *testing.T) *Schema {
	t.Helper()
	k := kind
	k.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
		SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size", LabelSelectorPath: ptr.To(".status.selector"),
	}
	s, err := New(k, propsOf(t, scaled))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAdmit(t *testing.T) {
	s := scaledSchema(t)
	for _, test := range []struct {
		name, object, old        string
		unknown, refused, broken []string
	}{
		{name: "legal", object: `{size: 1}`},
		{name: "unknown", object: `{size: 1, sise: 2}`, unknown: []string{"spec.sise"}},
		{name: "a failed rule is not a type error", object: `{size: 9, mode: Fast}`, broken: []string{`spec: Invalid value: "object": too many for that`}},
		{name: "no rule on an invalid value", object: `{size: nine, mode: Fast}`, refused: []string{`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`}},
		{name: "negative replicas", object: `{size: -1}`, refused: []string{"spec.size: Invalid value: -1: should be a non-negative integer"}},
		{name: "replicas beyond int32", object: `{size: 3000000000}`, refused: []string{"spec.size: Invalid value: 3000000000: should be less than or equal to 2147483647"}},
		{name: "a generated name", object: `{apiVersion: example.com/v1, kind: Sample, metadata: {generateName: a-}, spec: {size: 1}}`},
		{
			name:    "an update with another name",
			object:  `{apiVersion: example.com/v1, kind: Sample, metadata: {generateName: a-}, spec: {size: 1}}`,
			old:     `{size: 1}`,
			refused: []string{"metadata.name: Invalid value: \"\": field is immutable"},
		},
		{
			name: "the status is dropped, but its fields must be known", unknown: []string{"status.reddy"},
			object: `{apiVersion: example.com/v1, kind: Sample, metadata: {name: a}, spec: {size: 1}, status: {ready: 5, reddy: true}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var old map[string]any
			if test.old != "" {
				old = full(t, test.old)
			}
			object := full(t, test.object)
			before := asJSON(t, object)
			a := s.Admit(object, old)
			var refused, broken []string
			for _, err := range a.Invalid {
				refused = append(refused, err.Error())
			}
			for _, err := range a.FailedRules {
				broken = append(broken, err.Error())
			}
			if diff := cmp.Diff([][]string{test.unknown, test.refused, test.broken}, [][]string{a.Unknown, refused, broken}); diff != "" {
				t.Errorf("unknown, refused, broken (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, asJSON(t, object)); diff != "" {
				t.Errorf("the object was changed:\n%s", diff)
			}
			if spec, ok := a.Object["spec"].(map[string]any); !ok || spec["mode"] == nil || a.Object["status"] != nil {
				t.Errorf("not as it would be stored: %v", a.Object)
			}
		})
	}
}

// Samples of a kind with a scale are valid for it: the replicas are never negative,
// even if the schema allows any number.
func TestSamplesOfAScale(t *testing.T) { checkSamples(t, scaledSchema(t), 20) }

func TestPlace(t *testing.T) {
	s := schemaOf(t, judged)
	for _, test := range []struct {
		path   []string
		fields []string
		ok     bool
	}{
		{nil, []string{"spec", "status"}, true},
		{[]string{"status"}, []string{"ready"}, true},
		{[]string{"spec", "ports", "0"}, []string{"name", "port"}, true},
		{[]string{"spec", "ports", "name"}, nil, false},
		{[]string{"spec", "none"}, nil, false},
	} {
		place, ok := s.At(test.path...)
		if ok != test.ok {
			t.Errorf("%v: found is %v", test.path, ok)
			continue
		}
		if ok {
			if diff := cmp.Diff(test.fields, place.Fields()); diff != "" {
				t.Errorf("%v: fields (-want +got):\n%s", test.path, diff)
			}
		}
	}
	if diff := cmp.Diff([]string{"spec"}, s.PathsWith("code")); diff != "" {
		t.Errorf("code is held by (-want +got):\n%s", diff)
	}
}
