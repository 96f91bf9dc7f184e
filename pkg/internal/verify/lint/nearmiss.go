package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

const (
	codeMisspelledKind = "misspelled-kind"
	argoVersion        = argo.Group + "/v1alpha1"
)

// uncheckedKinds are the other kinds in the API group of Argo: those of controllers, Argo CD and Argo Rollouts.
var uncheckedKinds = []string{
	"WorkflowArtifactGCTask", "WorkflowTaskResult", "WorkflowTaskSet",
	"AppProject", "Application", "ApplicationSet",
	"AnalysisRun", "AnalysisTemplate", "ClusterAnalysisTemplate", "Experiment", "Rollout",
}

// nearMiss returns the problem of an object that is one of Argo but for its apiVersion or kind; nil
// for any other.
func nearMiss(o source.Object) *problem.Problem {
	report := func(path, hint, format string, args ...any) *problem.Problem {
		return &problem.Problem{Path: path, Code: codeMisspelledKind, Hint: hint, Message: fmt.Sprintf(format, args...)}
	}
	kind, version := o.Text("kind"), o.Text("apiVersion")
	known := slices.Contains(argoKinds, kind)
	_, described := o.Fields["spec"].(map[string]any)
	switch {
	case version == "" && known && described:
		return report("kind", "add apiVersion: "+argoVersion, "the %s has no apiVersion", kind)
	case o.Group() != argo.Group:
		return nil
	case known && version != argoVersion:
		return report("apiVersion", "write "+argoVersion, "Argo has no version %s of %s", strings.TrimPrefix(version, argo.Group+"/"), kind)
	case !known && !slices.Contains(uncheckedKinds, kind) && diag.Nearest(kind, argoKinds, strings.ToLower) != "":
		return report("kind", diag.DidYouMean(kind, argoKinds, strings.ToLower), "Argo has no kind %s", kind)
	}
	return nil
}
