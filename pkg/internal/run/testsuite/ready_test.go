package testsuite

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// TestReadyStatus requires that an object with the status of readyStatus is ready by the
// rule of its kind in direct/ready.jq.
func TestReadyStatus(t *testing.T) {
	text, err := os.ReadFile("../../operator/plan/direct/ready.jq")
	if err != nil {
		t.Fatal(err)
	}
	query, err := gojq.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range query.FuncDefs {
		i := strings.LastIndex(d.Name, "_")
		if i < 0 {
			continue
		}
		apiVersion := strings.TrimPrefix(strings.ReplaceAll(d.Name[:i], "_", ".")+"/v1", "core/")
		t.Run(d.Name, func(t *testing.T) {
			object := map[string]any{
				"apiVersion": apiVersion, "kind": d.Name[i+1:],
				"metadata": map[string]any{"name": "a", "generation": 2}, "spec": map[string]any{"type": "LoadBalancer"},
			}
			object["status"] = ReadyStatus(object)
			if why := unready(t, string(text), d.Name, object); why != "" {
				t.Errorf("with the status %v: %s", object["status"], why)
			}
		})
	}
}

// unready evaluates the rule of a kind.
func unready(t *testing.T, text, rule string, object map[string]any) string {
	t.Helper()
	replaced := strings.NewReplacer("hole::rule", rule, "hole::readyWhen", "true", "option::reportsStatus", "false").Replace(text)
	query, err := gojq.Parse(replaced)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := query.Run(plain(t, object)).Next()
	why, ok := value.(string)
	if !ok {
		t.Fatalf("%s yields %v", rule, value)
	}
	return why
}

// plain returns an object as decoded from JSON.
func plain(t *testing.T, object map[string]any) any {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
