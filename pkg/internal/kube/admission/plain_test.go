package admission

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/templateresolution"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// decodedWorkflow returns the object of a document with Workflow templates; nil for another one.
func decodedWorkflow(text string) runtime.Object {
	for kind, object := range map[string]runtime.Object{
		"Workflow": &wfv1.Workflow{}, "WorkflowTemplate": &wfv1.WorkflowTemplate{},
		"ClusterWorkflowTemplate": &wfv1.ClusterWorkflowTemplate{}, "CronWorkflow": &wfv1.CronWorkflow{},
	} {
		if strings.Contains("\n"+text, "\nkind: "+kind+"\n") && yaml.UnmarshalStrict([]byte(text), object) == nil {
			return object
		}
	}
	return nil
}

// refusal returns the error of Argo's validator if isPlain says that there is none.
func refusal(object runtime.Object) (isPlainSo bool, err error) {
	for _, options := range []validate.ValidateOpts{{Lint: true}, {}} {
		if !isPlain(object, options) {
			continue
		}
		isPlainSo = true
		getter := templates{objects: argo.NewObjects(nil)}
		err = runValidator(object.DeepCopyObject(), getter, &templateresolution.NullClusterWorkflowTemplateGetter{}, options)
		if err != nil {
			return true, err
		}
	}
	return isPlainSo, nil
}

// exampleWorkflows returns the documents of the examples of Argo Workflows with Workflow templates.
func exampleWorkflows(t *testing.T) map[string]string {
	t.Helper()
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-workflows/v3").Output()
	if err != nil {
		t.Skip("no modules")
	}
	out := map[string]string{}
	root := filepath.Join(strings.TrimSpace(string(module)), "examples")
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		for n, text := range strings.Split(string(data), "\n---\n") {
			if decodedWorkflow(text) != nil {
				out[fmt.Sprintf("%s %d", filepath.Base(path), n)] = text
			}
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Skip("the module has no examples")
	}
	return out
}

var words = regexp.MustCompile(`[A-Za-z0-9_.\-]+|\{\{|\}\}|\{|\}|"|'`)

// mistakes returns a text with parts that are missing, or replaced by others.
func mistakes(text string) []string {
	var out []string
	lines := strings.Split(text, "\n")
	for n := range lines {
		out = append(out, strings.Join(slices.Concat(lines[:n], lines[n+1:]), "\n"))
	}
	found := words.FindAllStringIndex(text, -1)
	for _, at := range found {
		other := found[rand.IntN(len(found))]
		for _, by := range []string{"", "x" + text[at[0]:at[1]], text[other[0]:other[1]], "{{item}}", "{{inputs.parameters.x}}", `{\a`} {
			out = append(out, text[:at[0]]+by+text[at[1]:])
		}
	}
	return out
}

// TestPlainIsLegal requires that Argo's validator accepts what isPlain says it does: the examples of Argo Workflows, also
// with mistakes. Of these it draws some; with PLAIN=all it takes all, which takes ten minutes.
func TestPlainIsLegal(t *testing.T) {
	all := exampleWorkflows(t)
	share := 0.02
	if os.Getenv("PLAIN") == "all" {
		share = 1
	}
	plains, drawn := 0, 0
	for name, text := range all {
		is, err := refusal(decodedWorkflow(text))
		if is {
			plains++
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range mistakes(text) {
			if rand.Float64() > share {
				continue
			}
			if object := decodedWorkflow(text); object != nil {
				is, err := refusal(object)
				if is {
					drawn++
				}
				if err != nil {
					t.Errorf("%s with a mistake: %v\n%s", name, err, text)
				}
			}
		}
	}
	t.Logf("%d of %d examples are plain, and %d with mistakes", plains, len(all), drawn)
	if plains*2 < len(all) {
		t.Errorf("only %d of %d examples are plain", plains, len(all))
	}
}
