package selfcheck

import (
	"cmp"
	"encoding/json"
	"fmt"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// decode decodes every object strictly from the emitted JSON and reports unknown
// fields, so that the checks see what a cluster would see.
func decode(emitted []output.Document) (argo.Objects, []problem.Problem, error) {
	var read []output.Document
	var problems []problem.Problem
	for _, d := range emitted {
		data, err := json.Marshal(d.Fields)
		if err != nil {
			return argo.Objects{}, nil, fmt.Errorf("checking %s: %w", problem.Reference(d.Object), err)
		}
		decoded, r := decodeObject(d, data)
		problems = append(problems, r.Problems...)
		if decoded != nil {
			read = append(read, output.Document{Object: decoded, Fields: d.Fields})
		}
	}
	return argo.Read(read), problems, nil
}

func decodeObject(d output.Document, data []byte) (manifest.Object, *problem.Report) {
	r := problem.About(d.Object)
	kind := d.Object.GetObjectKind().GroupVersionKind()
	decoded := argo.NewObject(kind)
	if decoded == nil {
		r.Add(nil, codeUnknownKind, "", "argoperator does not generate objects of kind %s in %q", kind.Kind, kind.GroupVersion())
		return nil, r
	}
	if !argo.DecodeStrict(data, decoded, r, nil) {
		return nil, asSchema(r)
	}
	if sensor, ok := decoded.(*eventsv1.Sensor); ok {
		strictResources(r, sensor)
	}
	return decoded, asSchema(r)
}

// asSchema gives the problems of decoding the code of emitted objects.
func asSchema(r *problem.Report) *problem.Report {
	for i := range r.Problems {
		r.Problems[i].Code = codeSchema
		r.Problems[i].Hint = cmp.Or(r.Problems[i].Hint, "the API server drops or rejects it")
	}
	return r
}

// strictResources decodes the objects in a Sensor's triggers, which the Sensor's
// type keeps as raw bytes.
func strictResources(r *problem.Report, sensor *eventsv1.Sensor) {
	for _, t := range argo.Triggers(sensor) {
		if t.Resource() == nil || t.Parts() != nil {
			continue // computed at run time
		}
		var meta struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := json.Unmarshal(t.Resource(), &meta); err != nil || meta.Kind == "" || meta.APIVersion == "" {
			r.Add(t.ResourcePath(), codeSchema, "", "the object has no apiVersion and kind")
			continue
		}
		object := argo.NewObject(schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind))
		if object != nil {
			argo.DecodeStrict(t.Resource(), object, r, t.ResourcePath())
		}
	}
}
