package testsuite_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// inline returns an operator whose logic is a shell program, with a test.
func inline(t *testing.T, program, spec string) testsuite.Result {
	t.Helper()
	return inlineWith(t, program, "", spec)
}

// inlineWith is inline with additional fields of the definition.
func inlineWith(t *testing.T, program, more, spec string) testsuite.Result {
	t.Helper()
	definition := `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: things}
spec:
  api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {text: string}}}]}
  children: [{name: config, apiVersion: v1, kind: ConfigMap}]
  logic: {image: "busybox:1.37", command: [sh, main.sh], files: [main.sh], resyncAfter: true}
  finalizer: {}
` + more
	dir := fstest.MapFS{"main.sh": &fstest.MapFile{Data: []byte(program)}}
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: []byte(definition), Dir: dir}}, argoperator.Options{})
	if err != nil || len(result.Operators) != 1 {
		t.Fatal(err, result.Findings)
	}
	text := `
apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: things}
spec:
  resource: {object: {apiVersion: example.com/v1, kind: Thing, metadata: {name: one}, spec: {text: a}}}
` + spec
	tests, findings := argoperator.ParseTests(argoperator.Source{Name: "test.yaml", Data: []byte(text), Dir: dir}, ".")
	if len(findings) > 0 || len(tests) != 1 {
		t.Fatal(findings)
	}
	results, err := testsuite.Run(context.Background(), []testsuite.Suite{{Operators: result.Operators, Tests: tests}}, testsuite.Options{Runner: local()})
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// codes returns the codes of findings with the start of their messages.
func codes(findings diag.List) []string {
	var out []string
	for _, f := range findings {
		words := strings.Fields(f.Message)
		out = append(out, f.Code+": "+strings.Join(words[:min(6, len(words))], " "))
	}
	return out
}

const answer = `
name=$(sed -n 's/.*"name": *"\(one\)".*/\1/p' "$ARGOPERATOR_REQUEST" | head -1)
case "$(cat "$ARGOPERATOR_REQUEST")" in *'"finalizing": true'*|*'"finalizing":true'*)
  FINALIZE; exit ;;
esac
echo '{"children": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one-config"}, "data": {"is": "DATA"}}]}' > "$ARGOPERATOR_RESPONSE"
`

func logic(data, finalize string) string {
	return strings.NewReplacer("DATA", data, "FINALIZE", finalize).Replace(answer)
}

// TestNotIdempotent requires that output which changes with each run is reported,
// unless the test allows it with a reason.
func TestNotIdempotent(t *testing.T) {
	t.Parallel()
	program := logic(`'$(date +%N)'`, `echo '{"finalized": true}' > "$ARGOPERATOR_RESPONSE"`)
	created := "  steps:\n  - {name: created, create: {}}\n"
	if diff := cmp.Diff([]string{"not-idempotent: after a second delivery of the"}, codes(inline(t, program, created).Findings())); diff != "" {
		t.Error(diff)
	}
	for level, spec := range map[string]string{
		"in the test": "  notIdempotent: it is the time\n" + created,
		"in the step": strings.Replace(created, "create:", "notIdempotent: it is the time, create:", 1),
	} {
		if r := inline(t, program, spec); r.State() != testsuite.Passed {
			t.Errorf("%s: %v", level, codes(r.Findings()))
		}
	}
}

// TestFinalizer requires that a custom resource remains until its cleanup is done.
func TestFinalizer(t *testing.T) {
	t.Parallel()
	r := inline(t, logic("x", `echo no; exit 3`), `
  steps:
  - name: created
    create: {}
    expect:
      children: [{kind: ConfigMap, data: {is: x}}]
      resource: {metadata: {finalizers: [example.com/things-cleanup]}}
  - name: the clean-up fails
    delete: {}
    expect:
      gone: false
      failures: [exit code 3]
      status: {conditions: [{type: Ready, reason: ReconcileFailed}]}
  - name: gone
    edit: {metadata: {finalizers: null}}
    expect: {gone: true}
`)
	if r.State() != testsuite.Passed {
		t.Error(printed(t, r, "."))
	}
	done := inline(t, logic("x", `echo '{"finalized": true}' > "$ARGOPERATOR_RESPONSE"`), `
  steps:
  - {name: created, create: {}}
  - name: deleted
    delete: {}
    expect: {gone: true, absent: [{kind: ConfigMap}]}
`)
	if done.State() != testsuite.Passed {
		t.Error(printed(t, done, "."))
	}
}

// TestLogicFails requires that the output of a failed program is reported with the
// step, and that later steps are skipped.
func TestLogicFails(t *testing.T) {
	t.Parallel()
	for engine, kind := range map[string]string{"workflow": "Workflow", "worker": "Deployment"} {
		r := things(t, "echo it broke; exit 1\n", "  reconcile: {engine: "+engine+"}\n", "  - {name: created, create: {}}\n  - {name: deleted, delete: {}}\n")
		if got := codes(r.Findings()); len(got) != 1 || !strings.HasPrefix(got[0], "step-failed: failed: "+kind) {
			t.Error(engine, got)
		}
		if r.Steps[1].State != testsuite.Skipped || !strings.Contains(r.Findings()[0].Message, "it broke") {
			t.Errorf("%s: %+v", engine, r.Steps)
		}
	}
}

// TestProgramCannotRun requires that a program which cannot run is an error instead of
// a finding.
func TestProgramCannotRun(t *testing.T) {
	suite := suiteOf(t, "../../../../examples/memcached-logic")
	_, err := testsuite.Run(context.Background(), []testsuite.Suite{suite}, testsuite.Options{Runner: simulate.Local{Env: []string{"PATH=/nowhere"}}, Parallel: 2})
	if err == nil || !strings.Contains(err.Error(), "test life, step created") {
		t.Error(err)
	}
}
