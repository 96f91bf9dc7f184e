package differential_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// marker is the value of every Secret of TestSecretsStaySecret.
// It has each character once, as the characters of a random value.
const marker = "MARKEDofThis"

// secretSource is a way in which an expression gets the value of a Secret.
type secretSource struct {
	name     string
	existing bool   // the custom resource is a Secret
	random   bool   // its Secrets are on no event bus
	related  string // in the definition
	children string
	forEach  string // of the child that reads it
	value    string
}

var secretSources = []secretSource{
	{name: "related", related: `{name: s, apiVersion: v1, kind: Secret, watch: false, names: ["one"]}`, value: "$related.s.data.a"},
	{name: "selected", related: `{name: s, apiVersion: v1, kind: Secret, watch: false, labelSelector: {matchLabels: {x: y}}}`, value: "$related.s[0].data.a"},
	{name: "item", related: `{name: s, apiVersion: v1, kind: Secret, watch: false, labelSelector: {matchLabels: {x: y}}}`, forEach: "$related.s", value: "$item.data.a"},
	{
		name: "made item", related: `{name: s, apiVersion: v1, kind: Secret, watch: false, labelSelector: {matchLabels: {x: y}}}`,
		forEach: "[$related.s[] | {at: .metadata.name, of: (.data // {})}]", value: "$item.of.a",
	},
	{name: "filled child", children: `{name: s, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }-s"}}}`, value: "$children.s.data.a"},
	{
		name: "copied child", related: `{name: t, apiVersion: v1, kind: Secret, watch: false, names: ["one"]}`,
		children: `{name: s, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }-s"}, data: {a: "${ $related.t.data.a // \"\" }"}}}`,
		value:    "$children.s.data.a",
	},
	{
		name: "random", random: true, value: "$children.s.data.a",
		children: `{name: s, generate: {a: {length: 12, characters: ` + marker + `}}, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }-s"}}}`,
	},
	{name: "existing", existing: true, value: ".data.a"},
}

// secretUses are expressions of the value, and whether they yield anything of it.
var secretUses = []struct {
	name, of string
	exposes  bool
	fails    bool
}{
	{name: "as it is", of: `${ VALUE // "" }`, exposes: true},
	{name: "decoded in a text", of: `a-${ VALUE // "" | @base64d }-b`, exposes: true},
	{name: "a fingerprint", of: `${ VALUE // "" | @base64d | fingerprint }`},
	{name: "a test", of: `${ VALUE // "" | @base64d | . == "x" | tostring }`},
	{name: "an error", of: `${ VALUE // "" | @base64d | fromjson | tostring }`, fails: true},
	{name: "a function", of: `${ def f: {a: .}; VALUE // "" | f | .a }`, exposes: true},
	{name: "a length", of: `${ VALUE // "" | length | tostring }`},
}

// secretSinks are the children or the status that an expression is in.
var secretSinks = []struct {
	name     string
	template string // of a child
	status   bool
	secret   bool // it is a Secret
	pod      bool
}{
	{name: "ConfigMap", template: `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, data: {a: USE}}`},
	{name: "annotation", template: `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, annotations: {a: USE}}}`},
	{
		name: "env", template: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {selector: {matchLabels: {a: b}},
      template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: "docker.io/library/busybox:1.37", env: [{name: A, value: USE}]}]}}}}`,
	},
	{name: "Secret", template: `{apiVersion: v1, kind: Secret, metadata: {name: NAME}, stringData: {a: USE}}`, secret: true},
	{name: "status", status: true},
}

// TestSecretsStaySecret runs operators that read Secrets on each engine, with values that it
// recognises, failing expressions, and an API server that quotes what it rejects. The values
// must stay in Secrets, except where lint says that the definition writes them. SECRETS=all
// combines everything with everything.
func TestSecretsStaySecret(t *testing.T) {
	python := start(t)
	every := os.Getenv("SECRETS") == "all"
	played := 0
	for i, from := range secretSources {
		for j, sink := range secretSinks {
			for k, use := range secretUses {
				if sink.status && (from.forEach != "" || from.existing) || !every && (i+2*j+k)%len(secretUses) > 1 {
					continue
				}
				text := secretDefinition(from, sink.template, use.of, sink.status)
				for _, engine := range []plan.Engine{plan.Direct, plan.Worker, plan.Workflow} {
					l := &leaks{engine: engine, sink: sink.name, status: sink.status, random: from.random && !sink.secret}
					if !l.play(t, text, from.existing, python) {
						continue
					}
					played++
					exposed, told := len(l.written) > 0, l.told
					name := fmt.Sprintf("%s, %s, %s, %s:\n%s", from.name, sink.name, use.name, engine, text)
					switch {
					case len(l.found) > 0:
						t.Errorf("%s\nthe value of a Secret is in\n%s", name, strings.Join(l.found, "\n"))
					case exposed != (use.exposes && !sink.secret):
						t.Errorf("%s\nthe object has the value: %v", name, exposed)
					case told != exposed && !(use.fails && !sink.secret):
						t.Errorf("%s\nlint says that the definition writes the value: %v, but it is: %v", name, told, exposed)
					}
				}
			}
		}
	}
	t.Logf("%d operators", played)
}

func secretDefinition(from secretSource, template, use string, status bool) string {
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	use = quoted(strings.ReplaceAll(use, "VALUE", from.value))
	var b strings.Builder
	b.WriteString("apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: leak}\nspec:\n")
	b.WriteString("  install: {networkPolicies: true}\n")
	if from.existing {
		b.WriteString("  api: {existing: {version: v1, kind: Secret, labelSelector: {matchLabels: {x: y}}}}\n")
	} else {
		b.WriteString("  api:\n    group: example.com\n    kind: Leak\n    versions: [{name: v1, schema: {spec: {size: integer | default=1}, status: {a: string}}}]\n")
	}
	if from.related != "" {
		b.WriteString("  related:\n  - " + from.related + "\n")
	}
	b.WriteString("  children:\n")
	if from.children != "" {
		b.WriteString("  - " + from.children + "\n")
	}
	if status {
		b.WriteString("  - {name: other, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }-other\"}}}\n")
		b.WriteString("  status: {a: " + use + "}\n")
		return b.String()
	}
	name := "${ .metadata.name }-x"
	if from.forEach != "" {
		name += "-${ $index }"
		b.WriteString("  - forEach: " + quoted(from.forEach) + "\n    name: x\n")
	} else {
		b.WriteString("  - name: x\n")
	}
	b.WriteString("    template: " + strings.NewReplacer("NAME", quoted(name), "USE", use).Replace(template) + "\n")
	return b.String()
}

// leaks looks for the value of Secrets.
type leaks struct {
	engine  plan.Engine
	sink    string
	status  bool
	random  bool     // no event has the value, unless the definition writes it
	told    bool     // lint says that the definition writes the value
	found   []string // where it must not be
	written []string // where the definition writes it
}

// play runs an operator; false if the engine does not support it.
func (l *leaks) play(t *testing.T, text string, existing bool, runner simulate.Runner) bool {
	t.Helper()
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
	if findings.HasErrors() {
		t.Fatalf("%s\n%v", text, findings)
	}
	d := definitions[0]
	d.Operator.Spec.Reconcile.Engine = string(l.engine)
	p, findings := plan.New(d)
	if findings.HasErrors() {
		if slices.ContainsFunc(findings.Only(diag.Error), func(f diag.Finding) bool { return f.Code != diag.Unsupported }) {
			t.Fatalf("%s\n%v", text, findings)
		}
		return false
	}
	l.told = slices.ContainsFunc(findings, func(f diag.Finding) bool { return f.Code == diag.SecretExposed })
	s, err := simulate.New(simulate.Inputs{Objects: manifest.Build(p), Runner: runner, Requests: l.request})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
	}
	value := base64.StdEncoding.EncodeToString([]byte(marker))
	secret := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "one", "namespace": "default", "labels": map[string]any{"x": "y"}},
		"data": map[string]any{"a": value},
	}
	cr := map[string]any{"apiVersion": "example.com/v1", "kind": "Leak", "metadata": map[string]any{"name": "cr", "namespace": "default"}, "spec": map[string]any{"size": int64(1)}}
	must(s.Apply(secret))
	if existing {
		cr = secret
	} else {
		must(s.Apply(cr))
	}
	settle := func() {
		t.Helper()
		must(settled(s, value))
	}
	settle()
	s.Intercept(func(api http.Handler) http.Handler { return quoting(s, api) })
	change := map[string]any{"spec": map[string]any{"size": int64(2)}}
	if existing {
		change = map[string]any{"metadata": map[string]any{"labels": map[string]any{"again": "yes"}}}
	}
	must(s.Patch(cr, "", "user", change))
	settle()
	l.everything(s)
	return true
}

// closed ends the workers of a simulation.
func closed(t *testing.T, s *simulate.Simulation) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// settled runs an operator until nothing changes, also in a resync. Another controller fills
// Secrets that are children.
func settled(s *simulate.Simulation, value string) error {
	ctx := context.Background()
	if err := s.Run(ctx); err != nil {
		return err
	}
	for _, object := range s.Objects() {
		data, _ := object["data"].(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		if object["kind"] == "Secret" && object["immutable"] != true && data["a"] == nil && metadata["namespace"] == "default" {
			if err := s.Patch(object, "", "filler", map[string]any{"data": map[string]any{"a": value}}); err != nil {
				return err
			}
		}
	}
	if err := s.Run(ctx); err != nil {
		return err
	}
	return errors.Join(s.Resync(ctx), s.Run(ctx))
}

// everything looks at the objects and the logs.
func (l *leaks) everything(s *simulate.Simulation) {
	for _, object := range s.Objects() {
		l.look(object, "object ")
	}
	for _, step := range s.Trace() {
		if e := step.Event; l.random && e != nil && e.Object.Resource == "secrets" {
			l.found = append(l.found, "an event of "+e.Object.String())
		}
		if step.Workflow == nil {
			continue
		}
		for _, container := range step.Workflow.Containers {
			if has(container.Output) {
				l.found = append(l.found, "the log of "+container.Name+": "+container.Output)
			}
		}
	}
}

// request looks at a request of an operator.
func (l *leaks) request(call cluster.Call) {
	if call.Account == "" || call.Body == nil || !has(call.Body) {
		return
	}
	path, _, _ := strings.Cut(call.Path, "?")
	l.place(path, strings.Contains(path, "/secrets/"), call.Method+" "+path, call.Body)
}

// look looks at an object.
func (l *leaks) look(object map[string]any, what string) {
	if object["kind"] != "Secret" && has(object) {
		l.place(strings.ToLower(fmt.Sprint(object["kind"])), false, what+fmt.Sprint(object["kind"]), object)
	}
}

// place records where the value is.
func (l *leaks) place(path string, secret bool, what string, value any) {
	body, _ := value.(map[string]any)
	sink := strings.Contains(path, "configmap") || strings.Contains(path, "deployment")
	if l.status {
		status, _ := body["status"].(map[string]any)
		fields := map[string]any{"status": map[string]any{}}
		for key, field := range status {
			if key != "a" {
				fields["status"].(map[string]any)[key] = field
			}
		}
		sink = (strings.HasSuffix(path, "/status") || path == "leak") && !has(fields)
	}
	switch {
	case secret:
	case sink:
		l.written = append(l.written, what)
	default:
		text, _ := json.Marshal(value)
		l.found = append(l.found, what+": "+string(text))
	}
}

// has reports whether a value has the marker, possibly in base64, once or more.
func has(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if has(key) || has(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, has)
	case string:
		encoded := base64.StdEncoding.EncodeToString([]byte(marker))
		if strings.Contains(value, marker[:8]) || strings.Contains(value, encoded[:8]) {
			return true
		}
		decoded, err := base64.StdEncoding.DecodeString(value)
		return err == nil && len(decoded) > 8 && has(string(decoded))
	}
	return false
}

// quoting rejects what is written to a child, and quotes it.
func quoting(s *simulate.Simulation, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, _ := s.RequestInfo(r)
		if r.Method == http.MethodGet || !slices.Contains([]string{"ConfigMap", "Deployment", "Secret"}, info.Kind) {
			api.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		answer, _ := json.Marshal(map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, "reason": "Invalid", "message": "invalid: " + string(body),
			"details": map[string]any{"causes": []any{map[string]any{"field": "data.a", "message": "invalid: " + string(body)}}},
		})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(422)
		_, _ = w.Write(answer)
	})
}
