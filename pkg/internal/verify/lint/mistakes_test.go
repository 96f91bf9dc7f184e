package lint

import (
	"strings"
	"testing"
)

// TestMistakes has parts of a Workflow with one mistake each, and what lint says of them.
func TestMistakes(t *testing.T) {
	const head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: w-, namespace: events}\nspec:\n  entrypoint: main\n"
	const work = "  templates:\n  - name: main\n    container: {image: 'busybox:1.36', command: [echo]}\n"
	const steps = "  templates:\n  - {name: work, container: {image: 'busybox:1.36', command: [echo]}}\n  - name: main\n"
	for part, want := range map[string]string{
		"  podMetadata: {labels: {team: 'a b'}}\n" + work:                                                                             `labels: Invalid value: "a b"`,
		"  podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}\n" + work:                                                        "cannot be both set",
		"  podSpecPatch: '{\"nodeSelectors\": {}}'\n" + work:                                                                          `unknown field "nodeSelectors"`,
		"  podSpecPatch: 'containers: [{'\n" + work:                                                                                   "reading podSpecPatch",
		"  volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [RWO], resources: {requests: {storage: 1Gi}}}}]\n" + work: `Unsupported value: "RWO"`,
		"  volumeClaimGC: {strategy: Always}\n" + work:                                                                                "there is no strategy Always",
		work + "    retryStrategy: {limit: 2, backoff: {duration: 1m, maxDuration: 30s}}\n":                                           "before the first retry",
		work + "    metadata: {labels: {team: '{{workflow.name}}'}}\n":                                                                "",
		work + "    retryStrategy: {limit: 2, expression: 'lastRetry.state == \"Failed\"'}\n":                                         "there is no lastRetry.state",
		steps + "    steps: [[{name: a, template: work, withSequence: {start: '1'}}]]\n":                                              "the sequence has no end",
		steps + "    dag: {tasks: [{name: a, template: work}, {name: b, template: work, depends: 'a,'}]}\n":                           `unexpected token Operator(",")`,
		"  synchronization: {mutexes: [{name: m}]}\n" + work:                                                                          "",
		steps + "    synchronization: {mutexes: [{name: m}]}\n    steps: [[{name: a, template: locked}]]\n" +
			"  - {name: locked, suspend: {}, synchronization: {mutexes: [{name: m}]}}\n": "template main holds the mutex m",
		steps + "    steps: [[{name: a, template: work, hooks: {exit: {template: note}}}]]\n" +
			"  - {name: note, inputs: {parameters: [{name: p}]}, suspend: {}}\n": "template note needs the argument p",
	} {
		var found []string
		for _, f := range lintText(t, "w.yaml", head+part, nil) {
			found = append(found, f.Message)
		}
		if len(found) > 1 || len(found) == 0 && want != "" || len(found) == 1 && (want == "" || !strings.Contains(found[0], want)) {
			t.Errorf("%s: found %q, want %q", part, found, want)
		}
	}
}
