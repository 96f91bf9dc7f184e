package testsuite_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// version returns a definition of the operator of these tests.
func version(engine, children string) string {
	return strings.NewReplacer("ENGINE", engine, "CHILDREN", children).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: pages}
spec:
  api: {group: acme.io, kind: Page, versions: [{name: v1, schema: {spec: {text: string}}}]}
  reconcile: {engine: ENGINE}
  children:
  CHILDREN
`)
}

const (
	firstChildren = `- {name: page, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {text: "${ .spec.text }"}}}
  - {name: gone, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }"}}}
  - {name: same, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-same"}}}`
	nextChildren = `- {name: content, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {text: "${ .spec.text }!"}}}
  - {name: address, template: {apiVersion: v1, kind: Service, metadata: {name: "${ .metadata.name }"}, spec: {clusterIP: None}}}`
	upgradeSteps = `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: upgrade}
spec:
  resource: {object: {apiVersion: acme.io/v1, kind: Page, metadata: {name: home}, spec: {text: hello}}}
  steps:
  - {name: created, create: {}, expect: {exactly: true, children: [{kind: ConfigMap, metadata: {name: home}, data: {text: hello}}, {kind: Secret}, {kind: ConfigMap, metadata: {name: home-same}}]}}
  - name: upgraded
    definition: {file: next/operator.yaml}
    expect:
      exactly: true
      children: [{kind: ConfigMap, metadata: {name: home}, data: {text: hello!}}, {kind: Service}, {kind: Secret}, {kind: ConfigMap, metadata: {name: home-same}}]
      status: {conditions: [{type: Ready, status: "True"}]}
  - {name: changed, edit: {spec: {text: bye}}, expect: {children: [{kind: ConfigMap, metadata: {name: home}, data: {text: bye!}}, {kind: Service}, {kind: Secret}, {kind: ConfigMap, metadata: {name: home-same}}]}}
  - {name: repaired, childDelete: {kind: Service}, expect: {children: [{kind: Service}]}}
  - {name: resync, resync: {}, expect: {unchanged: true, children: [{kind: ConfigMap, metadata: {name: home-same}}]}}
  - {name: back, definition: {file: first/operator.yaml}, expect: {children: [{kind: ConfigMap, metadata: {name: home}, data: {text: bye}}, {kind: Service}]}}
  - {name: deleted, delete: {}, expect: {gone: true, absent: [{kind: ConfigMap}, {kind: Secret}, {kind: Service}]}}
`
)

// TestUpgrade applies another version of the operator, with each engine and from each to
// each: a renamed child keeps its object, a new one is made, and the object of a removed one
// stays until the custom resource is deleted, also if another child has its kind.
func TestUpgrade(t *testing.T) {
	engines := []string{"direct", "worker", "workflow"}
	for _, from := range engines {
		for _, to := range engines {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				dir := fstest.MapFS{
					"first/operator.yaml": {Data: []byte(version(from, firstChildren))},
					"next/operator.yaml":  {Data: []byte(version(to, nextChildren))},
				}
				steps := upgradeSteps
				if from == "workflow" && to == "worker" { // its CronWorkflow stays, without its programs
					steps = strings.Replace(steps, "resync: {}, expect: {unchanged: true", "resync: {}, expect: {unchanged: true, failures: [config.json]", 1)
				}
				allPass(t, run(t, dir, version(from, firstChildren), steps))
			})
		}
	}
}

// TestUpgradeExpectations requires that a step with a definition fails if its expectations
// are not met.
func TestUpgradeExpectations(t *testing.T) {
	dir := fstest.MapFS{
		"first/operator.yaml": {Data: []byte(version("direct", firstChildren))},
		"next/operator.yaml":  {Data: []byte(version("direct", firstChildren))},
	}
	results := run(t, dir, version("direct", firstChildren), upgradeSteps)
	if len(results[0].Findings()) == 0 || results[0].Steps[1].State != testsuite.Failed {
		t.Errorf("a version without the new children passes: %v", results[0].Steps[1])
	}
}

// TestCheckNext reports wrong definitions before a test runs.
func TestCheckNext(t *testing.T) {
	for _, tt := range []struct{ reason, next, operator, want string }{
		{"an error", strings.Replace(version("direct", firstChildren), "engine: direct", "engine: fast", 1), "pages", "next/operator.yaml:7"},
		{"another operator", strings.Replace(version("direct", firstChildren), "name: pages", "name: others", 1), "pages", "does not define the operator pages"},
		{"another kind", strings.Replace(version("direct", firstChildren), "kind: Page", "kind: Sheet", 1), "pages", "does not watch Page"},
		{"another operator of the kind", strings.Replace(version("direct", firstChildren), "name: pages", "name: others", 1), "", ""},
	} {
		test := upgradeSteps
		if tt.operator != "" {
			test = strings.Replace(test, "\nspec:\n", "\nspec:\n  operator: "+tt.operator+"\n", 1)
		}
		dir := fstest.MapFS{
			"next/operator.yaml":  {Data: []byte(tt.next)},
			"first/operator.yaml": {Data: []byte(version("direct", firstChildren))},
		}
		tests, findings := argoperator.ParseTests(argoperator.Source{Name: "test.yaml", Data: []byte(test), Dir: dir}, ".")
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		noted := 0
		findings, err := testsuite.CheckNext(tests, func(argoperator.Result) { noted++ })
		if err != nil || noted != 2 {
			t.Fatal(err, noted)
		}
		var all []string
		for _, f := range findings {
			all = append(all, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Message))
		}
		text := strings.Join(all, "\n")
		if !strings.Contains(text, tt.want) || (tt.want == "") != (text == "") {
			t.Errorf("%s: %q, want %q", tt.reason, text, tt.want)
		}
	}
}
