package simulate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

const (
	hostile     = root + "/testdata/hostile"
	hostileText = "hostile.example.com/text"
	byWorkflow  = "  reconcile: {engine: workflow}\n"
	byWorker    = "  reconcile: {engine: worker}\n"
	// token is in the output only if a template was evaluated.
	token = "open-sesame"
)

// hostileTexts returns the texts of the corpus by name.
func hostileTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(hostile + "/texts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".txt")] = string(data)
	}
	return out
}

// shortTexts returns those that fit into one object together.
func shortTexts(t *testing.T) map[string]string {
	out := hostileTexts(t)
	for name, text := range out {
		if len(text) > 1000 {
			delete(out, name)
		}
	}
	return out
}

// echo returns a custom resource of the definitions next to the corpus.
func echo(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "hostile.example.com/v1", "kind": "Echo",
		"metadata": map[string]any{"name": "sample", "namespace": "default"}, "spec": spec,
	}
}

// withTexts returns a custom resource with texts in every field that accepts one.
func withTexts(text string, texts map[string]string) map[string]any {
	list, words := []any{text}, map[string]any{}
	for name, other := range texts {
		list = append(list, other)
		words[name] = other
		if len(other) < 1000 { // YAML, in which the API server receives applied objects, limits the length of keys
			words[other] = name
		}
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return echo(map[string]any{"text": text, "list": list, "words": words})
}

// hostileWorld returns a cluster with an operator of the corpus.
func hostileWorld(t *testing.T, file, more string) *world {
	t.Helper()
	t.Setenv("API_TOKEN", token)
	o, err := openWith(filepath.Join(hostile, file), more)
	if err != nil {
		t.Fatal(err)
	}
	s, err := simulate.New(simulate.Inputs{
		Objects: o.objects, Runner: simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &world{Simulation: s, t: t, o: o}
}

func (w *world) texts() map[string]any {
	w.t.Helper()
	return w.get(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "sample-texts"}})
}

func (w *world) things() map[string]any {
	w.t.Helper()
	return w.get(map[string]any{"apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "sample-things"}})
}

// checkTexts compares the texts of the children with those of the custom resource.
func (w *world) checkTexts(cr map[string]any) {
	w.t.Helper()
	texts, things := w.texts(), w.things()
	if texts == nil || things == nil {
		w.t.Fatalf("a child is missing; the status is %.2000s", text(w.get(cr)["status"]))
	}
	spec := cr["spec"].(map[string]any)
	data, annotations := texts["data"].(map[string]any), texts["metadata"].(map[string]any)["annotations"].(map[string]any)
	same := map[string][2]any{
		"text":       {spec["text"], data["text"]},
		"annotation": {spec["text"], annotations[hostileText]},
		"words":      {spec["words"], readText(data["words"].(string))},
		"list":       {spec["list"], things["spec"].(map[string]any)["list"]},
		"mapping":    {spec["words"], things["spec"].(map[string]any)["words"]},
	}
	if within, has := data["within"]; has {
		same["within"] = [2]any{"<" + spec["text"].(string) + ">", within}
		same["tojson"] = [2]any{spec["list"], readText(data["list"].(string))}
	}
	for path, pair := range same {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			w.t.Errorf("%s (-sent +received):\n%.2000s", path, diff)
		}
	}
	if strings.Contains(text(texts)+text(things), token) {
		w.t.Error("a template was evaluated: the output contains the token")
	}
}

// TestHostileDirect writes each text to every field of the same custom resource.
func TestHostileDirect(t *testing.T) {
	w := hostileWorld(t, "operator.yaml", "")
	for name, hostile := range hostileTexts(t) {
		t.Run(name, func(t *testing.T) {
			w.t = t
			words := map[string]string{"one": hostile}
			if len(hostile) >= 100_000 {
				words["one"] = "short" // otherwise they are too large together
			}
			cr := withTexts(hostile, words)
			if len(hostile) < 100_000 {
				cr["metadata"].(map[string]any)["annotations"] = map[string]any{hostileText: hostile}
			}
			if err := w.Apply(cr); err != nil {
				t.Fatal(err)
			}
			w.settle()
			w.checkTexts(cr)
			theirs := w.texts()["metadata"].(map[string]any)["annotations"].(map[string]any)["hostile.example.com/theirs"]
			if len(hostile) < 100_000 && theirs != hostile {
				t.Errorf("the annotation is %q", theirs)
			}
		})
	}
}

// TestHostileNames checks that invalid names are refused before any template is
// evaluated.
func TestHostileNames(t *testing.T) {
	w := hostileWorld(t, "operator.yaml", "")
	for name, hostile := range hostileTexts(t) {
		cr := echo(map[string]any{"text": "x"})
		cr["metadata"].(map[string]any)["labels"] = map[string]any{"label": hostile}
		var refused *cluster.StatusError
		if err := w.Apply(cr); !errors.As(err, &refused) && !slices.Contains([]string{"yaml-words", "yaml-number", "json-null"}, name) {
			t.Errorf("%s as a label: %v", name, err)
		}
	}
}

// TestHostilePods passes the texts through the Workflow and its pod, and through a worker.
func TestHostilePods(t *testing.T) {
	for _, tt := range []struct{ name, file, more string }{
		{"templates in Workflows", "operator.yaml", byWorkflow},
		{"logic in Workflows", "logic/operator.yaml", byWorkflow},
		{"templates in a worker", "operator.yaml", byWorker},
		{"logic in a worker", "logic/operator.yaml", byWorker},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := hostileWorld(t, tt.file, tt.more)
			texts := shortTexts(t)
			all := ""
			for _, text := range texts {
				all += text
			}
			cr := withTexts(all, texts)
			cr["metadata"].(map[string]any)["annotations"] = map[string]any{hostileText: all}
			if err := w.Apply(cr); err != nil {
				t.Fatal(err)
			}
			w.settle()
			w.checkTexts(cr)
			if tt.more == byWorkflow {
				w.checkArguments()
			}
		})
	}
}

// checkArguments fills in the template of every Workflow as Argo's controller does,
// and compares the arguments of containers with what the Sensor sent.
func (w *world) checkArguments() {
	w.t.Helper()
	filled := 0
	for _, wf := range w.workflows() {
		global := common.Parameters{"workflow.name": wf.Name, "workflow.namespace": wf.Namespace}
		for _, p := range wf.Spec.Arguments.Parameters {
			global["workflow.parameters."+p.Name] = p.Value.String()
			if strings.Contains(p.Value.String(), "{{") {
				w.t.Errorf("argument %s contains braces", p.Name)
			}
		}
		for _, o := range w.o.objects {
			t, ok := o.(*wfv1.WorkflowTemplate)
			if !ok || t.Name != wf.Spec.WorkflowTemplateRef.Name {
				continue
			}
			for _, template := range t.Spec.Templates {
				processed, err := common.ProcessArgs(&template, &wfv1.Arguments{}, global, common.Parameters{}, false, wf.Namespace, nil)
				if err != nil {
					w.t.Fatal(err)
				}
				filled += w.sameArguments(simulate.ContainersOf(*processed), global)
			}
		}
	}
	if filled == 0 {
		w.t.Error("no argument reached a container")
	}
}

func (w *world) sameArguments(containers []corev1.Container, global common.Parameters) (found int) {
	w.t.Helper()
	for _, c := range containers {
		for _, v := range c.Env {
			for name, argument := range map[string]string{"ARGOPERATOR_KEY": "key", "ARGOPERATOR_DESIRED": "desired"} {
				if v.Name != name {
					continue
				}
				found++
				if want := global["workflow.parameters."+argument]; v.Value != want {
					w.t.Errorf("container %s gets %s %.100q, but the Sensor sent %.100q", c.Name, name, v.Value, want)
				}
			}
		}
	}
	return found
}

// workflows returns the Workflows that the Sensors created.
func (w *world) workflows() []wfv1.Workflow {
	w.t.Helper()
	var out []wfv1.Workflow
	for _, step := range w.Trace() {
		if step.Delivery == nil {
			continue
		}
		for _, a := range step.Delivery.Attempts {
			for _, c := range a.Calls {
				var wf wfv1.Workflow
				if err := json.Unmarshal([]byte(text(c.Body)), &wf); err == nil && wf.Kind == "Workflow" {
					out = append(out, wf)
				}
			}
		}
	}
	return out
}

// TestHostileTooLarge checks the error for input that is too large for a pod;
// custom programs read it from a file.
func TestHostileTooLarge(t *testing.T) {
	long := hostileTexts(t)["long-250k"]
	for _, tt := range []struct{ name, file, more, want string }{
		{"templates", "operator.yaml", byWorkflow, "the children are larger together than a pod takes"},
		{"logic", "logic/operator.yaml", byWorkflow, ""},
		{"worker", "operator.yaml", byWorker, ""},
		{"logic in a worker", "logic/operator.yaml", byWorker, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := hostileWorld(t, tt.file, tt.more)
			cr := withTexts(long, nil)
			if err := w.Apply(cr); err != nil {
				t.Fatal(err)
			}
			if err := w.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				w.checkTexts(cr)
			} else if status := text(w.get(cr)["status"]); !strings.Contains(status, tt.want) {
				t.Errorf("the status does not contain %q: %.2000s", tt.want, status)
			}
		})
	}
}

// TestHostileKey checks the error for a key that YAML does not accept.
func TestHostileKey(t *testing.T) {
	w := hostileWorld(t, "operator.yaml", "")
	w.sendEcho(`{"text":"x","words":{"` + strings.Repeat("k", 2000) + `":"x"}}`)
	if status := text(w.get(echo(nil))["status"]); !strings.Contains(status, "things: the API server rejected it") || w.texts() == nil {
		t.Errorf("the status is %.2000s", status)
	}
}

// TestHostileObjects checks objects in fields that accept any value.
func TestHostileObjects(t *testing.T) {
	files, err := filepath.Glob(hostile + "/objects/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no objects: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := hostileWorld(t, "operator.yaml", "")
			cr := echo(map[string]any{"any": readText(string(data))})
			if err := w.Apply(plain(cr).(map[string]any)); err != nil {
				t.Fatal(err)
			}
			w.settle()
			things := w.things()
			if things == nil {
				t.Fatalf("no child; the status is %.2000s", text(w.get(cr)["status"]))
			}
			// server-side apply drops nulls
			want := solid(w.get(cr)["spec"].(map[string]any)["any"])
			if diff := cmp.Diff(plain(want), plain(solid(things["spec"].(map[string]any)["any"]))); diff != "" {
				t.Errorf("(-sent +received):\n%.2000s", diff)
			}
		})
	}
}

// TestHostileNumbers checks that a number arrives unchanged or is refused, and that other
// children do not wait for it. A pod computes the status, and reads every number exactly.
func TestHostileNumbers(t *testing.T) {
	data, err := os.ReadFile(hostile + "/numbers.txt")
	if err != nil {
		t.Fatal(err)
	}
	fine, inexact, _ := strings.Cut(string(data), "!")
	for _, engine := range []struct {
		name, file, more string
		exact            bool // no Sensor computes the children
	}{
		{"direct", "operator.yaml", "", false},
		{"templates", "operator.yaml", byWorkflow, false},
		{"logic", "logic/operator.yaml", byWorkflow, true},
		{"worker", "operator.yaml", byWorker, true},
	} {
		t.Run(engine.name, func(t *testing.T) {
			numbers := append(strings.Fields(fine), strings.Fields(inexact)...)
			if engine.name != "direct" { // limits the run time
				numbers = []string{"9007199254740991", "1.5e300", "9007199254740993"}
			}
			for _, number := range numbers {
				w := hostileWorld(t, engine.file, engine.more)
				sent := json.RawMessage(number)
				spec := `{"number":` + number + `,"any":{"list":[` + number + `]}}`
				if whole := !strings.ContainsAny(number, ".e"); whole {
					spec = spec[:len(spec)-1] + `,"count":` + number + `}`
				}
				w.sendEcho(spec)
				refused := slices.Contains(strings.Fields(inexact), number) && !engine.exact
				status := text(w.get(echo(nil))["status"])
				things := w.exactThings()
				switch {
				case w.texts() == nil:
					t.Errorf("%s: the child without a number is missing, the status is %s", number, status)
				case refused && (things != nil || !strings.Contains(status, "2^53")),
					refused && engine.name == "direct" && strings.Contains(status, `"count"`):
					t.Errorf("%s: the child is %s, the status %s", number, text(things), status)
				case !refused && things == nil:
					t.Errorf("%s: no child, the status is %s", number, status)
				case !refused && !sameNumber(sent, things["spec"].(map[string]any)["number"]):
					t.Errorf("%s became %s", number, text(things["spec"]))
				}
			}
		})
	}
}

// exactThings returns the Thing with unparsed numbers.
func (w *world) exactThings() map[string]any {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.Cluster().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/apis/things.example.com/v1/namespaces/default/things/sample-things", nil))
	if answer.Code == http.StatusNotFound {
		return nil
	}
	var out map[string]any
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// sendEcho writes a custom resource from its text.
func (w *world) sendEcho(spec string) {
	w.t.Helper()
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(spec))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		w.t.Fatal(err)
	}
	table := table{Bus: &simulate.Bus{Simulation: w.Simulation}}
	body := `{"apiVersion":"hostile.example.com/v1","kind":"Echo","metadata":{"name":"sample"},"spec":` + spec + `}`
	if err := table.send("POST", "/apis/hostile.example.com/v1/namespaces/default/echoes", "application/json", body); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// sameNumber compares integers digit by digit, others as floating point.
func sameNumber(sent json.RawMessage, arrived any) bool {
	if string(sent) == text(arrived) {
		return true
	}
	var a, b float64
	err := errors.Join(json.Unmarshal(sent, &a), json.Unmarshal([]byte(text(arrived)), &b))
	return err == nil && a == b && (strings.ContainsAny(string(sent), ".e") || a == 0)
}

// TestHostileSteps checks that parameters of the steps engine pass through Argo's
// substitution unchanged.
func TestHostileSteps(t *testing.T) {
	texts := shortTexts(t)
	program := `import json, sys
sys.path.insert(0, sys.argv[1])
from steps import safe_json
json.dump({name: safe_json({"a": text, text: [text]}) for name, text in json.load(sys.stdin).items()}, sys.stdout)`
	cmd := exec.Command("python3", "-B", "-c", program, root+"/templates/runtime")
	cmd.Stdin = strings.NewReader(text(texts))
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var safe map[string]string
	if err := json.Unmarshal(out.Bytes(), &safe); err != nil {
		t.Fatal(err)
	}
	template := &wfv1.Template{
		Inputs:    wfv1.Inputs{Parameters: []wfv1.Parameter{{Name: "manifest"}}},
		Container: &corev1.Container{Env: []corev1.EnvVar{{Name: "MANIFEST", Value: "{{inputs.parameters.manifest}}"}}},
	}
	for name, sent := range texts {
		arguments := &wfv1.Arguments{Parameters: []wfv1.Parameter{{Name: "manifest", Value: wfv1.AnyStringPtr(safe[name])}}}
		processed, err := common.ProcessArgs(template, arguments, common.Parameters{"workflow.name": token}, common.Parameters{}, false, "argo-events", nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		arrived := readText(processed.Container.Env[0].Value)
		if diff := cmp.Diff(any(map[string]any{"a": sent, sent: []any{sent}}), arrived); diff != "" && sent != "a" {
			t.Errorf("%s (-sent +received):\n%s", name, diff)
		}
	}
}
