package simulate

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestManyPeers changes one object that many custom resources refer to. Each is reconciled once
// and has nothing to write, which is no loop.
func TestManyPeers(t *testing.T) {
	t.Parallel()
	s, err := New(Inputs{Runner: local(), Objects: widgets(t, `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: peers}
spec:
  api: {existing: {version: v1, kind: ConfigMap, labelSelector: {matchLabels: {peer: "yes"}}}}
  reconcile: {engine: workflow}
  related: [{name: shared, apiVersion: v1, kind: Service, names: [shared]}]
  children:
  - name: account
    template: {apiVersion: v1, kind: ServiceAccount, metadata: {name: "${ .metadata.name }-${ if $related.shared then error(\"no\") else \"a\" end }"}}
`).Objects()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		apply(t, s, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
			"name": fmt.Sprintf("p%d", i), "namespace": "shop", "labels": map[string]any{"peer": "yes"},
		}})
	}
	before := len(s.Trace())
	shared := map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "shared", "namespace": "shop"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	}
	if err := s.Apply(shared); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, step := range s.Trace()[before:] {
		if step.Workflow != nil && strings.HasSuffix(step.Workflow.Origin.Name, "reconcile") {
			runs++
		}
	}
	if runs != 16 {
		t.Errorf("%d reconciles", runs)
	}
}
