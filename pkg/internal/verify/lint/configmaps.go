package lint

import (
	"maps"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

const (
	// artifactRepositories is the ConfigMap in which Argo looks for repositories.
	artifactRepositories = "artifact-repositories"
	// controllerSettings is the ConfigMap of the workflow controller.
	controllerSettings = "workflow-controller-configmap"
	// defaultRepository is the annotation with the key of the repository that counts.
	defaultRepository = "workflows.argoproj.io/default-artifact-repository"
)

// settingsIn returns the keys of a ConfigMap in which Argo expects YAML, with an empty value of the type.
func (s *objectSet) settingsIn(cm *corev1.ConfigMap) map[string]any {
	out := map[string]any{}
	_, marked := cm.Annotations[defaultRepository]
	for key := range cm.Data {
		if marked || cm.Name == artifactRepositories || s.repositories[cm.Name+"/"+key] {
			out[key] = &wfv1.ArtifactRepository{}
		}
	}
	if cm.Name == controllerSettings {
		for key, of := range map[string]any{"artifactRepository": &wfv1.ArtifactRepository{}, "workflowDefaults": &wfv1.Workflow{}} {
			if _, has := cm.Data[key]; has {
				out[key] = of
			}
		}
	}
	return out
}

// unreadTexts reports what Argo does not read in the texts of a ConfigMap: unknown fields, or other problems.
func unreadTexts(unknown bool) func(*inspection, *corev1.ConfigMap) {
	return func(i *inspection, cm *corev1.ConfigMap) {
		for key, of := range i.set.settingsIn(cm) {
			if fromTemplate(cm.Data[key]) {
				continue
			}
			at := field.NewPath("data").Key(key)
			data, err := yaml.YAMLToJSON([]byte(cm.Data[key]))
			if err != nil {
				if !unknown {
					i.reportHint(at, "correct the YAML in the text", "%v", err)
				}
				continue
			}
			r := problem.About(i.Object)
			argo.DecodeStrict(data, of, r, nil)
			for _, p := range r.Problems {
				_, newer := ofVersion(p, Targets{})
				sameButCase := strings.EqualFold(p.Almost, lastOf(p)) // which Argo ignores here
				if unknown == (p.Code == diag.UnknownField) && !newer && !sameButCase {
					i.reportHint(at, levelHint(cm.Data[key], p), "%s", p.Message)
				}
			}
		}
	}
}

// levelHint returns how to correct a field of a text: its key is often a level too many.
func levelHint(text string, p problem.Problem) string {
	var fields map[string]map[string]any
	if p.Path != "artifactRepository" || yaml.Unmarshal([]byte(text), &fields) != nil || len(fields[p.Path]) == 0 {
		return p.Hint
	}
	first := slices.Min(slices.Collect(maps.Keys(fields[p.Path])))
	return "remove the line " + p.Path + ": the text begins with " + first + ":"
}
