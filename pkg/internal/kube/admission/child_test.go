package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// The good objects; each mistake is an edit of one of them.
var goodChildren = map[string]string{
	"deployment": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web, tier: front}}
    spec:
      serviceAccountName: web
      initContainers:
      - {name: init, image: busybox, command: [sh, -c, "true"]}
      containers:
      - name: web
        image: nginx:1.29
        ports: [{name: http, containerPort: 80}, {name: https, containerPort: 443, protocol: TCP}]
        env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: "1", memory: 128Mi}}
        volumeMounts: [{name: data, mountPath: /data}]
        readinessProbe: {httpGet: {port: http, path: /}, periodSeconds: 5}
        livenessProbe: {tcpSocket: {port: 80}}
      volumes: [{name: data, configMap: {name: c}}, {name: scratch}]
`,
	"statefulset": `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: postgres, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
	"job": `
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {backoffLimit: 2, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}
`,
	"cronjob": `
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec: {schedule: "*/5 * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: b}]}}}}}
`,
	"service": `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}, {name: https, port: 443}]}
`,
	"configmap": `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a.txt: x}, binaryData: {b: eA==}}`,
	"secret":    `{apiVersion: v1, kind: Secret, metadata: {name: s}, type: kubernetes.io/tls, stringData: {tls.crt: x, tls.key: z}}`,
	"claim":     `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
	"ingress": `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i}
spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`,
	"budget":         `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {minAvailable: 50%, selector: {matchLabels: {a: b}}}}`,
	"autoscaler":     `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {minReplicas: 1, maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`,
	"role":           `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "a:b"}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
	"binding":        `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}, subjects: [{kind: ServiceAccount, name: a, namespace: b}]}`,
	"clusterbinding": `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}, subjects: [{kind: ServiceAccount, name: a, namespace: b}]}`,
	"policy":         `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: net}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}}`,
	"account":        `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}`,
	"namespace":      `{apiVersion: v1, kind: Namespace, metadata: {name: a}}`,
	"pod":            `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: b}]}}`,
	"workflow":       `{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: w}, spec: {entrypoint: a, templates: [{name: a, container: {image: b}}]}}`,
	"unknown":        `{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}, spec: {anything: goes}}`,
	"certificate":    `{apiVersion: certs.example.com/v1, kind: Certificate, metadata: {name: c}, spec: {secretName: s, days: 30}}`,
}

const certificates = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.certs.example.com}
spec:
  group: certs.example.com
  scope: Namespaced
  names: {kind: Certificate, plural: certificates}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [secretName]
            properties: {secretName: {type: string}, days: {type: integer, minimum: 1, default: 90}}
            x-kubernetes-validations: [{rule: self.days < 400, message: too long a life}]
`

func TestGoodChildrenAreLegal(t *testing.T) {
	for name, text := range goodChildren {
		if problems := Child(childOf(t, text), crdOf(t)); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// Each edit replaces the first text by the second; want is "path: message" of
// every problem, cut where the server's words go on.
var childMistakes = []struct{ child, old, new, want string }{
	// Shapes.
	{"deployment", "image: nginx", "imagee: nginx", `spec.template.spec.containers[0].imagee: unknown field "imagee" of Container (did you mean image?)`},
	{"deployment", "replicas: 2", "Replicas: 2", `spec.Replicas: unknown field "Replicas" of DeploymentSpec (did you mean replicas?)`},
	{"deployment", "replicas: 2", `replicas: "2"`, `spec.replicas: must be a number, is "2"`},
	{"deployment", "replicas: 2", "replicas: 2.5", "spec.replicas: must be an integer, is 2.5"},
	{"deployment", "replicas: 2", "replicas: 3000000000", "spec.replicas: 3000000000 does not fit int32"},
	{"deployment", "value: b", "value: 1", "spec.template.spec.containers[0].env[0].value: must be a string, is 1"},
	{"deployment", "labels: {app: web}}", "labels: {app: true}}", "metadata.labels[app]: must be a string, is true"},
	{"deployment", "ports: [{name: http, containerPort: 80}, {name: https, containerPort: 443, protocol: TCP}]", "ports: {http: 80}", `spec.template.spec.containers[0].ports: must be a list, is {"http":80}`},
	{"deployment", "cpu: 100m", "cpu: 100 m", `spec.template.spec.containers[0].resources.requests[cpu]: invalid Quantity "100 m": quantities must match`},
	{"deployment", "maxSurge: 1", "maxSurge: [1]", `spec.strategy.rollingUpdate.maxSurge: invalid IntOrString [1]: json: cannot unmarshal array`},
	{"deployment", "  selector: {matchLabels: {app: web}}", "  selectr: {matchLabels: {app: web}}", `spec.selectr: unknown field "selectr" of DeploymentSpec (did you mean selector?)`},
	{"secret", "stringData: {tls.crt: x, tls.key: z}", "data: {tls.crt: x, tls.key: eA==}", "data[tls.crt]: not base64: illegal base64"},
	{"workflow", "entrypoint", "entrypont", `spec.entrypont: unknown field "entrypont" of WorkflowSpec (did you mean entrypoint?)`},

	// Metadata.
	{"deployment", "name: web, labels", "name: Web_1, labels", `metadata.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain`},
	{"deployment", "metadata: {name: web, ", "metadata: {", "metadata.name: Required value"},
	{"deployment", "labels: {app: web}}", `labels: {app: "w w"}}`, `metadata.labels: Invalid value: "w w": a valid label must be`},
	{"deployment", "labels: {app: web}}", `annotations: {"a b": c}}`, `metadata.annotations: Invalid value: "a b": name part must`},
	{"service", "name: web", "name: 1web", `metadata.name: Invalid value: "1web": a DNS-1035 label`},
	{"namespace", "name: a", "name: tenant-a.b.c", `metadata.name: Invalid value: "tenant-a.b.c": must not contain dots`},
	{"namespace", "name: a", "name: a.b", `metadata.name: Invalid value: "a.b": must not contain dots`},
	{"cronjob", "name: often", "name: " + strings.Repeat("a", 53), `metadata.name: Invalid value: "` + strings.Repeat("a", 53) + `": must be no more than 52 characters`},
	{"unknown", "name: t", "name: T", `metadata.name: Invalid value: "T": a lowercase RFC 1123 subdomain`},
	{"unknown", "name: t", "name: t, label: {}", `metadata.label: unknown field "label" of ObjectMeta (did you mean labels?)`},
	{"unknown", "kind: Thing, ", "", "kind: Required value"},

	// Workloads.
	{"deployment", "  selector: {matchLabels: {app: web}}", "", "spec.selector: Required value"},
	{"deployment", "selector: {matchLabels: {app: web}}", "selector: {}", `spec.selector: Invalid value: "{}": an empty selector is invalid`},
	{"deployment", "labels: {app: web, tier", "labels: {app: wab, tier", "spec.template.metadata.labels: Invalid value"},
	{"deployment", "replicas: 2", "replicas: -5", "spec.replicas: Invalid value: -5: must be greater than or equal to 0"},
	{"deployment", "replicas: 2", "replicas: -1", "spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
	{"deployment", "type: RollingUpdate", "type: Recreate", "spec.strategy.rollingUpdate: Forbidden: may not be specified"},
	{"deployment", "type: RollingUpdate", "type: Rolling", `spec.strategy.type: Unsupported value: "Rolling": supported values: "RollingUpdate", "Recreate"`},
	{"deployment", "maxSurge: 1", "maxSurge: 0%", `spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0"`},
	{"deployment", "serviceAccountName", "restartPolicy: Never\n      serviceAccountName", `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
	{"statefulset", "serviceName: db", "serviceName: d.b", `spec.serviceName: Invalid value: "d.b"`},
	{"job", "restartPolicy: Never, ", "", `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
	{"job", "backoffLimit: 2", "backoffLimit: -2", "spec.backoffLimit: Invalid value: -2"},
	{"cronjob", `schedule: "*/5 * * * *"`, `schedule: "*/5 * * *"`, "spec.schedule: Invalid value"},
	{"cronjob", "restartPolicy: OnFailure", "restartPolicy: Always", "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\" (write restartPolicy: OnFailure or Never)"},

	// Pods.
	{"pod", "containers: [{name: a, image: b}]", "containers: []", "spec.containers: Required value"},
	{"pod", "name: a, ", "", "spec.containers[0].name: Required value"},
	{"pod", "name: a, image", "name: A, image", `spec.containers[0].name: Invalid value: "A"`},
	{"pod", "image: b", "", "spec.containers[0].image: Required value"},
	{"deployment", "name: init", "name: web", `spec.template.spec.initContainers[0].name: Duplicate value: "web"`},
	{"deployment", "containerPort: 443", "containerPort: 99999", "spec.template.spec.containers[0].ports[1].containerPort: Invalid value: 99999: must be between 1 and 65535"},
	{"deployment", "containerPort: 443", "containerPort: 70000", "spec.template.spec.containers[0].ports[1].containerPort: Invalid value: 70000"},
	{"deployment", "containerPort: 443", "containerPort: 80", `spec.template.spec.containers[0].ports[1]: Duplicate value: "80/TCP"`},
	{"deployment", "name: https, containerPort", "name: much-too-long-a-name, containerPort", `spec.template.spec.containers[0].ports[1].name: Invalid value: "much-too-long-a-name": must be no more`},
	{"deployment", "protocol: TCP", "protocol: HTTP", `spec.template.spec.containers[0].ports[1].protocol: Unsupported value: "HTTP"`},
	{"deployment", "{name: A, value: b}", "{value: b}", "spec.template.spec.containers[0].env[0].name: Required value"},
	{"deployment", "{name: A, value: b}", "{name: B, value: b}", `spec.template.spec.containers[0].env[1].name: Duplicate value: "B"`},
	{"deployment", "{name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}", `{name: B, value: "", valueFrom: {}}`, "spec.template.spec.containers[0].env[1].valueFrom: Invalid value: \"\": must specify one of"},
	{"deployment", "{name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}", `{name: B, value: x, valueFrom: {secretKeyRef: {name: s, key: k}}}`, "spec.template.spec.containers[0].env[1].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"},
	{"deployment", "secretKeyRef: {name: s, key: k}", "secretKeyRef: {name: s}", "spec.template.spec.containers[0].env[1].valueFrom.secretKeyRef.key: Required value"},
	{"deployment", "limits: {cpu: \"1\"", "limits: {cpu: 50m", `spec.template.spec.containers[0].resources.requests: Invalid value: "100m": must be less than or equal to cpu limit of 50m`},
	{"deployment", "limits: {cpu:", "limits: {cpus:", `spec.template.spec.containers[0].resources.limits[cpus]: Invalid value: "cpus": must be a standard resource`},
	{"deployment", "mountPath: /data", "mountPath: ''", "spec.template.spec.containers[0].volumeMounts[0].mountPath: Required value"},
	{"deployment", "{name: data, mountPath", "{name: date, mountPath", `spec.template.spec.containers[0].volumeMounts[0].name: Not found: "date"`},
	{"deployment", "{name: scratch}", "{name: data}", `spec.template.spec.volumes[1].name: Duplicate value: "data"`},
	{"deployment", "{name: scratch}", "{name: scratch, emptyDir: {}, secret: {secretName: s}}", "spec.template.spec.volumes[1]: Forbidden: may not specify more than 1 volume type"},
	{"deployment", "configMap: {name: c}", "configMap: {}", "spec.template.spec.volumes[0].configMap.name: Required value"},
	{"deployment", "readinessProbe: {httpGet: {port: http, path: /}, ", "readinessProbe: {", "spec.template.spec.containers[0].readinessProbe: Required value: must specify a handler type"},
	{"deployment", "tcpSocket: {port: 80}", "tcpSocket: {port: 80}, successThreshold: 2", "spec.template.spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"},
	{"deployment", "tcpSocket: {port: 80}", "tcpSocket: {}", "spec.template.spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0"},
	{"deployment", "serviceAccountName: web", "tolerations: [{effect: NoExecute}]", `spec.template.spec.tolerations[0].operator: Invalid value: ""`},

	// Other kinds.
	{"service", "ports: [{name: http, port: 80, targetPort: http}, {name: https, port: 443}]", "ports: []", "spec.ports: Required value"},
	{"service", "{name: https, port: 443}", "{port: 443}", "spec.ports[1].name: Required value"},
	{"service", "port: 443", "port: 0", "spec.ports[1].port: Invalid value: 0: must be between 1 and 65535"},
	{"service", "port: 443", "port: 443, nodePort: 30000", "spec.ports[1].nodePort: Forbidden"},
	{"service", "selector: {app: web}", "type: ExternalName", "spec.externalName: Required value"},
	{"service", "selector: {app: web}", "type: Loadbalancer", `spec.type: Unsupported value: "Loadbalancer"`},
	{"configmap", "a.txt: x", "a/b: x", `data[a/b]: Invalid value: "a/b"`},
	{"configmap", "a.txt: x", "b: x", `data[b]: Invalid value: "b": duplicate of key present in binaryData`},
	{"secret", "tls.key: z", "key: z", "data[tls.key]: Required value"},
	{"claim", "resources: {requests: {storage: 1Gi}}", "resources: {}", "spec.resources.requests[storage]: Required value"},
	{"claim", "ReadWriteOnce", "ReadWriteTwice", `spec.accessModes[0]: Unsupported value: "ReadWriteTwice"`},
	{"ingress", "pathType: Prefix, ", "", "spec.rules[0].http.paths[0].pathType: Required value"},
	{"ingress", "path: /,", "path: a,", `spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path`},
	{"ingress", "port: {number: 80}", "port: {}", "spec.rules[0].http.paths[0].backend.service.port: Required value"},
	{"ingress", "host: a.example.com", "host: A.example.com", `spec.rules[0].host: Invalid value: "A.example.com"`},
	{"budget", "minAvailable: 50%", "minAvailable: 50%, maxUnavailable: 1", "spec: Invalid value"},
	{"autoscaler", "maxReplicas: 3", "maxReplicas: 0", "spec.maxReplicas: Invalid value: 0: must be greater than 0"},
	{"autoscaler", "minReplicas: 1", "minReplicas: 4", "spec.maxReplicas: Invalid value: 3: must be greater than or equal to"},
	{"role", "verbs: [get]", "verbs: []", "rules[0].verbs: Required value"},
	{"binding", "kind: Role, ", "kind: Roll, ", `roleRef.kind: Unsupported value: "Roll"`},
	{"clusterbinding", ", namespace: b", "", "subjects[0].namespace: Required value"},
	{"policy", "from: [{podSelector: {}}]", "from: [{}]", "spec.ingress[0].from[0]: Required value: must specify a peer"},

	// Kinds with a definition.
	{"certificate", "secretName: s, ", "", "spec.secretName: Required value"},
	{"certificate", "days: 30", "dayz: 30", "spec.dayz: unknown field of Certificate v1 (the API server drops it)"},
	{"certificate", "days: 30", "days: 500", `spec: Invalid value: "object": too long a life`},
	{"certificate", "days: 30", "days: soon", `spec.days: Invalid value: "string": spec.days in body must be of type integer`},
	{"certificate", "example.com/v1", "example.com/v2", "apiVersion: certificates.certs.example.com has no version v2"},
}

func TestChildMistakesAreFound(t *testing.T) {
	for _, m := range childMistakes {
		t.Run(m.child+" "+m.want, func(t *testing.T) {
			good := goodChildren[m.child]
			if !strings.Contains(good, m.old) {
				t.Fatalf("%s has no %q", m.child, m.old)
			}
			problems := Child(childOf(t, strings.Replace(good, m.old, m.new, 1)), crdOf(t))
			if len(problems) != 1 || problems[0].Warning || problems[0].Code != problem.CodeChild || !strings.HasPrefix(told(problems[0]), m.want) {
				t.Errorf("got %v", problems)
			}
		})
	}
}

func told(p problem.Problem) string {
	text := p.Path + ": " + p.Message
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// What the API server accepts and refuses later is a warning.
var childWarnings = []struct{ child, old, new, want string }{
	{"deployment", "image: nginx:1.29", `image: "Busy Box://"`, `spec.template.spec.containers[0].image: Invalid value: "Busy Box://": the kubelet refuses it (InvalidImageName): invalid reference format`},
	{"deployment", "image: nginx:1.29", "image: Nginx", `spec.template.spec.containers[0].image: Invalid value: "Nginx": the kubelet refuses it (InvalidImageName): invalid reference format: repository name (library/Nginx) must be lowercase`},
	{"deployment", "image: busybox", "image: 'busybox:'", `spec.template.spec.initContainers[0].image: Invalid value: "busybox:": the kubelet refuses it`},
	{"statefulset", "accessModes: [ReadWriteOnce], ", "", "spec.volumeClaimTemplates[0].spec.accessModes: Required value"},
	{"statefulset", "metadata: {name: data}", "metadata: {name: date}", `spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`},
	{"statefulset", "image: postgres, ", "", "spec.template.spec.containers[0].image: Required value"},
}

func TestChildWarnsOfWhatFailsLater(t *testing.T) {
	for _, m := range childWarnings {
		t.Run(m.child+" "+m.want, func(t *testing.T) {
			problems := Child(childOf(t, strings.Replace(goodChildren[m.child], m.old, m.new, 1)), nil)
			if len(problems) != 1 || !problems[0].Warning || !strings.HasPrefix(told(problems[0]), m.want) {
				t.Errorf("got %v", problems)
			}
		})
	}
}

// A shape with several mistakes gives several findings.
func TestChildFindsAllMistakes(t *testing.T) {
	object := childOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replica: 1, template: {spec: {containers: [{nam: a}, {ports: [{port: 1}]}]}}}}`)
	var got []string
	for _, p := range Child(object, nil) {
		got = append(got, p.Object+" "+p.Path)
	}
	want := []string{
		"Deployment/a spec.replica", "Deployment/a spec.template.spec.containers[0].nam",
		"Deployment/a spec.template.spec.containers[1].ports[0].port",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestChildLeavesItsInputAlone(t *testing.T) {
	for name, text := range goodChildren {
		object := childOf(t, text)
		Child(object, crdOf(t))
		if diff := cmp.Diff(childOf(t, text), object); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", name, diff)
		}
	}
}

func childOf(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return object
}

func crdOf(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(certificates), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
