package scaffold

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/simulate"
)

func fromManifests(t *testing.T, o Options, files ...string) (Project, diag.List) {
	t.Helper()
	o.Name, o.Group, o.Kind = "app", "example.com", "App"
	var inputs []definition.Input
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, definition.Input{Name: filepath.Base(file), Data: data})
	}
	p, findings := FromManifests(o, inputs)
	if findings.HasErrors() {
		t.Fatalf("%v: %+v", files, findings)
	}
	return p, findings
}

// TestManifestGolden holds whole projects, and what is said of their manifests,
// to testdata. UPDATE=1 rewrites them.
func TestManifestGolden(t *testing.T) {
	for _, file := range []string{"shop.yaml", "live.json", "nightly.yaml"} {
		t.Run(file, func(t *testing.T) {
			p, findings := fromManifests(t, Options{}, filepath.Join("testdata", "manifests", file))
			result, err := Files(p)
			if err != nil {
				t.Fatal(err)
			}
			operator := generated(t, result)
			play(t, operator, result.Files)
			got := &txtar.Archive{}
			for _, f := range findings {
				got.Comment = fmt.Appendf(got.Comment, "%s:%d:%d: %s; %s\n", f.File, f.Line, f.Column, f.Message, f.Hint)
			}
			for _, f := range result.Files {
				sound(t, f)
				if regexp.MustCompile(`^(operator|children/|samples/|tests/)`).MatchString(f.Path) {
					got.Files = append(got.Files, txtar.File{Name: f.Path, Data: f.Data})
				}
			}
			golden := filepath.Join("testdata", "manifest-"+strings.TrimSuffix(file, filepath.Ext(file))+".txtar")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
				t.Errorf("another project than %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// realManifests are files of the modules that argoperator is made with.
var realManifests = []string{
	"github.com/argoproj/argo-workflows/v3 manifests/quick-start-postgres.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/quick-start/base/minio/minio-*.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/quick-start/base/prometheus/prometheus-*.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/components/mysql/mysql-*.yaml",
	"github.com/argoproj/argo-events manifests/install.yaml",
	"github.com/argoproj/argo-events manifests/namespace-install.yaml",
	"k8s.io/pod-security-admission webhook/manifests/[0-9]*.yaml",
}

// TestManifestsComeBack: a custom resource that says nothing becomes the objects
// that the project was made of.
func TestManifestsComeBack(t *testing.T) {
	own, err := filepath.Glob("testdata/manifests/*")
	if err != nil || len(own) == 0 {
		t.Fatal(own, err)
	}
	for _, file := range own {
		t.Run(filepath.Base(file), func(t *testing.T) { comesBack(t, file) })
	}
	if testing.Short() {
		return
	}
	for _, line := range realManifests {
		module, pattern, _ := strings.Cut(line, " ")
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil || strings.TrimSpace(string(dir)) == "" {
			t.Logf("%s is not in the module cache", module)
			continue
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file; %v", line, err)
		}
		t.Run(line, func(t *testing.T) { comesBack(t, files...) })
	}
}

func comesBack(t *testing.T, files ...string) {
	t.Helper()
	p, findings := fromManifests(t, Options{}, files...)
	result, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Logf("lint: %s:%d: %s", f.File, f.Line, f.Message)
		if f.Severity == diag.Error {
			t.Error("it is refused")
		}
	}
	if result.Findings.HasErrors() {
		return
	}
	dir := directory(result.Files)
	operator, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: dir["operator.yaml"].Data, Dir: dir}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before []map[string]any
	var names []string
	namespace := "default"
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := definition.Objects(definition.Input{Data: data}, func([]byte) bool { return true })
		for _, object := range objects {
			o := object.Fields
			metadata := o["metadata"].(map[string]any)
			names = append(names, metadata["name"].(string))
			for _, subject := range append(list(o, "subjects"), o["metadata"]) {
				if ns, ok := subject.(map[string]any)["namespace"].(string); ok {
					namespace = ns
				}
			}
			before = append(before, o)
		}
	}
	resource := map[string]any{"apiVersion": "example.com/v1alpha1", "kind": "App", "metadata": map[string]any{"name": p.API.Sample, "namespace": namespace}}
	out, err := simulate.Render(t.Context(), simulate.Inputs{Objects: operator.Objects()}, []simulate.Happening{{Event: simulate.Added, Object: resource}})
	if err != nil {
		t.Fatal(err)
	}
	if failures := out.Trace.Failures(); len(failures) > 0 {
		t.Fatal(failures)
	}
	after := map[string]any{}
	for _, o := range out.Objects {
		if o["kind"] != "App" {
			o := renamed(asWritten(t, o, namespace), p.API.Sample, names).(map[string]any)
			after[o["kind"].(string)+" "+o["metadata"].(map[string]any)["name"].(string)] = o
		}
	}
	want := map[string]any{}
	for _, o := range before {
		name := fmt.Sprint(o["kind"], " ", o["metadata"].(map[string]any)["name"])
		out := slices.ContainsFunc(findings, func(f diag.Finding) bool { return strings.HasPrefix(f.Message, name+" is left out") })
		if out {
			continue
		}
		want[name] = asWritten(t, o, namespace)
	}
	if len(want) == 0 {
		t.Error("nothing was kept")
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("(-manifests +children):\n%s", diff)
	}
}

// renamed takes the custom resource's name away where names have nothing in common.
func renamed(value any, sample string, names []string) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = renamed(v[key], sample, names)
		}
	case []any:
		for i := range v {
			v[i] = renamed(v[i], sample, names)
		}
	case string:
		for _, name := range names {
			v = strings.ReplaceAll(v, sample+"-"+name, name)
		}
		return v
	}
	return value
}

// asWritten is an object without what a server, or another custom resource, makes
// different.
func asWritten(t *testing.T, o map[string]any, namespace string) map[string]any {
	p := player{T: t}
	o = p.plain(o).(map[string]any)
	metadata := o["metadata"].(map[string]any)
	for _, key := range strings.Fields("namespace uid resourceVersion generation creationTimestamp managedFields ownerReferences") {
		delete(metadata, key)
	}
	delete(o, "status")
	clean(o, namespace)
	spec, _ := o["spec"].(map[string]any)
	if o["kind"] == "Service" && spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	if metadata["name"] == "shop-web" && o["kind"] == "Deployment" {
		delete(spec, "replicas") // the autoscaler's
	}
	return o
}

// clean takes away nulls, the operator's own labels and annotations, the label that tells custom resources apart, and the
// difference between numbers and quantities.
func clean(value any, namespace string) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			clean(v[key], namespace)
			inner := v[key]
			number, isNumber := inner.(float64)
			empty, isMap := inner.(map[string]any)
			switch {
			case key == "kind" && inner == "ServiceAccount" && v["name"] != nil && v["namespace"] == nil:
				v["namespace"] = namespace // which the API server would ask for
			case inner == nil, strings.HasPrefix(key, "argoperator.dev/"), key == "app.kubernetes.io/managed-by", key == "app.kubernetes.io/instance", key == "nodePort",
				strings.HasPrefix(key, "kubectl.kubernetes.io/"), strings.HasPrefix(key, "deployment.kubernetes.io/"):
				delete(v, key)
			case isNumber && slices.Contains([]string{"cpu", "memory", "storage"}, key):
				v[key] = fmt.Sprintf("%v", int64(number))
				if number < 1 {
					v[key] = fmt.Sprint(number)
				}
			case isMap && len(empty) == 0 && slices.Contains([]string{"labels", "annotations", "matchLabels", "metadata"}, key):
				delete(v, key)
			}
		}
	case []any:
		for _, inner := range v {
			clean(inner, namespace)
		}
	}
}
