// Package peers compares what argoperator writes for kustomize and Helm with
// what those make of it. They are built as pinned in go.mod.
package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

const (
	root   = "../../.."
	binary = root + "/bin/argoperator"
)

// run returns what a program prints.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := try(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func try(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, &said, &out)
	}
	return out.Bytes(), nil
}

// tool is a program that is built from this module.
func tool(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	return run(t, "go", append([]string{"tool", name}, args...)...)
}

// documents decodes a stream.
func documents(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	var list []map[string]any
	for {
		var one map[string]any
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(one) > 0 {
			list = append(list, one)
		}
	}
}

// byName is objects in no order.
func byName(t *testing.T, list []map[string]any) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, o := range list {
		metadata := o["metadata"].(map[string]any)
		name := fmt.Sprintf("%v %v/%v", o["kind"], metadata["namespace"], metadata["name"])
		if out[name] != nil {
			t.Errorf("%s is there twice", name)
		}
		out[name] = o
	}
	return out
}

func generate(t *testing.T, definition string, args ...string) []byte {
	t.Helper()
	return run(t, binary, append([]string{"generate", "-f", definition}, args...)...)
}

// definitions are all examples, and operators that the examples have none of.
func definitions(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{root + "/examples/*/operator.yaml", root + "/testdata/operators/*/operator.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d definitions, %v", pattern, len(found), err)
		}
		for _, file := range found {
			list = append(list, filepath.Dir(file))
		}
	}
	return list
}

func each(t *testing.T, test func(t *testing.T, definition string)) {
	t.Helper()
	for _, dir := range definitions(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if out, err := try(binary, "generate", "-f", dir); err != nil || len(out) == 0 {
				t.Skip("it is there to be refused")
			}
			test(t, dir)
		})
	}
}

// TestKustomize: `kustomize build` is the plain stream, in its order.
func TestKustomize(t *testing.T) {
	each(t, func(t *testing.T, definition string) {
		dir := t.TempDir()
		generate(t, definition, "-o", "kustomize", "--output-dir", dir)
		plain := documents(t, generate(t, definition))
		if diff := cmp.Diff(plain, documents(t, tool(t, "kustomize", "build", dir))); diff != "" {
			t.Errorf("kustomize build (-plain +built):\n%s", diff)
		}
		var apis []map[string]any
		for _, o := range plain {
			if o["kind"] == "CustomResourceDefinition" {
				apis = append(apis, o)
			}
		}
		if len(apis) > 0 {
			if diff := cmp.Diff(apis, documents(t, tool(t, "kustomize", "build", filepath.Join(dir, "crd")))); diff != "" {
				t.Errorf("kustomize build crd (-plain +built):\n%s", diff)
			}
		}
	})
}

// TestHelm: `helm template` with the values that the chart comes with is the
// plain stream, but for the annotation that keeps the CustomResourceDefinition.
func TestHelm(t *testing.T) {
	each(t, func(t *testing.T, definition string) {
		dir := chart(t, definition)
		tool(t, "helm", "lint", "--strict", dir)
		plain := byName(t, documents(t, generate(t, definition)))
		api := false
		built := byName(t, documents(t, tool(t, "helm", "template", "release", dir)))
		for name, o := range built {
			metadata := o.(map[string]any)["metadata"].(map[string]any)
			if !strings.HasPrefix(name, "CustomResourceDefinition ") {
				continue
			}
			api = true
			annotations, _ := metadata["annotations"].(map[string]any)
			if annotations["helm.sh/resource-policy"] != "keep" {
				t.Errorf("%s goes with the release", name)
			}
			delete(annotations, "helm.sh/resource-policy")
			if len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		}
		if diff := cmp.Diff(plain, built); diff != "" {
			t.Errorf("helm template (-plain +built):\n%s", diff)
		}
		if !api {
			return
		}
		built = byName(t, documents(t, tool(t, "helm", "template", "release", dir, "--set", "crd.keep=false")))
		if diff := cmp.Diff(plain, built); diff != "" {
			t.Errorf("helm template --set crd.keep=false (-plain +built):\n%s", diff)
		}
		built = byName(t, documents(t, tool(t, "helm", "template", "release", dir, "--set", "crd.install=false")))
		for name := range built {
			if strings.HasPrefix(name, "CustomResourceDefinition ") {
				t.Errorf("crd.install=false: there is %s", name)
			}
		}
	})
}

func chart(t *testing.T, definition string) string {
	t.Helper()
	parent := t.TempDir()
	generate(t, definition, "-o", "helm", "--output-dir", parent)
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			return filepath.Join(parent, entry.Name())
		}
	}
	t.Fatal("no chart")
	return ""
}

// digest is that of what decides how a reconcile comes out, with what a chart
// adds to it where its values are others.
var digest = regexp.MustCompile(`[0-9a-f]{16}(-[0-9a-f]{8})?`)

// TestHelmValues: with other values the chart is the operator of a definition
// that says them, and its digests are others.
func TestHelmValues(t *testing.T) {
	each(t, func(t *testing.T, definition string) {
		dir := chart(t, definition)
		template := func(args ...string) []byte {
			args = append([]string{"template", "release", dir}, args...)
			if values, _ := os.ReadFile(filepath.Join(dir, "values.yaml")); bytes.Contains(values, []byte("\ncrd:\n")) {
				args = append(args, "--set", "crd.keep=false")
			}
			return tool(t, "helm", args...)
		}
		standard, built := template(), template("--set", "namespace=elsewhere")
		plain := generate(t, definition, "-n", "elsewhere")
		mask := func(stream []byte) map[string]any {
			return byName(t, documents(t, digest.ReplaceAll(stream, []byte("DIGEST"))))
		}
		if diff := cmp.Diff(mask(plain), mask(built)); diff != "" {
			t.Errorf("another namespace (-plain +built):\n%s", diff)
		}
		if before, now := fmt.Sprint(digest.FindAllString(string(standard), -1)), fmt.Sprint(digest.FindAllString(string(built), -1)); before == now {
			t.Error("the digests are the same with other values")
		}
		released := template("--set", "namespace=", "-n", "elsewhere")
		if diff := cmp.Diff(mask(plain), mask(released)); diff != "" {
			t.Errorf("the namespace of the release (-plain +built):\n%s", diff)
		}
	})
}

// pods are values of a chart for the pods of an operator.
const pods = `{
  "podTemplate": {
    "labels": {"team": "web"}, "annotations": {"example.com/note": "a: b # {c} <d>"},
    "nodeSelector": {"kubernetes.io/os": "linux"}, "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}},
    "imagePullSecrets": [{"name": "registry"}], "priorityClassName": "high"
  },
  "resources": {
    "runtime": {"limits": {"memory": "384Mi"}, "requests": {"cpu": "20m", "memory": "96Mi"}},
    "logic": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "250m", "memory": "512Mi"}}
  }
}`

// withPods writes a definition with the same for its pods into another directory; without
// values, as it is, but in the form of the other one.
func withPods(t *testing.T, definition string, values map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(definition)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, o := range documents(t, data) {
		spec, _ := o["spec"].(map[string]any)
		if o["kind"] == "Operator" && spec != nil && values != nil {
			install, _ := spec["install"].(map[string]any)
			if install == nil {
				install = map[string]any{}
			}
			spec["install"] = install
			template := maps.Clone(values["podTemplate"].(map[string]any))
			template["metadata"] = map[string]any{"labels": template["labels"], "annotations": template["annotations"]}
			delete(template, "labels")
			delete(template, "annotations")
			install["podTemplate"] = template
			resources := values["resources"].(map[string]any)
			install["runtimeResources"] = resources["runtime"]
			if logic, ok := spec["logic"].(map[string]any); ok {
				logic["resources"] = resources["logic"]
			}
		}
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n---\n", text)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shows matches the spec of a worker's Workflows: the texts that have it keep that of the
// definition.
var shows = regexp.MustCompile(`^(\{"[^"]+":\{"|dyn\(object\.spec\) == )`)

func withoutShows(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range value {
			out[key] = withoutShows(inner)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, inner := range value {
			out[i] = withoutShows(inner)
		}
		return out
	case string:
		if shows.MatchString(value) {
			return "SHOWN"
		}
		return strings.Join(strings.Fields(value), " ") // the lines of jq have a limited length
	}
	return value
}

// TestHelmPods: with values for the pods the chart is the operator of a definition that says
// them. The digests stay: custom resources are not reconciled for them.
func TestHelmPods(t *testing.T) {
	var values map[string]any
	if err := json.Unmarshal([]byte(pods), &values); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, definition string) {
		dir := chart(t, withPods(t, definition, nil))
		defaults, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		given := maps.Clone(values)
		resources := maps.Clone(given["resources"].(map[string]any))
		given["resources"] = resources
		for _, key := range []string{"runtime", "logic"} {
			if !bytes.Contains(defaults, []byte("\n  "+key+": {")) {
				delete(resources, key)
			}
		}
		if len(resources) == 0 {
			delete(given, "resources")
		}
		text, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "values.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"template", "release", dir, "--values", file}
		if bytes.Contains(defaults, []byte("\ncrd:\n")) {
			args = append(args, "--set", "crd.keep=false")
		}
		standard, built := tool(t, "helm", "template", "release", dir), tool(t, "helm", args...)
		mask := func(stream []byte) any {
			return withoutShows(byName(t, documents(t, digest.ReplaceAll(stream, []byte("DIGEST")))))
		}
		if diff := cmp.Diff(mask(generate(t, withPods(t, definition, values))), mask(built)); diff != "" {
			t.Errorf("values for the pods (-plain +built):\n%s", diff)
		}
		if before, now := fmt.Sprint(digest.FindAllString(string(standard), -1)), fmt.Sprint(digest.FindAllString(string(built), -1)); before != now {
			t.Error("the digests are others with other pods")
		}
	})
}

// TestHelmRefuses what is no value, before anything is rendered.
func TestHelmRefuses(t *testing.T) {
	dir := chart(t, root+"/examples/memcached-logic")
	for _, set := range []string{
		"namespace=Upper", `namespace=a"b`, "namespace=a: b", "image.logic=two words", "image.logic={{.Values.x}}", "image.logic=a'b", "eventBus.name=-", "unknown=1", "podTemplate.tolerations=x", "podTemplate.unknown=x", "podTemplate.annotations.a={{b}}", "podTemplate.priorityClassName=a b", "resources.runtime.limits.cpu=a b",
		"image.unknown=1", "crd.keep=maybe",
	} {
		if out, err := try("go", "tool", "helm", "template", "release", dir, "--set", set); err == nil {
			t.Errorf("--set %s is taken: %.200s", set, out)
		}
	}
}

// TestFunction: as a generator of kustomize the operator is the plain stream.
func TestFunction(t *testing.T) {
	program, err := filepath.Abs(binary)
	if err != nil {
		t.Fatal(err)
	}
	definition, err := os.ReadFile(root + "/examples/memcached/operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(root+"/examples/memcached")); err != nil {
		t.Fatal(err)
	}
	annotated := strings.Replace(string(definition), "metadata:\n", "metadata:\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./fn}\n", 1)
	for name, text := range map[string]string{
		"operator.yaml":      annotated,
		"fn":                 "#!/bin/sh\nexec " + program + " fn\n",
		"kustomization.yaml": "generators: [operator.yaml]\nsortOptions: {order: fifo}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	built := documents(t, tool(t, "kustomize", "build", "--enable-alpha-plugins", "--enable-exec", dir))
	if diff := cmp.Diff(documents(t, generate(t, root+"/examples/memcached")), built); diff != "" {
		t.Errorf("kustomize build (-plain +built):\n%s", diff)
	}
}
