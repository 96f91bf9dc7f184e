package argoperator_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

// TestHealth runs the program of docs/how-to/gitops.md as Argo CD does: obj is a
// custom resource, and the result is a table with status and message.
func TestHealth(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```lua\n")
	program, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("the page has no program")
	}
	for _, tt := range []struct{ reason, object, want string }{
		{"new", "metadata: {generation: 1}", "Progressing: waiting for the operator"},
		{"rolling out", "{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: 'False', reason: NotReady, message: deployment is not ready}]}}", "Progressing: deployment is not ready"},
		{"ready", "{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Other, status: 'False'}, {type: Ready, status: 'True', message: all is well}]}}", "Healthy: all is well"},
		{"ready before the last change", "{metadata: {generation: 3}, status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}}", "Progressing: waiting for the operator"},
		{"failed, direct engine", "{metadata: {generation: 1}, status: {conditions: [{type: Ready, status: 'False', reason: Failed, message: 'deployment: quota'}]}}", "Degraded: deployment: quota"},
		{"failed, in a pod", "{metadata: {generation: 1}, status: {conditions: [{type: Ready, status: 'False', reason: ReconcileFailed, message: boom}, {type: Stalled, status: 'True'}]}}", "Degraded: boom"},
		{"deleted", "{metadata: {generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {conditions: [{type: Ready, status: 'True'}]}}", "Progressing: being deleted"},
		{"paused", "{metadata: {generation: 2, annotations: {argoperator.dev/paused: 'true'}}, status: {observedGeneration: 1}}", "Suspended: paused"},
		{"no longer paused", "{metadata: {generation: 1, annotations: {argoperator.dev/paused: 'false'}}, status: {conditions: [{type: Ready, status: 'True'}]}}", "Healthy: "},
		{"kind without generations", "{metadata: {}, status: {conditions: [{type: Ready, status: 'True'}]}}", "Healthy: "},
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(tt.object), &object); err != nil {
			t.Fatal(err)
		}
		state := lua.NewState()
		state.SetGlobal("obj", tableOf(state, object))
		if err := state.DoString(program); err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		health, ok := state.Get(-1).(*lua.LTable)
		if !ok {
			t.Fatalf("%s: the result is not a table", tt.reason)
		}
		if got := health.RawGetString("status").String() + ": " + health.RawGetString("message").String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
		state.Close()
	}
}

// TestIgnoredDifferences requires that the paths which Argo CD ignores exist, that they remove
// all fields that the operator writes at run time, and that they keep all applied
// fields.
func TestIgnoredDifferences(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	block, _, _ := strings.Cut(rest, "```")
	var application struct {
		Spec struct {
			IgnoreDifferences []struct {
				Kind  string
				Paths []string `json:"jqPathExpressions"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(block), &application); err != nil || len(application.Spec.IgnoreDifferences) != 2 {
		t.Fatalf("%+v %v", application, err)
	}
	for object, want := range map[string]string{
		`{"metadata":{"annotations":{"mine":"x","argoperator.dev/last-received-a":"1"}},"spec":{"template":{"metadata":{"annotations":{"argoperator.dev/resync":"1"}},"serviceAccountName":"a"}}}`: `{"metadata":{"annotations":{"mine":"x"}},"spec":{"template":{"metadata":{},"serviceAccountName":"a"}}}`,
		`{"metadata":{},"spec":{"template":{"serviceAccountName":"a"}}}`: `{"metadata":{},"spec":{"template":{"serviceAccountName":"a"}}}`,
	} {
		for _, path := range application.Spec.IgnoreDifferences[0].Paths {
			query, err := gojq.Parse("delpaths([path(" + path + ")])")
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := json.Unmarshal([]byte(object), &value); err != nil {
				t.Fatal(err)
			}
			result, ok := query.Run(value).Next()
			if err, failed := result.(error); failed || !ok {
				t.Fatalf("%s: %v", path, err)
			}
			data, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			object = string(data)
		}
		if object != want {
			t.Errorf("%s remains, want %s", object, want)
		}
	}
}

// tableOf returns a value as a Lua table.
func tableOf(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, inner := range v {
			table.RawSetString(key, tableOf(state, inner))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, inner := range v {
			table.Append(tableOf(state, inner))
		}
		return table
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	}
	return lua.LNil
}
