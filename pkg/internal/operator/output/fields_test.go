package output

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type inner struct {
	Hidden string `json:"hidden"`
	Name   string `json:"name,omitempty"`
}

type zero struct{ n int }

func (z zero) IsZero() bool { return z.n == 0 }

type byPointer struct{ text string }

func (b *byPointer) MarshalJSON() ([]byte, error) { return json.Marshal("pointer " + b.text) }

type texted string

func (w texted) MarshalText() ([]byte, error) { return []byte("text " + w), nil }

type kinds struct {
	inner          `json:",inline"`
	Embedded       inner `json:"embedded"`
	Name           string
	Untagged       int
	Skipped        int    `json:"-"`
	Quoted         *named `json:"quoted,omitempty"`
	unexported     int
	Float          float64
	Whole          float64
	Small          int8
	Big            uint64
	Bytes          []byte
	NilBytes       []byte `json:"nilBytes"`
	Array          [2]bool
	Any            any
	NilAny         any
	Map            map[string]int
	NilMap         map[string]int
	Numbered       map[int]string
	Words          map[texted]string
	Invalid        string
	Pointer        *int
	NilPointer     *int
	Time           metav1.Time
	Quantity       resource.Quantity
	Choice         intstr.IntOrString
	OmittedZero    zero      `json:"omittedZero,omitzero"`
	KeptZero       zero      `json:"keptZero,omitzero"`
	OmittedTime    time.Time `json:"omittedTime,omitzero"`
	EmptyStruct    inner     `json:"emptyStruct,omitempty"`
	ByPointer      byPointer
	ByPointers     []byPointer
	ByPointerInMap map[string]byPointer
	Word           texted
	Empty          []string `json:"empty,omitempty"`
	NotEmpty       []string `json:"notEmpty"`
	HTML           string
}

type named struct {
	Count int `json:"count,string"`
}

// TestValueOf compares with encoding/json.
func TestValueOf(t *testing.T) {
	one := 1
	for name, value := range map[string]any{
		"zero": &kinds{},
		"filled": &kinds{
			inner: inner{Hidden: "a", Name: "b"}, Embedded: inner{Name: "c"}, Name: "d", Untagged: 1, Skipped: 2, Quoted: &named{4}, unexported: 5,
			Float: 1.5, Whole: 1e7, Small: -1, Big: 1 << 63, Bytes: []byte("xyz"), NilBytes: []byte{}, Array: [2]bool{true}, Any: map[string]any{"a": []int{1}}, Map: map[string]int{"z": 1},
			Numbered: map[int]string{1: "a"}, Words: map[texted]string{"a": "b"}, Invalid: "a\xff\xfeb", Pointer: &one, Time: metav1.Unix(1, 0), Quantity: resource.MustParse("10Mi"), Choice: intstr.FromString("80%"),
			KeptZero: zero{1}, ByPointer: byPointer{"a"}, ByPointers: []byPointer{{"b"}}, ByPointerInMap: map[string]byPointer{"c": {"d"}}, Word: "w", HTML: "<&>\u2028",
		},
		"not addressable": kinds{ByPointer: byPointer{"a"}},
		"nil":             (*kinds)(nil),
		"large float":     []float64{1e300, math.Copysign(0, -1), 1 << 62},
		"Workflow":        &wfv1.Workflow{},
		"parameter":       wfv1.Parameter{Name: "a", Value: wfv1.AnyStringPtr("1"), Enum: []wfv1.AnyString{"a"}},
		"items":           []wfv1.Item{{Value: json.RawMessage(`{"a": [1, 2.5]}`)}},
		"Sensor":          &eventsv1.Sensor{Spec: eventsv1.SensorSpec{Triggers: []eventsv1.Trigger{{Template: &eventsv1.TriggerTemplate{}}}}},
		"resource":        eventsv1.NewK8SResource(map[string]any{"kind": "ConfigMap", "n": 1}),
		"pod":             &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}}},
		"schema":          &apiextensionsv1.JSONSchemaProps{Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}, Default: &apiextensionsv1.JSON{Raw: []byte(`{"a":1}`)}, AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}},
		"config map":      &corev1.ConfigMap{BinaryData: map[string][]byte{"a": {0, 1}}},
		"steps":           wfv1.Template{Steps: []wfv1.ParallelSteps{{Steps: []wfv1.WorkflowStep{{Name: "a", Arguments: wfv1.Arguments{Parameters: []wfv1.Parameter{{Name: "p"}}}}}}, {}}},
		"one step":        &wfv1.ParallelSteps{Steps: []wfv1.WorkflowStep{{Name: "a"}}},
		"schemas": []*apiextensionsv1.JSONSchemaProps{
			{AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{}, AdditionalItems: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
			{Items: &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []apiextensionsv1.JSONSchemaProps{{Type: "string"}}}},
			{Items: &apiextensionsv1.JSONSchemaPropsOrArray{}},
			{Dependencies: apiextensionsv1.JSONSchemaDependencies{"a": {Property: []string{"b"}}, "c": {Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}, "d": {}}},
		},
		"no time":            &metav1.Time{},
		"embedded pointer":   struct{ *inner }{&inner{Hidden: "a"}},
		"embedded interface": struct{ error }{},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := viaJSON(value)
			if err != nil {
				t.Fatal(err)
			}
			got, err := valueOf(reflect.ValueOf(value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-encoding/json +valueOf:\n%s", diff)
			}
		})
	}
}
