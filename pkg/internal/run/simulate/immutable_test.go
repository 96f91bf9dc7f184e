package simulate

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// TestImmutableFields checks that the cluster refuses changes of immutable fields
// with the API server's messages.
func TestImmutableFields(t *testing.T) {
	const immutable = "field is immutable"
	const pod = `{"spec":{"containers":[{"name":"a","image":"a:1"}]}}`
	const pod2 = `{"spec":{"containers":[{"name":"a","image":"a:2"}]}}`
	for _, tt := range []struct {
		name, path, kind string
		before, after    string // fields next to metadata
		want             string // in the refusal; empty: accepted
	}{
		{"the template of a Job", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"template":` + pod + `}`, `"spec":{"template":` + pod2 + `}`, `Job.batch "x" is invalid: spec.template: Invalid value: `},
		{"the parallelism of a Job", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"parallelism":1,"template":` + pod + `}`, `"spec":{"parallelism":2,"template":` + pod + `}`, ""},
		{"a quantity in another form", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"1"}}}]}}}`, `"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"1000m"}}}]}}}`, ""},
		{"the node of a suspended Job", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"suspend":true,"template":{"spec":{"nodeSelector":{"a":"1"}}}}`, `"spec":{"suspend":true,"template":{"spec":{"nodeSelector":{"a":"2"}}}}`, ""},
		{"the image of a suspended Job", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"suspend":true,"template":` + pod + `}`, `"spec":{"suspend":true,"template":` + pod2 + `}`, immutable},
		{"the completions of a Job", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"completions":1}`, `"spec":{"completions":2}`, "spec.completions: Invalid value: 2: field is immutable"},
		{"the completions of an indexed Job", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"completionMode":"Indexed","completions":1,"parallelism":1}`, `"spec":{"completionMode":"Indexed","completions":2,"parallelism":2}`, ""},
		{"the selector of a Deployment", "apis/apps/v1/namespaces/default/deployments", "Deployment", `"spec":{"selector":{"matchLabels":{"a":"b"}}}`, `"spec":{"selector":{"matchLabels":{"a":"2"}}}`, immutable},
		{"the template of a Deployment", "apis/apps/v1/namespaces/default/deployments", "Deployment", `"spec":{"template":` + pod + `}`, `"spec":{"template":` + pod2 + `}`, ""},
		{"the Service of a StatefulSet", "apis/apps/v1/namespaces/default/statefulsets", "StatefulSet", `"spec":{"serviceName":"a"}`, `"spec":{"serviceName":"b"}`, "spec: Forbidden: updates to statefulset spec for fields other than 'replicas'"},
		{"replicas and template of a StatefulSet", "apis/apps/v1/namespaces/default/statefulsets", "StatefulSet", `"spec":{"replicas":1,"template":` + pod + `}`, `"spec":{"replicas":2,"template":` + pod2 + `}`, ""},
		{"the image of a Pod", "api/v1/namespaces/default/pods", "Pod", `"spec":{"containers":[{"name":"a","image":"a:1"}]}`, `"spec":{"containers":[{"name":"a","image":"a:2"}]}`, ""},
		{"the command of a Pod", "api/v1/namespaces/default/pods", "Pod", `"spec":{"containers":[{"name":"a","image":"a:1"}]}`, `"spec":{"containers":[{"name":"a","image":"a:1","command":["b"]}]}`, "spec: Forbidden: pod updates may not change fields other than"},
		{"a claim that grows before it is bound", "api/v1/namespaces/default/persistentvolumeclaims", "PersistentVolumeClaim", `"spec":{"resources":{"requests":{"storage":"1Gi"}}}`, `"spec":{"resources":{"requests":{"storage":"2Gi"}}}`, "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"},
		{"a claim that shrinks", "api/v1/namespaces/default/persistentvolumeclaims", "PersistentVolumeClaim", `"spec":{"resources":{"requests":{"storage":"2Gi"}}}`, `"spec":{"resources":{"requests":{"storage":"1Gi"}}}`, "spec.resources.requests.storage: Forbidden: field can not be less than"},
		{"the class of a claim", "api/v1/namespaces/default/persistentvolumeclaims", "PersistentVolumeClaim", `"spec":{"storageClassName":"a"}`, `"spec":{"storageClassName":"b"}`, "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"},
		{"a Service that becomes headless", "api/v1/namespaces/default/services", "Service", `"spec":{"ports":[{"port":1}]}`, `"spec":{"clusterIP":"None","ports":[{"port":1}]}`, "spec.clusterIP: Invalid value: \"None\": may not change once set"},
		{"a Service that leaves out its address", "api/v1/namespaces/default/services", "Service", `"spec":{"clusterIP":"None","ports":[{"port":1}]}`, `"spec":{"ports":[{"port":1}]}`, ""},
		{"a Service that gets an address with its type", "api/v1/namespaces/default/services", "Service", `"spec":{"type":"ExternalName","externalName":"a.b"}`, `"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","ports":[{"port":1}]}`, ""},
		{"the type of a Service", "api/v1/namespaces/default/services", "Service", `"spec":{"type":"ClusterIP","ports":[{"port":1}]}`, `"spec":{"type":"NodePort","ports":[{"port":1}]}`, ""},
		{"an immutable ConfigMap", "api/v1/namespaces/default/configmaps", "ConfigMap", `"immutable":true,"data":{"a":"1"}`, `"immutable":true,"data":{"a":"2"}`, "data: Forbidden: field is immutable when `immutable` is set"},
		{"an immutable ConfigMap that becomes mutable", "api/v1/namespaces/default/configmaps", "ConfigMap", `"immutable":true`, `"immutable":false`, "immutable: Forbidden: field is immutable when `immutable` is set"},
		{"a ConfigMap that becomes immutable", "api/v1/namespaces/default/configmaps", "ConfigMap", `"data":{"a":"1"}`, `"immutable":true,"data":{"a":"2"}`, ""},
		{"the type of a Secret", "api/v1/namespaces/default/secrets", "Secret", `"type":"a/b"`, `"type":"a/c"`, `type: Invalid value: "a/c": field is immutable`},
		{"the role of a RoleBinding", "apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", "RoleBinding", `"roleRef":{"kind":"Role","name":"a"}`, `"roleRef":{"kind":"Role","name":"b"}`, "cannot change roleRef"},
		{"the value of a PriorityClass", "apis/scheduling.k8s.io/v1/priorityclasses", "PriorityClass", `"value":1`, `"value":2`, "value: Forbidden: may not be changed in an update."},
		{"the parameters of a StorageClass", "apis/storage.k8s.io/v1/storageclasses", "StorageClass", `"provisioner":"a","parameters":{"a":"1"}`, `"provisioner":"a","parameters":{"a":"2"}`, "parameters: Forbidden: updates to parameters are forbidden."},
		{"the source of a PersistentVolume", "api/v1/persistentvolumes", "PersistentVolume", `"spec":{"hostPath":{"path":"/a"}}`, `"spec":{"hostPath":{"path":"/b"}}`, "spec.persistentvolumesource is immutable after creation"},
		{"the policy of a PersistentVolume", "api/v1/persistentvolumes", "PersistentVolume", `"spec":{"persistentVolumeReclaimPolicy":"Retain"}`, `"spec":{"persistentVolumeReclaimPolicy":"Delete"}`, ""},
		{"a toleration that changes", "api/v1/namespaces/default/pods", "Pod", `"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}`, `"spec":{"tolerations":[{"key":"b","operator":"Exists"}]}`, "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"},
		{"a toleration that is removed", "api/v1/namespaces/default/pods", "Pod", `"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}`, `"spec":{}`, "spec.tolerations: Forbidden"},
		{"a toleration that is added", "api/v1/namespaces/default/pods", "Pod", `"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}`, `"spec":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}]}`, ""},
		{"a toleration for longer", "api/v1/namespaces/default/pods", "Pod", `"spec":{"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":1}]}`, `"spec":{"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":2}]}`, ""},
		{"a deadline that is set", "api/v1/namespaces/default/pods", "Pod", `"spec":{}`, `"spec":{"activeDeadlineSeconds":9}`, ""},
		{"a deadline that falls", "api/v1/namespaces/default/pods", "Pod", `"spec":{"activeDeadlineSeconds":9}`, `"spec":{"activeDeadlineSeconds":8}`, ""},
		{"a deadline that rises", "api/v1/namespaces/default/pods", "Pod", `"spec":{"activeDeadlineSeconds":8}`, `"spec":{"activeDeadlineSeconds":9}`, "spec.activeDeadlineSeconds: Invalid value: 9: must be less than or equal to previous value"},
		{"a deadline that is removed", "api/v1/namespaces/default/pods", "Pod", `"spec":{"activeDeadlineSeconds":8}`, `"spec":{}`, "spec.activeDeadlineSeconds: Invalid value"},
		{"a grace period", "api/v1/namespaces/default/pods", "Pod", `"spec":{"terminationGracePeriodSeconds":20}`, `"spec":{"terminationGracePeriodSeconds":10}`, "spec: Forbidden: pod updates may not change fields other than"},
		{"a gate that is removed", "api/v1/namespaces/default/pods", "Pod", `"spec":{"schedulingGates":[{"name":"e.com/a"}]}`, `"spec":{}`, ""},
		{"a gate that is added", "api/v1/namespaces/default/pods", "Pod", `"spec":{}`, `"spec":{"schedulingGates":[{"name":"e.com/a"}]}`, "spec.schedulingGates: Forbidden: only deletion is allowed"},
		{"a default that is written", "api/v1/namespaces/default/pods", "Pod", `"spec":{}`, `"spec":{"restartPolicy":"Always","dnsPolicy":"ClusterFirst","terminationGracePeriodSeconds":30}`, ""},
		{"fewer nodes of a Pod with gates", "api/v1/namespaces/default/pods", "Pod", `"spec":{"schedulingGates":[{"name":"e.com/a"}]}`, `"spec":{"schedulingGates":[{"name":"e.com/a"}],"nodeSelector":{"a":"b"}}`, ""},
		{"the class of a load balancer", "api/v1/namespaces/default/services", "Service", `"spec":{"type":"LoadBalancer","loadBalancerClass":"e.com/a","ports":[{"port":1}]}`, `"spec":{"type":"LoadBalancer","loadBalancerClass":"e.com/b","ports":[{"port":1}]}`, `spec.loadBalancerClass: Invalid value: "e.com/b": may not change once set`},
		{"the class of what becomes a load balancer", "api/v1/namespaces/default/services", "Service", `"spec":{"ports":[{"port":1}]}`, `"spec":{"type":"LoadBalancer","loadBalancerClass":"e.com/b","ports":[{"port":1}]}`, ""},
		{"the first family", "api/v1/namespaces/default/services", "Service", `"spec":{"ipFamilies":["IPv4"],"ports":[{"port":1}]}`, `"spec":{"ipFamilies":["IPv6"],"ports":[{"port":1}]}`, "spec.ipFamilies: Invalid value"},
		{"a family that is not the default", "api/v1/namespaces/default/services", "Service", `"spec":{"ports":[{"port":1}]}`, `"spec":{"ipFamilies":["IPv6"],"ports":[{"port":1}]}`, "spec.ipFamilies: Invalid value"},
		{"the port for health checks", "api/v1/namespaces/default/services", "Service", `"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30001,"ports":[{"port":1}]}`, `"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30002,"ports":[{"port":1}]}`, "spec.healthCheckNodePort: Forbidden: field is immutable"},
		{"the nodes of a PersistentVolume", "api/v1/persistentvolumes", "PersistentVolume", `"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["a"]}]}]}}}`, `"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}}`, "is invalid: nodeAffinity: Invalid value"},
		{"the nodes of a PersistentVolume that has none", "api/v1/persistentvolumes", "PersistentVolume", `"spec":{}`, `"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}}`, ""},
		{"the class of a claim without one", "api/v1/namespaces/default/persistentvolumeclaims", "PersistentVolumeClaim", `"spec":{}`, `"spec":{"storageClassName":"b"}`, ""},
		{"the completions of an indexed Job alone", "apis/batch/v1/namespaces/default/jobs", "Job", `"spec":{"completionMode":"Indexed","completions":1,"parallelism":1}`, `"spec":{"completionMode":"Indexed","completions":2,"parallelism":1}`, "spec.completions: Invalid value: 2"},
		{"the text of an immutable Secret", "api/v1/namespaces/default/secrets", "Secret", `"immutable":true,"stringData":{"a":"b"}`, `"immutable":true,"stringData":{"a":"b"},"metadata":{"name":"x","namespace":"default","labels":{"a":"b"}}`, ""},
		{"another text of an immutable Secret", "api/v1/namespaces/default/secrets", "Secret", `"immutable":true,"stringData":{"a":"b"}`, `"immutable":true,"stringData":{"a":"c"}`, "data: Forbidden: field is immutable when `immutable` is set"},
		{"the scopes of a quota in another order", "api/v1/namespaces/default/resourcequotas", "ResourceQuota", `"spec":{"hard":{"pods":1},"scopes":["NotTerminating","NotBestEffort"]}`, `"spec":{"hard":{"pods":2},"scopes":["NotBestEffort","NotTerminating"]}`, ""},
		{"the scopes of a quota", "api/v1/namespaces/default/resourcequotas", "ResourceQuota", `"spec":{"hard":{"pods":1},"scopes":["NotTerminating"]}`, `"spec":{"hard":{"pods":1},"scopes":["NotBestEffort"]}`, "spec.scopes: Invalid value"},
		{"a request that is ignored", "apis/certificates.k8s.io/v1/certificatesigningrequests", "CertificateSigningRequest", `"spec":{"signerName":"e.com/a","request":"YQ==","usages":["client auth"]}`, `"spec":{"signerName":"e.com/b","request":"YQ==","usages":["client auth"]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster.NewCluster(nil, cluster.Ticks())
			group, _, _ := strings.Cut(strings.TrimPrefix(tt.path, "apis/"), "/namespaces/")
			if group, _, _ = strings.Cut(group, "/"+strings.ToLower(tt.kind)); strings.HasPrefix(tt.path, "api/") {
				group = "v1"
			}
			write := func(fields string) (int, string) {
				body := smallestJSON(group, tt.kind, "x", "{"+fields+"}")
				r := httptest.NewRequest(http.MethodPatch, "/"+tt.path+"/x?fieldManager=a&force=true", strings.NewReader(body))
				r.Header.Set("Content-Type", applyPatch)
				w := httptest.NewRecorder()
				c.ServeHTTP(w, r)
				return w.Code, w.Body.String()
			}
			if code, answer := write(tt.before); code != http.StatusCreated {
				t.Fatal(code, answer)
			}
			code, answer := write(tt.after)
			answer = strings.ReplaceAll(answer, `\"`, `"`)
			if tt.want == "" && code != http.StatusOK || tt.want != "" && (code != http.StatusUnprocessableEntity || !strings.Contains(answer, tt.want)) {
				t.Errorf("%d %s, want %q", code, answer, tt.want)
			}
		})
	}
}
