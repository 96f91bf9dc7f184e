package argoperator_test

import (
	"fmt"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

const definitionOfNests = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: nest}
spec:
  api:
    group: zoo.example.com
    kind: Nest
    versions: [{name: v1, schema: {spec: {eggs: integer}}}]
  children: [{name: config, apiVersion: v1, kind: ConfigMap}]
  logic: {image: "python:3.13-slim", command: [python3, main.py], files: [main.py]}
`

// Generate takes files as bytes and returns typed objects, in apply order.
func ExampleGenerate() {
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: "operator.yaml",
		Data: []byte(definitionOfNests),
		Dir:  fstest.MapFS{"main.py": {Data: []byte("print()\n")}},
	}}, argoperator.Options{Namespace: "zoo"})
	if err != nil {
		fmt.Println("argoperator failed:", err)
		return
	}
	for _, f := range result.Findings {
		fmt.Printf("%s:%d:%d: %s\n", f.File, f.Line, f.Column, f.Message)
	}
	for _, o := range result.Objects() {
		fmt.Println(o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
	}
	// Output:
	// CustomResourceDefinition nests.zoo.example.com
	// ServiceAccount nest-source
	// ServiceAccount nest-sensor
	// ServiceAccount nest-worker
	// ClusterRole zoo:nest-source
	// ClusterRole zoo:nest-worker
	// ClusterRole nests.zoo.example.com:view
	// ClusterRole nests.zoo.example.com:edit
	// ClusterRoleBinding zoo:nest-source
	// ClusterRoleBinding zoo:nest-worker
	// Role nest-worker
	// RoleBinding nest-worker
	// ValidatingAdmissionPolicy zoo.nest.accounts
	// ValidatingAdmissionPolicyBinding zoo.nest.accounts
	// ValidatingAdmissionPolicy zoo.nest.shown
	// ValidatingAdmissionPolicyBinding zoo.nest.shown
	// ValidatingAdmissionPolicy zoo.nest.children
	// ValidatingAdmissionPolicyBinding zoo.nest.children
	// ConfigMap nest-logic
	// ConfigMap nest-config
	// ConfigMap nest-runtime
	// ConfigMap nest-worker
	// Service nest-worker
	// Deployment nest-worker
	// EventSource nest
	// Sensor nest
}

// Generate returns findings as data, with their position and a hint.
func ExampleGenerate_findings() {
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: "operator.yaml", Data: []byte("apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: Nest}\nspec: {ap: {}}\n"),
	}}, argoperator.Options{})
	if err != nil {
		fmt.Println("argoperator failed:", err)
		return
	}
	for _, f := range result.Findings {
		fmt.Printf("%s:%d:%d: %s [%s]\n", f.File, f.Line, f.Column, f.Message, f.Code)
	}
	// Output:
	// operator.yaml:3:18: metadata.name: "Nest" is not a DNS label [bad-name]
	// operator.yaml:4:1: missing key "children" in spec [missing-key]
	// operator.yaml:4:8: unknown key "ap" in spec [unknown-key]
	// operator.yaml:4:8: missing key "group" in spec.api [missing-key]
	// operator.yaml:4:8: missing key "kind" in spec.api [missing-key]
	// operator.yaml:4:8: missing key "versions" in spec.api [missing-key]
}
