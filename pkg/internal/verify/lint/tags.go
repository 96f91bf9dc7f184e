package lint

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-workflows/v3/util/strftime"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// afterRoot are the names that can follow the first one in a tag, by which a misspelled first one is known; the name
// of a step or a task is between both.
var afterRoot = map[string][]string{
	"inputs": {"parameters", "artifacts"}, "outputs": {"parameters", "artifacts", "result"},
	"steps": {"outputs", "status", "ip", "exitCode"}, "tasks": {"outputs", "status", "ip", "exitCode"},
	"workflow": {"name", "namespace", "uid", "parameters", "labels", "annotations", "creationTimestamp", "status", "outputs"},
}

// simpleTag matches a tag with a name of several parts.
var simpleTag = lazily(`\{\{\s*([A-Za-z]+)((?:\.[-\w%/: ]+)*?)\s*\}\}`)

// wholeArtifact matches an artifact of a step or a task.
var wholeArtifact = lazily(`^(steps|tasks)\.[-\w]+\.outputs\.artifacts\.[-\w]+$`)

// unknownTags reports tags that Argo does not know and its validator ignores.
func unknownTags(i *inspection, f flow) {
	for _, t := range f.templates() {
		for at, text := range i.taggedIn(t) {
			for _, m := range simpleTag().FindAllStringSubmatch(text, -1) {
				i.unknownTag(at, f, t, m[1], strings.TrimPrefix(m[2], "."))
			}
		}
	}
}

func (i *inspection) unknownTag(at *field.Path, f flow, t template, root, rest string) {
	steps := strings.Split(rest, ".")
	name := strings.TrimSuffix(root+"."+rest, ".")
	if layout, is := strings.CutPrefix(name, common.GlobalVarWorkflowCreationTimestamp+"."); is && !knownLayout(layout) {
		i.reportHint(at, "write one letter a tag, such as {{workflow.creationTimestamp.Y}}-{{workflow.creationTimestamp.m}}",
			"Argo knows no layout %s", layout)
		return
	}
	if wholeArtifact().MatchString(name) && strings.Contains(at.String(), ".arguments.parameters[") {
		i.reportHint(at, "pass it in arguments.artifacts, with from", "%s is an artifact, and a parameter is text", name)
		return
	}
	if retried := !t.IsLeaf() || f.spec.RetryStrategy != nil || t.RetryStrategy != nil || f.spec.TemplateDefaults != nil || f.inherits() ||
		templateSpec(i.Object) != nil || i.set.defaults.RetryStrategy != nil || i.set.defaults.TemplateDefaults != nil; !retried &&
		(name == common.LocalVarRetries || root == "lastRetry") && !strings.Contains(t.path.String(), ".inline") {
		i.reportHint(at, "add retryStrategy, or remove the tag", "the template has no retryStrategy, and so no %s", name)
		return
	}
	for known, after := range afterRoot {
		place := 0
		if known == "steps" || known == "tasks" {
			place = 1
		}
		if root != known && len(steps) > place && slices.Contains(after, steps[place]) &&
			afterRoot[root] == nil && diag.Nearest(root, []string{known}, strings.ToLower) != "" {
			i.reportHint(at, "did you mean "+known+"?", "Argo has no %s", root)
			return
		}
	}
}

// knownLayout reports whether a tag can end with a layout of the creation time.
func knownLayout(layout string) bool {
	runes := []rune(layout)
	return layout == "s" || layout == "RFC3339" || len(runes) == 1 && strftime.FormatChars[runes[0]] != ""
}
