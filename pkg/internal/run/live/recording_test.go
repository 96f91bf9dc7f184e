package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// story feeds a recorder with the changes that an API server reports.
type story struct {
	t       *testing.T
	r       *recorder
	now     map[string]*unstructured.Unstructured // by kind and name
	refuses bool
	pending int
}

func newStory(t *testing.T) *story {
	s := &story{t: t, now: map[string]*unstructured.Unstructured{}}
	o := newObjects(nil, func(Message) {})
	o.operators = map[schema.GroupKind]primary{{Group: "example.com", Kind: "Web"}: {operator: "web"}}
	o.names = map[string]bool{"web": true}
	s.r = &recorder{objects: o, refuses: func() int {
		if s.refuses {
			return 503
		}
		return 0
	}, pending: func() int { return s.pending }, removed: map[string]bool{}}
	o.follow(s.r.follow)
	return s
}

// resources of the kinds in the stories.
var resources = map[string]schema.GroupVersionResource{
	"Web":        {Group: "example.com", Version: "v1", Resource: "webs"},
	"Deployment": {Group: "apps", Version: "v1", Resource: "deployments"},
	"ConfigMap":  {Version: "v1", Resource: "configmaps"},
}

// has reports that an object was created or changed, by the program manager.
func (s *story) has(manager, text string) {
	s.t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		s.t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: fields}
	data, err := o.MarshalJSON() // integers become int64
	if err == nil {
		err = o.UnmarshalJSON(data)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	key := o.GetKind() + " " + o.GetName()
	old := s.now[key]
	if o.GetUID() == "" {
		o.SetUID(types.UID(o.GetName() + "-uid"))
	}
	if o.GetKind() != "Web" && o.GetLabels() == nil {
		o.SetLabels(map[string]string{plan.OwnerUID: "shop-uid", plan.ManagedBy: "web"})
	}
	entry := map[string]any{"manager": manager, "operation": "Update", "time": time.Now().Format(time.RFC3339Nano)}
	if err := unstructured.SetNestedSlice(o.Object, []any{entry}, "metadata", "managedFields"); err != nil {
		s.t.Fatal(err)
	}
	s.now[key] = o
	s.r.objects.changed(cluster.Change{Resource: resources[o.GetKind()].GroupResource(), Old: old, New: o})
}

// gone reports that an object was deleted.
func (s *story) gone(key string) {
	s.t.Helper()
	old := s.now[key]
	if old == nil {
		s.t.Fatalf("there is no %s", key)
	}
	delete(s.now, key)
	s.r.objects.changed(cluster.Change{Resource: resources[old.GetKind()].GroupResource(), Old: old})
}

// rest lets time pass in which nothing happens.
func (*story) rest() { time.Sleep(2 * quiet) }

const (
	user       = "kubectl-edit"
	operator   = "web-sensor"
	controller = controllerManager
)

const (
	webObject = `{apiVersion: example.com/v1, kind: Web, metadata: {name: shop, namespace: default, labels: {team: a, argoperator.dev/x: z}, annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}, spec: {size: 1}}`
	webReady  = `{apiVersion: example.com/v1, kind: Web, metadata: {name: shop, namespace: default, labels: {team: a}}, spec: {size: 1},
  status: {observedGeneration: 1, url: http://shop, children: {web: {resourceVersion: "7"}}, conditions: [{type: Ready, status: "True", reason: Reconciled, message: all, lastTransitionTime: "2026-01-01T00:00:00Z"}, {type: Other, status: "True", reason: Other}]}}`
	webLarger  = `{apiVersion: example.com/v1, kind: Web, metadata: {name: shop, namespace: default, labels: {team: a}}, spec: {size: 2, color: red}}`
	deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop, namespace: default, uid: d1}, spec: {replicas: 1}}`
	ready      = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop, namespace: default, uid: d1}, spec: {replicas: 1}, status: {readyReplicas: 1}}`
	scaled     = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop, namespace: default, uid: d1}, spec: {replicas: 5}, status: {readyReplicas: 1}}`
	broken     = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop, namespace: default, uid: d1}, spec: {replicas: 1}, status: {readyReplicas: 0, unavailableReplicas: 1}}`
)

// created tells how a Web becomes ready.
func created(s *story) {
	s.has(user, webObject)
	s.has(operator, deployment)
	s.rest()
	s.has(controller, ready)
	s.has(operator, webReady)
	s.rest()
}

const createdYAML = `apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: mine}
spec:
  resource:
    object:
      apiVersion: example.com/v1
      kind: Web
      metadata:
        labels:
          team: a
        name: shop
        namespace: default
      spec:
        size: 1
  steps:
  - name: create the Web
    create: {}
    expect:
      children:
      - kind: Deployment
        metadata:
          name: shop
  - name: Deployment shop is ready
    ready:
      kind: Deployment
      name: shop
    expect:
      children:
      - kind: Deployment
        metadata:
          name: shop
      status:
        conditions:
        - reason: Reconciled
          status: "True"
          type: Ready
        url: http://shop
`

func TestRecording(t *testing.T) {
	tests := []struct {
		name  string
		story func(*story)
		want  string // YAML after createdYAML
	}{
		{name: "a custom resource becomes ready", story: func(*story) {}},
		{
			name:  "somebody changes the custom resource",
			story: func(s *story) { s.has(user, webLarger) },
			want: `  - name: change spec.color, spec.size
    edit:
      spec:
        color: red
        size: 2
`,
		},
		{
			name: "somebody changes a child, and the operator restores it",
			story: func(s *story) {
				s.has(user, scaled)
				s.has(operator, ready)
			},
			want: `  - name: change Deployment shop by hand
    childEdit:
      kind: Deployment
      name: shop
      patch:
        spec:
          replicas: 5
`,
		},
		{
			name: "somebody deletes a child, and the operator creates it again",
			story: func(s *story) {
				s.gone("Deployment shop")
				s.has(operator, deployment)
			},
			want: `  - name: delete Deployment shop by hand
    childDelete:
      kind: Deployment
      name: shop
`,
		},
		{
			name:  "somebody writes a status",
			story: func(s *story) { s.has(user, broken) },
			want: `  - name: Deployment shop has another status
    childStatus:
      kind: Deployment
      name: shop
      status:
        readyReplicas: 0
        unavailableReplicas: 1
`,
		},
		{
			name: "a child becomes ready again in the second in which it was not",
			story: func(s *story) {
				s.has(user, webLarger)
				s.has(controller, broken)
				s.has(controller, ready)
			},
			want: `  - name: change spec.color, spec.size
    edit:
      spec:
        color: red
        size: 2
  - name: Deployment shop is ready (2)
    ready:
      kind: Deployment
      name: shop
`,
		},
		{
			name: "the operator replaces a child",
			story: func(s *story) {
				s.r.requested("DELETE", "/apis/apps/v1/namespaces/default/deployments/shop")
				s.gone("Deployment shop")
				s.has(operator, deployment)
				s.rest()
			},
		},
		{
			name: "somebody deletes a child that the operator replaced before",
			story: func(s *story) {
				s.r.requested("DELETE", "/apis/apps/v1/namespaces/default/deployments/shop")
				s.gone("Deployment shop")
				s.has(operator, deployment)
				s.rest()
				s.gone("Deployment shop")
			},
			want: `  - name: delete Deployment shop by hand
    childDelete:
      kind: Deployment
      name: shop
`,
		},
		{
			name: "time passes, and an event is delivered again",
			story: func(s *story) {
				s.r.act("time passes until the resync", "resync")
				s.r.act("the event is delivered again", "replay")
			},
			want: `  - name: time passes until the resync
    resync: {}
  - name: the event is delivered again
    replay: {}
`,
		},
		{
			name: "the API server refuses writes",
			story: func(s *story) {
				s.refuses = true
				s.has(user, webLarger)
			},
			want: `  - name: change spec.color, spec.size
    edit:
      spec:
        color: red
        size: 2
    refuse:
    - code: 503
      kind: Deployment
`,
		},
		{
			name: "a step that does not end has no expectation",
			story: func(s *story) {
				s.r.act("time passes until the resync", "resync")
				s.pending = 1
				s.rest()
			},
			want: `  - name: time passes until the resync
    resync: {}
`,
		},
		{
			name: "the same twice",
			story: func(s *story) {
				s.r.act("time passes until the resync", "resync")
				s.r.act("time passes until the resync", "resync")
			},
			want: `  - name: time passes until the resync
    resync: {}
  - name: time passes until the resync (2)
    resync: {}
`,
		},
		{
			name: "what is deleted is gone",
			story: func(s *story) {
				s.gone("Web shop")
				s.gone("Deployment shop")
				s.rest()
			},
			want: `  - name: delete the Web
    delete: {}
    expect:
      gone: true
`,
		},
		{
			name: "what happens to other objects is no step",
			story: func(s *story) {
				s.has(user, strings.ReplaceAll(webObject, "shop", "other"))
				s.has(user, `{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign, namespace: default, uid: c1, labels: {a: b}}}`)
				s.gone("ConfigMap foreign")
				s.rest()
			},
		},
		{
			name: "controllers and operators change children all the time",
			story: func(s *story) {
				s.has(controller, broken)
				s.has(operator, scaled)
				s.has(controller, deployment)
				s.rest()
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStory(t)
				created(s)
				test.story(s)
				got, err := s.r.recording("mine")
				if err != nil {
					t.Fatal(err)
				}
				want := createdYAML + test.want
				if d := cmp.Diff(want, got.YAML); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				if n := strings.Count(want, "\n  - "); n != len(got.Steps) {
					t.Errorf("%d steps, want %d: %v", len(got.Steps), n, got.Steps)
				}
			})
		})
	}
}

// TestRecordingStartsOver drops what was recorded and records the next custom resource.
func TestRecordingStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t)
		s.r.act("time passes until the resync", "resync") // nothing is recorded without a custom resource
		created(s)
		s.r.drop()
		if got, err := s.r.recording("mine"); err != nil || got.YAML != "" || len(got.Steps) != 0 {
			t.Errorf("%v %+v", err, got)
		}
		s.has(user, strings.ReplaceAll(webObject, "shop", "other"))
		got, err := s.r.recording("mine")
		if err != nil || len(got.Steps) != 1 || !strings.Contains(got.YAML, "name: other") {
			t.Errorf("%v %+v", err, got)
		}
	})
}

// TestRecordingGoesOn records what happens to a custom resource that was there before.
func TestRecordingGoesOn(t *testing.T) {
	steps := func(s *story) (names string) {
		got, err := s.r.recording("mine")
		if err != nil {
			s.t.Fatal(err)
		}
		if !strings.Contains(got.YAML, "      kind: Web\n") || !strings.Contains(got.YAML, "        size: 1\n") {
			s.t.Errorf("it does not begin with the Web as it was:\n%s", got.YAML)
		}
		for _, step := range got.Steps {
			names += step.Name + "; "
		}
		return names
	}
	tests := map[string]struct {
		story func(*story)
		want  string
	}{
		"change":         {func(s *story) { s.has(user, webLarger) }, "create the Web; change spec.color, spec.size; "},
		"delete":         {func(s *story) { s.gone("Web shop") }, "create the Web; delete the Web; "},
		"delete a child": {func(s *story) { s.gone("Deployment shop") }, "create the Web; delete Deployment shop by hand; "},
		"events are lost": {func(s *story) {
			s.has(user, webLarger)
			s.r.end("events were lost")
			s.has(user, webReady)
			if got, err := s.r.recording("mine"); err != nil || got.Ended != "events were lost" {
				s.t.Errorf("%v %q", err, got.Ended)
			}
		}, "create the Web; change spec.color, spec.size; "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStory(t)
				created(s)
				s.r.drop()
				test.story(s)
				if got := steps(s); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

func TestRecordingSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t)
		settle := func() time.Duration {
			start := time.Now()
			s.r.settle(t.Context())
			return time.Since(start)
		}
		if took := settle(); took != 0 {
			t.Errorf("before anything happens: %v", took)
		}
		s.has(user, webObject)
		if took := settle(); took != quiet {
			t.Errorf("after a change: %v, want %v", took, quiet)
		}
		s.pending = 1
		if took := settle(); took != settling {
			t.Errorf("while events wait: %v, want %v", took, settling)
		}
	})
}
