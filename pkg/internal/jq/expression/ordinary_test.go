package expression

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// ordinary is a realistic child, and custom resources for it.
type ordinary struct {
	Schema    apiextensionsv1.JSONSchemaProps
	When      string
	ForEach   string
	Template  map[string]any
	Templates []map[string]any
	Inputs    []struct {
		Metadata map[string]any
		Spec     map[string]any
	}
}

// TestOrdinary covers that realistic templates have no problems, and can be evaluated
// for every custom resource that the schema allows.
func TestOrdinary(t *testing.T) {
	files, err := filepath.Glob("testdata/ordinary/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var o ordinary
			if err := yaml.UnmarshalStrict(data, &o); err != nil {
				t.Fatal(err)
			}
			if o.Template != nil {
				o.Templates = append(o.Templates, o.Template)
			}
			for _, template := range o.Templates {
				o.silent(t, template)
			}
		})
	}
}

func (o ordinary) silent(t *testing.T, template map[string]any) {
	spec := o.Schema
	spec.Type = "object"
	scope := Scope{Name: "App v1", Input: schema.Resource(&apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{"spec"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
	})}
	when, each := o.bare(t, o.When, "true", scope, "boolean"), o.bare(t, o.ForEach, "[null]", scope, "array")
	if o.ForEach != "" {
		items := spec.Properties["migrations"].Items.Schema
		scope.Each, scope.Item = true, schema.OpenAPI(items)
	}
	scope.Given = o.When
	kind := template["kind"].(string)
	p, problems := Template(template, scope, builtinType(t, template["apiVersion"].(string), kind))
	for _, found := range problems {
		t.Errorf("%s %v: %s [%s]", kind, found.Path, found.Message, found.Hint)
	}
	if p == nil || when == nil || each == nil {
		return
	}
	if made := o.make(t, p, when, each); made < 2 {
		t.Errorf("%s is made only %d times", kind, made)
	}
}

// make runs a template for every custom resource and counts the results.
func (o ordinary) make(t *testing.T, p, when, each *Program) int {
	made := 0
	for _, in := range o.Inputs {
		metadata := map[string]any{"name": "n", "namespace": "ns"}
		maps.Copy(metadata, in.Metadata)
		input := map[string]any{"metadata": metadata, "spec": in.Spec}
		if yes, err := when.Run(input, Vars{}); yes != true || err != nil {
			continue
		}
		items, err := each.Run(input, Vars{})
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range items.([]any) {
			object, err := p.Run(input, Vars{Item: item, Index: i})
			if err != nil {
				t.Errorf("%v: %v", in.Spec, err)
				continue
			}
			made++
			fits(t, object)
		}
	}
	return made
}

func (o ordinary) bare(t *testing.T, source, otherwise string, scope Scope, want string) *Program {
	if source == "" {
		source = otherwise
	}
	p, problems := Expression(source, scope, want)
	for _, found := range problems {
		t.Errorf("%s: %s [%s]", source, found.Message, found.Hint)
	}
	return p
}

// fits decodes an object into its Go type, as the API server does.
func fits(t *testing.T, made any) {
	data, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil); err != nil {
		t.Errorf("%s: %v", data, err)
	}
}

// TestOrdinaryReadyWhen covers realistic conditions on live objects.
func TestOrdinaryReadyWhen(t *testing.T) {
	tests := []struct{ apiVersion, kind, expr string }{
		{"apps/v1", "Deployment", ".status.observedGeneration >= .metadata.generation"},
		{"apps/v1", "Deployment", ".status.observedGeneration == .metadata.generation and .status.updatedReplicas == .spec.replicas"},
		{"apps/v1", "Deployment", ".status.availableReplicas > 0"},
		{"apps/v1", "Deployment", "1 <= .status.availableReplicas"},
		{"apps/v1", "Deployment", "(.status.unavailableReplicas // 0) == 0"},
		{"apps/v1", "Deployment", `(.status.conditions // []) | any(.type == "Available" and .status == "True")`},
		{"apps/v1", "Deployment", `.status.conditions // [] | map(select(.type == "Available")) | .[0].status == "True"`},
		{"apps/v1", "Deployment", `first(.status.conditions[]? | select(.type == "Available")).status == "True"`},
		{"apps/v1", "Deployment", ".status as $s | if $s.readyReplicas then $s.readyReplicas >= .spec.replicas else false end"},
		{"apps/v1", "DaemonSet", ".status.numberReady >= .status.desiredNumberScheduled"},
		{"apps/v1", "StatefulSet", ".status.currentRevision == .status.updateRevision and .status.readyReplicas == .spec.replicas"},
		{"batch/v1", "Job", ".status.succeeded >= 1"},
		{"batch/v1", "Job", ".status.succeeded == (.spec.completions // 1)"},
		{"batch/v1", "Job", ".status.failed < 3"},
		{"v1", "Service", ".status.loadBalancer.ingress[0].ip != null"},
		{"v1", "Service", "(.status.loadBalancer.ingress | length) > 0"},
		{"v1", "PersistentVolumeClaim", `.status.phase == "Bound"`},
		{"v1", "Secret", `.data["tls.crt"] // "" | @base64d | length > 0`},
		{"v1", "Secret", `.metadata.annotations["a"] == "b"`},
		{"policy/v1", "PodDisruptionBudget", ".status.currentHealthy >= .status.desiredHealthy"},
	}
	for _, tt := range tests {
		live := Scope{Input: builtinType(t, tt.apiVersion, tt.kind), Name: "the live " + tt.kind, Live: true}
		_, problems := Expression(tt.expr, live, "boolean")
		for _, found := range problems {
			t.Errorf("%s: %s", tt.expr, found.Message)
		}
	}
}
