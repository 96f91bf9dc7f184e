package argo

import (
	"encoding/json"
	"reflect"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestFill compares with encoding/json.
func TestFill(t *testing.T) {
	for name, test := range map[string]struct {
		empty manifest.Object
		text  string
	}{
		"Deployment": {&appsv1.Deployment{}, `{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": {"name": "a", "labels": {"x": "y"}, "creationTimestamp": "2000-01-01T00:00:00Z", "deletionTimestamp": null, "ownerReferences": [{"uid": "u", "controller": true}]},
			"spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
				"template": {"spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {"limits": {"cpu": "1", "memory": 1024}},
					"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}], "volumeMounts": [], "livenessProbe": {"httpGet": {"port": "http"}}}],
					"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "w", "configMap": {"name": "c", "defaultMode": 420}}], "securityContext": {"runAsUser": 1000}}}}}`},
		"ConfigMap":     {&corev1.ConfigMap{}, `{"data": {"a": "b"}, "binaryData": {"c": "AAE="}, "immutable": false}`},
		"Secret":        {&corev1.Secret{}, `{"stringData": {"a": ""}, "data": {"b": ""}, "type": "Opaque"}`},
		"CronJob":       {&batchv1.CronJob{}, `{"spec": {"schedule": "* * * * *", "suspend": true, "jobTemplate": {"spec": {"backoffLimit": 0}}}}`},
		"NetworkPolicy": {&networkingv1.NetworkPolicy{}, `{"spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 80}, {"port": "http"}]}]}}`},
		"Role":          {&rbacv1.Role{}, `{"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}, {}]}`},
		"Workflow":      {&wfv1.Workflow{}, `{"spec": {"arguments": {"parameters": [{"name": "a", "value": 1}]}, "templates": [{"steps": [[{"name": "s", "withItems": [1, "a"]}]], "retryStrategy": {"limit": "2", "backoff": {"factor": 2}}}]}}`},
		"Sensor":        {&eventsv1.Sensor{}, `{"spec": {"triggers": [{"retryStrategy": {"steps": 3, "factor": 1.5}, "template": {"k8s": {"source": {"resource": {"kind": "Pod", "n": 1}}}}}]}}`},
		"EventSource":   {&eventsv1.EventSource{}, `{"spec": {"generic": {"a": {"config": "{}"}}, "resource": {"b": {"resource": "pods", "version": "v1", "eventTypes": ["ADD"]}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var value map[string]any
			if err := utiljson.Unmarshal([]byte(test.text), &value); err != nil {
				t.Fatal(err)
			}
			want := reflect.New(reflect.TypeOf(test.empty).Elem()).Interface()
			if err := json.Unmarshal([]byte(test.text), want); err != nil {
				t.Fatal(err)
			}
			if err := Fill(reflect.ValueOf(test.empty).Elem(), value); err != nil {
				t.Fatal(err)
			}
			embedded := cmp.Transformer("value", func(r eventsv1.K8SResource) any {
				var value any
				_ = json.Unmarshal(r.Value, &value) // invalid JSON is nil, and then different
				return value
			})
			if diff := cmp.Diff(want, any(test.empty), embedded); diff != "" {
				t.Errorf("-encoding/json +Fill:\n%s", diff)
			}
		})
	}
}
