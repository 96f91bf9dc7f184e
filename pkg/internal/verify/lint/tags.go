package lint

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/strftime"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// wordsAfter are the names that can follow the first one in a tag; the name of a step or a task is between both.
var wordsAfter = map[string][]string{
	"inputs": {"parameters", "artifacts"}, "outputs": {"parameters", "artifacts", "result", "exitCode"},
	"steps": {"outputs", "status", "ip", "exitCode", "id", "startedAt", "finishedAt", "hostNodeName"},
	"tasks": {"outputs", "status", "ip", "exitCode", "id", "startedAt", "finishedAt", "hostNodeName"},
	"workflow": {
		"name", "namespace", "uid", "parameters", "labels", "annotations", "creationTimestamp", "status", "outputs", "scheduledTime",
		"duration", "mainEntrypoint", "serviceAccountName", "failures", "priority",
	},
	"pod": {"name"}, "node": {"name"},
}

// simpleTag matches a tag with a name of several parts.
var simpleTag = lazily(`\{\{\s*([A-Za-z]+)((?:\.[-\w%/: ]+)*?)\s*\}\}`)

// wholeArtifact matches an artifact of a step or a task.
var wholeArtifact = lazily(`^(steps|tasks)\.[-\w]+\.outputs\.artifacts\.[-\w]+$`)

// metadataIn matches a label or an annotation of the Workflow in the tags of a text.
var metadataIn = lazily(`\bworkflow\.(labels|annotations)(?:\.([-\w./]+)|\[['"]([-\w./]+)['"]\])`)

// metadata returns the labels or annotations of the Workflow in an object, and the field for more of them; "" if others
// may add some.
func (i *inspection) metadata(f flow, kind string) (keys []string, field string) {
	add := func(labels, annotations map[string]string) {
		keys = slices.AppendSeq(keys, maps.Keys(map[string]map[string]string{"labels": labels, "annotations": annotations}[kind]))
	}
	switch o := i.Object.(type) {
	case *wfv1.Workflow:
		field = "metadata." + kind
		add(o.Labels, o.Annotations)
	case *wfv1.CronWorkflow:
		field = "spec.workflowMetadata." + kind
		if m := o.Spec.WorkflowMetadata; m != nil {
			add(m.Labels, m.Annotations)
		}
	}
	for _, m := range []*wfv1.WorkflowMetadata{f.spec.WorkflowMetadata, i.set.defaults.WorkflowMetadata} {
		if m != nil {
			add(m.Labels, m.Annotations)
		}
		if m != nil && kind == "labels" {
			keys = slices.AppendSeq(keys, maps.Keys(m.LabelsFrom))
		}
	}
	if f.spec.WorkflowTemplateRef != nil {
		return nil, ""
	}
	return keys, field
}

// unknownMetadata reports a label or an annotation that the Workflow does not have, unless Argo sets it.
func (i *inspection) unknownMetadata(at *field.Path, f flow, text string) {
	for _, tag := range tag().FindAllString(text, -1) {
		m := metadataIn().FindStringSubmatch(tag)
		if m == nil || guarded().MatchString(tag) {
			continue
		}
		name := m[2] + m[3]
		keys, field := i.metadata(f, m[1])
		if field != "" && name != "json" && !slices.Contains(keys, name) && !strings.Contains(name, "argoproj.io/") {
			i.reportHint(at, cmp.Or(diag.DidYouMean(name, keys, strings.ToLower), "add it to "+field),
				"the Workflow has no %s %s, unless somebody adds it when it starts", strings.TrimSuffix(m[1], "s"), name)
		}
	}
}

// unknownTags reports tags that Argo does not know and its validator ignores.
func unknownTags(i *inspection, f flow) {
	for _, t := range f.templates() {
		i.tagsIn(i.taggedIn(t), f, t)
	}
	i.tagsIn(f.ownTexts(), f, template{})
}

func (i *inspection) tagsIn(texts map[*field.Path]string, f flow, t template) {
	for at, text := range texts {
		if !strings.Contains(text, "{") {
			continue
		}
		i.unknownMetadata(at, f, text)
		if i.unclosedTag(at, text, isUnseen(at, f, t)) {
			continue
		}
		for _, m := range simpleTag().FindAllStringSubmatch(text, -1) {
			root, rest := m[1], strings.TrimSpace(strings.TrimPrefix(m[2], "."))
			if !i.unknownTag(at, f, t, root, rest) {
				i.unknownName(at, f, t, root, rest)
			}
		}
	}
}

// ownTexts returns the texts of a Workflow outside of its templates, by their path.
func (f flow) ownTexts() map[*field.Path]string {
	out := map[*field.Path]string{}
	spec := f.spec
	spec.Templates, spec.TemplateDefaults, spec.Arguments = nil, nil, wfv1.Arguments{}
	textsBelow(f.path, fieldsOf(spec), out)
	return out
}

// unclosed matches a tag with one brace at its end, or none, and one with a single brace at its beginning.
var unclosed = lazily(`\{\{\s*(?:workflow|inputs|outputs|steps|tasks|item|pod|node|lastRetry|retries|status|duration|exitCode)` +
	`(?:\.[-\w]+)*\s*(?:\}(?:[^}]|$)|$|["'])|(?:^|[^{$])\{\s*(?:workflow|inputs|outputs|steps|tasks)\.[-\w]+(?:\.[-\w]+)*\s*\}\}` +
	`|\{\{=[^}]*(?:\}[^}]+)*\}?$`)

// withoutCheck matches tags that Argo's validation does not look at, and withoutCheckInTemplate those of a WorkflowTemplate.
var (
	withoutCheck = lazily(`^\{*\s*(item|status|duration|exitCode|node|lastRetry|retries|` +
		`workflow\.(scheduledTime|duration|creationTimestamp))`)
	withoutCheckInTemplate = lazily(`^\{*\s*workflow\.parameters`)
)

// lacksBrace returns a tag of a text that lacks a brace; "" if there is none.
func lacksBrace(text string) string {
	return strings.TrimSpace(unclosed().FindString(text))
}

const braceHint = "write two braces at both ends"

// unclosedTag reports a tag that lacks a brace, if Argo's validation does not.
func (i *inspection) unclosedTag(at *field.Path, text string, unseen bool) bool {
	found := lacksBrace(text)
	inTemplate := templateSpec(i.Object) != nil && withoutCheckInTemplate().MatchString(found)
	if found != "" && (unseen || inTemplate || withoutCheck().MatchString(found)) {
		i.reportHint(at, braceHint, "the tag %s lacks a brace", found)
	}
	return found != ""
}

// isUnseen reports whether Argo's validation does not look at a text: it is outside of templates, or one of the inputs of a
// template that others call.
func isUnseen(at *field.Path, f flow, t template) bool {
	return t.path == nil || t.Name != f.spec.Entrypoint && strings.HasPrefix(at.String(), t.path.Child("inputs").String()+".")
}

// unknownName reports an input, an argument or a word in a tag that Argo's validation does not look for: in what is outside
// of templates, in the inputs of a template that others call, and an argument of a WorkflowTemplate.
func (i *inspection) unknownName(at *field.Path, f flow, t template, root, rest string) {
	steps := strings.Split(rest, ".")
	unseen := isUnseen(at, f, t)
	inputs := unseen && t.path != nil
	if known := wordsAfter[root]; unseen && known != nil && !slices.Contains(known, steps[0]) && (root == "workflow" || inputs) {
		i.reportHint(at, oneOf(steps[0], known), "Argo has no %s.%s", root, steps[0])
		return
	}
	var known []string
	switch {
	case len(steps) != 2 || strings.Contains(t.path.String(), ".inline"):
		return
	case root == "workflow" && steps[0] == "parameters":
		if f.spec.WorkflowTemplateRef != nil || f.writes.arguments.has(steps[1]) || f.writes.others {
			return
		}
		for _, p := range f.spec.Arguments.Parameters {
			known = append(known, p.Name)
		}
		if templateSpec(i.Object) != nil {
			unseen = diag.Nearest(steps[1], known, strings.ToLower) != "" // others may be those of the Workflow that calls it
		}
	case root == "inputs" && steps[0] == "parameters" && inputs:
		for _, p := range t.Inputs.Parameters {
			known = append(known, p.Name)
		}
	default:
		return
	}
	if unseen && !slices.Contains(known, steps[1]) && steps[1] != "json" {
		i.reportHint(at, diag.DidYouMean(steps[1], known, strings.ToLower), "there is no %s.%s", root, rest)
	}
}

func (i *inspection) unknownTag(at *field.Path, f flow, t template, root, rest string) bool {
	steps := strings.Split(rest, ".")
	name := strings.TrimSuffix(root+"."+rest, ".")
	if layout, is := strings.CutPrefix(name, common.GlobalVarWorkflowCreationTimestamp+"."); is && !knownLayout(layout) {
		i.reportHint(at, "write one letter a tag, such as {{workflow.creationTimestamp.Y}}-{{workflow.creationTimestamp.m}}",
			"Argo knows no layout %s", layout)
		return true
	}
	if wholeArtifact().MatchString(name) && strings.Contains(at.String(), ".arguments.parameters[") {
		i.reportHint(at, "pass it in arguments.artifacts, with from", "%s is an artifact, and a parameter is text", name)
		return true
	}
	if retried := !t.IsLeaf() || f.spec.RetryStrategy != nil || t.RetryStrategy != nil || f.spec.TemplateDefaults != nil || f.inherits() ||
		templateSpec(i.Object) != nil || i.set.defaults.RetryStrategy != nil || i.set.defaults.TemplateDefaults != nil; !retried &&
		(name == common.LocalVarRetries || root == "lastRetry") && !strings.Contains(t.path.String(), ".inline") {
		i.reportHint(at, "add retryStrategy, or remove the tag", "the template has no retryStrategy, and so no %s", name)
		return true
	}
	if wordsAfter[root] != nil || root == "item" {
		return false
	}
	for _, known := range slices.Sorted(maps.Keys(wordsAfter)) {
		place := 0
		if known == "steps" || known == "tasks" {
			place = 1
		}
		near := diag.Nearest(root, []string{known}, strings.ToLower) != ""
		if near && len(steps) > place && slices.Contains(wordsAfter[known], steps[place]) {
			i.reportHint(at, "did you mean "+known+"?", "Argo has no %s", root)
			return true
		}
	}
	if diag.Nearest(root, []string{"item"}, strings.ToLower) != "" && repeatedAt(t, at) {
		i.reportHint(at, "did you mean item?", "Argo has no %s", root)
		return true
	}
	return false
}

// repeatedAt reports whether a path is in a step that has items.
func repeatedAt(t template, at *field.Path) bool {
	is := false
	eachCall(t, func(of *field.Path, c call) {
		is = is || c.repeated && strings.HasPrefix(at.String(), of.String()+".")
	})
	return is
}

// knownLayout reports whether a tag can end with a layout of the creation time.
func knownLayout(layout string) bool {
	runes := []rune(layout)
	return layout == "s" || layout == "RFC3339" || len(runes) == 1 && strftime.FormatChars[runes[0]] != ""
}
