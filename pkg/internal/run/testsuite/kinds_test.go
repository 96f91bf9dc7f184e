package testsuite_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// run runs tests with operators, both given as text.
func run(t *testing.T, dir fstest.MapFS, definitions, tests string) []testsuite.Result {
	t.Helper()
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: []byte(definitions), Dir: dir}}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		t.Fatal(err, result.Findings)
	}
	parsed, findings := argoperator.ParseTests(argoperator.Source{Name: "test.yaml", Data: []byte(tests), Dir: dir}, ".")
	suites := []testsuite.Suite{{Operators: result.Operators, Tests: parsed}}
	if findings = append(findings, testsuite.Check(suites)...); len(findings) > 0 {
		t.Fatal(findings)
	}
	results, err := testsuite.Run(context.Background(), suites, testsuite.Options{Runner: local(), Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func allPass(t *testing.T, results []testsuite.Result) {
	t.Helper()
	for _, r := range results {
		if r.State() != testsuite.Passed {
			t.Error(printed(t, r, "."))
		}
	}
}

// buckets is a CustomResourceDefinition with an irregular plural.
const buckets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: eimer.s3.example.com}
spec:
  group: s3.example.com
  scope: Cluster
  names: {kind: Bucket, plural: eimer, singular: bucket, listKind: BucketList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {region: {type: string}, class: {type: string, default: standard}}}
          status: {type: object, properties: {arn: {type: string}}}
`

// TestKindsOfChildren requires that plural and scope of a child come from the
// definition, which states them or includes the CustomResourceDefinition.
func TestKindsOfChildren(t *testing.T) {
	t.Parallel()
	dir := fstest.MapFS{"bucket.yaml": &fstest.MapFile{Data: []byte(buckets)}}
	for name, tt := range map[string]struct{ kind, expect, reason string }{
		"named":    {"plural: eimer\n    scope: Cluster", "{region: north}", "the fields of the child are not known"},
		"with crd": {"crd: {file: bucket.yaml}", "{region: north, class: standard}", "the API server fills in its defaults"},
	} {
		for _, engine := range []string{"direct", "workflow"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				definition := strings.NewReplacer("KIND", tt.kind, "ENGINE", engine).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: xr}
spec:
  api: {group: example.com, kind: XR, scope: Cluster, versions: [{name: v1, schema: {spec: {region: string}, status: {arn: string}}}]}
  reconcile: {engine: ENGINE}
  children:
  - name: bucket
    KIND
    template:
      apiVersion: s3.example.com/v1
      kind: Bucket
      metadata: {name: "${ .metadata.name }"}
      spec: {region: "${ .spec.region }"}
  status: {arn: "${ $children.bucket.status.arn }"}
`)
				allPass(t, run(t, dir, definition, strings.ReplaceAll(`
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: life}
spec:
  resource: {object: {apiVersion: example.com/v1, kind: XR, metadata: {name: one}, spec: {region: north}}}
  steps:
  - {name: created, create: {}, expect: {exactly: true, children: [{kind: Bucket, metadata: {name: one, namespace: null}, spec: WANT}]}}
  - {name: its status, childStatus: {kind: Bucket, status: {arn: "a:b"}}, expect: {status: {arn: "a:b"}}}
  - {name: drift, childEdit: {kind: Bucket, patch: {spec: {region: south}}}, expect: {children: [{kind: Bucket, spec: WANT}]}}
  - {name: deleted, delete: {}, expect: {gone: true, absent: [{kind: Bucket}]}}
`, "WANT", tt.expect)))
			})
		}
	}
}

// TestKindsOfParents requires that an operator for a kind that it does not define follows every change
// of its objects, whether or not the API server counts the changes in a generation and
// whether or not the kind has a status.
func TestKindsOfParents(t *testing.T) {
	t.Parallel()
	const pod = "{containers: [{name: a, image: b}]}"
	const template = "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: " + pod + "}"
	dir := fstest.MapFS{"bucket.yaml": &fstest.MapFile{Data: []byte(strings.Replace(buckets, "scope: Cluster", "scope: Namespaced", 1))}}
	for name, tt := range map[string]struct{ api, kind, object, edit, path, reason string }{
		"StatefulSet": {
			"existing: {group: apps, version: v1, kind: StatefulSet}", "apiVersion: apps/v1, kind: StatefulSet",
			"spec: {replicas: 1, serviceName: a, " + template + "}", "spec: {replicas: 2}", ".spec.replicas", "it has a generation and a status",
		},
		"Pod": {
			"existing: {version: v1, kind: Pod}", "apiVersion: v1, kind: Pod", "spec: {activeDeadlineSeconds: 2, containers: [{name: a, image: b}]}",
			"spec: {activeDeadlineSeconds: 1}", ".spec.activeDeadlineSeconds", "it has a status, and a generation since Kubernetes 1.33",
		},
		"ConfigMap": {
			"existing: {version: v1, kind: ConfigMap}", "apiVersion: v1, kind: ConfigMap", "data: {x: a}", "data: {x: b}", ".data.x",
			"it has neither a generation nor a status",
		},
		"Secret": {
			"existing: {version: v1, kind: Secret}", "apiVersion: v1, kind: Secret", "data: {x: YQ==}", "data: {x: Yg==}", ".data.x",
			"the same, and the in-memory API server converts it",
		},
		"NetworkPolicy": {
			"existing: {group: networking.k8s.io, version: v1, kind: NetworkPolicy}", "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy",
			"spec: {podSelector: {matchLabels: {x: a}}}", "spec: {podSelector: {matchLabels: {x: b}}}", ".spec.podSelector.matchLabels.x",
			"it has a generation and no status",
		},
		"EndpointSlice": {
			"existing: {group: discovery.k8s.io, version: v1, kind: EndpointSlice}", "apiVersion: discovery.k8s.io/v1, kind: EndpointSlice",
			"addressType: IPv4, endpoints: []", "endpoints: [{addresses: [10.0.0.1]}]", ".endpoints", "it has a generation and no spec",
		},
		"Bucket": {
			"crd: {file: bucket.yaml}", "apiVersion: s3.example.com/v1, kind: Bucket", "spec: {region: a}", "spec: {region: b}", ".spec.region",
			"its CustomResourceDefinition is not generated",
		},
	} {
		for _, more := range []string{"", "  finalizer: {}\n"} {
			t.Run(name+more, func(t *testing.T) {
				t.Parallel()
				words := strings.NewReplacer("API", tt.api, "MORE", more, "PATH", tt.path, "KIND", tt.kind, "OBJECT", tt.object, "EDIT", tt.edit)
				allPass(t, run(t, dir, words.Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: beside}
spec:
  api: {API}
  reconcile: {engine: workflow}
MORE  children:
  - name: account
    template:
      apiVersion: v1
      kind: ServiceAccount
      metadata:
        name: "${ .metadata.name }"
        annotations: {labels: "${ .metadata.labels | tojson }", content: "${ PATH | tojson }"}
`), words.Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: life}
spec:
  resource: {object: {KIND, metadata: {name: one, namespace: default, labels: {a: a}}, OBJECT}}
  steps:
  - {name: created, create: {}, expect: {children: [{kind: ServiceAccount, metadata: {name: one, annotations: {labels: '{"a":"a"}'}}}]}}
  - {name: labelled, edit: {metadata: {labels: {a: b}}}, expect: {children: [{kind: ServiceAccount, metadata: {annotations: {labels: '{"a":"b"}'}}}]}}
  - {name: changed, edit: {EDIT}, expect: {children: [{kind: ServiceAccount, metadata: {annotations: {content: '${ test("2|1|b|Yg") }'}}}]}}
  - {name: deleted, delete: {}, expect: {gone: true, absent: [{kind: ServiceAccount}]}}
`)))
			})
		}
	}
}

// TestKindsOfOtherOperators requires the same of related objects, of a custom resource of
// another operator, and of objects in a version that the definition does not name.
func TestKindsOfOtherOperators(t *testing.T) {
	t.Parallel()
	definition := `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: people}
spec:
  api: {existing: {group: hr.example.com, version: v1, kind: Person, plural: persons, scope: Cluster, status: true}}
  reconcile: {engine: workflow}
  related:
  - {name: office, apiVersion: hr.example.com/v1, kind: Office, plural: bueros, scope: Cluster, names: ["${ .spec.office }"]}
  children:
  - name: desk
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }", namespace: default}
      data: {city: '${ $related.office.spec.city // "none" }'}
`
	allPass(t, run(t, nil, definition, `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: life}
spec:
  resource: {object: {apiVersion: hr.example.com/v1, kind: Person, metadata: {name: one}, spec: {office: main}}}
  objects:
  - object: {apiVersion: hr.example.com/v1, kind: Office, metadata: {name: main}, spec: {city: Rome}}
  - object: {apiVersion: hr.example.com/v1alpha1, kind: Office, metadata: {name: old}, spec: {city: Bonn}}
  - object: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook}}
  steps:
  - name: created
    create: {}
    expect:
      children: [{kind: ConfigMap, data: {city: Rome}}]
      objects:
      - {kind: Office, metadata: {name: old, namespace: null}}
      - {kind: ValidatingWebhookConfiguration, metadata: {name: hook, namespace: null}}
  - {name: moved, edit: {spec: {office: old}}, expect: {children: [{kind: ConfigMap, data: {city: Bonn}}]}}
`))
}

// TestStatusOfObjects requires that objects keep the status from a test, and that a
// step may write the status of any object.
func TestStatusOfObjects(t *testing.T) {
	t.Parallel()
	const definition = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: counts}
spec:
  api: {group: example.com, kind: Count, versions: [{name: v1, schema: {spec: {pod: string}}}]}
  reconcile: {engine: ENGINE}
  related:
  - {name: pod, apiVersion: v1, kind: Pod, namespace: kube-system, names: ["${ .spec.pod }"]}
  - {name: thing, apiVersion: example.org/v1, kind: Thing, plural: things, scope: Cluster, names: ["${ .spec.pod }"]}
  children:
  - name: seen
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }"}
      data: {pod: '${ $related.pod.status.phase // "unknown" }', thing: '${ $related.thing.status.phase // "unknown" }'}
`
	for _, engine := range []string{"workflow", "worker"} {
		allPass(t, run(t, nil, strings.ReplaceAll(definition, "ENGINE", engine), `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: life}
spec:
  resource: {object: {apiVersion: example.com/v1, kind: Count, metadata: {name: one}, spec: {pod: dns}}}
  objects:
  - object: {apiVersion: v1, kind: Pod, metadata: {name: dns, namespace: kube-system}, spec: {containers: [{name: a, image: a}]}, status: {phase: Running}}
  - object: {apiVersion: example.org/v1, kind: Thing, metadata: {name: dns}, status: {phase: New}}
  - object: {apiVersion: example.com/v1, kind: Count, metadata: {name: two}, spec: {pod: none}}
  steps:
  - name: created
    create: {}
    expect:
      objects: [{kind: Pod, metadata: {name: dns, namespace: kube-system}, status: {phase: Running}}]
      children: [{kind: ConfigMap, data: {pod: Running, thing: New}}]
  - name: the Pod fails
    objectStatus: {kind: Pod, name: dns, namespace: kube-system, status: {phase: Failed, message: evicted}}
    expect:
      objects: [{kind: Pod, metadata: {name: dns, namespace: kube-system}, status: {phase: Failed, message: evicted}}]
      children: [{kind: ConfigMap, data: {pod: Failed}}]
  - name: a cluster-scoped object
    objectStatus: {kind: Thing, status: {phase: Old}}
    expect: {children: [{kind: ConfigMap, data: {thing: Old}}]}
  - name: applied with a status
    apply: {object: {apiVersion: example.org/v1, kind: Thing, metadata: {name: dns}, status: {phase: Older}}}
    expect: {children: [{kind: ConfigMap, data: {thing: Older}}]}
  - name: a ConfigMap has no status
    objectStatus: {kind: ConfigMap, name: two, status: {phase: odd}}
    expect: {unchanged: true}
`))
	}
}

// TestUnusualNames requires that every name works that the API server accepts for a
// CustomResourceDefinition: versions other than v1beta1, and kinds that begin with a small
// letter or contain a hyphen.
func TestUnusualNames(t *testing.T) {
	t.Parallel()
	names := strings.NewReplacer("s3.example.com", "data.example.com", "name: v1", "name: v1api20230101", "kind: Bucket", "kind: key-store",
		"listKind: BucketList", "listKind: key-storeList", "singular: bucket", "singular: key-store", "scope: Cluster", "scope: Namespaced")
	dir := fstest.MapFS{"bucket.yaml": &fstest.MapFile{Data: []byte(names.Replace(buckets))}}
	const others = `  related:
  - {name: zone, apiVersion: example.org/v1api3, kind: zone, plural: zones, scope: Namespaced, names: ["${ .spec.region }"]}
  patches:
  - {name: quota, plural: quotas, scope: Namespaced, template: {apiVersion: example.org/next, kind: quota, metadata: {name: all}, spec: {of: "${ .spec.region }"}}}
`
	const moved = `  - name: moved
    apply: {object: {apiVersion: example.org/v1api3, kind: zone, metadata: {name: north}, spec: {city: Rome}}}
    expect:
      children: [{kind: key-store, spec: {region: Rome}}]
      objects: [{kind: quota, metadata: {name: all}, spec: {of: north}}]
`
	for name, tt := range map[string]struct{ api, apiVersion string }{
		"own":      {"group: example.com, kind: cache, versions: [{name: one, schema: {spec: {region: string}, status: {arn: string}}}]", "example.com/one"},
		"existing": {"existing: {group: example.com, version: v1api2, kind: cache, plural: caches, status: true}", "example.com/v1api2"},
	} {
		for _, engine := range []string{"direct", "workflow"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				region, more, step := ".spec.region", "", ""
				if engine == "workflow" { // direct supports neither
					region, more, step = "$related.zone.spec.city", others, moved
				}
				words := strings.NewReplacer("API", tt.api, "VERSION", tt.apiVersion, "ENGINE", engine, "REGION", region, "MORE", more, "STEP", step)
				allPass(t, run(t, dir, words.Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: xr}
spec:
  api: {API}
  reconcile: {engine: ENGINE}
  children:
  - name: bucket
    crd: {file: bucket.yaml}
    template:
      apiVersion: data.example.com/v1api20230101
      kind: key-store
      metadata: {name: "${ .metadata.name }"}
      spec: {region: "${ REGION }"}
  status: {arn: "${ $children.bucket.status.arn }"}
MORE`), words.Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: life}
spec:
  resource: {object: {apiVersion: VERSION, kind: cache, metadata: {name: one}, spec: {region: north}}}
  objects:
  - object: {apiVersion: example.org/v1api3, kind: zone, metadata: {name: north, namespace: default}, spec: {city: north}}
  - object: {apiVersion: example.org/next, kind: quota, metadata: {name: all, namespace: default}}
  steps:
  - {name: created, create: {}, expect: {exactly: true, children: [{kind: key-store, metadata: {name: one}, spec: {region: north, class: standard}}]}}
  - {name: its status, childStatus: {kind: key-store, status: {arn: "a:b"}}, expect: {status: {arn: "a:b"}}}
  - {name: drift, childEdit: {kind: key-store, patch: {spec: {region: south}}}, expect: {children: [{kind: key-store, spec: {region: north}}]}}
STEP  - {name: deleted, delete: {}, expect: {gone: true, absent: [{kind: key-store}]}}
`)))
			})
		}
	}
}

// TestRejectedChange requires that a test lists the rejection of a change alone: direct then
// also tries to create the object, which must not be one more failure.
func TestRejectedChange(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"direct", "workflow"} {
		allPass(t, run(t, nil, strings.ReplaceAll(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: webs}
spec:
  api: {group: acme.io, kind: Web, versions: [{name: v1, schema: {spec: {replicas: integer | default=1}}}]}
  reconcile: {engine: ENGINE}
  children:
  - name: web
    template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: "${ .metadata.name }"}
      spec:
        replicas: ${ .spec.replicas }
        selector: {matchLabels: {web: "${ .metadata.name }"}}
        template:
          metadata: {labels: {web: "${ .metadata.name }"}}
          spec: {containers: [{name: web, image: "nginx:1"}]}
`, "ENGINE", engine), `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: rejected}
spec:
  resource: {object: {apiVersion: acme.io/v1, kind: Web, metadata: {name: a}}}
  steps:
  - {name: created, create: {}}
  - {name: rejected, edit: {spec: {replicas: -1}}, expect: {failures: [must be greater than or equal to 0]}}
`))
	}
}

// TestLoops requires that a test soon reports an operator that reacts to its own writes:
// a person waits for it.
func TestLoops(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ rest, value, status string }{
		"direct":   {"reconcile: {engine: direct}", `.status.version // "none"`, `status: {version: "${ $children.c.metadata.resourceVersion }"}`},
		"workflow": {loopOf("workflow"), `($related.self.data.v // "") + "a"`, ""},
		"worker":   {loopOf("worker"), `($related.self.data.v // "") + "a"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := run(t, nil, strings.NewReplacer("REST", tt.rest, "VALUE", tt.value, "STATUS", tt.status).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: loops}
spec:
  api: {group: acme.io, kind: Loop, versions: [{name: v1, schema: {spec: {v: string}, status: {version: string}}}]}
  REST
  children:
  - name: c
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }"}
      data: {v: '${ VALUE }'}
  STATUS
`), `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: loop}
spec:
  resource: {object: {apiVersion: acme.io/v1, kind: Loop, metadata: {name: a}, spec: {}}}
  steps: [{name: created, create: {}}]
`)
			found := results[0].Findings()
			if len(found) != 1 || found[0].Code != diag.NotIdempotent {
				t.Error(found)
			}
			// Workflows take the most time. A loop of events alone may be longer.
			if pods, events := counted(results[0].Steps[0].Trace); pods > 40 || events > 500 {
				t.Errorf("%d Workflows, %d events", pods, events)
			}
		})
	}
}

// loopOf returns the part of a definition whose child refers to itself.
func loopOf(engine string) string {
	return `related: [{name: self, apiVersion: v1, kind: ConfigMap, names: ["${ .metadata.name }"]}]` + "\n  reconcile: {engine: " + engine + "}"
}

// counted returns the numbers of Workflows and events of a trace.
func counted(trace simulate.Trace) (workflows, events int) {
	for _, step := range trace {
		if step.Workflow != nil && !step.Workflow.Reconciles() {
			workflows++
		}
		if step.Event != nil {
			events++
		}
	}
	return workflows, events
}

// TestAbsentKindOfPatch requires that expect.absent accepts the kinds of patches.
func TestAbsentKindOfPatch(t *testing.T) {
	t.Parallel()
	allPass(t, run(t, fstest.MapFS{}, `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: xr}
spec:
  api: {group: example.com, kind: XR, versions: [{name: v1, schema: {spec: {target: string}}}]}
  patches:
  - name: bucket
    when: .spec.target != null
    plural: eimer
    scope: Cluster
    template: {apiVersion: s3.example.com/v1, kind: Bucket, metadata: {name: "${ .spec.target }"}, spec: {region: north}}
`, `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: absent}
spec:
  resource: {object: {apiVersion: example.com/v1, kind: XR, metadata: {name: one}}}
  steps:
  - {name: created, create: {}, expect: {absent: [{kind: Bucket}]}}
`))
}
