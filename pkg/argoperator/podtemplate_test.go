package argoperator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// podTemplate is an install.podTemplate with each of its fields.
const podTemplate = `    podTemplate:
      metadata: {labels: {team: "marked"}, annotations: {note: "marked"}}
      nodeSelector: {pool: "marked"}
      tolerations: [{key: "marked", operator: Exists}]
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: ["marked"]}]}]}}}
      imagePullSecrets: [{name: "marked"}]
      priorityClassName: "marked"
`

// TestPodTemplate requires that every object that makes pods has all of install.podTemplate,
// on each engine, and no other object, apart from the policies about Workflows.
func TestPodTemplate(t *testing.T) {
	const fields = 7
	makesPods := map[string]bool{"EventSource": true, "Sensor": true, "Deployment": true, "WorkflowTemplate": true, "CronWorkflow": true, "EventBus": true}
	seen := map[string]bool{}
	for _, name := range []string{
		"examples/memcached", "examples/cronjob", "examples/memcached-logic", "examples/memcached-tutorial", "examples/configwatcher",
	} {
		dir := filepath.Join(root, name)
		data, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		install := "\n  install:\n    eventBus: {name: own, mode: managed}\n" + podTemplate
		text := string(data)
		if before, after, found := strings.Cut(text, "\n  install:\n"); found {
			text = before + "\n  install:\n" + podTemplate + after
		} else {
			text = strings.Replace(text, "\nspec:", "\nspec:"+strings.TrimSuffix(install, "\n"), 1)
		}
		result, err := argoperator.Generate([]argoperator.Source{{Name: name, Data: []byte(text), Dir: os.DirFS(dir)}}, argoperator.Options{})
		if err != nil || result.Findings.HasErrors() {
			t.Fatal(name, err, result.Findings)
		}
		for _, o := range result.Objects() {
			kind := o.GetObjectKind().GroupVersionKind().Kind
			data, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			found := strings.Count(string(data), `"marked"`)
			switch {
			case makesPods[kind] && found != fields:
				t.Errorf("%s: %s %s has %d of %d fields", name, kind, o.GetName(), found, fields)
			case !makesPods[kind] && kind != "ValidatingAdmissionPolicy" && found > 0:
				t.Errorf("%s: %s %s has fields of the pods", name, kind, o.GetName())
			}
			seen[kind] = true
		}
	}
	for kind := range makesPods {
		if !seen[kind] {
			t.Errorf("no example has the kind %s", kind)
		}
	}
}
