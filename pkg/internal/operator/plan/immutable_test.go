package plan

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// TestImmutableFields covers that an immutable field is not computed from a mutable
// one, unless the name is computed from it, too.
func TestImmutableFields(t *testing.T) {
	const name, pod = "${ .metadata.name }", "spec: {containers: [{name: a, image: \"${ .spec.image }\"}]}"
	for _, tt := range []struct {
		reason   string
		markers  string // of spec.image
		name     string
		template string
		want     string // in the findings; empty: none
	}{
		{reason: "the template of a Job", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}", want: "spec.template of a Job is immutable, but .spec.image can change"},
		{reason: "all fields of one Job in one finding", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {template: {metadata: {labels: {x: \"${ .spec.x }\"}}, " + pod + "}}", want: ".spec.x and .spec.image can change"},
		{reason: "the schema keeps the field", markers: " immutable=true", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}"},
		{reason: "a fingerprint in the name", name: name + "-${ .spec.image | fingerprint }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}"},
		{reason: "a fingerprint of all of the spec", name: name + "-${ .spec | fingerprint }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}"},
		{reason: "a name that a field decides between", name: name + "-${ if .spec.image == \"a\" then \"x\" else \"y\" end }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}", want: ".spec.image can change"},
		{reason: "the length of a field in the name", name: name + "-${ .spec.image | length }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}", want: ".spec.image can change"},
		{reason: "a fingerprint of a list in the name", name: name + "-${ [.spec.x, .spec.image] | fingerprint }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}"},
		{reason: "a part of a fingerprint of an object", name: name + "-${ {x: .spec.x, image: .spec.image} | tojson | (fingerprint | .[0:8]) }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}"},
		{reason: "a fingerprint of a length", name: name + "-${ [.spec.image] | length | fingerprint }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}", want: ".spec.image can change"},
		{reason: "a fingerprint that decides about the name", name: name + "-${ if (.spec.image | fingerprint) == \"a\" then \"x\" else \"y\" end }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}", want: ".spec.image can change"},
		{reason: "the generation in the name", name: name + "-${ .metadata.generation }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}"},
		{reason: "another field in the name", name: name + "-${ .spec.x | fingerprint }", template: "apiVersion: batch/v1, kind: Job, spec: {template: {" + pod + "}}", want: ".spec.image can change"},
		{reason: "the parallelism of a Job", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {parallelism: \"${ .spec.size }\", template: {spec: {containers: [{name: a, image: b}]}}}"},
		{reason: "the completions of a Job", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {completions: \"${ .spec.size }\", template: {spec: {containers: [{name: a, image: b}]}}}", want: "spec.completions of a Job is immutable"},
		{reason: "the completions of an indexed Job", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {completionMode: Indexed, completions: \"${ .spec.size }\", parallelism: \"${ .spec.size }\", template: {spec: {containers: [{name: a, image: b}]}}}"},
		{reason: "the Jobs of a CronJob", name: name, template: "apiVersion: batch/v1, kind: CronJob, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {" + pod + "}}}}"},
		{reason: "a selector by the name", name: name, template: "apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {x: \"${ .metadata.name }\"}}, template: {metadata: {labels: {x: \"${ .metadata.name }\"}}, " + pod + "}}"},
		{reason: "a selector by a field", name: name, template: "apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {x: \"${ .spec.x }\"}}, template: {metadata: {labels: {x: \"${ .spec.x }\"}}, " + pod + "}}", want: "spec.selector of a Deployment is immutable, but .spec.x can change"},
		{reason: "replicas and template of a StatefulSet", name: name, template: "apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: \"${ .spec.size }\", selector: {matchLabels: {x: y}}, template: {metadata: {labels: {x: y}}, " + pod + "}}"},
		{reason: "the Service of a StatefulSet", name: name, template: "apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: \"${ .spec.x }\", selector: {matchLabels: {x: y}}, template: {metadata: {labels: {x: y}}, spec: {containers: [{name: a, image: b}]}}}", want: "spec.serviceName of a StatefulSet is immutable"},
		{reason: "the image of a Pod", name: name, template: "apiVersion: v1, kind: Pod, " + pod},
		{reason: "the command of a Pod", name: name, template: "apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: b, command: [\"${ .spec.x }\"]}]}", want: "spec.containers of a Pod is immutable"},
		{reason: "a claim that may grow", name: name, template: "apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: \"${ .spec.x }\"}}}"},
		{reason: "the class of a claim", name: name, template: "apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: \"${ .spec.x }\", accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", want: "spec.storageClassName of a PersistentVolumeClaim is immutable"},
		{reason: "the data of a ConfigMap", name: name, template: "apiVersion: v1, kind: ConfigMap, data: {x: \"${ .spec.x }\"}"},
		{reason: "the data of an immutable ConfigMap", name: name, template: "apiVersion: v1, kind: ConfigMap, immutable: true, data: {x: \"${ .spec.x }\"}", want: "data of a ConfigMap is immutable"},
		{reason: "the role of a RoleBinding", name: name, template: "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: \"${ .spec.x }\"}", want: "roleRef of a RoleBinding is immutable"},
		{reason: "a toleration of a Pod", name: name, template: "apiVersion: v1, kind: Pod, spec: {tolerations: [{key: \"${ .spec.x }\", operator: Exists}], containers: [{name: a, image: b}]}", want: "spec.tolerations of a Pod is immutable, but .spec.x can change"},
		{reason: "the deadline of a Pod", name: name, template: "apiVersion: v1, kind: Pod, spec: {activeDeadlineSeconds: \"${ .spec.size }\", containers: [{name: a, image: b}]}", want: "spec.activeDeadlineSeconds of a Pod is immutable"},
		{reason: "the grace period of a Pod", name: name, template: "apiVersion: v1, kind: Pod, spec: {terminationGracePeriodSeconds: \"${ .spec.size }\", containers: [{name: a, image: b}]}", want: "spec.terminationGracePeriodSeconds of a Pod is immutable"},
		{reason: "the gates of a Pod, which are usually removed", name: name, template: "apiVersion: v1, kind: Pod, spec: {schedulingGates: \"${ if .spec.size > 1 then [{name: \\\"example.com/a\\\"}] else [] end }\", containers: [{name: a, image: b}]}"},
		{reason: "the class of a load balancer", name: name, template: "apiVersion: v1, kind: Service, spec: {type: LoadBalancer, loadBalancerClass: \"${ .spec.x }\", ports: [{port: 80}]}", want: "spec.loadBalancerClass of a Service is immutable"},
		{reason: "the class of what may be a load balancer", name: name, template: "apiVersion: v1, kind: Service, spec: {type: \"${ if .spec.size > 1 then \\\"LoadBalancer\\\" else \\\"ClusterIP\\\" end }\", loadBalancerClass: \"${ .spec.x }\", ports: [{port: 80}]}", want: "spec.loadBalancerClass of a Service is immutable"},
		{reason: "the family of a Service", name: name, template: "apiVersion: v1, kind: Service, spec: {ipFamilies: [\"${ .spec.x }\"], ports: [{port: 80}]}", want: "spec.ipFamilies of a Service is immutable"},
		{reason: "the port for health checks", name: name, template: "apiVersion: v1, kind: Service, spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: \"${ .spec.size }\", ports: [{port: 80}]}", want: "spec.healthCheckNodePort of a Service is immutable"},
		{reason: "the nodes of a volume", name: "${ .metadata.namespace }-" + name, template: "apiVersion: v1, kind: PersistentVolume, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], local: {path: /a}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [\"${ .spec.x }\"]}]}]}}}", want: "spec.nodeAffinity of a PersistentVolume is immutable"},
		{reason: "a Job with as many completions as Pods", name: name, template: "apiVersion: batch/v1, kind: Job, spec: {completionMode: Indexed, completions: \"${ .spec.size }\", parallelism: 2, template: {spec: {containers: [{name: a, image: b}]}}}", want: "spec.completions of a Job is immutable"},
		{reason: "a field that can only be set later", name: name, template: "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: \"${ .spec.once // \\\"view\\\" }\"}", want: ".spec.once can be set later: the API server rejects the update"},
		{reason: "a field that grows", name: name, template: "apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: a, selector: {matchLabels: {x: y}}, template: {metadata: {labels: {x: y}}, spec: {containers: [{name: a, image: b}]}}, volumeClaimTemplates: [{metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: \"${ .spec.grows }Gi\"}}}}]}", want: "spec.volumeClaimTemplates of a StatefulSet is immutable, but .spec.grows can change"},
		{reason: "a field that has a default and never changes", name: name, template: "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: \"${ .spec.fixed }\"}"},
		{reason: "annotations may change too", name: name, template: "apiVersion: v1, kind: Secret, type: \"${ .metadata.annotations[\\\"type\\\"] // \\\"Opaque\\\" }\"", want: "type of a Secret is immutable, but .metadata.annotations"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			findings := findingsOf(fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api:
    group: apps.example.com
    kind: Web
    versions:
    - name: v1
      schema: {spec: {image: "string | required=true minLength=1%s", x: string | required=true, size: integer | required=true,
        once: string | immutable=true, fixed: string | default=a immutable=true, grows: integer | default=1 validation="self >= oldSelf"}}
  children:
  - name: one
    template: {metadata: {name: %q}, %s}
`, tt.markers, tt.name, tt.template))
			said := ""
			for _, f := range findings {
				if f.Code == "immutable-field" || f.Severity != "warning" {
					said += f.Message + "\n"
				}
			}
			if tt.want == "" && said != "" || !strings.Contains(said, tt.want) {
				t.Errorf("findings %s, want %q", said, tt.want)
			}
		})
	}
}

// TestImmutableFieldsOfItems covers immutable fields that are computed from an item of
// forEach, in the API server's message and with a hint that works.
func TestImmutableFieldsOfItems(t *testing.T) {
	for _, tt := range []struct {
		reason, markers, name, role string
		want, hint                  string // empty: no finding
	}{
		{
			reason: "a field of the item", name: "${ .metadata.name }-${ $item.name }", role: "${ $item.role }",
			want: "roleRef of a RoleBinding is immutable, but $item.role can change",
			hint: "metadata.name: ${ .metadata.name }-${ $item.name }-${ $item.role | fingerprint };",
		},
		{reason: "the name depends on it", name: "${ .metadata.name }-${ $item.name }-${ $item.role }", role: "${ $item.role }"},
		{reason: "the name depends on the item", name: "${ .metadata.name }-${ $item | fingerprint }", role: "${ $item.role }"},
		{reason: "the name depends on the position", name: "${ .metadata.name }-${ $index }", role: "${ $item.role }", want: "$item.role can change"},
		{
			reason: "the position", name: "${ .metadata.name }-${ $item.name }", role: `${ ["view", "edit"][$index] // "view" }`,
			want: "but $index can change", hint: "update: Recreate, or keep the value out of the field",
		},
		{reason: "the position, of which the name depends", name: "${ .metadata.name }-${ $index }", role: `${ ["view", "edit"][$index] // "view" }`},
		{reason: "the position in a list that never changes", markers: "immutable=true ", name: "${ .metadata.name }-${ $item.name }", role: `${ ["view", "edit"][$index] // "view" }`},
		{reason: "all of the item", name: "${ .metadata.name }-${ $item.name }", role: "${ $item | fingerprint }", want: "but $item can change"},
		{reason: "the list never changes", markers: "immutable=true ", name: "${ .metadata.name }-${ $item.name }", role: "${ $item.role }"},
		{reason: "a field of the custom resource", name: "${ .metadata.name }-${ $item.name }", role: "${ .spec.role }", want: ".spec.role can change"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			var messages, hints string
			for _, f := range findingsOf(fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: team}
spec:
  api:
    group: example.com
    kind: Team
    versions:
    - name: v1
      schema:
        spec:
          role: string | default=view
          members | required=true %smaxItems=9:
          - name: name | required=true
            role: string | default=view
  children:
  - name: binding
    forEach: .spec.members
    template:
      apiVersion: rbac.authorization.k8s.io/v1
      kind: RoleBinding
      metadata: {name: %q}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %q}
      subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
`, tt.markers, tt.name, tt.role)) {
				if f.Code == "immutable-field" || f.Severity != "warning" {
					messages, hints = messages+f.Message, hints+f.Hint
				}
			}
			if tt.want == "" && messages != "" || !strings.Contains(messages, tt.want) || !strings.Contains(hints, tt.hint) {
				t.Errorf("findings %q with hints %q, want %q and %q", messages, hints, tt.want, tt.hint)
			}
		})
	}
}

// TestImmutableFieldsOfOthers covers immutable fields that are computed from other children
// and from related objects.
func TestImmutableFieldsOfOthers(t *testing.T) {
	for _, tt := range []struct {
		reason, text string
		name         string // of the Job; empty: the name of the custom resource
		want         string // empty: no finding
	}{
		{reason: "the names of a list", text: `${ [$children.each[].metadata.name] | join(",") }`, want: "spec.template of a Job is immutable, but the list $children.each can change"},
		{reason: "the length of a list", text: "${ $children.each | length | tostring }", want: "the list $children.each can change"},
		{reason: "a list that never changes", text: "${ $children.fixed | length | tostring }", want: "the list $children.fixed can be set later"},
		{reason: "a list of items of a list", text: "${ $children.again | length | tostring }", want: "the list $children.again can change"},
		{reason: "a list of related objects", text: "${ $related.many | length | tostring }", want: "the list $related.many can change"},
		{reason: "a child with when", text: `${ $children.sometimes.metadata.name // "none" }`, want: "$children.sometimes.metadata.name can change"},
		{reason: "a child with a constant when", text: `${ $children.once.metadata.name // "none" }`, want: "$children.once.metadata.name can be set later"},
		{reason: "what another template computes", text: "${ $children.config.data.a }", want: "$children.config.data.a can change"},
		{reason: "what another template computes from a child", text: "${ $children.second.data.a }", want: "$children.second.data.a can change"},
		{reason: "another field of that child", text: "${ $children.config.data.b }"},
		{reason: "the name of a child", text: "${ $children.config.metadata.name }"},
		{reason: "the uid of a child", text: "${ $children.config.metadata.uid }"},
		{reason: "the version of a child", text: "${ $children.config.metadata.resourceVersion }", want: "$children.config.metadata.resourceVersion can change"},
		{reason: "an assigned field", text: "${ $children.service.spec.clusterIP }"},
		{reason: "a status", text: "${ $children.service.status.loadBalancer.ingress[0].ip }"},
		{reason: "a field of a related object", text: `${ $related.own.data.a // "" }`, want: "$related.own.data.a can change"},
		{reason: "the name of a related object", text: `${ $related.own.metadata.name // "" }`, want: "$related.own.metadata.name can be set later"},
		{reason: "the name of a related object of a field", text: `${ $related.chosen.metadata.name // "" }`, want: "$related.chosen.metadata.name can change"},
		{reason: "an immutable field of a related object", text: `${ $related.login.type // "" }`, want: "$related.login.type can be set later"},
		{reason: "the name depends on it", name: `${ .metadata.name }-${ $children.config.data.a | fingerprint }`, text: "${ $children.config.data.a }"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			said := ""
			for _, f := range findingsOf(fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api:
    group: apps.example.com
    kind: Web
    versions:
    - name: v1
      schema: {spec: {x: string | required=true, size: integer | required=true, fixed: "[]string | required=true immutable=true maxItems=3",
        names: "[]string | required=true maxItems=3", on: boolean | default=false, never: boolean | default=true immutable=true}}
  related:
  - {name: many, apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {a: b}}}
  - {name: own, apiVersion: v1, kind: ConfigMap, names: ["${ .metadata.name }-own"]}
  - {name: chosen, apiVersion: v1, kind: ConfigMap, names: ["${ .spec.x }"]}
  - {name: login, apiVersion: v1, kind: Secret, watch: false, names: ["${ .metadata.name }-login"]}
  children:
  - name: each
    forEach: .spec.names
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ $item }"}}
  - name: again
    forEach: "[$children.each[].metadata.name]"
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "again-${ $item }"}}
  - name: fixed
    forEach: .spec.fixed
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-fixed-${ $item }"}}
  - name: sometimes
    when: .spec.on
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-sometimes"}}
  - name: once
    when: .spec.never
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-once"}}
  - name: config
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-config"}, data: {a: "${ .spec.x }", b: fixed}}
  - name: second
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-second"}, data: {a: "${ $children.config.data.a }"}}
  - name: service
    template: {apiVersion: v1, kind: Service, metadata: {name: "${ .metadata.name }"}, spec: {ports: [{port: 80}]}}
  - name: job
    template:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: %q}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b, env: [{name: A, value: %q}]}]}}}
`, cmp.Or(tt.name, "${ .metadata.name }-job"), tt.text)) {
				if f.Code == "immutable-field" || f.Severity != "warning" {
					said += f.Message + "\n"
				}
			}
			if tt.want == "" && said != "" || !strings.Contains(said, tt.want) {
				t.Errorf("findings %s, want %q", said, tt.want)
			}
		})
	}
}

// TestImmutableHint requires that the hint keeps the fields of a fingerprint that the name has.
func TestImmutableHint(t *testing.T) {
	definition := func(name string) string {
		return fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api: {group: apps.example.com, kind: Web, versions: [{name: v1, schema: {spec: {a: string | required=true, b: string | required=true}}}]}
  children:
  - name: one
    template: {apiVersion: batch/v1, kind: Job, metadata: {name: %q}, spec: {template: {spec: {restartPolicy: Never, containers: [
      {name: a, image: a, env: [{name: A, value: "${ .spec.a }"}, {name: B, value: "${ .spec.b }"}]}]}}}}
`, name)
	}
	const both = "${ .metadata.name }-${ [.spec.a, .spec.b] | fingerprint }"
	for name, want := range map[string]string{"${ .metadata.name }-${ .spec.a | fingerprint }": both, both: ""} {
		hints := ""
		for _, f := range findingsOf(definition(name)) {
			hints += f.Hint
		}
		if !strings.Contains(hints, want) || want == "" && hints != "" {
			t.Errorf("%s: hint %s, want %q", name, hints, want)
		}
	}
}
