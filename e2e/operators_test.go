//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// specimen is an operator that people really write, and what the original does:
// each behaviour is a script for bash, tried on the cluster.
type specimen struct {
	Original      string // whose operator it was; for the report
	OriginalLines int    // of the original's own code, as it was counted; for the report
	Namespace     string // of the custom resources; "": one of the test's own
	ClusterWide   bool   // other tests must not see what it does
	Definition    string // its directory; "": examples/NAME
	Images        map[string][]string
	Hooks         map[string]hook        // files of others, which are not ours to ship
	Replace       [][2]string            // in the definition: images that the cluster does not have
	Variants      map[string][][2]string // more replacements, by name
	Behaviours    []behaviour
}

type behaviour struct{ Name, Run string }

// hook is a file below $METACONTROLLER_EXAMPLES that has to be as it was published.
type hook struct{ File, SHA256 string }

// hooked is the definition with the hooks in it, unchanged.
func (s specimen) hooked(t *testing.T) string {
	t.Helper()
	if len(s.Hooks) == 0 {
		return s.Definition
	}
	from := os.Getenv("METACONTROLLER_EXAMPLES")
	if from == "" {
		t.Skip("METACONTROLLER_EXAMPLES is not set: the directory examples of Metacontroller")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(s.Definition)); err != nil {
		t.Fatal(err)
	}
	for place, h := range s.Hooks {
		data, err := os.ReadFile(filepath.Join(from, h.File))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != h.SHA256 {
			t.Fatalf("%s is not as it was published", h.File)
		}
		file := filepath.Join(dir, place)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// prelude has the functions of the scripts. They wait for conditions only.
const prelude = `set -euo pipefail
apply() { { echo ---; cat "$1"; } | kubectl -n "$NS" apply -f -; } # so that {…} is YAML
poll() { local end=$((SECONDS + 600)); until "$@"; do [ $SECONDS -lt $end ] || { echo "gave up: $*" >&2; return 1; }; read -rt 0.3 <> <(:) || :; done; }
until_ok() { poll quiet "$@"; }
quiet() { "$@" >/dev/null 2>&1; }
until_gone() { poll missing "$@"; }
missing() { ! "$@" >/dev/null 2>&1; }
until_says() { poll says "$@"; }
says() { local want=$1; shift; "$@" 2>/dev/null | { grep -q -- "$want" || { [ "$want" = '^$' ] && ! grep -q .; }; }; }
until_other() { poll other "$@"; }
other() { local old=$1 now; shift; now=$("$@" 2>/dev/null) && [ -n "$now" ] && [ "$now" != "$old" ]; }
until_count() { poll counts "$@"; }
counts() { local want=$1; shift; [ "$("$@" 2>/dev/null | grep -c .)" = "$want" ]; }
running() { kubectl -n "$OPERATORS" get workflows -l "app.kubernetes.io/managed-by=$OPERATOR,!argoperator.dev/timer" -o jsonpath='{range .items[?(@.status.phase!="Succeeded")]}{.metadata.name}={.status.phase}{"\n"}{end}' | grep -v '=Failed$'; }
until_idle() { poll idle; }
idle() { ! running >/dev/null; }
parts() { kubectl -n "$OPERATORS" get deployments -l "app.kubernetes.io/name=$OPERATOR" -o name; }
stop_operator() { for one in $(parts); do kubectl -n "$OPERATORS" scale "$one" --replicas=0; done; until_says '^$' kubectl -n "$OPERATORS" get pods -l "app.kubernetes.io/name=$OPERATOR,!workflows.argoproj.io/workflow" -o name; }
start_operator() { for one in $(parts); do kubectl -n "$OPERATORS" scale "$one" --replicas=1; done; for one in $(parts); do kubectl -n "$OPERATORS" rollout status "$one" --timeout="$LONG"; done; }
`

// TestOperators plays operators that people really write, one after the other:
// `make operators`.
func TestOperators(t *testing.T) {
	only := os.Getenv("E2E_OPERATORS")
	if only == "" {
		t.Skip("E2E_OPERATORS is not set: names of operators, or all")
	}
	files, err := filepath.Glob("testdata/operators/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no operators", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if only != "all" && !slices.Contains(strings.Split(only, ","), name) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s specimen
		if err := yaml.UnmarshalStrict(data, &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if s.Definition == "" {
			s.Definition = "../examples/" + name
		}
		if len(s.Variants) == 0 {
			s.Variants = map[string][][2]string{"": nil}
		}
		for _, variant := range slices.Sorted(maps.Keys(s.Variants)) {
			full := strings.TrimSuffix(name+"-"+variant, "-")
			t.Run(full, func(t *testing.T) { s.play(t, name, full, s.Variants[variant]) })
		}
	}
}

func (s specimen) play(t *testing.T, name, full string, more [][2]string) {
	c := connect(t)
	namespace := s.Namespace
	if namespace == "" {
		namespace = "e2e-op-" + full
	}
	c.namespace(t, namespace, "restricted")
	source := s.hooked(t)
	dir := source
	for _, pair := range slices.Concat(s.Replace, more) {
		dir = rewritten(t, dir, pair[0], pair[1])
	}
	if namespace == s.Namespace { // the operator lives where the bus is
		dir = rewritten(t, dir, "    namespace: "+namespace+"\n", "    namespace: "+operators+"\n")
	}
	o := c.install(t, full, dir)
	run := played{Operator: full}
	run.describe(t, source, dir)
	t.Cleanup(func() { run.keep(t) })
	for _, b := range s.Behaviours {
		began := time.Now()
		said, err := o.bash(t, namespace, b.Run)
		one := outcome{Name: b.Name, Passed: err == nil, Seconds: float64(time.Since(began).Milliseconds()) / 1000, Measured: measured(said)}
		run.Behaviours = append(run.Behaviours, one)
		fmt.Printf("e2e: operator %-18s %s %6.1f s  %s %s\n", full, verdict(one.Passed), one.Seconds, b.Name, one.Measured)
		if err != nil {
			t.Fatalf("%s: %v\n%s", b.Name, err, said)
		}
	}
	o.awaitEnd(t, "all Workflows to end", func(w *unstructured.Unstructured) bool { return w.GetLabels()["argoperator.dev/timer"] == "" })
	run.Workflows, run.Pods = o.counts.all()
}

// measured is what a script says that it has measured.
func measured(said string) string {
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(line, "measured: "); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// played is an operator's line in docs/explanation/operators.md.
type played struct {
	Operator   string    `json:"operator"`
	Engine     string    `json:"engine"`
	Definition int       `json:"definition"` // lines, with templates
	Logic      int       `json:"logic"`      // lines
	Workflows  int       `json:"workflows"`
	Pods       int       `json:"pods"`
	Behaviours []outcome `json:"behaviours"`
}

type outcome struct {
	Name     string  `json:"name"`
	Passed   bool    `json:"passed"`
	Seconds  float64 `json:"seconds"`
	Measured string  `json:"measured,omitempty"`
}

// describe asks the definition what carries it, and counts its lines.
func (p *played) describe(t *testing.T, source, dir string) {
	t.Helper()
	var explained struct {
		Items []struct {
			Engine struct{ Name string }
		}
	}
	if err := json.Unmarshal(run(t, nil, binary(t), "explain", "-f", dir, "-o", "json"), &explained); err != nil || len(explained.Items) != 1 {
		t.Fatalf("%d explanations: %v", len(explained.Items), err)
	}
	p.Engine = explained.Items[0].Engine.Name
	var definition v1alpha1.Operator
	data, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err == nil {
		err = yaml.Unmarshal(data, &definition)
	}
	if err != nil {
		t.Fatal(err)
	}
	if definition.Spec.Logic != nil {
		for _, file := range definition.Spec.Logic.Files {
			p.Logic += lines(t, filepath.Join(source, file))
		}
	}
	p.Definition = lines(t, filepath.Join(source, "operator.yaml"))
	for _, child := range definition.Spec.Children {
		if child.File != "" {
			p.Definition += lines(t, filepath.Join(source, child.File))
		}
	}
}

// lines counts those that say something.
func lines(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// keep adds the line to $E2E_OPERATORS_RESULTS, in place of an older one.
func (p *played) keep(t *testing.T) {
	file := os.Getenv("E2E_OPERATORS_RESULTS")
	if file == "" {
		return
	}
	var all []played
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &all); err != nil {
			t.Error(err)
			return
		}
	}
	all = slices.DeleteFunc(all, func(old played) bool { return old.Operator == p.Operator })
	all = append(all, *p)
	slices.SortFunc(all, func(a, b played) int { return strings.Compare(a.Operator, b.Operator) })
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644) //nolint:gosec // a report is for everyone
	}
	if err != nil {
		t.Error(err)
	}
}

// bash runs a script of a behaviour, with more in its environment.
func (o *operator) bash(t *testing.T, namespace, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", prelude+script)
	cmd.Env = append(os.Environ(), "NS="+namespace, "OPERATORS="+operators, "OPERATOR="+o.only("EventSource").GetLabels()["app.kubernetes.io/name"], "LONG=10m")
	cmd.Env = append(cmd.Env, env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.String(), err
}
