package simulate

import (
	"cmp"
	"encoding/json"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// smallestFields are the fields that the API server requires of a kind.
var smallestFields = map[string]string{
	"Deployment":              `{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`,
	"StatefulSet":             `{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}}}`,
	"Job":                     `{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}}`,
	"Pod":                     `{"spec":{"containers":[{"name":"a","image":"b"}]}}`,
	"CronJob":                 `{"spec":{"schedule":"@daily","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}}}}`,
	"Service":                 `{"spec":{"ports":[{"port":1}]}}`,
	"PersistentVolumeClaim":   `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`,
	"Ingress":                 `{"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":1}}}}}`,
	"IngressClass":            `{"spec":{"controller":"example.com/a"}}`,
	"HorizontalPodAutoscaler": `{"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"}}}`,
	"PersistentVolume":        `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"}}}`,
	"RoleBinding":             `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"a"}}`,
}

// Smallest returns an object with little more than metadata. fields are more of its
// fields in JSON.
func Smallest(apiVersion, kind any, metadata map[string]any, fields ...string) map[string]any {
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for _, text := range append([]string{smallestFields[kind.(string)]}, fields...) {
		var more map[string]any
		if err := json.Unmarshal([]byte(cmp.Or(text, "{}")), &more); err != nil {
			panic(err) // unreachable: test data
		}
		o, _ = cluster.Merge(o, more).(map[string]any)
	}
	return o
}

// smallestJSON returns Smallest in JSON.
func smallestJSON(apiVersion, kind, name string, fields ...string) string {
	data, err := json.Marshal(Smallest(apiVersion, kind, map[string]any{"name": name}, fields...))
	if err != nil {
		panic(err) // unreachable: decoded from JSON
	}
	return string(data)
}
