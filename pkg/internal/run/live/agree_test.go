package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/devcluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/internal/testing/need"
)

// realServer returns the program with Kubernetes' API server. It skips the test if none is given.
func realServer(t *testing.T) string {
	t.Helper()
	program := os.Getenv("ARGOPERATOR_DEV")
	if program == "" {
		t.Skip("ARGOPERATOR_DEV is not set")
	}
	return program
}

// TestServersAgree sends every request of the tests of examples and of ports to Kubernetes'
// API server too, in the same order and with the same identity. The API server in memory must give
// the same answer. It needs the program argoperator-dev: ARGOPERATOR_DEV=bin/argoperator-dev.
func TestServersAgree(t *testing.T) {
	program := realServer(t)
	definitions, err := filepath.Glob("../../../../examples/*/operator.yaml")
	if err != nil || len(definitions) == 0 {
		t.Fatalf("no example: %v", err)
	}
	if !testing.Short() {
		ports, err := filepath.Glob("../../../../testdata/ports/*/operator.yaml")
		if err != nil || len(ports) == 0 {
			t.Fatalf("no port: %v", err)
		}
		definitions = append(definitions, ports...)
	}
	for _, file := range definitions {
		dir := filepath.Dir(file)
		suite := suiteOf(t, dir)
		if testing.Short() {
			suite.Tests = suite.Tests[:min(1, len(suite.Tests))]
		}
		for _, test := range suite.Tests {
			t.Run(filepath.Base(dir)+"/"+test.Metadata.Name, func(t *testing.T) {
				if _, err := os.Stat(filepath.Join(dir, "chart")); err == nil {
					need.Program(t, "helm")
				}
				one := testsuite.Suite{Operators: suite.Operators, Tests: []argoperator.Test{test}}
				compareServers(t, program, one)
			})
		}
	}
}

func suiteOf(t *testing.T, dir string) testsuite.Suite {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: data, Dir: os.DirFS(dir), Unlocked: true}}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		t.Fatal(err, result.Findings)
	}
	out := testsuite.Suite{Operators: result.Operators}
	err = fs.WalkDir(os.DirFS(dir), "tests", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		tests, findings := argoperator.ParseTests(argoperator.Source{Name: path, Data: text, Dir: os.DirFS(dir), Lenient: true}, filepath.Dir(path))
		if findings.HasErrors() {
			return fmt.Errorf("%s: %v", path, findings)
		}
		out.Tests = append(out.Tests, tests...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compareServers runs a test in memory, and compares both servers' answers.
func compareServers(t *testing.T, program string, suite testsuite.Suite) {
	var calls []cluster.Call
	results, err := testsuite.Run(t.Context(), []testsuite.Suite{suite}, testsuite.Options{
		Runner:   simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}},
		Requests: func(_ argoperator.Test, call cluster.Call) { calls = append(calls, call) },
	})
	if err != nil || results[0].State() != testsuite.Passed {
		t.Fatalf("in memory: %v, %v", err, results)
	}
	newReplay(t, program, argoperator.Result{Operators: suite.Operators}).compareAll(calls)
}

// ofServer is the path of a namespace that a real server makes itself, soon after its start.
var ofServer = regexp.MustCompile(`^/api/v1/namespaces/(default|kube-[a-z-]+)(\?|$)`)

// compareAll sends requests, in namespaces that exist, and compares the answers.
func (r *replay) compareAll(calls []cluster.Call) {
	for _, namespace := range namespacesOf(calls) {
		r.send(cluster.Call{Method: http.MethodPost, Path: "/api/v1/namespaces", ContentType: "application/json", Body: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace},
		}}) // it may exist
	}
	for i, call := range calls {
		if r.stopped || r.t.Failed() {
			r.t.Logf("%d of %d requests", i, len(calls))
			return
		}
		switch {
		case strings.Contains(call.Path, "/eventsources/"): // the simulation creates them when it needs them
		case ofServer.MatchString(call.Path):
			r.send(call)
		default:
			r.compare(i, call)
		}
	}
	r.t.Logf("%d requests", len(calls))
}

// namespacesOf returns the namespaces in the paths of requests. An operator that creates
// its own is compared while doing so.
func namespacesOf(calls []cluster.Call) []string {
	var out, made []string
	for _, c := range calls {
		_, rest, ok := strings.Cut(c.Path, "/namespaces/")
		name, below, deeper := strings.Cut(strings.SplitN(rest, "?", 2)[0], "/")
		switch {
		case !ok:
		case deeper && below != "" && below != "status" && !slices.Contains(made, name):
			out = append(out, name)
		default:
			made = append(made, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// replay sends the requests of a test to an API server.
type replay struct {
	t          *testing.T
	api        *api
	deployment bool              // the answer is about a Deployment
	edited     bool              // the requests are edits: controllers have written the status, and only one server has defaults
	stopped    bool              // the API server rejected a status that the test made up
	real       map[string]string // uids, resource versions and generated names of this server, by those in memory
}

// newReplay starts an API server with operators, and kinds that exist before them.
func newReplay(t *testing.T, program string, result argoperator.Result, kinds ...*apiextensionsv1.CustomResourceDefinition) *replay {
	c, err := devcluster.Start(t.Context(), process.Path{}, program, devcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	installer, err := devcluster.NewInstaller(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	for _, b := range result.Bundles() {
		for _, document := range b.Documents() {
			objects = append(objects, document.Fields)
		}
	}
	if err := installer.Prepare(t.Context(), objects, append(kinds, result.Kinds()...)); err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if _, err := installer.Apply(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	server, err := newAPI(c.Config, newSwitches())
	if err != nil {
		t.Fatal(err)
	}
	server.requested = func(string, string) {}
	return &replay{t: t, api: server, real: map[string]string{}}
}

// patience is for what the API server does after its answer: permissions and garbage
// collection.
const patience = 20 * time.Second

// compare sends a request, and compares the answer with that of the server in memory.
func (r *replay) compare(number int, call cluster.Call) {
	difference := ""
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		status, answer := r.send(call)
		if status == call.Status {
			r.deployment = strings.Contains(call.Path, "/deployments")
			difference = r.difference("", call.Answer, answer, status)
			if difference == "" || call.Method != http.MethodGet {
				break
			}
			continue
		}
		if r.edited && status == http.StatusInternalServerError && call.Status == http.StatusUnprocessableEntity {
			return // a value that does not fit its Go type, which server-side apply reports as its own error
		}
		if status == http.StatusUnprocessableEntity && strings.HasSuffix(call.Path, "/status?fieldManager=kube-controller-manager") {
			r.stopped = true
			return
		}
		difference = fmt.Sprintf("status %d, in memory %d: %v", status, call.Status, message(answer))
		if call.Method != http.MethodGet && status < 400 {
			break // it has an effect, so it is not sent again
		}
	}
	if difference != "" {
		body, _ := json.Marshal(call.Body)
		r.t.Errorf("request %d, %s %s of %q: %s\nbody: %.2000s\nin memory: %v", number, call.Method, call.Path, call.Account, difference, body, message(call.Answer))
	}
}

func message(answer any) any {
	fields, _ := answer.(map[string]any)
	if text := fields["message"]; text != nil && fields["kind"] == "Status" {
		return text
	}
	return "an object"
}

func (r *replay) send(call cluster.Call) (int, any) {
	var body []byte
	if text, isText := call.Body.(string); isText {
		body = []byte(r.known(text))
	} else if call.Body != nil {
		data, err := json.Marshal(call.Body)
		if err != nil {
			r.t.Fatal(err)
		}
		body = []byte(r.known(string(data)))
	}
	req := httptest.NewRequestWithContext(context.Background(), call.Method, r.known(call.Path), bytes.NewReader(body))
	req.Header.Set("Content-Type", call.ContentType)
	if namespace, name, ok := strings.Cut(call.Account, "/"); ok {
		req.Header.Set(cluster.RemoteUser, serviceaccount.MakeUsername(namespace, name))
	}
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, req)
	return answer.Code, cluster.Decoded(answer.Body.Bytes())
}

var (
	uidInMemory       = regexp.MustCompile(`00000000-0000-0000-0000-\d{12}`)
	generatedInMemory = regexp.MustCompile(`-\d{5}$`)
	chosenUID         = regexp.MustCompile(`"uid":"([^"]*)"`)
	versionInMemory   = regexp.MustCompile(`"resourceVersion":"(\d+)"`)
)

// known replaces what this server named otherwise, in a request.
func (r *replay) known(text string) string {
	return versionInMemory.ReplaceAllStringFunc(r.named(text), func(pair string) string {
		version := versionInMemory.FindStringSubmatch(pair)[1]
		if real := r.real["version "+version]; real != "" {
			return `"resourceVersion":"` + real + `"`
		}
		return pair
	})
}

// named replaces uids and generated names.
func (r *replay) named(text string) string {
	text = uidInMemory.ReplaceAllStringFunc(text, func(uid string) string {
		if real := r.real[uid]; real != "" {
			return real
		}
		return uid
	})
	text = chosenUID.ReplaceAllStringFunc(text, func(pair string) string {
		if real := r.real["uid "+chosenUID.FindStringSubmatch(pair)[1]]; real != "" {
			return `"uid":"` + real + `"`
		}
		return pair
	})
	for name, other := range r.real {
		if generatedInMemory.MatchString(name) {
			text = strings.ReplaceAll(text, name, other)
		}
	}
	return text
}

// incomparable are fields that two servers set in their own way.
var incomparable = []string{"managedFields", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "details", "code", "lastTransitionTime"}

// allocated are fields of Services that each server allocates.
var allocated = []string{"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"}

// unset are fields that only Kubernetes' API server sets, most of them its admission plugins.
var unset = []string{
	"annotations", "continue", "finalizers", "generation", "lastPhaseTransitionTime", "preemptionPolicy", "priority",
	"priorityClassName", "serviceAccount", "serviceAccountName", "status", "tolerations", "volumeMounts", "volumes",
}

// difference returns the first field of an answer in memory that the other answer does not
// have, or the other way round.
func (r *replay) difference(path string, memory, real any, status int) string {
	switch m := memory.(type) {
	case map[string]any:
		o, ok := real.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, in memory an object", path, real)
		}
		if m["kind"] == "Status" && status >= 400 {
			return "" // the messages are compared by make agreement
		}
		r.learn(m, o)
		if metadata, ok := m["metadata"].(map[string]any); ok {
			other, _ := o["metadata"].(map[string]any)
			r.learn(metadata, other)
		}
		for key, value := range m {
			if (r.edited || o["kind"] == "Deployment") && key == "status" || strings.HasSuffix(path, ".metadata") && key == "generation" && (r.edited || r.deployment) {
				continue // the API server counts changes of annotations too
			}
			if slices.Contains(incomparable, key) || key == "uid" || key == "resourceVersion" || key == "kind" && value == "List" {
				continue
			}
			other := o[r.known(key)]
			if slices.Contains(allocated, key) && fmt.Sprintf("%T", value) == fmt.Sprintf("%T", other) {
				continue
			}
			if key == "volumes" || key == "volumeMounts" {
				continue // a Pod gets the token of its service account
			}
			if m["kind"] == "CertificateSigningRequest" && (key == "spec" || key == "status") {
				continue // with the user of the request, and what a controller finds
			}
			if key == "finalizers" {
				value, other = ofClients(value), ofClients(other)
			}
			if key == "items" && path == "" {
				value, other = r.sameItems(value, other)
			}
			if different := r.difference(path+"."+key, value, other, status); different != "" {
				return different
			}
		}
		return r.missing(path, m, o)
	case []any:
		o, ok := real.([]any)
		if r.edited && strings.HasSuffix(path, ".tolerations") && len(o) > len(m) {
			o = o[:len(m)] // a Pod gets more
		}
		if !ok || len(o) != len(m) {
			return fmt.Sprintf("%s is %v, in memory %v", path, real, memory)
		}
		for i := range m {
			if different := r.difference(fmt.Sprintf("%s[%d]", path, i), m[i], o[i], status); different != "" {
				return different
			}
		}
	case string:
		if text, ok := real.(string); !ok || r.named(m) != text && !isTime(text) && !sameQuantity(m, text) {
			return fmt.Sprintf("%s is %v, in memory %q", path, real, m)
		}
	default:
		if fmt.Sprint(memory) != fmt.Sprint(real) { // a quantity may be a number
			return fmt.Sprintf("%s is %v, in memory %v", path, real, memory)
		}
	}
	return ""
}

// missing returns the first field that only Kubernetes' server has. Its controllers write statuses, and
// a list of it has objects of the cluster.
func (r *replay) missing(path string, memory, real map[string]any) string {
	kind, _ := real["kind"].(string)
	if strings.Contains(path, ".status") || path == "" && strings.HasSuffix(kind, "List") {
		return ""
	}
	known := map[string]bool{}
	for key := range memory {
		known[r.known(key)] = true
	}
	for key, value := range real {
		if !known[key] && value != nil && !slices.Contains(incomparable, key) && !slices.Contains(unset, key) {
			return fmt.Sprintf("%s.%s is %v, in memory missing", path, key, value)
		}
	}
	return ""
}

// sameItems returns the items of a list in memory, and those of another list with the same
// names, in the same order: a cluster has objects of its own.
func (r *replay) sameItems(memory, real any) (any, any) {
	name := func(item any) string {
		fields, _ := item.(map[string]any)
		metadata, _ := fields["metadata"].(map[string]any)
		return r.named(fmt.Sprint(metadata["namespace"], "/", metadata["name"]))
	}
	items, _ := memory.([]any)
	items = slices.DeleteFunc(slices.Clone(items), isGarbage)
	others, _ := real.([]any)
	byName := map[string]any{}
	for _, item := range others {
		byName[name(item)] = item
	}
	same := []any{}
	for _, item := range items {
		if other := byName[name(item)]; other != nil {
			same = append(same, other)
		}
	}
	return items, same
}

// isGarbage reports whether an item of a list only waits for the garbage collector.
func isGarbage(item any) bool {
	o := unstructured.Unstructured{Object: item.(map[string]any)}
	return o.GetDeletionTimestamp() != nil && slices.Equal(o.GetFinalizers(), []string{metav1.FinalizerDeleteDependents})
}

// ofClients returns the finalizers that no garbage collector removes, at a time of its own.
func ofClients(finalizers any) any {
	all, _ := finalizers.([]any)
	return slices.DeleteFunc(slices.Clone(all), func(one any) bool { return one == metav1.FinalizerDeleteDependents })
}

// learn notes the uid and the version of an object.
func (r *replay) learn(memory, real map[string]any) {
	if uid, ok := memory["uid"].(string); ok {
		key := uid
		if !uidInMemory.MatchString(uid) { // one that the test chose
			key = "uid " + uid
		}
		r.real[key], _ = real["uid"].(string)
	}
	if name, ok := memory["name"].(string); ok && generatedInMemory.MatchString(name) {
		if other, _ := real["name"].(string); other != name && strings.HasPrefix(other, generatedInMemory.ReplaceAllString(name, "-")) {
			r.real[name] = other
		}
	}
	version, ok := memory["resourceVersion"].(string)
	if ok && version != "1" && memory["uid"] != nil { // "1" is for "does not exist" in operators, and a list has the version of its server
		r.real["version "+version], _ = real["resourceVersion"].(string)
	}
}

func sameQuantity(a, b string) bool {
	one, err := resource.ParseQuantity(a)
	other, wrong := resource.ParseQuantity(b)
	return err == nil && wrong == nil && one.Cmp(other) == 0
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}
