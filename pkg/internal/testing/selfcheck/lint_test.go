package selfcheck

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// notRules says why lint has no rule for what uncaught mutants of a code do. Lint reads
// manifests of others: an object that is not in the files may be in the cluster, and a
// convention of argoperator is not one of theirs.
var notRules = map[string]string{
	codeAlert:             "Alerts may use metrics of any exporter.",
	codeArgument:          "A program in a pod, which lint does not run, creates the Workflow.",
	codeConfigMap:         "A ConfigMap that is not in the files may be in the cluster.",
	codeCost:              "Lint does not run programs.",
	codeDashboard:         "Dashboards may show series of anything.",
	codeDeadLetter:        "A second attempt may succeed later.",
	codeDelivery:          "What a status means for a request depends on the server.",
	codeDependency:        "An EventSource or EventBus that is not in the files may be in the cluster.",
	codeDuplicate:         "Variants of an object in several files are usual, such as overlays of kustomize.",
	codeEventSource:       "Only operators are limited to resources, intervals and at least one event.",
	codeGarbageCollection: "The controller keeps few Workflows of a CronWorkflow, and pods go with their Workflow.",
	codeGoTemplate:        "Text templates are usual in Sensors; template-reads-environment reports the dangerous ones.",
	problem.CodeInjection: "Expressions, and tags of names that the API server has validated, are usual in Workflows.",
	codeMissingPermission: "A program computes the requests.",
	codeMutex:             "One Workflow at a time may be intended, as for those of argoperator that only select custom resources.",
	codeName:              "Argo accepts the name.",
	codeNamespace: "The namespace may come from kubectl or kustomize, and the API server ignores that of a " +
		"cluster-scoped object. The mutant declares Deployments as cluster-scoped, which they are not.",
	codeParameterSource: "A trigger may use a default for one of its events.",
	codePodMonitor:      "A PodMonitor may select other pods.",
	codePodSecurity: "Only namespaces that enforce the restricted standard reject the pod; pod-security-violation " +
		"reports those in the files.",
	codeRequest:              "The programs are those of argoperator, and so are the parts of a request.",
	codeResync:               "Only operators need a resync.",
	codeServiceAccount:       "A ServiceAccount that is not in the files may be in the cluster, if nothing in them says otherwise.",
	codeSharedServiceAccount: "Lint knows no roles of Deployments.",
	problem.CodeSize:         "The limit of a parameter is argoperator's own.",
	codeTemplateRef:          "A WorkflowTemplate that is not in the files may be in the cluster.",
	codeToken:                "The token, its Secret and its certificate are set up in argoperator's way.",
	codeTriggerType:          "Only controllers with templateReferencing: Strict reject the Workflow.",
	codeUnboundRole:          "The binding may be in the cluster, or in files of the role's users.",
	codeUnknownKind:          "Lint ignores kinds that it does not know.",
	codeUnknownRequest:       "Lint does not need to know the requests of a program.",
	codeUnusedPermission:     "A program that lint does not see may use the permission.",
	codeUnusedServiceAccount: "A program that lint does not see may use the account.",
	codeUnusedTemplate:       "Users start a WorkflowTemplate by hand.",
}

// TestLintOfMutants records in testdata/lint.txt which mutants lint catches, by a finding
// that the operator without the mutation does not have.
func TestLintOfMutants(t *testing.T) {
	var lines []string
	uncaught := map[string]bool{}
	record := func(name, code string, before, after []string) {
		found := without(after, before)
		lines = append(lines, fmt.Sprintf("%s: %s: %s", code, name, cmp.Or(strings.Join(found, " "), "-")))
		uncaught[code] = uncaught[code] || len(found) == 0
	}
	before := linted(t, newFixture().objects())
	for _, m := range mutations() {
		if m.mutate != nil {
			f := newFixture()
			m.mutate(f)
			record(m.name, m.code, before, linted(t, f.objects()))
		}
	}
	direct := map[[2]bool][]string{} // by the kind of operator
	for _, m := range directMutations() {
		d, kind := m.operator(t), [2]bool{m.pods, m.rotatesToken}
		if direct[kind] == nil {
			direct[kind] = append(linted(t, d.objects), "")
		}
		m.mutate(d)
		record(m.name, m.code, direct[kind], linted(t, d.objects))
	}
	slices.Sort(lines)
	goldenfile.Compare(t, filepath.Join("testdata", "lint.txt"), strings.Join(lines, "\n")+"\n")
	for code := range uncaught {
		if uncaught[code] != (notRules[code] != "") {
			t.Errorf("%s: lint misses a mutant: %v, but the reason is %q", code, uncaught[code], notRules[code])
		}
	}
	for code := range notRules {
		if _, ok := uncaught[code]; !ok {
			t.Errorf("no mutant has the code %s", code)
		}
	}
}

// linted returns the codes of the findings of lint.
func linted(t *testing.T, objects []manifest.Object) []string {
	t.Helper()
	data, err := output.Stream(objects)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := lint.Manifests([]source.Input{{Name: "operator.yaml", Data: data}}, new(lint.Config).Stricter())
	var codes []string
	for _, f := range list {
		codes = append(codes, f.Code)
	}
	return codes
}

// without returns the codes that are more often in a list than in another, each once.
func without(list, other []string) []string {
	count := map[string]int{}
	for _, code := range other {
		count[code]--
	}
	var out []string
	for _, code := range list {
		if count[code]++; count[code] == 1 {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return out
}
