package lint

import (
	"strings"
	"testing"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
)

// messagesOf returns what lint finds in a text.
func messagesOf(t *testing.T, text string) string {
	t.Helper()
	var found []string
	for _, f := range lintText(t, "w.yaml", text, nil) {
		found = append(found, f.Message)
	}
	return strings.Join(found, "; ")
}

// workflowHead begins a Workflow, and busy is a template that runs.
const (
	workflowHead = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: w-, namespace: events}\nspec:\n  entrypoint: main\n"
	busy         = "container: {image: 'busybox:1.36', command: [echo]}"
)

// TestSettings covers settings of Workflows that Argo accepts, with neighbours that work.
func TestSettings(t *testing.T) {
	const main = "  templates:\n  - name: main\n    "
	for part, want := range map[string]string{
		"  activeDeadlineSeconds: 0\n" + main + busy: "a deadline of 0 seconds ends the Workflow when it starts",
		"  activeDeadlineSeconds: 1\n" + main + busy: "",
		"  parallelism: 0\n" + main + busy:           "with a parallelism of 0, no pod starts",
		main + busy + "\n    timeout: 1d":            `"1d" is no duration`,
		main + busy + "\n    timeout: 90m":           "",
		main + "http: {url: '{{workflow.name}}/a'}":  "",
		main + "http: {url: 'https:///a'}":           "the URL does not begin with https:// or http://",
		main + "http: {method: GET}":                 "an http template needs a url",
		main + busy + "\n    outputs: {artifacts: [{name: a, path: /a, s3: {bucket: a/b, endpoint: 'c:1', key: d}}]}":                                                         "a bucket has a name, and the path in it is the key",
		main + busy + "\n    outputs: {artifacts: [{name: a, path: /a/*.txt}]}":                                                                                               "no shell replaces * in a path",
		main + busy + "\n    outputs: {parameters: [{name: a, valueFrom: {path: $HOME/a}}]}":                                                                                  "no shell replaces $HOME in a path",
		main + busy + "\n    outputs: {parameters: [{name: a, default: b, valueFrom: {path: /a}}]}":                                                                           "an output has no default beside valueFrom",
		main + busy + "\n    outputs: {parameters: [{name: a, valueFrom: {path: /a, default: b}}]}":                                                                           "",
		main + busy + "\n    metrics: {prometheus: [{name: a, help: b, gauge: {value: '{{duration}}s'}}]}":                                                                    "metric a: {{duration}}s is never a number",
		main + busy + "\n    metrics: {prometheus: [{name: a, help: b, gauge: {value: '{{duration}}e-3'}}]}":                                                                  "",
		main + busy + "\n    metrics: {prometheus: [{name: a, help: b, counter: {value: one}}]}":                                                                              "metric a: one is never a number",
		main + "container: {image: 'busybox:1.36', command: [echo], args: ['$NAME'], env: [{name: NAME, value: a}]}":                                                          "no shell replaces $NAME",
		main + "container: {image: 'busybox:1.36', command: [echo], args: ['$(NAME)'], env: [{name: NAME, value: a}]}":                                                        "",
		main + "container: {image: 'busybox:1.36', command: [sh, -c], args: ['$NAME'], env: [{name: NAME, value: a}]}":                                                        "",
		main + "script: {image: 'python:3.13', source: print(1)}":                                                                                                             "without a command, only an entrypoint of the image python:3.13 can run the script",
		main + "script: {image: 'python:3.13', source: '#!/usr/bin/env python'}":                                                                                              "",
		main + "script: {image: 'python:3.13', args: [python], source: print(1)}":                                                                                             "",
		main + "resource: {action: patch, mergeStrategy: merged, flags: [pod, a], manifest: '{a: b}'}":                                                                        "kubectl has no patch of type merged",
		main + "resource: {action: get, flags: [pod, a]}\n    outputs: {parameters: [{name: a, valueFrom: {jsonPath: '{.a'}}]}":                                               "a brace of the path has no other one",
		main + "resource: {action: get, flags: [pod, a]}\n    outputs: {parameters: [{name: a, valueFrom: {jqFilter: '.a |'}}]}":                                              "unexpected EOF",
		main + "steps: [[{name: a, inline: {resource: {action: create, manifest: '{apiVersion: example.com/v1, kind: A, Metadata: {name: a}}'}}}]]":                           "the manifest has no metadata, but Metadata",
		main + "container: {image: 'busybox:1.36', command: [echo, '{{workflow.labels.team}}']}":                                                                              "the Workflow has no label team, unless somebody adds it when it starts",
		"  workflowMetadata: {labelsFrom: {team: {expression: workflow.name}}}\n" + main + "container: {image: 'busybox:1.36', command: [echo, '{{=workflow.labels.team}}']}": "",
		"  synchronization: {mutexes: [{name: '{{workflow.parameters.nmae}}'}]}\n  arguments: {parameters: [{name: name, value: a}]}\n" + main + busy:                         "there is no workflow.parameters.nmae",
		"  synchronization: {mutexes: [{name: '{{workflows.name}}'}]}\n" + main + busy:                                                                                        "Argo has no workflows",
		"  synchronization: {mutexes: [{name: '{{workflow.name}'}]}\n" + main + busy:                                                                                          "the tag {{workflow.name} lacks a brace",
		main + "container: {image: 'busybox:1.36', command: [echo, '{{workflow.name}']}":                                                                                      "the tag {{workflow.name} lacks a brace",
		main + "container: {image: 'busybox:1.36', command: [echo, '{{= workflow.name }']}":                                                                                   "the tag {{= workflow.name } lacks a brace",
	} {
		if found := messagesOf(t, workflowHead+part+"\n"); found != want {
			t.Errorf("%s: found %q, want %q", part, found, want)
		}
	}
}

// TestConditions covers conditions with values that are in the manifest.
func TestConditions(t *testing.T) {
	const text = workflowHead + "  arguments: {parameters: [{name: a, value: VALUE}]}\n  templates:\n" +
		"  - {name: work, " + busy + "}\n  - name: main\n    inputs: {parameters: [{name: a}]}\n    steps: [[{name: s, template: work, when: CONDITION}]]\n"
	for _, test := range []struct{ value, condition, want string }{
		{`""`, "'{{workflow.parameters.a}} == b'", `with "" for {{workflow.parameters.a}}, Argo cannot read the condition: == b`},
		{`""`, "'{{inputs.parameters.a}} == b'", `with "" for {{inputs.parameters.a}}, Argo cannot read the condition: == b`},
		{`""`, `"'{{workflow.parameters.a}}' == b"`, ""},
		{`""`, `"{{workflow.parameters.a}}"`, ""},
		{"b", "'{{workflow.parameters.a}} == b'", ""},
		{"eu-1", "'{{workflow.parameters.a}} == b'", `with "eu-1" for {{workflow.parameters.a}}, Argo cannot read the condition: eu-1 == b`},
		{"'yes'", `"{{workflow.parameters.a}}"`, `with "yes" for {{workflow.parameters.a}}, Argo cannot read the condition: yes`},
		{"'true'", `"{{workflow.parameters.a}}"`, ""},
		{"5", "'{{workflow.parameters.a}} > 3'", ""},
		{"'{{workflow.name}}'", "'{{workflow.parameters.a}} == b'", ""},
		{`""`, "'{{=workflow.parameters.a == \"b\"}}'", ""},
	} {
		if found := messagesOf(t, strings.NewReplacer("VALUE", test.value, "CONDITION", test.condition).Replace(text)); found != test.want {
			t.Errorf("%s with %s: found %q, want %q", test.condition, test.value, found, test.want)
		}
	}
	const items = workflowHead + "  templates:\n  - {name: work, " + busy + "}\n  - name: main\n" +
		"    steps: [[{name: s, template: work, when: '{{item}} == a', withItems: [a, b c]}]]\n"
	if found, want := messagesOf(t, items), `with the item b c, Argo cannot read the condition: b c == a`; found != want {
		t.Errorf("found %q, want %q", found, want)
	}
}

// TestCacheKeys covers values in the key of a cache.
func TestCacheKeys(t *testing.T) {
	const text = workflowHead + "  arguments: {parameters: [{name: my-version, value: VALUE}]}\n  templates:\n  - name: main\n    " + busy +
		"\n    memoize: {key: 'a-{{workflow.parameters.my-version}}', maxAge: 1h, cache: {configMap: {name: c}}}\n"
	for value, want := range map[string]string{
		"1.2.3": "write {{=sprig.sha256sum(workflow.parameters['my-version'])}} in place of the tag", "v1": "", "'{{workflow.uid}}'": "",
	} {
		hint := ""
		for _, f := range lintText(t, "w.yaml", strings.Replace(text, "VALUE", value, 1), nil) {
			hint = f.Hint
		}
		if hint != want {
			t.Errorf("%s: found %q, want %q", value, hint, want)
		}
	}
}

// TestDepends covers what a task waits for.
func TestDepends(t *testing.T) {
	const text = workflowHead + "  templates:\n  - {name: work, " + busy + "}\n  - {name: db, daemon: true, " + busy + "}\n  - name: main\n    dag:\n      tasks:\n" +
		"      - {name: a, template: work}\n      - {name: db, template: db}\n      - {name: maybe, template: work, when: '{{workflow.name}} == x'}\n" +
		"      - {name: each, template: work, withItems: [1, 2]}\n      - {name: my-last, template: work, depends: 'a'}\n" +
		"      - {name: t, template: work, depends: \"DEPENDS\", when: \"WHEN\"}\n"
	for _, test := range []struct{ depends, when, want string }{
		{"db", "", ""},
		{"db.Daemoned", "", ""},
		{"db.Succeeded", "", "task db can only be " + string(common.TaskResultDaemoned) + ", Failed, Errored, so task t never runs"},
		{"db.Succeeded || a.Succeeded", "", ""},
		{"a.Skipped", "", "task a can only be Succeeded, Failed, Errored, so task t never runs"},
		{"maybe.Skipped && a", "", ""},
		{"a.Succeeded && a.Failed", "", "the condition is never true, so task t never runs"},
		{"my-last.Omitted", "", ""},
		{"each.AnySucceeded && each.Failed", "", ""},
		{"each.AllFailed && each.Succeeded", "", "the condition is never true, so task t never runs"},
		{"!a.Succeeded", "", ""},
		{"a", "{{tasks.a.status}} == Succeeded", ""},
		{"my-last", "{{tasks.a.status}} == Succeeded", ""},
		{"a", "{{tasks.my-last.status}} == Succeeded", "templates.main.tasks.t failed to resolve {{tasks.my-last.status}}"},
		{"a", "{{tasks.my-last.exitCode}} == 0", "task t does not wait for my-last, and gets no output of it"},
		{"a", "{{=tasks['my-last'].status == 'Succeeded'}}", "task t does not wait for my-last, and gets no output of it"},
		{"a", "{{=tasks['my-last']?.status == 'Succeeded'}}", ""},
	} {
		if found := messagesOf(t, strings.NewReplacer("DEPENDS", test.depends, "WHEN", test.when).Replace(text)); found != test.want {
			t.Errorf("%s, %s: found %q, want %q", test.depends, test.when, found, test.want)
		}
	}
}

// TestItemsOfParam covers the keys of the items of withParam.
func TestItemsOfParam(t *testing.T) {
	const text = workflowHead + "  arguments: {parameters: [{name: list, value: '[{\"a\": 1}]'}]}\n  templates:\n" +
		"  - name: work\n    inputs: {parameters: [{name: in}]}\n    " + busy + "\n    outputs: {parameters: [{name: out, valueFrom: {path: /out}}]}\n" +
		"  - name: main\n    steps:\n    - - {name: first, template: work, withItems: [1, 2], arguments: {parameters: [{name: in, value: '{{item}}'}]}}\n" +
		"    - - {name: s, template: work, withParam: 'PARAM', arguments: {parameters: [{name: in, value: '{{item.KEY}}'}]}}\n"
	for _, test := range []struct{ param, key, want string }{
		{"{{workflow.parameters.list}}", "a", ""},
		{"{{workflow.parameters.list}}", "b", "with the value of {{workflow.parameters.list}}, the items have no b"},
		{"{{steps.first.outputs.parameters}}", "out", ""},
		{"{{steps.first.outputs.parameters}}", "output", "the items have no output, which the step uses"},
		{"{{steps.first.outputs.result}}", "b", ""},
		{`[{"a": 1}, {"a": 2}]`, "a", ""},
		{`[{"a": 1}, {"b": 2}]`, "a", "the items have no a, which the step uses"},
	} {
		if found := messagesOf(t, strings.NewReplacer("PARAM", test.param, "KEY", test.key).Replace(text)); found != test.want {
			t.Errorf("%s, %s: found %q, want %q", test.param, test.key, found, test.want)
		}
	}
}

// TestOtherTemplates requires that Argo's validation looks at a Workflow also if templates that it calls are in other files.
func TestOtherTemplates(t *testing.T) {
	const text = workflowHead + "  templates:\n  - name: main\n    inputs: {parameters: [{name: in, value: a}]}\n    dag:\n      tasks:\n" +
		"      - name: a\n        templateRef: {name: other, template: build}\n        arguments: {parameters: [{name: x, value: '{{inputs.parameters.IN}}'}]}\n" +
		"      - name: b\n        depends: DEPENDS\n        templateRef: {name: other, template: test}\n        arguments:\n" +
		"          parameters: [{name: digest, value: '{{tasks.a.outputs.parameters.digest}}'}]\n" +
		"          artifacts: [{name: z, from: '{{tasks.a.outputs.artifacts.file}}'}]\n"
	for _, test := range []struct{ in, depends, want string }{
		{"in", "a", ""},
		{"inn", "a", "templates.main.tasks.a failed to resolve {{inputs.parameters.inn}}"},
		{"in", "c", "templates.main sorting failed: invalid dependency c"},
	} {
		if found := messagesOf(t, strings.NewReplacer("DEPENDS", test.depends, ".IN", "."+test.in).Replace(text)); found != test.want {
			t.Errorf("%s, %s: found %q, want %q", test.in, test.depends, found, test.want)
		}
	}
}

// TestGrantedResources covers the names in the rules of roles.
func TestGrantedResources(t *testing.T) {
	for rule, want := range map[string]string{
		`{apiGroups: [""], resources: [pods, pods/log], verbs: [get]}`:                    "",
		`{apiGroups: [""], resources: [pod], verbs: [get]}`:                               "the API groups of the rule have no resource pod",
		`{apiGroups: [""], resources: [deployments], verbs: [get]}`:                       "the API groups of the rule have no resource deployments",
		`{apiGroups: ["", apps], resources: [deployments, pods], verbs: [get]}`:           "",
		`{apiGroups: [""], resources: [pods/logs], verbs: [get]}`:                         "there is no subresource pods/logs",
		`{apiGroups: [example.com], resources: [pod, things], verbs: [get]}`:              "",
		`{apiGroups: [argoporj.io], resources: [workflows], verbs: [get]}`:                "there is no API group argoporj.io with these resources",
		`{apiGroups: [batch.volcano.sh], resources: [jobs], verbs: [get]}`:                "",
		`{apiGroups: [argoproj.io], resources: [workflow], verbs: [create]}`:              "the API groups of the rule have no resource workflow",
		`{apiGroups: [argoproj.io], resources: [applications, rollouts], verbs: [get]}`:   "",
		`{apiGroups: [example.com], resources: [things], verbs: [wacth]}`:                 `unknown verb "wacth"`,
		`{apiGroups: [example.com], resources: [things], verbs: [administer]}`:            "",
		`{apiGroups: [""], resources: [serviceaccounts/token], verbs: [administer, get]}`: `unknown verb "administer"`,
	} {
		text := "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a, namespace: events}\nrules: [" + rule + "]\n"
		if found := messagesOf(t, text); found != want {
			t.Errorf("%s: found %q, want %q", rule, found, want)
		}
	}
}

// TestTextsOfConfigMaps covers the YAML in ConfigMaps that Argo reads.
func TestTextsOfConfigMaps(t *testing.T) {
	for text, want := range map[string]string{
		"{name: artifact-repositories}\ndata: {a: 's3: {bucket: b}'}":                          "",
		"{name: artifact-repositories}\ndata: {a: 'S3: {bucket: b}'}":                          "",
		"{name: artifact-repositories}\ndata: {a: 's3: {buckt: b}'}":                           `unknown field "buckt" of S3ArtifactRepository`,
		"{name: artifact-repositories}\ndata: {a: 's3: [b]'}":                                  `must be an object, is ["b"]`,
		"{name: other}\ndata: {a: 's3: {buckt: b}'}":                                           "",
		"{name: workflow-controller-configmap}\ndata: {workflowDefaults: 'spec: {ttl: 5}'}":    `unknown field "ttl" of WorkflowSpec`,
		"{name: workflow-controller-configmap}\ndata: {workflowDefaults: 'spec: {onExit: a}'}": "",
		"{name: workflow-controller-configmap}\ndata: {artifactRepository: 's3: {bucket: b}'}": "",
		"{name: artifact-repositories}\ndata: {a: 'artifactRepository: {s3: {bucket: b}}'}":    `unknown field "artifactRepository" of ArtifactRepository`,
	} {
		if found := messagesOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: "+text+"\n"); found != want {
			t.Errorf("%s: found %q, want %q", text, found, want)
		}
	}
}

// TestSharedObjects covers objects that all items of a step create.
func TestSharedObjects(t *testing.T) {
	const text = workflowHead + "  templates:\n  - name: main\n    steps: [[{name: s, template: inner, ITEMS}]]\n" +
		"  - {name: inner, steps: [[{name: t, template: make, arguments: {parameters: [{name: p, value: a}]}}]]}\n" +
		"  - name: make\n    inputs: {parameters: [{name: p}]}\n    resource:\n      action: ACTION\n" +
		"      manifest: '{apiVersion: v1, kind: ConfigMap, metadata: {NAME}}'\n"
	const same = "the name of ConfigMap a is the same for every item of the step that calls make, and only one can create it"
	for _, test := range []struct{ items, action, name, want string }{
		{"withItems: [1, 2]", "create", "name: a", same},
		{"withItems: [1]", "create", "name: a", ""},
		{"withItems: [1, 2], when: '{{item}} == 1'", "create", "name: a", ""},
		{"withSequence: {count: 2}", "create", "name: a", same},
		{"withSequence: {start: 5, end: 5}", "create", "name: a", ""},
		{"withItems: [1, 2]", "apply", "name: a", ""},
		{"withItems: [1, 2]", "create", "generateName: a-", ""},
		{"withItems: [1, 2]", "create", `name: "a-{{inputs.parameters.p}}"`, ""},
		{"withItems: [1, 2]", "create", `name: "a-{{workflow.uid}}"`, strings.Replace(same, "ConfigMap a", "ConfigMap a-same", 1)},
		{"withItems: [1, 2]", "create", `name: a, namespace: "{{inputs.parameters.p}}"`, ""},
	} {
		if found := messagesOf(t, strings.NewReplacer("ITEMS", test.items, "ACTION", test.action, "NAME", test.name).Replace(text)); found != test.want {
			t.Errorf("%+v: found %q", test, found)
		}
	}
}
