package cluster_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// TestWithoutAssigned applies objects. What the API server adds is stored, and not shown.
func TestWithoutAssigned(t *testing.T) {
	const (
		deployments = "/apis/apps/v1/namespaces/default/deployments/web"
		policies    = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/web"
		deployment  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: ` +
			`{metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: "nginx:1.27", ports: [{containerPort: 80}]}]}}}}`
		policy = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}}`
	)
	for name, tt := range map[string]struct {
		path    string
		applied []string // one after the other; the last one is shown
		stored  string   // a part of what is stored
		empty   string   // a field of the last one that is not stored, because it is empty
	}{
		"fields":                {path: deployments, applied: []string{deployment}, stored: "revisionHistoryLimit: 10"},
		"a default of a key":    {path: deployments, applied: []string{deployment}, stored: "protocol: TCP"},
		"a list that is atomic": {path: policies, applied: []string{policy}, stored: "protocol: TCP"},
		"a default is written later": {
			path: deployments, applied: []string{deployment, strings.Replace(deployment, "spec: {", "spec: {replicas: 1, ", 1)}, stored: "replicas: 1",
		},
		"another item of a list": {
			path: policies, applied: []string{policy, strings.Replace(policy, "{port: 80}", "{port: 80}, {port: 81, protocol: TCP}", 1)},
			stored: "policyTypes:",
		},
		"an object whose only field is empty": {
			path: deployments, applied: []string{strings.Replace(deployment, "containers:", `volumes: [{name: v, emptyDir: {medium: ""}}], containers:`, 1)},
			stored: "emptyDir: {}", empty: `medium: ""`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster.NewCluster(nil, cluster.Ticks())
			recorder := &cluster.Recorder{Cluster: c}
			for _, body := range tt.applied {
				r, err := http.NewRequest(http.MethodPatch, tt.path+"?fieldManager=test", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/apply-patch+yaml")
				answer, err := recorder.RoundTrip(r)
				if err != nil || answer.StatusCode >= 300 {
					t.Fatal(answer, err)
				}
			}
			o := c.Objects[c.Order[0]]
			if text, err := yaml.Marshal(o.Object); err != nil || !strings.Contains(string(text), tt.stored) {
				t.Errorf("%s is not stored: %s, %v", tt.stored, text, err)
			}
			want := map[string]any{}
			if err := yaml.Unmarshal([]byte(strings.Replace(tt.applied[len(tt.applied)-1], tt.empty, "", 1)), &want); err != nil {
				t.Fatal(err)
			}
			shown := c.WithoutAssigned(o).Object
			if diff := cmp.Diff(jsonOf(t, want["spec"]), jsonOf(t, shown["spec"])); diff != "" || shown["status"] != nil {
				t.Errorf("-applied +shown:\n%s%v", diff, shown["status"])
			}
		})
	}
}

func jsonOf(t *testing.T, value any) any {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
