package argoperator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hazard is a definition with the findings that it must have, as SEVERITY CODE.
type hazard struct {
	name, reason string
	api          string // more keys of spec.api; if it has versions, the schema is that of the last one
	fields       string // of the schema, one per line; "size: integer" if empty
	rest         string // the definition below spec.api, without indentation
	want         []string
}

// definition returns the definition of the case.
func (h hazard) definition() string {
	indented := func(text, by string) string {
		return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
	}
	fields := h.fields
	if fields == "" {
		fields = "size: integer"
	}
	api := h.api
	if !strings.Contains(api, "versions:") {
		api += "\nversions:\n- name: v1\n"
	}
	return "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: thing}\nspec:\n  api:\n    group: example.com\n" +
		"    kind: Thing\n" + indented(api, "    ") + "      schema:\n        spec:\n" +
		indented(fields, "          ") + indented(h.rest, "  ")
}

// checkHazards compares the findings of each case.
func checkHazards(t *testing.T, cases []hazard) {
	t.Helper()
	for _, h := range cases {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			findings := findingsOf(t, h.definition())
			for _, f := range findings {
				got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
			}
			if !slices.Equal(got, h.want) {
				t.Errorf("%s: the findings are %q, want %q:\n%v", h.reason, got, h.want, findings)
			}
		})
	}
}

// TestNamespaceOfClusterScoped covers namespaces of objects that cannot have one.
func TestNamespaceOfClusterScoped(t *testing.T) {
	of := func(kind, namespace string) string {
		return "- name: a\n  template: {" + kind + ", metadata: {name: \"${ .metadata.namespace }.${ .metadata.name }\", namespace: " + namespace + "}}"
	}
	const space, class = "apiVersion: v1, kind: Namespace", "apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: a.b/c"
	const refused, possible = "error conflicting-keys", "warning conflicting-keys"
	checkHazards(t, []hazard{
		{
			name: "fixed", reason: "the API server rejects each request",
			rest: "children:\n" + of(space, "default"), want: []string{refused},
		},
		{name: "another kind", reason: "the scope decides", rest: "children:\n" + of(class, "x"), want: []string{refused}},
		{
			name: "own namespace", reason: "every custom resource has one",
			rest: "children:\n" + of(class, `"${ .metadata.namespace }"`), want: []string{refused},
		},
		{
			name: "text and expression", reason: "it is never empty",
			rest: "children:\n" + of(class, `"team-${ .metadata.name }"`), want: []string{refused},
		},
		{
			name: "optional field", reason: "without the field, the key is left out", fields: "in: namespace",
			rest: "children:\n" + of(class, `"${ .spec.in }"`), want: []string{possible},
		},
		{name: "empty", reason: "it is no namespace", rest: "children:\n" + of(class, `""`)},
		{
			name: "custom kind", reason: "the definition states the scope",
			rest: "children:\n" + strings.Replace(of("apiVersion: a.b/v1, kind: Zone", "x"), "\n", "\n  plural: zones\n  scope: Cluster\n", 1),
			want: []string{refused},
		},
		{
			name: "namespaced custom kind", reason: "the definition states the scope",
			rest: "children:\n" + strings.Replace(of("apiVersion: a.b/v1, kind: Zone", "x"), "\n", "\n  plural: zones\n  scope: Namespaced\n", 1),
		},
		{name: "namespaced kind", reason: "it needs one", rest: "children:\n" + of("apiVersion: v1, kind: ConfigMap", "default")},
		{
			name: "patch", reason: "the request of a patch has the same path",
			rest: "children: []\npatches:\n" + of(space, "default"), want: []string{refused},
		},
		{
			name: "patch in the own namespace", reason: "every custom resource has one",
			rest: "children: []\npatches:\n" + of(space, `"${ .metadata.namespace }"`), want: []string{refused},
		},
	})
}

// deployment returns a child with more fields of its spec, and with labels of the pods.
func deployment(name, spec, labels string) string {
	return "- name: " + name + "\n  template: {apiVersion: apps/v1, kind: Deployment, metadata: {name: \"${ .metadata.name }\"}, spec: {" + spec +
		"selector: {matchLabels: " + labels + "}, template: {metadata: {labels: " + labels + "}, spec: {containers: [{name: a, image: \"a:1\"}]}}}}\n"
}

const ownLabels = `{app: "${ .metadata.name }"}`

// TestScaledReplicas covers autoscalers of children.
func TestScaledReplicas(t *testing.T) {
	scaler := func(when, target string) string {
		return "- name: hpa\n" + when + "  template: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, " +
			"metadata: {name: \"${ .metadata.name }\"}, spec: {maxReplicas: 10, scaleTargetRef: " + target + "}}\n"
	}
	const own = `{apiVersion: apps/v1, kind: Deployment, name: "${ .metadata.name }"}`
	const fields, optional = "replicas: integer | default=1 minimum=0 maximum=9\nscale: boolean | default=false", "  when: .spec.scale\n"
	const fight, unmatched = "warning scaled-replicas", "warning unmatched-child"
	checkHazards(t, []hazard{
		{
			name: "computed", reason: "the operator undoes each scaling", fields: fields,
			rest: "children:\n" + deployment("app", `replicas: "${ .spec.replicas }", `, ownLabels) + scaler("", own), want: []string{fight},
		},
		{
			name: "fixed", reason: "a fixed number is applied again, too",
			rest: "children:\n" + deployment("app", "replicas: 2, ", ownLabels) + scaler("", own), want: []string{fight},
		},
		{
			name: "spelled differently", reason: "the objects have the same name",
			rest: "children:\n" + deployment("app", "replicas: 2, ", ownLabels) + scaler("", strings.Replace(own, "${ .metadata.name }", "${.metadata|.name}", 1)),
			want: []string{fight},
		},
		{
			name: "optional autoscaler", reason: "where it exists, it fights", fields: fields,
			rest: "children:\n" + deployment("app", `replicas: "${ .spec.replicas }", `, ownLabels) + scaler(optional, own), want: []string{fight},
		},
		{
			name: "left out", reason: "this is what the hint says", fields: fields,
			rest: "children:\n" + deployment("app", `replicas: "${ if .spec.scale then null else .spec.replicas end }", `, ownLabels) + scaler(optional, own),
		},
		{name: "none", reason: "the autoscaler alone sets it", rest: "children:\n" + deployment("app", "", ownLabels) + scaler("", own)},
		{
			name: "never updated", reason: "the operator undoes nothing",
			rest: "children:\n" + strings.Replace(deployment("app", "replicas: 2, ", ownLabels), "\n", "\n  update: Never\n", 1) + scaler("", own),
		},
		{
			name: "KEDA", reason: "the kind of its target is Deployment by default",
			rest: "children:\n" + deployment("app", "replicas: 2, ", ownLabels) + "- name: keda\n  plural: scaledobjects\n  scope: Namespaced\n" +
				"  template: {apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: \"${ .metadata.name }\"}, spec: {scaleTargetRef: {name: \"${ .metadata.name }\"}}}\n",
			want: []string{fight},
		},
		{
			name: "another kind", reason: "a child of this name is no StatefulSet",
			rest: "children:\n" + deployment("app", "replicas: 2, ", ownLabels) + scaler("", strings.Replace(own, "Deployment", "StatefulSet", 1)),
			want: []string{unmatched},
		},
		{
			name: "mistyped", reason: "a child of this kind has another name",
			rest: "children:\n" + deployment("app", "replicas: 2, ", ownLabels) + scaler("", strings.Replace(own, ".name }", ".name }-web", 1)),
			want: []string{unmatched},
		},
	})
}

// TestRepeatedRun covers children that end.
func TestRepeatedRun(t *testing.T) {
	const containers = `containers: [{name: a, image: "a:1"}]`
	job := func(more, spec string) string {
		return "children:\n- name: job\n" + more + "  template: {apiVersion: batch/v1, kind: Job, metadata: {name: \"${ .metadata.name }\"}, spec: {" +
			spec + "template: {spec: {restartPolicy: Never, " + containers + "}}}}\n"
	}
	pod := func(policy string) string {
		return "children:\n- name: pod\n  template: {apiVersion: v1, kind: Pod, metadata: {name: \"${ .metadata.name }\"}, spec: {" + policy + containers + "}}\n"
	}
	const ttl, again = "ttlSecondsAfterFinished: 60, ", "warning repeated-run"
	checkHazards(t, []hazard{
		{name: "time to live", reason: "the operator creates the Job again", rest: job("", ttl), want: []string{again}},
		{name: "computed time", reason: "a value deletes it", rest: job("", `ttlSecondsAfterFinished: "${ .spec.size }", `), fields: "size: integer | minimum=0 maximum=9", want: []string{again}},
		{name: "never updated", reason: "it is created nevertheless", rest: job("  update: Never\n", ttl), want: []string{again}},
		{name: "other condition", reason: "it does not become false", rest: job("  when: (.spec.size // 0) > 1\n", ttl), want: []string{again}},
		{name: "kept", reason: "a Job that is kept runs once", rest: job("", "")},
		{
			name: "remembered", reason: "this is what the hint says",
			rest: job("  when: .status.done != true\n", ttl) + "status:\n  done: '${ .status.done == true or ($children.job.status.succeeded // 0) > 0 }'\n",
		},
		{
			name: "CronJob", reason: "it makes its Jobs itself",
			rest: "children:\n- name: cron\n  template: {apiVersion: batch/v1, kind: CronJob, metadata: {name: \"${ .metadata.name }\"}, spec: {schedule: \"0 1 * * *\", jobTemplate: {spec: {ttlSecondsAfterFinished: 60, template: {spec: {restartPolicy: Never, " + containers + "}}}}}}\n",
		},
		{name: "Pod that ends", reason: "its object is deleted some day", rest: pod("restartPolicy: Never, "), want: []string{again}},
		{name: "Pod that ends well", reason: "its object is deleted some day", rest: pod("restartPolicy: OnFailure, "), want: []string{again}},
		{name: "Pod", reason: "it does not end", rest: pod("")},
		{
			name: "Workflow", reason: "Argo deletes it",
			rest: "children:\n- name: flow\n  plural: workflows\n  scope: Namespaced\n  template: {apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: \"${ .metadata.name }\"}, spec: {entrypoint: a, ttlStrategy: {secondsAfterCompletion: 60}, templates: [{name: a, container: {image: \"a:1\", command: [a]}}]}}\n",
			want: []string{again},
		},
	})
}

// TestSelectors covers selectors of children.
func TestSelectors(t *testing.T) {
	service := func(selector string) string {
		return "- name: svc\n  template: {apiVersion: v1, kind: Service, metadata: {name: \"${ .metadata.name }\"}, spec: {selector: " + selector + ", ports: [{port: 80}]}}\n"
	}
	other := func(kind, spec string) string {
		return "- name: other\n  template: {" + kind + ", metadata: {name: \"${ .metadata.name }\"}, spec: {" + spec + "}}\n"
	}
	const budget, policy = "apiVersion: policy/v1, kind: PodDisruptionBudget", "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy"
	const shared, unmatched = "warning shared-selector", "warning unmatched-child"
	own, fixed := deployment("app", "", ownLabels), deployment("app", "", "{app: web}")
	inNamespace := func(children string) string {
		return strings.ReplaceAll(children, "metadata: {name: \"${ .metadata.name }\"}, spec: {sel", "metadata: {name: a, namespace: \"team-${ .metadata.name }\"}, spec: {sel")
	}
	checkHazards(t, []hazard{
		{name: "fixed", reason: "the Deployments share their selector", rest: "children:\n" + fixed, want: []string{shared}},
		{name: "one finding", reason: "all labels change together", rest: "children:\n" + fixed + service("{app: web}") + other(budget, "minAvailable: 1, selector: {matchLabels: {app: web}}"), want: []string{shared}},
		{
			name: "policy", reason: "the pods have a label that the policy does not select by",
			rest: "children:\n" + deployment("app", "", `{app: web, of: "${ .metadata.name }"}`) + other(policy, "podSelector: {matchLabels: {app: web}}"), want: []string{shared},
		},
		{
			name: "Service", reason: "the pods have a label that the Service does not select by",
			rest: "children:\n" + deployment("app", "", `{app: web, of: "${ .metadata.name }"}`) + service("{app: web}"), want: []string{shared},
		},
		{name: "by a field", reason: "two custom resources may have the same value", fields: "app: name | required=true immutable=true", rest: "children:\n" + deployment("app", "", `{app: "${ .spec.app }"}`), want: []string{shared}},
		{name: "own", reason: "the name distinguishes them", rest: "children:\n" + own + service(ownLabels) + other(budget, "minAvailable: 1, selector: {matchLabels: "+ownLabels+"}")},
		{name: "uid", reason: "the uid distinguishes them", rest: "children:\n" + deployment("app", "", `{app: "${ .metadata.uid }"}`)},
		{name: "all pods", reason: "a policy for the namespace is meant", rest: "children:\n" + own + other(policy, "podSelector: {}")},
		{name: "pods of others", reason: "no child is meant", rest: "children:\n" + own + other(policy, "podSelector: {matchLabels: {k8s-app: kube-dns}}")},
		{name: "own namespace", reason: "no pods of others are there", api: "scope: Cluster", rest: "children:\n" + inNamespace(fixed)},
		{name: "one namespace", reason: "all pods are there", api: "scope: Cluster", rest: "children:\n" + strings.ReplaceAll(fixed, "metadata: {name: \"${ .metadata.name }\"}", "metadata: {name: \"${ .metadata.name }\", namespace: a}"), want: []string{shared}},
		{name: "pods of a number", reason: "a controller adds the label", rest: "children:\n" + strings.Replace(own, "Deployment", "StatefulSet", 1) + service(`{app: "${ .metadata.name }", statefulset.kubernetes.io/pod-name: "${ .metadata.name }-0"}`)},
		{name: "mistyped key", reason: "the value is that of a label", rest: "children:\n" + own + service(`{ap: "${ .metadata.name }"}`), want: []string{unmatched}},
		{name: "mistyped value", reason: "the key is that of a label", rest: "children:\n" + own + service(`{app: "${ .metadata.name }-web"}`), want: []string{unmatched}},
		{name: "mistyped budget", reason: "the value is that of a label", rest: "children:\n" + own + other(budget, `minAvailable: 1, selector: {matchLabels: {apps: "${ .metadata.name }"}}`), want: []string{unmatched}},
		{name: "external pods", reason: "no label is similar", rest: "children:\n" + own + service("{k8s-app: kube-dns}")},
		{name: "no pods", reason: "no child makes pods", rest: "children:\n" + service(`{ap: "${ .metadata.name }"}`)},
		{name: "pods of a custom kind", reason: "its controller may make them", rest: "children:\n" + own + service(`{ap: "${ .metadata.name }"}`) + "- name: db\n  plural: dbs\n  scope: Namespaced\n  template: {apiVersion: a.b/v1, kind: Db, metadata: {name: \"${ .metadata.name }\"}}\n"},
		{name: "no selector", reason: "endpoints are written by others", rest: "children:\n" + own + service("{}")},
	})
}

// TestLossyVersions covers fields that one of two versions does not have. The schema of the case is that
// of the stored version.
func TestLossyVersions(t *testing.T) {
	const lossy = "warning lossy-version"
	older := func(spec string) string {
		return "versions:\n- name: v1alpha1\n  schema: {spec: {" + spec + "}}\n- name: v1\n  storage: true\n"
	}
	cases := []hazard{
		{name: "dropped", reason: "the stored version does not have it", fields: "size: integer", api: older("size: integer, old: string"), want: []string{lossy}},
		{name: "dropped below", reason: "a field of an object is dropped, too", fields: "of: {a: string}", api: older("of: {a: string, b: string}"), want: []string{lossy}},
		{name: "kept", reason: "the stored version takes any field", fields: "of: object", api: older("of: {a: string}")},
		{name: "map", reason: "a map takes any key", fields: `of: "map[string]string"`, api: older("of: {a: string}")},
		{name: "new", reason: "nothing that is written is lost", fields: "size: integer\nnew: string", api: older("size: integer")},
		{name: "required", reason: "objects of the older version are invalid", fields: "size: integer | required=true", api: older("size: integer"), want: []string{lossy}},
		{name: "required and new", reason: "objects of the older version are invalid", fields: "size: integer\nnew: string | required=true", api: older("size: integer"), want: []string{lossy}},
		{name: "required in both", reason: "every object has it", fields: "size: integer | required=true", api: older("size: integer | required=true")},
		{name: "default", reason: "the API server adds it", fields: "size: integer\nnew: string | default=a", api: older("size: integer")},
		{name: "default of the older", reason: "every object has it", fields: "size: integer | required=true", api: older("size: integer | default=1")},
		{name: "not served", reason: "nobody writes it", fields: "size: integer", api: strings.Replace(older("old: string"), "v1alpha1\n", "v1alpha1\n  served: false\n", 1)},
	}
	for i := range cases {
		cases[i].rest = "children:\n- name: a\n  template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}}\n"
	}
	checkHazards(t, cases)
}

// TestOpenToAll covers NetworkPolicies whose rules can have no peers.
func TestOpenToAll(t *testing.T) {
	of := func(spec string) string {
		return "children:\n- name: a\n  template:\n    apiVersion: networking.k8s.io/v1\n    kind: NetworkPolicy\n" +
			"    metadata: {name: \"${ .metadata.name }\"}\n    spec:\n      podSelector: {}\n      " + spec + "\n"
	}
	const list, opens = `allow: "[]namespace | default=[]"`, "warning open-to-all"
	const peers = `.spec.allow | map({namespaceSelector: {matchLabels: {n: .}}})`
	checkHazards(t, []hazard{
		{name: "computed", reason: "an empty list allows all", fields: list, rest: of("ingress: [{from: '${ " + peers + " }'}]"), want: []string{opens}},
		{name: "to", reason: "an empty list allows all", fields: list, rest: of("egress: [{to: '${ " + peers + " }'}]"), want: []string{opens}},
		{
			name: "null", reason: "without the key, the rule allows all", fields: list,
			rest: of("ingress: [{from: '${ if (.spec.allow | length) > 0 then (" + peers + ") else null end }'}]"), want: []string{opens},
		},
		{name: "in a rule that is computed", reason: "an empty list allows all", fields: list, rest: of("ingress: '${ [{from: (" + peers + ")}] }'"), want: []string{opens}},
		{name: "written", reason: "an empty list allows all", rest: of("ingress: [{from: []}]"), want: []string{opens}},
		{name: "as the hint says", reason: "without a rule, nothing is allowed", fields: list, rest: of("policyTypes: [Ingress]\n      ingress: '${ [" + peers + " | select(length > 0) | {from: .}] }'")},
		{name: "with a port, as the hint says", reason: "the rule keeps its ports", fields: list, rest: of("policyTypes: [Ingress]\n      ingress: '${ [" + peers + " | select(length > 0) | {from: .} + {\"ports\":[{\"port\":80}]}] }'")},
		{name: "computed, as the hint says", reason: "a rule without peers is left out", fields: list, rest: of("policyTypes: [Ingress]\n      ingress: '${ [{from: (" + peers + ")}] | map(select((.from | length) > 0)) }'")},
		{name: "never empty", reason: "the list has an item", fields: `allow: "[]namespace | required=true minItems=1"`, rest: of("ingress: [{from: '${ " + peers + " }'}]")},
		{name: "all", reason: "no peers are written", rest: of("ingress: [{}]")},
		{name: "port", reason: "no peers are written", rest: of("ingress: [{ports: [{port: 80}]}]")},
		{name: "none", reason: "no rule allows anything", rest: of("ingress: []")},
	})
}

// TestDeletedOnFlip covers two children that are one object.
func TestDeletedOnFlip(t *testing.T) {
	of := func(first, second string) string {
		child := func(name, more string) string {
			return "- name: " + name + "\n  " + more + "template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }\"}}\n"
		}
		return "children:\n" + child("a", first) + child("b", second)
	}
	const yes, no, orphan, fields = "when: .spec.up\n  ", "when: .spec.up | not\n  ", "onDelete: Orphan\n  ", "up: boolean | default=true"
	checkHazards(t, []hazard{
		{name: "one outlives", reason: "the switch deletes the object", fields: fields, rest: of(yes+orphan, no), want: []string{"warning deleted-on-flip"}},
		{name: "the other outlives", reason: "the order does not matter", fields: fields, rest: of(yes, no+orphan), want: []string{"warning deleted-on-flip"}},
		{name: "no change", reason: "the field is immutable", fields: "up: boolean | default=true immutable=true", rest: of(yes+orphan, no)},
		{name: "none outlives", reason: "nothing seems protected", fields: fields, rest: of(yes, no)},
	})
}
