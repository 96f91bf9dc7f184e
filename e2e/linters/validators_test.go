package main

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
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/eventsource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// TestValidators requires that argoperator rejects the same EventSources as the validators of Argo
// Events: its examples, each also without one field after the other, and with another text in it.
func TestValidators(t *testing.T) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-events").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "examples", "event-sources", "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	dir := t.TempDir()
	cases := map[string]string{} // what Argo Events says of a file
	what := map[string]string{}
	write := func(object map[string]any, about string) {
		name := fmt.Sprintf("source-%04d", len(cases))
		object["metadata"] = map[string]any{"name": name, "namespace": name}
		data, err := sigsyaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var source v1alpha1.EventSource
		if err := sigsyaml.Unmarshal(data, &source); err != nil {
			return // another rule speaks of types
		}
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		cases[name], what[name] = validated(&source), about
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
		for {
			var object map[string]any
			if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
				break
			} else if err != nil || object["kind"] != "EventSource" {
				continue
			}
			for kind, events := range object["spec"].(map[string]any) {
				entries, ok := events.(map[string]any)
				if !ok || kind == "template" || kind == "service" {
					continue
				}
				for name, entry := range entries { // one event of one type at a time
					if entry, ok := entry.(map[string]any); ok {
						each(entry, func(changed map[string]any, about string) {
							alone := runtime.DeepCopyJSON(object)
							alone["spec"] = map[string]any{kind: map[string]any{name: changed}}
							write(alone, filepath.Base(file)+" "+kind+" "+about)
						})
					}
				}
			}
		}
	}
	found := errorsIn(t, dir)
	agree := 0
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		ours := strings.Join(found[name], "; ")
		if (cases[name] != "") == (ours != "") {
			agree++
			continue
		}
		t.Errorf("%s: Argo Events says %q, argoperator %q", what[name], cases[name], ours)
	}
	t.Logf("%d of %d EventSources", agree, len(cases))
}

// validated returns why Argo Events rejects an EventSource, or how its validator fails.
func validated(source *v1alpha1.EventSource) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprint("panic: ", p)
		}
	}()
	if err := eventsource.ValidateEventSource(source); err != nil {
		return strings.TrimSpace("invalid " + err.Error())
	}
	return ""
}

// each calls do with an event, and with copies of it that differ in one field.
func each(event map[string]any, do func(changed map[string]any, about string)) {
	do(event, "as it is")
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		fields, ok := value.(map[string]any)
		if !ok {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			at := append(slices.Clone(path), key)
			without := runtime.DeepCopyJSON(event)
			delete(parentOf(without, at), key)
			do(without, "without "+strings.Join(at, "."))
			if _, isText := fields[key].(string); isText {
				other := runtime.DeepCopyJSON(event)
				parentOf(other, at)[key] = "other"
				do(other, "another "+strings.Join(at, "."))
			}
			walk(fields[key], at)
		}
	}
	walk(event, nil)
}

func parentOf(in map[string]any, path []string) map[string]any {
	for _, key := range path[:len(path)-1] {
		in = in[key].(map[string]any)
	}
	return in
}

// checked are the codes of the rules that say what Argo Events' validators say.
var checked = []string{"incomplete-event-source", "invalid-manifest", "duplicate-event-name", "invalid-event-type"}

// errorsIn returns the errors of argoperator by the file, without its ending.
func errorsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out, err := exec.Command("../../bin/argoperator", "lint", "-f", dir, "-o", "json").Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	var list struct {
		Items []struct{ File, Code, Severity, Message string }
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, f := range list.Items {
		if f.Severity == "error" && slices.Contains(checked, f.Code) {
			name := strings.TrimSuffix(filepath.Base(f.File), ".yaml")
			found[name] = append(found[name], f.Message)
		}
	}
	return found
}
