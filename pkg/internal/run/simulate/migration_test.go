package simulate

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestMigration applies the manifests of another engine and keeps all objects of the old one: the
// new engine must keep the objects, repair them, update them for the custom resource, and delete
// them with it. No request may fail. What else is left over does no harm.
func TestMigration(t *testing.T) {
	t.Parallel()
	const (
		metadata  = `metadata: {name: "${ .metadata.name }"}`
		configMap = "template: {apiVersion: v1, kind: ConfigMap, " + metadata + `, data: {v: "${ .spec.v }"}}`
	)
	for name, child := range map[string]string{
		"one object":                             configMap,
		"one for each item":                      "forEach: .spec.names // []\n    " + strings.Replace(configMap, ".metadata.name", ".metadata.name }-${ $item", 1),
		"in another namespace":                   strings.Replace(configMap, metadata, `metadata: {name: "${ .metadata.namespace }-${ .metadata.name }", namespace: other}`, 1),
		"replaced if an immutable field changes": "update: Recreate\n    " + strings.Replace(configMap, " data:", " immutable: true, data:", 1),
	} {
		version := func(engine string) argoperator.Result {
			return widgets(t, strings.NewReplacer("ENGINE", engine, "CHILD", child).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: widgets}
spec:
  api: {group: acme.io, kind: Widget, versions: [{name: v1, schema: {spec: {v: string, names: "[]string"}}}]}
  reconcile: {engine: ENGINE}
  children:
  - name: child
    CHILD
`))
		}
		for _, to := range []string{"direct", "worker", "workflow"} {
			for _, from := range []string{"direct", "worker", "workflow"} {
				if from == to {
					continue
				}
				t.Run(name+" from "+from+" to "+to, func(t *testing.T) {
					t.Parallel()
					migrate(t, version("direct"), version(from), version(to))
				})
			}
			t.Run(name+" from two Sensors to "+to, func(t *testing.T) {
				t.Parallel()
				migrate(t, version("direct"), withTwoSensors(version("direct")), version(to))
			})
		}
	}
}

const second = "widgets-2"

// withTwoSensors moves the triggers of direct to a second Sensor, as earlier versions did with what
// one has no room for. It stays, and goes on, after an upgrade.
func withTwoSensors(r argoperator.Result) argoperator.Result {
	for i, o := range r.Operators {
		for _, object := range o.Objects {
			sensor, ok := object.(*eventsv1.Sensor)
			if !ok {
				continue
			}
			further := sensor.DeepCopy()
			further.Name = second
			further.Spec.Triggers = slices.DeleteFunc(further.Spec.Triggers, isHeartbeat)
			sensor.Spec.Triggers = slices.DeleteFunc(sensor.Spec.Triggers, func(t eventsv1.Trigger) bool { return !isHeartbeat(t) })
			r.Operators[i].Objects = append(o.Objects, further)
		}
	}
	return r
}

// withKind returns an operator with the CustomResourceDefinition of another.
func withKind(r, kind argoperator.Result) argoperator.Result {
	isKind := func(o manifest.Object) bool {
		return o.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition"
	}
	for i, o := range r.Operators {
		r.Operators[i].Objects = slices.DeleteFunc(slices.Clone(o.Objects), isKind)
		for _, object := range kind.Objects() {
			if isKind(object) {
				r.Operators[i].Objects = append(r.Operators[i].Objects, object)
			}
		}
	}
	return r
}

func hasSecond(r argoperator.Result) bool {
	return slices.ContainsFunc(r.Objects(), func(o manifest.Object) bool { return o.GetName() == second })
}

func isHeartbeat(t eventsv1.Trigger) bool { return t.Template.Name == "heartbeat" }

func migrate(t *testing.T, kind, from, to argoperator.Result) {
	t.Helper()
	s, err := New(Inputs{Objects: from.Objects(), Kinds: from.Kinds(), Runner: local()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, s.Close()) }()
	cr := map[string]any{
		"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"v": "1", "names": []any{"x", "y"}},
	}
	apply(t, s, cr)
	made, _ := childrenOf(s)
	steps := len(s.Trace())
	if hasSecond(from) { // it removes the finalizer of a custom resource whose observed state is pruned
		to = withKind(to, kind)
	}
	s.upgrade(t, to)
	if now, _ := childrenOf(s); len(made) == 0 || !maps.Equal(now, made) {
		t.Errorf("%v after the upgrade, want %v", now, made)
	}
	cr["spec"].(map[string]any)["v"] = "2"
	apply(t, s, cr)
	changed, current := childrenOf(s)
	if len(changed) != len(made) || !current {
		t.Errorf("%v after a change, before %v; current: %t", changed, made, current)
	}
	for k, o := range s.cluster.Objects {
		if o.GetLabels()["argoperator.dev/child"] != "" {
			must(t, s.Delete(o.Object))
			settle(t, s)
			if _, back := s.cluster.Objects[k]; !back {
				t.Errorf("%v does not come back", k)
			}
			break
		}
	}
	failures := s.Trace()[steps:].Failures()
	must(t, s.Resync(context.Background()))
	settle(t, s)
	steps = len(s.Trace())
	if now, err := s.Get(cr); err != nil || at(now, "status.conditions.0.status") != "True" {
		t.Errorf("the status is %v, %v", at(now, "status"), err)
	}
	must(t, s.Delete(cr))
	settle(t, s)
	if now, _ := childrenOf(s); len(now) > 0 {
		t.Errorf("%v after the deletion", now)
	}
	if left, err := s.Get(cr); left != nil || err != nil {
		t.Errorf("the custom resource stays: %v, %v", left, err)
	}
	if !hasSecond(from) { // which may delete first
		failures = append(failures, s.Trace()[steps:].Failures()...)
	}
	for _, f := range failures {
		if !f.Conflict { // by which direct learns of an object
			t.Error(f.Text)
		}
	}
}
