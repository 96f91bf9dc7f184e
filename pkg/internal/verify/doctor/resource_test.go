package doctor

import (
	"strings"
	"testing"
	"time"
)

const deployed = `"status":{"conditions":[{"type":"Deployed","status":"True"}]}`

// working returns a cluster in which the operator of a Page works, and one page has the given status.
func working(metadata, status string) cluster {
	return cluster{
		{"get page/one", `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"one","namespace":"team","uid":"u1","generation":2` + metadata + `},"status":` + status + `}`},
		{"--raw", `{"resources":[{"name":"pages/status","kind":"Page"},{"name":"pages","kind":"Page"}]}`},
		{"get eventsources", items(`{"metadata":{"name":"page","namespace":"argo-events","labels":{"app.kubernetes.io/name":"page"},"annotations":{"argoperator.dev/last-received-page":"2026-03-02T09:59:00Z"}},
			"spec":{"resource":{"page":{"group":"example.com","version":"v1","resource":"pages"},"child-deployments":{"group":"apps","version":"v1","resource":"deployments","filter":{"labels":[{"key":"app.kubernetes.io/managed-by","operation":"==","value":"page"}]}}}},` + deployed + `}`)},
		{"get eventbus", `{"metadata":{"name":"default"},"spec":{"jetstream":{}},` + deployed + `}`},
		{"get sensors", items(`{"metadata":{"name":"page"},"spec":{"dependencies":[{"name":"page","eventSourceName":"page","eventName":"page"}]},`+deployed+`}`, `{"metadata":{"name":"other"},"spec":{"dependencies":[]}}`)},
		{"get deployments -n argo-events", items()},
		{"get clusterroles", items(role("ClusterRole", "argo-events:page-sensor"), role("ClusterRole", "pages.example.com:view"), binding("ClusterRole", "argo-events:page-sensor"))},
		{"logs", `{"level":"info","msg":"subscribed"}` + "\nno JSON\n"},
		{"get workflows", "!error: the server doesn't have a resource type"},
		{"get pods", items(pod(`"ready":true,"state":{"running":{}}`))},
		{"get deployments.apps -A", items(`{"kind":"Deployment","metadata":{"name":"one","namespace":"team","ownerReferences":[{"uid":"u1"}]},"spec":{"replicas":2},"status":{"replicas":2,"updatedReplicas":2,"readyReplicas":2}}`)},
		{"get events -n", items()},
	}
}

func role(kind, name string) string {
	return `{"kind":"` + kind + `","metadata":{"name":"` + name + `"}}`
}

func binding(kind, name string) string {
	return `{"kind":"` + kind + `Binding","metadata":{"name":"b"},"roleRef":{"kind":"` + kind + `","name":"` + name + `"}}`
}

func pod(container string) string {
	return `{"metadata":{"name":"p"},"status":{"phase":"Running","containerStatuses":[{"name":"main","restartCount":3,` + container + `}]}}`
}

func notReady(reason, message string) string {
	return `{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False","reason":"` + reason + `","message":"` + message + `","lastTransitionTime":"2026-03-02T09:50:00Z"}]}`
}

func TestDiagnose(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	ready := `{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","message":"all children are ready (1)"}]}`
	waits := notReady("Progressing", "not ready: deployment: readyReplicas is 0 of 1")
	child := func(status string) string {
		return items(`{"kind":"Deployment","metadata":{"name":"one","namespace":"team","ownerReferences":[{"uid":"u1"}]},"spec":{"selector":{"matchLabels":{"app":"one"}}},"status":`+status+`}`,
			`{"kind":"Deployment","metadata":{"name":"two","namespace":"team","ownerReferences":[{"uid":"u2"}]},"status":{"conditions":[{"type":"Available","status":"False"}]}}`)
	}
	for _, tt := range []struct {
		reason  string
		cluster cluster
		want    string // checks that are not ok
	}{
		{"all is well", working("", ready), ""},
		{"a name that does not exist", cluster{{"get page/one", "!Error from server (NotFound): pages.example.com \"one\" not found"}}, "Resource: Error from server (NotFound): pages.example.com \"one\" not found → name its namespace with -n: kubectl get page -A"},
		{"a kind that does not exist", cluster{{"get page/one", "!error: the server doesn't have a resource type \"page\""}}, "Resource: error: the server doesn't have a resource type \"page\" → install the operator: argoperator generate -f PATH | kubectl apply -f -"},
		{"quota", working("", notReady("Failed", "deployment: exceeded quota: few")), "Ready: Failed, 10m0s ago: deployment: exceeded quota: few → raise the ResourceQuota, or delete what fills it; then start a resync: " + resyncPage},
		{"a policy", working("", notReady("FinalizerRejected", `the API server rejected the finalizer: pages.example.com \"one\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no`)), "Ready: FinalizerRejected, 10m0s ago: the API server rejected the finalizer: pages.example.com \"one\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no → ask the owner of the policy or the webhook that the message names"},
		{"a right", working("", notReady("Failed", `web: deployments.apps is forbidden: User \"s\" cannot create resource`)), "Ready: Failed, 10m0s ago: web: deployments.apps is forbidden: User \"s\" cannot create resource → apply the manifests of the operator again, then start a resync: " + resyncPage},
		{"a program", working("", notReady("ReconcileFailed", "logic: KeyError; see deployment argo-events/page-worker\\nmore")), "Ready: ReconcileFailed, 10m0s ago: logic: KeyError; see deployment argo-events/page-worker … → correct the program or the custom resource; the message says where the program's log is"},
		{
			"a rejected change beside a child that starts", working("", notReady("Failed", "web: no such field")).with("get deployments.apps -A", child(`{}`)).
				with("-l app=one", items(pod(`"ready":false,"state":{"running":{}}`))),
			"Ready: Failed, 10m0s ago: web: no such field → correct the custom resource or the definition, as the message says, " +
				"Pods of Deployment team/one: pod p: container main is not ready → kubectl logs -n team p -c main",
		},
		{"a child without pods", working("", ready).with("get deployments.apps -A", child(`{}`)).with("-l app=one", items()), ""},
		{"paused", working(`,"annotations":{"argoperator.dev/paused":"true"},"managedFields":[{"manager":"kubectl-annotate","time":"2026-03-02T09:55:00Z","fieldsV1":{"f:metadata":{"f:annotations":{"f:argoperator.dev/paused":{}}}}}]`, ready), "Paused: an annotation of kubectl-annotate, 5m0s ago, stops the operator: it does not write to the custom resource or its children → to resume: kubectl annotate -n team pages.example.com/one argoperator.dev/paused-"},
		{"a finalizer of somebody else", working(`,"deletionTimestamp":"2026-03-02T09:00:00Z","finalizers":["page.argoperator.dev/f","other.com/hold"],"managedFields":[{"manager":"keeper","time":"2026-03-02T08:00:00Z","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"other.com/hold\"":{}}}}}]`, ready), "Deletion: began 1h0m0s ago; waits for the finalizer other.com/hold of keeper, 2h0m0s ago, which is not the operator's → ask who added it; a controller removes it when what it protects is safe"},
		{
			"the operator does not see a change", working(`,"creationTimestamp":"2026-03-02T09:00:00Z","managedFields":[{"manager":"page","subresource":"status","time":"2026-03-02T09:59:00Z"},{"manager":"kubectl","time":"2026-03-02T09:57:00Z"}]`, strings.Replace(ready, "2", "1", 1)),
			"Status: generation 2 is not reconciled; the status is about generation 1, and the last change was 3m0s ago, Ready: was True for generation 1",
		},
		{"no operator", working("", ready).with("get eventsources", items()), "Operator: no EventSource of argoperator watches pages → install the operator: argoperator generate -f PATH | kubectl apply -f -"},
		{"another namespace", working("", ready).with("get eventsources", items(`{"metadata":{"name":"page","namespace":"argo-events"},"spec":{"resource":{"page-a":{"group":"example.com","resource":"pages","namespace":"a"}}}}`)), "Operator: EventSource argo-events/page watches other namespaces only → add the namespace to install.watchNamespaces of the definition"},
		{"no bus", working("", ready).with("get eventbus", `!Error from server (NotFound): eventbus "default" not found`), "EventBus argo-events/default: does not exist, so no event arrives; each namespace with EventSources needs its own → create it, or set install: {eventBus: {mode: managed}} in the definition"},
		{"a Sensor that crashes", working("", ready).with("sensor-name=page", items(pod(`"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error"}}`))), "Sensor argo-events/page: pod p: container main failed, 4 times: exit code 1, Error → kubectl logs -n argo-events p -c main"},
		{"a Sensor without memory", working("", ready).with("sensor-name=page", items(strings.Replace(pod(`"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}`), `"status"`, `"spec":{"containers":[{"name":"main","resources":{"limits":{"memory":"12Mi"}}}]},"status"`, 1))), "Sensor argo-events/page: pod p: container main was OOMKilled, 4 times; its memory limit is 12Mi → kubectl describe pod -n argo-events p"},
		{"a Sensor without a pod", working("", ready).with("sensor-name=page", items()), "Sensor argo-events/page: no pod runs → kubectl get events -n argo-events --field-selector type=Warning"},
		{
			"a Sensor that lost its subscription", cluster{{"get eventsources", strings.Replace(working("", ready)[2][1], "09:59", "09:40", 1)}, working("", ready)[0], working("", ready)[1]}.join(working("", ready)),
			"Sensor argo-events/page: runs, but its last heartbeat over the EventBus was 20m0s ago → start a resync, or restart its pods: kubectl delete pods -n argo-events -l sensor-name=page",
		},
		{
			"a role that nothing binds", working("", ready).with("get clusterroles", items(role("ClusterRole", "argo-events:page-sensor"), binding("Role", "argo-events:page-sensor"))),
			"Permissions: nothing binds the ClusterRole argo-events:page-sensor, so the operator cannot do its work → apply the manifests of the operator again, then start a resync: " + resyncPage,
		},
		{
			"a Sensor whose triggers fail", working("", ready).with("logs", `{"level":"error","ts":"2026-03-02T09:59:30Z","triggerName":"child-web","error":"http response status 403 is not allowed"}`),
			"Log of Sensor page: 30s ago, trigger child-web: http response status 403 is not allowed",
		},
		{
			"a wrong image", working("", waits).with("get deployments.apps -A", child(`{"conditions":[{"type":"Available","status":"False","message":"Deployment does not have minimum availability."}]}`)).
				with("-l app=one", items(pod(`"state":{"waiting":{"reason":"ImagePullBackOff","message":"not found"}}`))),
			"Pods of Deployment team/one: pod p: container main: ImagePullBackOff: not found → kubectl describe pod -n team p, " +
				"Ready: Progressing, 10m0s ago: not ready: deployment: readyReplicas is 0 of 1, " +
				"Deployment team/one: Available is False: Deployment does not have minimum availability. → kubectl describe deployment one -n team",
		},
		{"conditions that are false if all is well", working("", ready).with("get deployments.apps -A", child(`{"conditions":[{"type":"Suspended","status":"False"},{"type":"ScalingLimited","status":"False"},{"type":"Degraded","status":"False"},{"type":"Progressing","status":"Unknown"}]}`)), ""},
		{
			"a Workflow that nobody begins", working("", ready).with("get workflows", items(`{"kind":"Workflow","metadata":{"name":"w","namespace":"argo-events","creationTimestamp":"2026-03-02T09:00:00Z"},"spec":{"arguments":{"parameters":[{"name":"key","value":"team.one"}]}}}`)),
			"Workflow argo-events/w: no controller has begun it → check that Argo Workflows runs, and watches this namespace",
		},
		{
			"an Event", working("", ready).with("get events -n", items(`{"lastTimestamp":"2026-03-02T09:58:00Z","reason":"FailedCreate","message":"no room","involvedObject":{"kind":"ReplicaSet","name":"one-5"}}`,
				`{"lastTimestamp":"2026-03-02T08:58:00Z","reason":"Old","message":"old","involvedObject":{"name":"one"}}`)),
			"Warnings: 2m0s ago, ReplicaSet one-5, FailedCreate: no room",
		},
	} {
		var got []string
		for _, c := range Diagnose(t.Context(), tt.cluster.ask, "page/one", "", now).Checks {
			if c.State != OK {
				got = append(got, strings.TrimSuffix(c.Name+": "+c.Message+" → "+c.Fix, " → "))
			}
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.reason, text, tt.want)
		}
	}
}

// join adds answers for what a cluster does not know.
func (c cluster) join(other cluster) cluster { return append(c, other...) }
