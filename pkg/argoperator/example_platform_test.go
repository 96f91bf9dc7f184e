package argoperator_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// bucketOperator returns the definition that a platform team creates for each of
// its storage classes: the same template with another kind.
func bucketOperator(kind, class string) argoperator.Source {
	data, err := yaml.Marshal(v1alpha1.Operator{
		APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.Kind,
		Metadata: v1alpha1.Metadata{Name: class},
		Spec: v1alpha1.Spec{
			API: v1alpha1.API{Group: "storage.example.com", Kind: kind, Versions: []v1alpha1.Version{{
				Name: "v1", Schema: &v1alpha1.Schema{Spec: map[string]any{"size": "string | required=true pattern=\"^[0-9]+Gi$\""}},
			}}},
			Children: []v1alpha1.Child{{Name: "claim", Template: map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"metadata": map[string]any{"name": "${ .metadata.name }"},
				"spec": map[string]any{
					"storageClassName": class, "accessModes": []string{"ReadWriteOnce"},
					"resources": map[string]any{"requests": map[string]any{"storage": "${ .spec.size }"}},
				},
			}}},
		},
	})
	if err != nil {
		panic(err) // unreachable: plain data is always encodable
	}
	return argoperator.Source{Name: class + ".yaml", Data: data}
}

// Build a generator: a program creates definitions and writes the manifests of
// several operators to one stream, as the command does.
func Example_platform() {
	result, err := argoperator.Generate([]argoperator.Source{
		bucketOperator("FastVolume", "fast"), bucketOperator("BulkVolume", "bulk"),
	}, argoperator.Options{Namespace: "platform"})
	if err != nil || result.Findings.HasErrors() {
		fmt.Println(err, result.Findings)
		return
	}
	var documents [][]byte
	for _, object := range result.Objects() {
		document, err := output.Marshal(object)
		if err != nil {
			fmt.Println(err)
			return
		}
		documents = append(documents, document)
	}
	stream := argoperator.Stream(documents)
	fmt.Println(len(result.Operators), "operators,", bytes.Count(stream, []byte("\nkind: EventSource\n")), "EventSources")
	// Output:
	// 2 operators, 2 EventSources
}

// Render the objects that an operator creates for a custom resource, without a
// cluster.
func Example_render() {
	result, err := argoperator.Generate([]argoperator.Source{bucketOperator("FastVolume", "fast")}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		fmt.Println(err, result.Findings)
		return
	}
	rendering, err := simulate.Render(context.Background(), simulate.Inputs{Objects: result.Objects(), Kinds: result.Kinds()}, []simulate.Action{{
		Event: simulate.Added, Object: map[string]any{
			"apiVersion": "storage.example.com/v1", "kind": "FastVolume",
			"metadata": map[string]any{"name": "scratch", "namespace": "default"},
			"spec":     map[string]any{"size": "3Gi"},
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	claim := rendering.Objects[0]
	fmt.Println(claim["kind"], claim["spec"].(map[string]any)["resources"])
	// Output:
	// PersistentVolumeClaim map[requests:map[storage:3Gi]]
}

// Create samples from the schema that the API server accepts.
func ExampleResult_Samples() {
	result, err := argoperator.Generate([]argoperator.Source{bucketOperator("FastVolume", "fast")}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		fmt.Println(err, result.Findings)
		return
	}
	samples, err := result.Samples(argoperator.SampleOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(argoperator.Stream(samples)))
	// Output:
	// apiVersion: storage.example.com/v1
	// kind: FastVolume
	// metadata:
	//   name: sample
	//   namespace: default
	// spec:
	//   # Required.
	//   size: 1Gi
}

// Explain which engine a definition uses and what each event costs.
func ExampleExplain() {
	explanation, err := argoperator.Explain([]argoperator.Source{bucketOperator("FastVolume", "fast")}, argoperator.Options{})
	if err != nil || explanation.Findings.HasErrors() {
		fmt.Println(err, explanation.Findings)
		return
	}
	fmt.Println(explanation.Reports[0].Engine.Name)
	// Output:
	// direct
}

// Run the tests of an operator without a cluster.
func ExampleParseTests() {
	result, err := argoperator.Generate([]argoperator.Source{bucketOperator("FastVolume", "fast")}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		fmt.Println(err, result.Findings)
		return
	}
	tests, findings := argoperator.ParseTests(argoperator.Source{Name: "tests/claim.yaml", Data: []byte(`
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: claim}
spec:
  resource:
    object: {apiVersion: storage.example.com/v1, kind: FastVolume, metadata: {name: a}, spec: {size: 3Gi}}
  steps:
  - name: created
    create: {}
    expect:
      children: [{kind: PersistentVolumeClaim, spec: {storageClassName: bulk}}]
`)}, ".")
	if findings.HasErrors() {
		fmt.Println(findings)
		return
	}
	results, err := testsuite.Run(context.Background(), []testsuite.Suite{{Operators: result.Operators, Tests: tests}}, testsuite.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = diag.Printer{}.Print(os.Stdout, results[0].Findings())
	// Output:
	// tests/claim.yaml:12:73: error: PersistentVolumeClaim default/a: spec.storageClassName is "fast", want "bulk" [failed-expectation]
	//   hint: last written by trigger child-claim of Sensor fast: PATCH /api/v1/namespaces/default/persistentvolumeclaims/a (201)
}
