package plan

import (
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
      schema: {spec: {image: "string | required=true minLength=1%s", x: string | required=true, size: integer | required=true}}
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
