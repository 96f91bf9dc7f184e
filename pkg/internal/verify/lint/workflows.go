package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
)

// busRules check EventBuses.
func busRules() []Rule {
	return []Rule{
		{
			Code:    "nats-streaming-bus",
			Warning: true,
			Summary: "An EventBus uses NATS Streaming.",
			Why: "NATS Streaming has been unsupported since 2023, and Sensors on it ignore atLeastOnce: every failed call loses the " +
				"event.",
			Fix: "use jetstream",
			check: on(func(i *inspection, b *eventsv1.EventBus) {
				if b.Spec.NATS != nil {
					i.report(field.NewPath("spec", "nats"), "NATS Streaming ignores atLeastOnce")
				}
			}),
		},
		{
			Code:    "non-persistent-bus",
			Warning: true,
			Summary: "A JetStream EventBus has no persistent volumes.",
			Why: "If all its pods restart together, for example in an upgrade of the cluster, the stream and the consumers of all " +
				"Sensors are lost. EventSources then cannot publish until their pods restart too.",
			Fix:   "set jetstream.persistence",
			check: on(forgets),
		},
		{
			Code:    "work-queue-retention",
			Summary: "The stream of an EventBus is a work queue.",
			Why: "A work queue delivers each message to one consumer, but every trigger of every Sensor is a consumer: Sensors fail " +
				"to subscribe.",
			Fix:   "remove retention from streamConfig",
			check: on(workQueue),
		},
		{
			Code:    "unknown-bus-version",
			Warning: true,
			Summary: "The version of a JetStream EventBus does not look like one of Argo Events.",
			Why: "Argo Events looks for exactly this text in the configuration of its controller, whose default has latest and versions " +
				"such as 2.10.29. If it is not there, the EventBus never starts.",
			Fix:   "write latest, or a version with three numbers",
			check: on(unknownBusVersion),
		},
	}
}

// busVersion matches the versions in the default configurations of the controller.
var busVersion = lazily(`^(latest|\d+\.\d+\.\d+(-[-.\w]+)?)$`)

func unknownBusVersion(i *inspection, b *eventsv1.EventBus) {
	if js := b.Spec.JetStream; js != nil && js.Version != "" && !fromTemplate(js.Version) && !busVersion().MatchString(js.Version) {
		i.report(field.NewPath("spec", "jetstream", "version"), "the default configuration of Argo Events has no version %s", js.Version)
	}
}

func forgets(i *inspection, b *eventsv1.EventBus) {
	if js := b.Spec.JetStream; js != nil && js.Persistence == nil {
		i.report(field.NewPath("spec", "jetstream"), "the stream is lost if all pods of the EventBus restart together")
	}
}

// retention matches a work-queue retention, by number or name.
var retention = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^\s*retention:\s*["']?(2|work-?queue(policy)?)["']?\s*$`)
})

func workQueue(i *inspection, b *eventsv1.EventBus) {
	if js := b.Spec.JetStream; js != nil && js.StreamConfig != nil && retention().MatchString(*js.StreamConfig) {
		i.report(field.NewPath("spec", "jetstream", "streamConfig"), "several triggers cannot subscribe to a work queue")
	}
}

// workflowRules check what Workflows run.
func workflowRules() []Rule {
	return []Rule{
		{
			Code:    "template-tag-in-script",
			Warning: true,
			Summary: "A script or a shell command contains a template tag.",
			Why: "Argo replaces the tag in the text of the program before it runs. A quote or a line break in the value breaks the " +
				"program, and everyone who can choose the value can run any command.",
			Fix:   "pass the value in an environment variable",
			check: eachFlow(func(i *inspection, f flow) { i.code(f, false) }),
		},
		{
			Code:    "no-ttl-strategy",
			Warning: true,
			Strict:  true,
			Summary: "Finished Workflows are not deleted.",
			Why:     "Each Workflow is an object in etcd, and thousands of them slow the workflow controller down.",
			Fix: "set ttlStrategy.secondsAfterCompletion, or set it for all Workflows in workflowDefaults of the controller's " +
				"ConfigMap",
			check: eachFlow(noTTL),
		},
		{
			Code:    "no-pod-gc",
			Warning: true,
			Strict:  true,
			Summary: "Pods of finished Workflows stay for more than a day.",
			Why: "Until the Workflow is deleted its finished pods remain objects in etcd, and the PersistentVolumeClaims that they " +
				"use cannot be deleted.",
			Fix:   "set podGC.strategy, or set it for all Workflows in workflowDefaults of the controller's ConfigMap",
			check: eachFlow(noPodGC),
		},
		{
			Code:    "no-deadline",
			Warning: true,
			Strict:  true,
			Summary: "A Workflow has no deadline.",
			Why:     "A Workflow that hangs keeps its pods and its mutex, and everything that waits for it waits forever.",
			Fix:     "set activeDeadlineSeconds, or set it for all Workflows in workflowDefaults of the controller's ConfigMap",
			check:   eachFlow(noDeadline),
		},
		{
			Code:    "multiple-documents",
			Summary: "The manifest of a resource template contains several YAML documents.",
			Why:     "Argo waits for one of them only and deletes one only. Some actions apply only the first.",
			Fix:     "use one template for each, or a List",
			check:   eachFlow(manyDocuments),
		},
		{
			Code:    "privileged-pod",
			Warning: true,
			Summary: "A pod violates the baseline Pod Security Standard.",
			Why:     "The program can leave its container: everyone who can start the Workflow can take over the node.",
			Fix:     "remove the setting that the message names",
			check:   eachFlow(privileged),
		},
		{
			Code:    "floating-tag",
			Warning: true,
			Strict:  true,
			Summary: "An image has no tag, or the tag latest.",
			Why:     "Two pods of one Workflow can run different versions, and every start of a pod asks the registry.",
			Fix:     "set a version tag or a digest",
			check:   eachFlow(floating),
		},
		{
			Code:    "unlabeled-config-map",
			Summary: "A parameter reads a ConfigMap that lacks the label for parameters.",
			Why:     "The controller finds only ConfigMaps with workflows.argoproj.io/configmap-type: Parameter, and the Workflow fails.",
			Fix:     "add the label workflows.argoproj.io/configmap-type: Parameter to the ConfigMap",
			check:   eachFlow(unlabelled),
		},
		{
			Code:    "no-schedule",
			Summary: "A CronWorkflow has no schedule, or one that never comes.",
			Why:     "Argo accepts it, and it never runs.",
			Fix:     "add schedules",
			check:   on(neverScheduled),
		},
		{
			Code:    "missing-argument",
			Summary: "A Sensor starts a WorkflowTemplate, or a hook a template, without one of its arguments.",
			Why:     "The Workflow fails at once, or when the hook is due.",
			Fix:     "add the argument, or give the parameter a value in the WorkflowTemplate",
			check: func(i *inspection) {
				eachTrigger(missingArguments)(i)
				eachFlow(hookArguments)(i)
			},
		},
		{
			Code:    "unknown-argument",
			Warning: true,
			Summary: "An argument has no parameter.",
			Why:     "Argo ignores it, so a misspelled argument leaves the parameter as it is.",
			Fix:     "correct the name, or remove the argument",
			check:   eachFlow(unknownArguments),
		},
		{
			Code:    "unknown-volume",
			Warning: true,
			Summary: "A container mounts a volume that its pod does not have.",
			Why: "The pod is not created, unless workflowDefaults add the volume. In a containerSet Argo adds only the volumes of the " +
				"template.",
			Fix: "add the volume to volumes of the template",
			check: func(i *inspection) {
				eachFlow(unknownVolumes)(i)
				volumesOfEvents(i)
			},
		},
		{
			Code:    "unknown-config-map-key",
			Summary: "A reference names a key that the ConfigMap or the Secret does not have.",
			Why:     "The pod does not start, or the Workflow fails.",
			Fix:     "correct the key, or add it to the ConfigMap",
			check:   unknownKeys,
		},
		{
			Code:    "pod-security-violation",
			Warning: true,
			Summary: "A pod violates the Pod Security Standard of its namespace.",
			Why: "The Namespace is in the files and enforces a standard, so the API server rejects the pod. Argo adds the containers " +
				"init and wait to the pods of Workflows, with the security context of the workflow controller's configuration.",
			Fix:   "set the securityContext; of Argo's own containers in podSpecPatch",
			check: rejectedPods,
		},
	}
}

func neverScheduled(i *inspection, c *wfv1.CronWorkflow) {
	if c.Spec.Schedule == "" && len(c.Spec.Schedules) == 0 {
		i.report(field.NewPath("spec"), "the CronWorkflow never runs")
	}
	for n, schedule := range c.Spec.Schedules {
		at := field.NewPath("spec", "schedules").Index(n)
		switch zoned := strings.HasPrefix(schedule, "CRON_TZ=") || strings.HasPrefix(schedule, "TZ="); {
		case zoned && c.Spec.Timezone != "":
			i.reportHint(at, "remove timezone, or the time zone of the schedule", "Argo cannot read a schedule with two time zones")
		case len(builtin.Schedule(schedule, at)) == 0 && builtin.NextTime(schedule, time.Unix(0, 0)).IsZero():
			i.reportHint(at, "write a day that the month has", "the schedule never comes")
		}
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

// valueTag matches a tag of a value, and pathTag one of a path that the template sets.
var (
	valueTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{[^}]*(parameters|outputs|item)\b[^}]*\}\}`) })
	pathTag  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\{\{\s*(in|out)puts\.(parameters|artifacts)\.[^.]+\.path\s*\}\}$`)
	})
)

// userTags returns the tags in a text whose value a user can choose.
func userTags(text string) []string {
	var out []string
	for _, tag := range valueTag().FindAllString(text, -1) {
		if !pathTag().MatchString(tag) && !slices.Contains(out, tag) && !harmless(tag) {
			out = append(out, tag)
		}
	}
	return out
}

// code reports tags inside programs: those with event data if fed is set, else others whose value
// somebody can choose.
func (i *inspection) code(f flow, fed bool) {
	_, bySensor := i.Object.(*eventsv1.Sensor)
	if fed && bySensor {
		f = f.marked()
	}
	for _, t := range f.templates() {
		look := func(at *field.Path, text string, inShell bool) {
			found := i.set.taint.tags(i.Object, f, t, text)
			if !fed {
				tainted := found
				found = slices.DeleteFunc(userTags(text), func(tag string) bool {
					// nobody chooses the other arguments of a trigger's Workflow, and a program that is a
					// parameter is meant to be one
					return slices.Contains(tainted, tag) || bySensor && !strings.Contains(tag, "outputs") ||
						strings.TrimSpace(text) == tag || f.isPlain(t, tag, nil)
				})
			}
			if !inShell {
				found = slices.DeleteFunc(found, func(tag string) bool { return isLiteral(text, tag) })
			}
			if slices.Contains(found, eventTag) {
				i.report(at, "data of the event is the program")
				return
			}
			switch last := len(found) - 1; {
			case last == 0:
				i.report(at, "the value of %s becomes part of the program", found[0])
			case last > 0:
				i.report(at, "the values of %s and %s become part of the program", strings.Join(found[:last], ", "), found[last])
			}
		}
		if s := t.Script; s != nil {
			look(t.path.Child("script", "source"), s.Source, len(s.Command) == 0 || slices.ContainsFunc(s.Command, shell().MatchString))
		}
		for _, c := range (argo.Pod{Template: t.Template, Spec: f.spec}).Containers() {
			words := slices.Concat(c.Command, c.Args)
			for n, word := range words {
				if n > 0 && isProgram(words[:n]) {
					look(wordPath(t, n), word, slices.ContainsFunc(words[:n], shell().MatchString))
				}
			}
		}
	}
}

// listTag matches a tag of all parameters together or of a value in JSON, and beforeLiteral what can be before a literal.
var (
	listTag       = lazily(`^\{\{(\s*(workflow|inputs)\.parameters|=\s*(sprig\.)?toJson\([^()]*\))\s*\}\}$`)
	beforeLiteral = lazily(`[=(,:]\s*$`)
)

// isLiteral reports whether a tag of a text in JSON is only where many languages have a literal.
func isLiteral(text, tag string) bool {
	parts := strings.Split(text, tag)
	return listTag().MatchString(tag) && !slices.ContainsFunc(parts[:len(parts)-1], func(before string) bool {
		return !beforeLiteral().MatchString(before)
	})
}

var (
	// inputTag matches a tag of an input.
	inputTag = lazily(`^\{\{=?\s*inputs\.parameters(?:\.([-\w]+)|\[['"]([-\w]+)['"]\])\s*\}\}$`)
	// plainTag matches a tag whose value is a number, a name or an address.
	plainTag = lazily(`^\{\{=?\s*(?:(?:steps|tasks)\.[-\w]+\.(?:ip|id|status|exitCode|startedAt|finishedAt)` +
		`|workflow\.(?:name|uid|namespace|status|duration)|pod\.name|retries)\s*\}\}$`)
	// plainText matches a text that has no meaning in a program.
	plainText = lazily(`^[-\w./:@=+, ]*$`)
	// wholeItem matches the tag of an item.
	wholeItem = lazily(`^\{\{=?\s*item(?:\.([-\w]+))?\s*\}\}$`)
)

// isPlain reports whether the value of a tag in a template is one that the Workflow itself writes, and
// without special characters.
func (f flow) isPlain(t template, tag string, above []string) bool {
	if plainTag().MatchString(tag) {
		return true
	}
	m := inputTag().FindStringSubmatch(tag)
	if m == nil || t.Name == "" || slices.Contains(above, t.Name) || t.Name == f.spec.Entrypoint {
		return false
	}
	name, calls, plain := m[1]+m[2], 0, true
	for _, caller := range f.templates() {
		eachCall(caller, func(_ *field.Path, c call) {
			if c.template != t.Name || c.ref != nil {
				return
			}
			calls++
			p := c.arguments.GetParameterByName(name)
			if p == nil {
				p = t.Inputs.GetParameterByName(name)
			}
			plain = plain && p != nil && p.Value != nil && f.isPlainText(caller, c, p.Value.String(), append(slices.Clip(above), t.Name))
		})
	}
	return calls > 0 && plain
}

// isPlainText reports whether all tags in an argument of a call are plain, and the rest of it.
func (f flow) isPlainText(t template, c call, text string, above []string) bool {
	for _, tag := range tag().FindAllString(text, -1) {
		m := wholeItem().FindStringSubmatch(tag)
		switch {
		case m != nil && c.sequence != nil:
		case m != nil && len(c.items) > 0:
			for _, item := range c.items {
				if !plainText().MatchString(itemText(item, m[1])) {
					return false
				}
			}
		case !f.isPlain(t, tag, above):
			return false
		}
	}
	return plainText().MatchString(tag().ReplaceAllString(text, ""))
}

// itemText returns the text of an item, or of one of its fields.
func itemText(item wfv1.Item, name string) string {
	if name == "" {
		return strings.Trim(item.String(), `"`)
	}
	var fields map[string]any
	if json.Unmarshal(item.Value, &fields) != nil {
		return "{}"
	}
	return fmt.Sprint(fields[name])
}

// shell matches the name of a shell, and commandFlag an option of it that announces a program.
var (
	shell       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|/)(ba|da|a|z|k)?sh$`) })
	commandFlag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[a-zA-Z]*c[a-zA-Z]*$`) })
)

// isProgram reports whether a program follows the words of a command line.
func isProgram(words []string) bool {
	last := words[len(words)-1]
	return last == "-c" || last == "-e" || commandFlag().MatchString(last) && slices.ContainsFunc(words, shell().MatchString)
}

// wordPath returns the path of an argument of a container's command line.
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
	ttl := cmp.Or(f.spec.TTLStrategy, i.set.defaults.TTLStrategy)
	switch {
	case f.inherits() || i.keepsHistory() || !f.driven && !i.strict: // a user may start few
	case ttl == nil:
		i.report(f.path, "finished Workflows are not deleted")
	case ttl.SecondsAfterCompletion != nil || f.spec.TTLStrategy == nil:
	case ttl.SecondsAfterFailure == nil:
		i.reportHint(f.path.Child("ttlStrategy"), "add secondsAfterFailure", "failed Workflows are not deleted")
	case ttl.SecondsAfterSuccess == nil:
		i.reportHint(f.path.Child("ttlStrategy"), "add secondsAfterSuccess", "successful Workflows are not deleted")
	}
}

// keepsHistory reports whether the object is a CronWorkflow: the controller keeps its last three
// successful Workflows and the last failed one, and deletes the others.
func (i *inspection) keepsHistory() bool {
	_, cron := i.Object.(*wfv1.CronWorkflow)
	return cron
}

// longTTL is the time after which the pods of a finished Workflow are a burden.
const longTTL = 24 * 60 * 60

func noPodGC(i *inspection, f flow) {
	ttl := cmp.Or(f.spec.TTLStrategy, i.set.defaults.TTLStrategy)
	gc := cmp.Or(f.spec.PodGC, i.set.defaults.PodGC)
	if f.inherits() || ttl == nil || gc != nil && gc.Strategy != "" {
		return // no-ttl-strategy reports one that stays
	}
	for _, seconds := range []*int32{ttl.SecondsAfterCompletion, ttl.SecondsAfterSuccess, ttl.SecondsAfterFailure} {
		if seconds != nil && *seconds > longTTL {
			i.report(f.path, "pods of finished Workflows stay for %s", time.Duration(*seconds)*time.Second)
			return
		}
	}
}

func noDeadline(i *inspection, f flow) {
	if !f.inherits() && f.spec.ActiveDeadlineSeconds == nil && i.set.defaults.ActiveDeadlineSeconds == nil {
		i.report(f.path, "a Workflow that hangs is never stopped")
	}
}

// separator matches a separator of YAML documents.
var separator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^---\s*$`) })

func manyDocuments(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.Resource == nil {
			continue
		}
		documents := slices.DeleteFunc(
			separator().Split(t.Resource.Manifest, -1),
			func(s string) bool { return strings.TrimSpace(s) == "" },
		)
		if len(documents) > 1 {
			i.report(t.path.Child("resource", "manifest"), "the manifest contains %d documents", len(documents))
		}
	}
}

func privileged(i *inspection, f flow) {
	for _, t := range f.templates() {
		if !t.IsPodType() {
			continue
		}
		spec, err := argo.Pod{Template: t.Template, Spec: f.spec}.PodSpec()
		if err != nil {
			continue // the patch contains tags
		}
		for _, v := range admission.PodViolations(api.LevelBaseline, spec) {
			i.report(t.path, "%s: %s", v.ForbiddenReason, v.ForbiddenDetail)
		}
	}
}

func floating(i *inspection, f flow) {
	for _, t := range f.templates() {
		for _, c := range (argo.Pod{Template: t.Template, Spec: f.spec}).Containers() {
			name := c.Image[strings.LastIndex(c.Image, "/")+1:]
			tagged := strings.Contains(name, ":") && !strings.HasSuffix(name, ":latest") || strings.Contains(c.Image, "@")
			if c.Image != "" && !tagged && !strings.Contains(c.Image, "{{") {
				i.report(imagePath(t), "image %s has no fixed version", c.Image)
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

// ofConfigMapType reports a ConfigMap without the label of its type, by which Argo finds it.
func (i *inspection) ofConfigMapType(at *field.Path, namespace, name, is string) {
	if cm, ok := i.set.configMap(namespace, name); ok && cm.Labels[common.LabelKeyConfigMapType] != is {
		i.report(at, "ConfigMap %s lacks the label %s: %s", name, common.LabelKeyConfigMapType, is)
	}
}

func unlabelled(i *inspection, f flow) {
	look := func(at *field.Path, list []wfv1.Parameter) {
		for n, p := range list {
			if p.ValueFrom == nil || p.ValueFrom.ConfigMapKeyRef == nil {
				continue
			}
			i.ofConfigMapType(at.Index(n).Child("valueFrom", "configMapKeyRef", "name"), i.Object.GetNamespace(),
				p.ValueFrom.ConfigMapKeyRef.Name, common.LabelValueTypeConfigMapParameter)
		}
	}
	look(f.path.Child("arguments", "parameters"), f.spec.Arguments.Parameters)
	for _, t := range f.templates() {
		look(t.path.Child("inputs", "parameters"), t.Inputs.Parameters)
	}
}
