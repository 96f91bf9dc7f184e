package expression

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

const memcachedSchema = `
type: object
required: [spec]
properties:
  spec:
    type: object
    required: [size, image, enabled, ports, shards, port]
    properties:
      size: {type: integer}
      image: {type: string}
      enabled: {type: boolean}
      debug: {type: boolean}
      replicas: {type: integer}
      suffix: {type: string}
      tag: {type: string, default: latest}
      ratio: {type: number}
      port: {x-kubernetes-int-or-string: true}
      ports: {type: array, items: {type: integer}}
      hosts: {type: array, items: {type: string}}
      shards: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer}}}}
      tls: {type: object, required: [mode], properties: {secret: {type: string}, mode: {type: string}}}
      labels: {type: object, additionalProperties: {type: string}}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, required: [phase], properties: {ready: {type: integer}, phase: {type: string}, ratio: {type: number}, names: {type: array, items: {type: string}}}}
`

func memcachedType(t testing.TB) schema.Type {
	t.Helper()
	s := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(memcachedSchema), s); err != nil {
		t.Fatal(err)
	}
	return schema.Resource(s)
}

func builtinType(t testing.TB, apiVersion, kind string) schema.Type {
	t.Helper()
	found, ok := schema.Builtin(apiVersion, kind)
	if !ok {
		t.Fatal(kind)
	}
	return found
}

// in compiles a text for a path: when, forEach, readyWhen, status.PATH, each.PATH (a
// Deployment for each shard) or PATH of a Deployment.
func in(t testing.TB, where, text string) (*Program, []Problem) {
	t.Helper()
	deployment := builtinType(t, "apps/v1", "Deployment")
	input := memcachedType(t)
	scope := Scope{Input: input, Name: "Memcached v1alpha1", NoChildren: "children are known in status, when and templates of the workflow engine"}
	kind, rest, _ := strings.Cut(where, ".")
	switch kind {
	case "when":
		return Expression(text, scope, "boolean")
	case "forEach":
		return Expression(text, scope, "array")
	case "readyWhen":
		return Expression(text, Scope{Input: deployment, Name: "the live Deployment", Live: true}, "boolean")
	case "status":
		scope.Children = map[string]schema.Type{"web": deployment, "config": builtinType(t, "v1", "ConfigMap"), "other": nil}
		scope.Omits = true
		status, _ := input.Field("status")
		return Template(nested(rest, text), scope, status)
	case "each":
		scope.Each = true
		spec, _ := input.Field("spec")
		shards, _ := spec.Field("shards")
		scope.Item = shards.Item()
		where = rest
	}
	template := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}
	for key, value := range nested(where, text) {
		template[key] = value
	}
	return Template(template, scope, deployment)
}

// nested sets a path to a text; without quotes or ${ }, the text is YAML.
func nested(path, text string) map[string]any {
	var value any = text
	if !strings.Contains(text, "${") {
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			panic(err)
		}
	}
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == "-" {
			value = []any{value}
			continue
		}
		value = map[string]any{names[i]: value}
	}
	return value.(map[string]any)
}

// TestMistakes compares testdata/mistakes.txt and foreign.txt: the line of an expression,
// then its problems, below the offset they refer to.
func TestMistakes(t *testing.T) {
	for file, least := range map[string]int{"testdata/mistakes.txt": 60, "testdata/foreign.txt": 200} {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var after strings.Builder
		mistakes := 0
		for _, line := range strings.Split(strings.TrimSpace(string(before)), "\n") {
			if strings.HasPrefix(line, " ") {
				continue
			}
			after.WriteString(line + "\n")
			where, text, ok := strings.Cut(line, ": ")
			if !ok {
				continue
			}
			text = strings.ReplaceAll(text, `\n`, "\n")
			p, problems := in(t, where, text)
			mistakes += len(problems)
			if (p == nil) != (len(errorsOf(problems)) > 0) {
				t.Errorf("%s: program %v with %v", line, p, problems)
			}
			for _, found := range problems {
				after.WriteString(shown(where, text, found))
			}
		}
		if goldenfile.Update() {
			if err := os.WriteFile(file, []byte(after.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(before), after.String()); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
		if mistakes < least {
			t.Errorf("%s: only %d mistakes", file, mistakes)
		}
	}
}

func shown(where, text string, p Problem) string {
	level := "error"
	if p.Warning {
		level = "warning"
	}
	caret := strings.Repeat("^", max(1, p.Length))
	at := len(where) + 2 + p.Offset + strings.Count(text[:min(p.Offset, len(text))], "\n")
	line := fmt.Sprintf("%*s%s %s %s: %s", at, "", caret, level, p.Code, p.Message)
	if p.Fix != "" {
		line += " [write " + p.Fix + strings.TrimSuffix("; "+p.Caveat, "; ") + "]"
	} else if p.Hint != "" {
		line += " [" + p.Hint + "]"
	}
	return " " + strings.TrimPrefix(line, " ") + "\n"
}

// TestNoMistakes covers expressions that must not be reported.
func TestNoMistakes(t *testing.T) {
	for _, line := range fine() {
		where, text, _ := strings.Cut(line, ": ")
		if _, problems := in(t, where, text); len(problems) > 0 {
			t.Errorf("%s\n%s", line, shown(where, text, problems[0]))
		}
	}
}

// fine returns valid expressions and their paths.
func fine() []string {
	return []string{
		`spec.replicas: ${ .spec.size }`,
		`spec.replicas: ${ .spec.replicas }`,
		`spec.replicas: ${ .spec.replicas // 1 }`,
		`spec.replicas: ${ if .spec.enabled then .spec.size else 0 end }`,
		`spec.replicas: ${ if .spec.replicas then .spec.replicas + 1 else 1 end }`,
		`spec.replicas: ${ if .spec.replicas != null then .spec.replicas * 2 else 1 end }`,
		`spec.replicas: ${ (.spec.replicas // 0) + 1 }`,
		`spec.replicas: ${ [.spec.size, 3] | max }`,
		`spec.replicas: ${ .spec.ports | length }`,
		`spec.replicas: ${ .spec.hosts | length }`,
		`spec.replicas: ${ (.spec.extra.anything.goes // 0) + 1 }`,
		`spec.replicas: ${ .spec.ratio | floor? }`,
		`spec.replicas: ${ (.spec.ratio // 1) * .spec.size | ceil }`,
		`spec.replicas: ${ reduce .spec.ports[] as $p (0; . + $p) }`,
		`spec.replicas: ${ .spec as {size: $n} | $n }`,
		`spec.replicas: ${ .spec as $s | $s.size }`,
		`spec.replicas: ${ def twice: . * 2; .spec.size | twice }`,
		`spec.replicas: ${ def scaled($by): . * $by; .spec.size | scaled(.spec?.size? // 2) }`,
		`spec.replicas: ${ first(.spec.ports[]) }`,
		`spec.replicas: ${ .spec.ports[0] }`,
		`spec.replicas: ${ .spec.shards | map(.weight // 1) | add }`,
		`spec.replicas: ${ .spec.shards | map(select(.weight != null) | .weight + 1) | add }`,
		`spec.replicas: ${ first(.spec.shards[] | select(.name == "a") | .weight) }`,
		`spec.replicas: ${ getpath(["spec", "size"]) }`,
		`metadata.name: ${ .metadata.name }-web`,
		`metadata.name: ${ .metadata.name + "-web" }`,
		`metadata.name: ${ .metadata.name | ascii_downcase | .[:40] }`,
		`metadata.name: ${ .metadata.name }${ if .spec.suffix then "-" + .spec.suffix else "" end }`,
		`metadata.labels: ${ .metadata.labels }`,
		`metadata.labels: ${ (.metadata.labels // {}) + {app: .metadata.name} }`,
		`metadata.labels: ${ {app: .metadata.name, "a.b/c": "x"} }`,
		`metadata.labels: ${ .spec.labels // {} | with_entries(.key |= "x-" + .) }`,
		`metadata.labels.app: ${ .metadata.labels.app // "none" }`,
		`metadata.labels.app: ${ .metadata.labels["app.kubernetes.io/name"] }`,
		`metadata.labels.size: "${ .spec.size }"`,
		`metadata.annotations.x: ${ .spec | tojson }`,
		`metadata.annotations.x: ${ .spec | @json }`,
		`metadata.annotations.x: ${ @base64 "\(.spec.image)" }`,
		`metadata.annotations.x: ${ .spec.image | split(":") | .[0] }`,
		`metadata.annotations.x: ${ .spec.image | sub(":.*"; "") }`,
		`metadata.annotations.x: ${ .spec.hosts // [] | join(",") }`,
		`metadata.annotations.x: ${ [.spec.ports[] | tostring] | join(",") }`,
		`metadata.annotations.x: ${ .spec.port | tostring }`,
		`metadata.annotations.x: ${ .spec.tls.secret // "none" }`,
		`metadata.annotations.x: ${ if .spec.tls then .spec.tls.mode + "!" else "" end }`,
		`metadata.annotations.x: ${ if .spec | has("tls") then .spec.tls.mode + "!" else "" end }`,
		`metadata.annotations.x: ${ .spec.tls | if . == null then "" else .mode + "!" end }`,
		`metadata.annotations.x: ${ "é \(.spec.image)" }`,
		`spec.template.spec.containers: ${ [{name: "a", image: .spec.image, ports: [.spec.ports[] | {containerPort: .}]}] }`,
		`spec.template.spec.containers.-.image: ${ .spec.image }:${ .spec.tag }`,
		`spec.template.spec.containers.-.ports.-.containerPort: ${ .spec.size }`,
		`spec.template.spec.containers.-.livenessProbe.httpGet.port: ${ .spec.port }`,
		`spec.template.spec.containers.-.livenessProbe.httpGet.port: ${ .spec.size }`,
		`spec.template.spec.containers.-.resources.limits.cpu: ${ .spec.size }`,
		`spec.template.spec.containers.-.resources.limits.cpu: ${ .spec.size * 100 }m`,
		`spec.template.spec.containers.-.resources.limits: {cpu: 1, memory: 1Gi, ephemeral-storage: 0.5}`,
		`each.metadata.name: ${ .metadata.name }-${ $item.name }-${ $index }`,
		`each.spec.replicas: ${ $item.weight // .spec.size }`,
		`when: .spec.enabled`, `when: .spec.debug`, `when: ${ .spec.debug }`, `when: .spec.size > 1 and .spec.enabled`,
		`when: .spec.tls != null and .spec.tls.secret != null`, `when: .spec.tls.mode? == "strict"`, `when: .spec.image | test("^a")`,
		`when: any(.spec.shards[]; .name == "a")`, `when: .spec.replicas != null and .spec.replicas > 3`, `when: .spec.debug | not`,
		`when: .spec.replicas == null or .spec.replicas > 3`, `when: IN(.spec.image; "a", "b")`, `when: .spec.port == 80 or .spec.port == "http"`,
		`forEach: .spec.shards`, `forEach: .spec.hosts // []`, `forEach: [range(.spec.size)]`, `forEach: .spec.shards | map(select(.weight))`,
		`readyWhen: .status.readyReplicas == .spec.replicas`, `readyWhen: (.status.readyReplicas // 0) >= .spec.replicas`,
		`readyWhen: any(.status.conditions[]?; .type == "Available" and .status == "True")`,
		`readyWhen: [.status.conditions[]? | select(.type == "Available")] | length > 0`,
		`status.ready: ${ $children.web.status.readyReplicas // 0 }`,
		`status.ready: ${ $children.web.status.readyReplicas }`,
		`status.phase: ${ if ($children.web.status.readyReplicas // 0) == .spec.size then "Ready" else "Waiting" end }`,
		`status.phase: ${ $children.config.data.phase // "none" }`,
		`status.ready: ${ $children.other.status.anything.goes }`,
		`status.names: ${ [$children[] | .metadata.name] }`,
		`status.ratio: ${ ($children.web.status.readyReplicas // 0) / .spec.size }`,
		`status.phase: ${ if $children.web.status.readyReplicas > 0 then "Ready" else "Waiting" end }`,
		`status.phase: ${ $children.web | if . == null then "Pending" elif .status.readyReplicas == .spec.replicas then "Ready" else "Progressing" end }`,
		`status.phase: ${ if $children.config.data.phase then $children.config.data.phase else "none" end }`,
		`metadata.name: ${ if .spec.suffix then .spec.suffix else "x" end }-x`,
		`metadata.name: ${ .spec.suffix | if . then . else "x" end }-x`,
		`metadata.name: ${ .spec.tls.mode as $m | if $m then $m else "x" end }-x`,
		`metadata.name: ${ if .spec.replicas == null then .spec.size else .spec.replicas end }-x`,
		`metadata.name: ${ .metadata.uid[0:8] }-x`,
		`metadata.name: ${ .spec.image | capture("(?<tag>:.*)").tag // "latest" }`,
		`metadata.annotations.x: ${ .spec.shards | to_entries | map("\(.key):\(.value.name)") | join(",") }`,
		`metadata.labels: ${ .spec.hosts // [] | with_entries(.key |= "host-\(.)") }`,
	}
}

// TestFixes covers that the jq of every fix compiles, and that no error is left where it
// is written.
func TestFixes(t *testing.T) {
	tried := 0
	for _, file := range []string{"testdata/mistakes.txt", "testdata/foreign.txt"} {
		mistakes, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(mistakes), "\n") {
			where, text, ok := strings.Cut(line, ": ")
			if !ok || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "#") {
				continue
			}
			text = strings.ReplaceAll(text, `\n`, "\n")
			_, problems := in(t, where, text)
			for _, found := range problems {
				if found.Fix == "" {
					continue
				}
				tried++
				query, err := gojq.Parse(unbraced(found.Fix).text)
				if err == nil {
					jq.WithHash(query)
					_, err = gojq.Compile(query, gojq.WithVariables(variables()), jq.HashFunction(), gojq.WithFunction("fingerprint", 0, 0, func(v any, _ []any) any { return v }))
				}
				if err != nil {
					t.Errorf("%s\n%s: %v", line, found.Fix, err)
				}
				written := text[:found.FixAt] + found.Fix + text[found.FixEnd:]
				_, left := in(t, where, written)
				if len(left) >= len(problems) && found.Warning || len(errorsOf(left)) >= len(errorsOf(problems)) && !found.Warning {
					t.Errorf("%s\nwritten %s: %v", line, written, left)
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d fixes tried", tried)
	}
}
