package lint

import (
	"regexp"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"

	"github.com/argoperator/argoperator/pkg/internal/admission"
	"github.com/argoperator/argoperator/pkg/internal/argo"
)

// busRules check EventBuses.
func busRules() []Rule {
	return []Rule{
		{
			Code:    "nats-streaming-bus",
			Warning: true,
			Summary: "The EventBus is of NATS Streaming.",
			Why:     "Its end of life was in 2023, and Sensors on it ignore atLeastOnce: every failure loses the event.",
			Fix:     "use jetstream",
			check: on(func(i *inspection, b *eventsv1.EventBus) {
				if b.Spec.NATS != nil {
					i.report(field.NewPath("spec", "nats"), "NATS Streaming ignores atLeastOnce")
				}
			}),
		},
		{
			Code:    "non-persistent-bus",
			Warning: true,
			Summary: "The EventBus keeps its stream on the disks of its pods only.",
			Why: "Without persistence, what all pods lose together is gone with the consumers of all Sensors: EventSources then cannot " +
				"publish until their pods are started again.",
			Fix:   "set jetstream.persistence, or repair by a resync that does not travel over the bus",
			check: on(forgets),
		},
		{
			Code:    "work-queue-retention",
			Summary: "The stream of the EventBus is a work queue.",
			Why:     "Each message goes to one consumer only, but every trigger of every Sensor is a consumer: Sensors fail to subscribe.",
			Fix:     "leave retention out of streamConfig",
			check:   on(workQueue),
		},
	}
}

func forgets(i *inspection, b *eventsv1.EventBus) {
	if js := b.Spec.JetStream; js != nil && js.Persistence == nil {
		i.report(field.NewPath("spec", "jetstream"), "when all of its pods are lost, so is the stream")
	}
}

// retention matches a work-queue retention, by number or name.
var retention = regexp.MustCompile(`(?im)^\s*retention:\s*["']?(2|work-?queue(policy)?)["']?\s*$`)

func workQueue(i *inspection, b *eventsv1.EventBus) {
	if js := b.Spec.JetStream; js != nil && js.StreamConfig != nil && retention.MatchString(*js.StreamConfig) {
		i.report(field.NewPath("spec", "jetstream", "streamConfig"), "the triggers of Sensors cannot share a work queue")
	}
}

// workflowRules check what Workflows run.
func workflowRules() []Rule {
	return []Rule{
		{
			Code:    "template-tag-in-script",
			Warning: true,
			Summary: "A tag of Argo stands inside a program.",
			Why: "Argo puts the value into the program's text before it runs: whoever may choose the value may run anything. A quote or a " +
				"line break in it is enough to break the program.",
			Fix:   "pass it in an environment variable",
			check: eachFlow(func(i *inspection, f flow) { i.code(f, false) }),
		},
		{
			Code:    "no-ttl-strategy",
			Warning: true,
			Summary: "Finished Workflows stay.",
			Why:     "Each is an object in etcd; thousands of them slow the controller down.",
			Fix:     "set ttlStrategy.secondsAfterCompletion",
			check:   eachFlow(noTTL),
		},
		{
			Code:    "no-pod-gc",
			Warning: true,
			Summary: "The pods of finished Workflows stay.",
			Why:     "They hold addresses and volumes until the Workflow goes, and fill the node's limit of pods.",
			Fix:     "set podGC.strategy",
			check:   eachFlow(noPodGC),
		},
		{
			Code:    "no-deadline",
			Warning: true,
			Summary: "A Workflow may run for ever.",
			Why:     "A pod that hangs holds its mutex, its resources and everything that waits for it.",
			Fix:     "set activeDeadlineSeconds",
			check:   eachFlow(noDeadline),
		},
		{
			Code:    "multiple-documents",
			Summary: "The manifest of a resource template holds several documents.",
			Why:     "Argo waits for, and deletes, only one of them; some actions take the first and leave the rest.",
			Fix:     "use a template for each, or a List",
			check:   eachFlow(manyDocuments),
		},
		{
			Code:    "privileged-pod",
			Warning: true,
			Summary: "A pod breaks the baseline Pod Security Standard.",
			Why:     "It can leave its container: whoever can start this Workflow owns the node.",
			Fix:     "leave out what the message names",
			check:   eachFlow(privileged),
		},
		{
			Code:    "floating-tag",
			Warning: true,
			Summary: "An image has no fixed version.",
			Why:     "Two pods of one Workflow can run different programs, and every start asks the registry.",
			Fix:     "state a tag or a digest",
			check:   eachFlow(floating),
		},
		{
			Code:    "unlabeled-config-map",
			Summary: "A parameter comes from a ConfigMap without the label that makes it one of parameters.",
			Why:     "The controller looks for workflows.argoproj.io/configmap-type: Parameter only, and the Workflow fails: not found.",
			Fix:     "label the ConfigMap workflows.argoproj.io/configmap-type: Parameter",
			check:   eachFlow(unlabelled),
		},
	}
}

// eachFlow calls check for every Workflow spec in an object.
func eachFlow(check func(*inspection, flow)) func(*inspection) {
	return func(i *inspection) {
		for _, f := range i.set.flows[i.Object] {
			check(i, f)
		}
	}
}

// userTag matches a tag whose value a user can choose.
var userTag = regexp.MustCompile(`\{\{[^}]*(parameters|outputs|item)\b[^}]*\}\}`)

// code reports tags inside programs: those with event data if fed is set, else the
// others.
func (i *inspection) code(f flow, fed bool) {
	if f.fed != fed {
		return
	}
	for _, t := range f.templates() {
		if s := t.Script; s != nil {
			if found := userTag.FindString(s.Source); found != "" {
				i.report(t.path.Child("script", "source"), "%s becomes part of the program", found)
			}
		}
		for _, c := range (argo.Pod{Template: t.Template, Spec: f.spec}).Containers() {
			words := slices.Concat(c.Command, c.Args)
			for n, word := range words {
				if found := userTag.FindString(word); found != "" && n > 0 && slices.Contains([]string{"-c", "-e", "-ec", "-xc"}, words[n-1]) {
					i.report(wordPath(t, n), "%s becomes part of the program", found)
				}
			}
		}
	}
}

// wordPath returns the path of a word of a container's command line.
func wordPath(t template, n int) *field.Path {
	if t.Container == nil {
		return t.path
	}
	if n < len(t.Container.Command) {
		return t.path.Child("container", "command").Index(n)
	}
	return t.path.Child("container", "args").Index(n - len(t.Container.Command))
}

func (f flow) inherits() bool { return !f.whole || f.spec.WorkflowTemplateRef != nil }

func noTTL(i *inspection, f flow) {
	if !f.inherits() && f.spec.TTLStrategy == nil {
		i.report(f.path, "finished Workflows pile up")
	}
}

func noPodGC(i *inspection, f flow) {
	if !f.inherits() && (f.spec.PodGC == nil || f.spec.PodGC.Strategy == "") {
		i.report(f.path, "finished pods pile up")
	}
}

func noDeadline(i *inspection, f flow) {
	if !f.inherits() && f.spec.ActiveDeadlineSeconds == nil {
		i.report(f.path, "a Workflow that hangs never ends")
	}
}

// separator matches a separator of YAML documents.
var separator = regexp.MustCompile(`(?m)^---\s*$`)

func manyDocuments(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.Resource == nil {
			continue
		}
		documents := slices.DeleteFunc(separator.Split(t.Resource.Manifest, -1), func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(documents) > 1 {
			i.report(t.path.Child("resource", "manifest"), "%d documents in one manifest", len(documents))
		}
	}
}

func privileged(i *inspection, f flow) {
	evaluator := admission.PodStandard()
	level := api.LevelVersion{Level: api.LevelBaseline, Version: api.LatestVersion()}
	for _, t := range f.templates() {
		if !t.IsPodType() {
			continue
		}
		spec, err := argo.Pod{Template: t.Template, Spec: f.spec}.PodSpec()
		if err != nil {
			continue // the patch contains tags
		}
		for _, result := range evaluator.EvaluatePod(level, &metav1.ObjectMeta{}, spec) {
			if !result.Allowed {
				i.report(t.path, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
			}
		}
	}
}

func floating(i *inspection, f flow) {
	for _, t := range f.templates() {
		for _, c := range (argo.Pod{Template: t.Template, Spec: f.spec}).Containers() {
			name := c.Image[strings.LastIndex(c.Image, "/")+1:]
			tagged := strings.Contains(name, ":") && !strings.HasSuffix(name, ":latest") || strings.Contains(c.Image, "@")
			if c.Image != "" && !tagged && !strings.Contains(c.Image, "{{") {
				i.report(imagePath(t), "%s may be another image tomorrow", c.Image)
			}
		}
	}
}

func imagePath(t template) *field.Path {
	switch {
	case t.Container != nil:
		return t.path.Child("container", "image")
	case t.Script != nil:
		return t.path.Child("script", "image")
	}
	return t.path
}

func unlabelled(i *inspection, f flow) {
	look := func(at *field.Path, list []wfv1.Parameter) {
		for n, p := range list {
			if p.ValueFrom == nil || p.ValueFrom.ConfigMapKeyRef == nil {
				continue
			}
			cm, ok := i.set.configMap(i.Object.GetNamespace(), p.ValueFrom.ConfigMapKeyRef.Name)
			if ok && cm.Labels["workflows.argoproj.io/configmap-type"] != "Parameter" {
				i.report(at.Index(n).Child("valueFrom", "configMapKeyRef", "name"), "ConfigMap %s lacks the label", cm.Name)
			}
		}
	}
	look(f.path.Child("arguments", "parameters"), f.spec.Arguments.Parameters)
	for _, t := range f.templates() {
		look(t.path.Child("inputs", "parameters"), t.Inputs.Parameters)
	}
}
