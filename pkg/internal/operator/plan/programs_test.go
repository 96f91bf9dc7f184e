package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/testing/generate/gosource"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// TestPrograms runs the cases of testdata/programs: an event in, a request out. A case
// is
//
//	# name: reason
//	options
//	KIND {merge patch of the new object}
//	old  {merge patch of the old object}
//	> the request
//
// UPDATE=1 rewrites the requests.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		program := strings.TrimSuffix(filepath.Base(file), ".txt")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var played []string
		for _, text := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
			if !strings.Contains(text, "\n") || strings.HasPrefix(text, "// ") { // the description of the file
				played = append(played, text)
				continue
			}
			given := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, ">") })
			name, _, _ := strings.Cut(strings.TrimPrefix(given[0], "# "), ":")
			t.Run(program+"/"+name, func(t *testing.T) {
				got := strings.Join(append(given, requestsOf(t, program, given[1:])...), "\n")
				played = append(played, got)
				if diff := cmp.Diff(text, got); diff != "" && !goldenfile.Update() {
					t.Errorf("%s\n-want +got\n%s", given[0], diff)
				}
			})
		}
		if goldenfile.Update() {
			if err := os.WriteFile(file, []byte(strings.Join(played, "\n\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// requestsOf returns the requests of a program for the event of a case.
func requestsOf(t *testing.T, program string, given []string) []string {
	t.Helper()
	event, options := map[string]any{"oldBody": nil}, ""
	for _, line := range given {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "ADD", "UPDATE", "DELETE":
			event["type"], event["body"] = word, object(patched(t, program, rest))
		case "old":
			event["oldBody"] = object(patched(t, program, rest))
		default:
			options = line
		}
	}
	source := programOf(t, program, options)
	query, err := gojq.Parse(source)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	compiled, err := jq.Compile(query)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	got, err := compiled.Run(context.Background(), viaJSON(t, event))
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	return describe(t, got.(map[string]any))
}

// The objects that the cases patch.
const (
	customResource = `{"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "one", "namespace": "town", "uid": "owner", "generation": 1, "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"size": 2}}`
	childObject    = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "namespace": "town", "uid": "child", "resourceVersion": "3",
		"labels": {"app.kubernetes.io/managed-by": "shops", "argoperator.dev/owner-uid": "owner", "argoperator.dev/child": "map"},
		"annotations": {"argoperator.dev/generation": "1"},
		"managedFields": [{"manager": "shops", "operation": "Apply", "time": "2026-01-01T00:00:01Z", "fieldsV1": {"f:data": {}}}],
		"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Shop", "name": "one", "uid": "owner", "controller": true}]}}`
)

// patched returns an object with a merge patch applied.
func patched(t *testing.T, program, patch string) map[string]any {
	t.Helper()
	base := customResource
	if program == "observe" {
		base = childObject
	}
	var out, changes map[string]any
	for text, into := range map[string]*map[string]any{base: &out, "{" + patch + "}": &changes} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	merge(out, changes)
	return out
}

func merge(into, changes map[string]any) {
	for key, value := range changes {
		inner, ok := value.(map[string]any)
		known, both := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case ok && both:
			merge(known, inner)
		default:
			into[key] = value
		}
	}
}

// viaJSON returns a value as decoded from JSON.
func viaJSON(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// describe formats a request, with its body on separate lines.
func describe(t *testing.T, result map[string]any) []string {
	t.Helper()
	if result["go"] != true {
		return []string{"> nothing"}
	}
	var out []string
	for _, key := range []string{"call", "failed"} {
		request, ok := result[key].(map[string]any)
		if !ok {
			continue
		}
		if operation, ok := request["operation"]; ok {
			out = append(out, fmt.Sprintf("> %s: %s", key, operation), ">   "+compact(t, request["manifest"]))
			continue
		}
		var body any
		if err := json.Unmarshal([]byte(request["body"].(string)), &body); err != nil {
			t.Fatal(err)
		}
		asks := ""
		if request["asks"] != nil {
			asks = fmt.Sprintf(", or a Workflow asks why (%s)", request["asks"])
		}
		out = append(out, fmt.Sprintf("> %s: %s %s %s%s", key, request["method"], request["path"], request["type"], asks), ">   "+compact(t, body))
	}
	return out
}

func compact(t *testing.T, value any) string {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// programOf returns a program with options, separated by spaces.
func programOf(t *testing.T, program, options string) string {
	t.Helper()
	has := func(option string) bool { return slices.Contains(strings.Fields(options), option) }
	p := shops(t, func(option string) bool {
		return has(option) || option == "name" && (program == "objects" || program == "delete")
	})
	switch program {
	case "write":
		return writeJQ(p, p.Children[0])
	case "objects":
		workers := 1
		if has("worker-0-of-2") {
			workers = 2
		}
		return objectsJQ(p, p.Children[0], 0, workers)
	case "delete":
		return deleteJQ(p, has("missing"))
	case "observe":
		return observeJQ(p, p.Children[0])
	}
	return statusJQ(p)
}

// shops plans an operator with one child, or two.
func shops(t *testing.T, has func(string) bool) *configured {
	t.Helper()
	p := &configured{}
	p.Operator.Name, p.Names.Sensor = "shops", "shops"
	p.Reconcile = Reconcile{Engine: Direct, ForceConflicts: !has("no-force"), StateLocation: InStatus, Shards: 1}
	p.API = API{
		Kind: Kind{
			Group: "example.com", Version: "v1", Kind: "Shop", Plural: "shops",
			Namespaced: !has("cluster-scoped"), StatusSubresource: true,
		},
		HasGeneration: true, HasObservedGeneration: true, NumbersConditions: true, HasConditions: !has("no-conditions"),
	}
	p.Reconcile.Diagnoses, p.Shared.Namespace = has("diagnoses"), "argo-events"
	if has("annotations") {
		p.Reconcile.StateLocation = InAnnotations
	}
	config := Kind{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	child := Child{Name: "map", Kind: config, SameNamespace: true, Adopt: has("adopt"), Orphan: has("orphan")}
	data := map[string]any{"size": "${ .spec.size | tostring }"}
	if has("never") {
		child.Update = Never
	}
	if has("recreate") {
		child.Replaced = program(t, "[.data] | fingerprint", "string")
	}
	if has("labels") {
		data["team"] = "${ .metadata.labels.team }"
	}
	if has("needs") {
		data["address"] = "${ $children.disk.status.address }"
	}
	if has("needs-sum") {
		data["address"] = `${ $children.disk.status.address + "/24" }`
	}
	list := ".spec.items // []"
	if has("needs-list") {
		list = "$children.disk.status.addresses"
	}
	metadata := map[string]any{"name": "${ .metadata.name }"}
	switch {
	case has("each"):
		metadata["name"] = "${ .metadata.name }-${ $item }"
		child.ForEach = program(t, list, "array")
	case has("needs-name"):
		metadata["name"] = "one-${ $children.disk.status.address }"
	case has("name"):
		metadata["name"] = "${ .spec.name // \"one\" }"
	}
	if has("namespace") {
		metadata["namespace"] = "${ .spec.namespace }"
		child.SameNamespace, child.Namespace = false, program(t, metadata["namespace"], "")
	}
	child.Object = program(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, "")
	child.ObjectName, child.needs = program(t, metadata["name"], ""), needsOf(child.ForEach, child.Object)
	if p.Children = []Child{child}; p.needsFinalizer(child) {
		p.Reconcile.Finalizer = "example.com/shops-cleanup"
	}
	p.Reconcile.FinalizerForced = has("forced-finalizer")
	if has("when") {
		child.When = program(t, ".spec.size > 0", "boolean")
	}
	if has("numbers") {
		child.InexactPaths = [][]string{{"spec", "size"}}
	}
	p.Children = []Child{child}
	if has("two") || has("dependsOn") || has("needs") || has("needs-sum") || has("needs-list") || has("needs-name") || has("alternative") {
		disk := Child{Name: "disk", Kind: config, SameNamespace: true, ObjectName: child.ObjectName, Object: child.Object}
		if has("needs-name") {
			disk.ObjectName = program(t, "${ .metadata.name }-disk", "")
		}
		if !has("alternative") {
			disk.Kind = Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true}
		}
		if has("optional-disk") {
			disk.When = program(t, ".spec.disk == true", "boolean")
		}
		p.Children = append(p.Children, disk)
	}
	if has("dependsOn") {
		p.Children[0].DependsOn = []string{"disk"}
	}
	if has("alternative") {
		p.Children[0].Alternatives, p.Children[1].Alternatives = []string{"disk"}, []string{"map"}
	}
	if has("conditions") {
		p.Status.Fields = []StatusField{{Name: "conditions", Value: program(t, []any{map[string]any{"type": "Big", "status": "${ if .spec.size > 5 then \"True\" else \"False\" end }"}}, "")}}
	}
	if has("field") {
		p.Status.Fields = []StatusField{{Name: "size", Value: program(t, "${ .spec.size + 1 }", "")}}
	}
	return p
}

func program(t *testing.T, source any, want string) *expression.Program {
	t.Helper()
	scope := expression.Scope{Input: schema.Any(), Name: "Shop", Each: true, Waits: true, Children: map[string]schema.Type{"disk": schema.Any(), "map": schema.Any()}}
	var out *expression.Program
	var problems []expression.Problem
	if want != "" {
		out, problems = expression.Expression(source.(string), scope, want)
	} else {
		out, problems = expression.Template(source, scope, schema.Any())
	}
	if out == nil {
		t.Fatal(problems)
	}
	return out
}

// TestGenerated requires that the parsed files are those of the directory.
func TestGenerated(t *testing.T) {
	set, err := jqfile.Parse(os.DirFS("direct"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := gosource.File("plan", "directSet", *set, "pkg/internal/testing/generate/direct")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("direct_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Error("direct_generated.go differs from the jq files: run go generate ./pkg/internal/operator/plan")
	}
	if diff := cmp.Diff(*set, directSet, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-parsed +generated:\n%s", diff)
	}
}

// TestNamesInPrograms covers that no name has two meanings, because definitions are
// inlined, and that none hides a function that a user's expression may call.
func TestNamesInPrograms(t *testing.T) {
	names, err := filepath.Glob("direct/*.jq")
	if err != nil {
		t.Fatal(err)
	}
	prelude := namesIn(t, "direct/prelude.jq")
	for _, file := range names {
		all := namesIn(t, file)
		if file != "direct/prelude.jq" {
			all = append(all, prelude...)
		}
		slices.Sort(all)
		for i, name := range all {
			if i > 0 && all[i-1] == name && !slices.Contains([]string{"$children", "$item", "$index"}, name) { // their meaning is always the same
				t.Errorf("%s: %s is defined or bound twice", file, name)
			}
			if query, err := gojq.Parse(name); err == nil && name[0] != '$' {
				if _, err := gojq.Compile(query); err == nil {
					t.Errorf("%s is a function of jq: expressions of users may call it", name)
				}
			}
		}
	}
}

// namesIn returns the definitions of a file and the variables that it binds.
func namesIn(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	code := regexp.MustCompile(`(?m)^ *#.*$`).ReplaceAllString(string(data), "")
	words := strings.FieldsFunc(code, func(r rune) bool { return r == ' ' || r == '\n' || r == '(' || r == ':' || r == ';' })
	for i, word := range words {
		if i > 0 && (words[i-1] == "def" || words[i-1] == "as") {
			out = append(out, word)
		}
	}
	return out
}
