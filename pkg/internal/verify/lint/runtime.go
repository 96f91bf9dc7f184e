package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// runtimeRules check what Argo evaluates only when a Workflow runs.
func runtimeRules() []Rule {
	return []Rule{
		{
			Code:    "invalid-expression",
			Summary: "An expression or a condition does not parse, calls an unknown function, or is never true.",
			Why:     "Argo evaluates it only when the step runs. Then the Workflow fails, or the step never runs.",
			Fix:     "correct the expression",
			check: func(i *inspection) {
				eachFlow(invalidExpressions)(i)
				on(invalidSelector)(i)
				on(invalidCondition)(i)
			},
		},
		{
			Code:    "failing-template",
			Summary: "With one of its settings, a template or a Workflow always fails.",
			Why:     "Argo accepts the setting, and the step ends with an error each time it runs.",
			Fix:     "correct the setting",
			check:   eachFlow(failingTemplates),
		},
		{
			Code:    "fragile-template",
			Warning: true,
			Summary: "A template works only with some values, images or paths.",
			Why: "Argo accepts it. A condition without quotes cannot be read with an empty value, a script without a command needs an " +
				"entrypoint that runs it, and no shell replaces ~ or $HOME.",
			Fix:   "correct the setting",
			check: eachFlow(fragileTemplates),
		},
		{
			Code:    "unknown-tag",
			Warning: true,
			Summary: "A template has a tag that Argo does not know, or one of a label that the Workflow does not have.",
			Why:     "Argo's validation ignores it, and it remains in the text as it is.",
			Fix:     "correct the name",
			check:   eachFlow(unknownTags),
		},
		{
			Code:    "invalid-duration",
			Summary: "A duration has no unit that Argo knows.",
			Why:     "Argo parses it only when it needs it, and then the Workflow fails, or the default applies.",
			Fix:     "use s, m or h, such as 24h",
			check:   eachFlow(invalidDurations),
		},
		{
			Code:    "invalid-integer",
			Summary: "A text that must be an integer is none.",
			Why:     "Argo parses it only when it needs it, and then the Workflow fails.",
			Fix:     "write an integer",
			check:   eachFlow(invalidIntegers),
		},
		{
			Code:    "invalid-items",
			Summary: "The items of a step cannot be made, or one of them lacks a key that the step uses.",
			Why:     "The step fails when it runs, or gets a text like %!s(int=1).",
			Fix:     "correct the items",
			check:   eachFlow(invalidItems),
		},
		{
			Code:    "shared-artifact-key",
			Warning: true,
			Summary: "All items of a step write an artifact to the same key.",
			Why:     "Each of them replaces the artifact of the others: one remains.",
			Fix:     "add {{pod.name}} or a parameter of the item to the key, or remove the key: Argo then makes one for each pod",
			check:   eachFlow(sharedKeys),
		},
		{
			Code:    "invalid-with-param",
			Summary: "The text of withParam is not a list in JSON.",
			Why:     "The step fails when it runs.",
			Fix:     `write a list in JSON, such as ["a", "b"], or use withItems`,
			check:   eachFlow(invalidWithParam),
		},
		{
			Code:    "invalid-container",
			Summary: "The API server rejects a pod, a container or a claim of a Workflow.",
			Why:     "Argo accepts the template, and the step ends with an error when it creates the pod.",
			Fix:     "correct the field that the message names",
			check: func(i *inspection) {
				eachFlow(invalidContainers)(i)
				eachFlow(refusedObjects)(i)
			},
		},
		{
			Code:    "unknown-hook-template",
			Summary: "A hook names a template that the Workflow does not have.",
			Why:     "The Workflow fails when the hook is due.",
			Fix:     "correct the name",
			check:   eachFlow(unknownHooks),
		},
		{
			Code:    "endless-recursion",
			Warning: true,
			Summary: "A template calls itself without a condition.",
			Why:     "Each call starts the next one, until the Workflow is too large for etcd or reaches its deadline.",
			Fix:     "add when to the step that calls it",
			check:   eachFlow(endlessRecursion),
		},
		{
			Code:    "mutex-held-twice",
			Summary: "A template waits for a mutex that its own Workflow holds.",
			Why:     "The template waits until the Workflow ends, and the Workflow waits for the template.",
			Fix:     "remove one of the two, or use another name",
			check:   eachFlow(mutexHeldTwice),
		},
		{
			Code:    "step-of-same-group",
			Summary: "A step takes an output of a step that runs at the same time, or a task one of a task that it does not depend on.",
			Why: "The steps of one inner list start together. The step waits for the output, and its group never starts. So does a task: " +
				"Argo only looks for outputs of the tasks on which it depends.",
			Fix:   "put the step into a list of its own, after the other one",
			check: eachFlow(tooEarly),
		},
		{
			Code:    "unknown-patched-container",
			Summary: "podSpecPatch names a container that the pod does not have.",
			Why:     "The patch then adds a container without an image, and the API server rejects the pod.",
			Fix:     "name the container main",
			check:   eachFlow(unknownPatched),
		},
		{
			Code:    "invalid-cache-key",
			Summary: "The key of a cache has other characters than letters, digits and hyphens.",
			Why:     "The step fails when it runs.",
			Fix:     "use letters, digits and hyphens; {{=sprig.sha256sum(…)}} makes a key of any text",
			check:   eachFlow(invalidCacheKey),
		},
		{
			Code:    "executor-without-token",
			Summary: "A Workflow mounts no token, and names no service account for Argo's executor.",
			Why:     "Argo creates none of its pods: the executor needs a token.",
			Fix:     "set executor.serviceAccountName",
			check:   eachFlow(noExecutorToken),
		},
		{
			Code:    "decimal-file-mode",
			Warning: true,
			Summary: "The mode of an artifact is a decimal number that looks like an octal one.",
			Why:     "755 is 01363 in octal: the owner may write the file and not read it.",
			Fix:     "write it with a zero in front, such as 0755",
			check:   eachFlow(decimalModes),
		},
		{
			Code:    "unlabeled-cache",
			Summary: "The ConfigMap of a cache lacks the label for caches.",
			Why:     "The controller uses only ConfigMaps with workflows.argoproj.io/configmap-type: Cache, and the step fails.",
			Fix:     "add the label workflows.argoproj.io/configmap-type: Cache to the ConfigMap, or let Argo create it",
			check:   eachFlow(unlabelledCache),
		},
		{
			Code:    "unknown-resource-field",
			Summary: "The manifest of a resource template has a field that its kind does not have.",
			Why:     "kubectl reports the field when the step runs, or the API server ignores it.",
			Fix:     unknownFieldFix,
			check:   eachFlow(unknownResourceFields),
		},
	}
}

// taggedIn returns the texts of a template by their path, at least those with tags.
func (i *inspection) taggedIn(t template) map[*field.Path]string {
	if known, ok := i.tagged[t.path]; ok {
		return known
	}
	out := map[*field.Path]string{}
	one := t.Template
	one.Steps, one.DAG = nil, nil
	taggedBelow(t.path, one, out)
	for j, parallel := range t.Steps {
		for k, s := range parallel.Steps {
			s.Inline = nil
			taggedBelow(t.path.Child("steps").Index(j).Index(k), s, out)
		}
	}
	if t.DAG != nil {
		for k, task := range t.DAG.Tasks {
			task.Inline = nil
			taggedBelow(t.path.Child("dag", "tasks").Index(k), task, out)
		}
	}
	i.tagged[t.path] = out
	return out
}

func fieldsOf(value any) any {
	data, err := json.Marshal(value)
	var out any
	if err != nil || json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}

// taggedBelow adds the texts of a part of an object if one has a tag. Most parts have none, and are not decoded.
func taggedBelow(at *field.Path, part any, out map[*field.Path]string) {
	data, err := json.Marshal(part)
	var value any
	if err == nil && (bytes.Contains(data, []byte("{{")) || halfTag().Match(data)) && json.Unmarshal(data, &value) == nil {
		textsBelow(at, value, out)
	}
}

// halfTag matches the beginning of a tag that lacks a brace.
var halfTag = lazily(`\{\s*(?:workflow|inputs|outputs|steps|tasks)\.`)

func textsBelow(at *field.Path, value any, out map[*field.Path]string) {
	switch value := value.(type) {
	case string:
		out[at] = value
	case []any:
		for n, inner := range value {
			textsBelow(at.Index(n), inner, out)
		}
	case map[string]any:
		for key, inner := range value {
			textsBelow(at.Child(key), inner, out)
		}
	}
}

// call is a step or a task.
type call struct {
	name, template, when, withParam string
	ref                             *wfv1.TemplateRef
	inline                          *wfv1.Template
	arguments                       wfv1.Arguments
	repeated                        bool // it has items: there may be none
	hooks                           wfv1.LifecycleHooks
	items                           []wfv1.Item
	sequence                        *wfv1.Sequence // its items are numbers
}

// eachCall calls do for each step and task of a template.
func eachCall(t template, do func(at *field.Path, c call)) {
	for j, parallel := range t.Steps {
		for k, s := range parallel.Steps {
			do(t.path.Child("steps").Index(j).Index(k), call{
				s.Name, s.Template, s.When, s.WithParam, s.TemplateRef, s.Inline, s.Arguments, s.ShouldExpand(), s.Hooks, s.WithItems,
				s.WithSequence,
			})
		}
	}
	if t.DAG != nil {
		for k, s := range t.DAG.Tasks {
			do(t.path.Child("dag", "tasks").Index(k), call{
				s.Name, s.Template, s.When, s.WithParam, s.TemplateRef, s.Inline, s.Arguments, s.ShouldExpand(), s.Hooks, s.WithItems,
				s.WithSequence,
			})
		}
	}
}

// eachRetry calls check for every retryStrategy of a flow.
func (f flow) eachRetry(check func(*field.Path, *wfv1.RetryStrategy)) {
	each := func(at *field.Path, r *wfv1.RetryStrategy) {
		if r != nil {
			check(at.Child("retryStrategy"), r)
		}
	}
	each(f.path, f.spec.RetryStrategy)
	if d := f.spec.TemplateDefaults; d != nil {
		each(f.path.Child("templateDefaults"), d.RetryStrategy)
	}
	for _, t := range f.templates() {
		each(t.path, t.RetryStrategy)
	}
}

func invalidDurations(i *inspection, f flow) {
	check := func(at *field.Path, text string) {
		if text == "" || strings.Contains(text, "{{") {
			return
		}
		if _, err := wfv1.ParseStringToDuration(text); err != nil {
			i.report(at, "%q is no duration", text)
		}
	}
	f.eachRetry(func(at *field.Path, r *wfv1.RetryStrategy) {
		if r.Backoff != nil {
			at = at.Child("backoff")
			if r.Backoff.Duration == "" {
				i.reportHint(at, "add duration, such as 10s", "a backoff needs a duration")
			}
			check(at.Child("duration"), r.Backoff.Duration)
			check(at.Child("maxDuration"), r.Backoff.MaxDuration)
			check(at.Child("cap"), r.Backoff.Cap)
		}
	})
	if d := f.spec.TemplateDefaults; d != nil {
		i.goDuration(f.path.Child("templateDefaults", "timeout"), d.Timeout)
	}
	if gc := f.spec.PodGC; gc != nil {
		check(f.path.Child("podGC", "deleteDelayDuration"), gc.DeleteDelayDuration)
	}
	for _, t := range f.templates() {
		if t.Suspend != nil {
			check(t.path.Child("suspend", "duration"), t.Suspend.Duration)
		}
		i.goDuration(t.path.Child("timeout"), t.Timeout)
		if m := t.Memoize; m != nil {
			i.goDuration(t.path.Child("memoize", "maxAge"), m.MaxAge)
		}
	}
}

// goDuration reports a duration that Go does not read: it has no days, and no number without a unit.
func (i *inspection) goDuration(at *field.Path, text string) {
	if _, err := time.ParseDuration(text); text != "" && err != nil && !strings.Contains(text, "{{") {
		i.report(at, "%q is no duration", text)
	}
}

func invalidWithParam(i *inspection, f flow) {
	for _, t := range f.templates() {
		eachCall(t, func(at *field.Path, c call) {
			var list []any
			if c.withParam != "" && !strings.Contains(c.withParam, "{{") && json.Unmarshal([]byte(c.withParam), &list) != nil {
				i.report(at.Child("withParam"), "%s is not a list in JSON", c.withParam)
			}
			m := wholeArgument().FindStringSubmatch(c.withParam)
			if m == nil {
				return
			}
			for n, p := range f.spec.Arguments.Parameters {
				if p.Name == m[1] && p.Value != nil && !strings.Contains(p.Value.String(), "{{") && !f.writes.arguments.has(p.Name) &&
					json.Unmarshal([]byte(p.Value.String()), &list) != nil {
					i.report(f.path.Child("arguments", "parameters").Index(n).Child("value"), "%s is not a list in JSON", p.Value)
				}
			}
		})
	}
}

// wholeArgument matches a text that is an argument of the Workflow.
var wholeArgument = lazily(`^\s*\{\{\s*workflow\.parameters\.([-\w]+)\s*\}\}\s*$`)

func unknownPatched(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.PodSpecPatch == "" || !t.IsPodType() || strings.Contains(t.PodSpecPatch, "{{=") {
			continue
		}
		plain := t.Template
		plain.PodSpecPatch = ""
		pod, err := argo.Pod{Template: plain, Spec: f.spec}.PodSpec()
		if err != nil {
			continue
		}
		var patch struct {
			Containers []struct{ Name, Image string } `json:"containers"`
		}
		if yaml.Unmarshal([]byte(tag().ReplaceAllString(t.PodSpecPatch, "0")), &patch) != nil {
			continue
		}
		known := []string{"main", "wait"}
		for _, c := range pod.Containers {
			known = append(known, c.Name)
		}
		for _, c := range patch.Containers {
			if c.Image == "" && c.Name != "" && !slices.Contains(known, c.Name) && !strings.Contains(c.Name, "0") {
				hint := ""
				if t.ContainerSet != nil {
					hint = diag.DidYouMean(c.Name, known, strings.ToLower)
				}
				i.reportHint(t.path.Child("podSpecPatch"), hint, "the pod has no container %s", c.Name)
			}
		}
	}
}

// noKeyText matches what may not be in the key of a cache.
var noKeyText = lazily(`[^-a-zA-Z0-9]+`)

func invalidCacheKey(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.Memoize == nil || strings.Contains(t.Memoize.Key, "{{=") {
			continue
		}
		if bad := noKeyText().FindString(tag().ReplaceAllString(t.Memoize.Key, "")); bad != "" {
			i.report(t.path.Child("memoize", "key"), "%q is no part of a key", bad)
		}
	}
}

func noExecutorToken(i *inspection, f flow) {
	if f.inherits() {
		return
	}
	for _, t := range f.templates() {
		mounts := cmp.Or(t.AutomountServiceAccountToken, f.spec.AutomountServiceAccountToken, i.set.defaults.AutomountServiceAccountToken)
		executors := []*wfv1.ExecutorConfig{t.Executor, f.spec.Executor, i.set.defaults.Executor}
		named := slices.ContainsFunc(executors, func(e *wfv1.ExecutorConfig) bool { return e != nil && e.ServiceAccountName != "" })
		if t.IsPodType() && mounts != nil && !*mounts && !named {
			at := f.path
			if t.AutomountServiceAccountToken != nil {
				at = t.path
			}
			i.report(at.Child("automountServiceAccountToken"), "the pods of template %s have no token for the executor", t.Name)
			return
		}
	}
}

// decimal are modes without the zero in front that makes a number octal.
var decimal = []int32{400, 440, 444, 500, 550, 555, 600, 640, 644, 660, 664, 666, 700, 711, 750, 755, 770, 775, 777}

func decimalModes(i *inspection, f flow) {
	look := func(at *field.Path, list wfv1.Artifacts) {
		for n, a := range list {
			if a.Mode != nil && slices.Contains(decimal, *a.Mode) {
				i.reportHint(at.Index(n).Child("mode"), fmt.Sprintf("write 0%d", *a.Mode), "%d is 0%o in octal", *a.Mode, *a.Mode)
			}
		}
	}
	for _, t := range f.templates() {
		look(t.path.Child("inputs", "artifacts"), t.Inputs.Artifacts)
		look(t.path.Child("outputs", "artifacts"), t.Outputs.Artifacts)
	}
}

func unlabelledCache(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.Memoize == nil || t.Memoize.Cache == nil || t.Memoize.Cache.ConfigMap == nil {
			continue
		}
		i.ofConfigMapType(t.path.Child("memoize", "cache", "configMap", "name"), f.namespace,
			t.Memoize.Cache.ConfigMap.Name, common.LabelValueTypeConfigMapCache)
	}
}

// plainResources are the resources without a domain that a container can have.
var plainResources = []string{"cpu", "memory", "ephemeral-storage"}

func invalidContainers(i *inspection, f flow) {
	for _, t := range f.templates() {
		for at, c := range containersOf(t) {
			if policy := c.ImagePullPolicy; policy != "" && !strings.Contains(string(policy), "{{") {
				known := []string{string(corev1.PullAlways), string(corev1.PullIfNotPresent), string(corev1.PullNever)}
				if !slices.Contains(known, string(policy)) {
					hint := diag.DidYouMean(string(policy), known, strings.ToLower)
					if hint == "" {
						hint = "use " + strings.Join(known, ", ")
					}
					i.reportHint(at.Child("imagePullPolicy"), hint, "there is no policy %s", policy)
				}
			}
			for where, list := range map[string]corev1.ResourceList{"requests": c.Resources.Requests, "limits": c.Resources.Limits} {
				for name, amount := range list {
					place := at.Child("resources", where).Child(string(name))
					if !strings.Contains(string(name), "/") && !slices.Contains(plainResources, string(name)) &&
						!strings.HasPrefix(string(name), "hugepages-") && !strings.Contains(string(name), "{{") {
						i.reportHint(place, resourceHint(string(name)), "there is no resource %s", name)
					}
					if limit, has := c.Resources.Limits[name]; where == "requests" && has && amount.Cmp(limit) > 0 {
						i.reportHint(place, "raise the limit, or lower the request",
							"the request %s is more than the limit %s", amount.String(), limit.String())
					}
				}
			}
		}
	}
}

// resourceHint suggests a resource for one that does not exist.
func resourceHint(name string) string {
	for _, known := range plainResources {
		if strings.HasPrefix(known, strings.ToLower(name)) {
			return "did you mean " + known + "?"
		}
	}
	if near := diag.DidYouMean(name, plainResources, strings.ToLower); near != "" {
		return near
	}
	return "use " + strings.Join(plainResources, ", ") + ", or the name of an extended resource with its domain"
}

// containersOf returns the containers of a template that users write, by their path.
func containersOf(t template) map[*field.Path]corev1.Container {
	out := map[*field.Path]corev1.Container{}
	if t.Container != nil {
		out[t.path.Child("container")] = *t.Container
	}
	if t.Script != nil {
		out[t.path.Child("script")] = t.Script.Container
	}
	if t.ContainerSet != nil {
		for n, c := range t.ContainerSet.Containers {
			out[t.path.Child("containerSet", "containers").Index(n)] = c.Container
		}
	}
	for n, c := range t.InitContainers {
		out[t.path.Child("initContainers").Index(n)] = c.Container
	}
	for n, c := range t.Sidecars {
		out[t.path.Child("sidecars").Index(n)] = c.Container
	}
	return out
}

func unknownHooks(i *inspection, f flow) {
	if f.spec.WorkflowTemplateRef != nil {
		return // the hook may name one of its templates
	}
	var known []string
	for _, t := range f.spec.Templates {
		known = append(known, t.Name)
	}
	check := func(at *field.Path, hooks wfv1.LifecycleHooks) {
		for name, hook := range hooks {
			of := hook.Template
			if of != "" && hook.TemplateRef == nil && !slices.Contains(known, of) && !strings.Contains(of, "{{") {
				i.reportHint(at.Child("hooks").Child(string(name), "template"), diag.DidYouMean(hook.Template, known, strings.ToLower),
					"there is no template %s", hook.Template)
			}
		}
	}
	check(f.path, f.spec.Hooks)
	for _, t := range f.templates() {
		eachCall(t, func(at *field.Path, c call) { check(at, c.hooks) })
	}
}

// endlessRecursion reports the last call of each cycle of calls without a condition.
func endlessRecursion(i *inspection, f flow) {
	type edge struct {
		to string
		at *field.Path
	}
	calls := map[string][]edge{}
	for _, t := range f.spec.Templates {
		for _, one := range f.templates() {
			if one.Name == t.Name {
				eachCall(one, func(at *field.Path, c call) {
					if c.when == "" && !c.repeated && c.ref == nil && c.inline == nil {
						calls[t.Name] = append(calls[t.Name], edge{c.template, at})
					}
				})
			}
		}
	}
	done := map[string]bool{}
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		if done[name] {
			return
		}
		done[name] = true
		for _, e := range calls[name] {
			if slices.Contains(append(above, name), e.to) {
				i.report(e.at, "template %s calls itself without an end", e.to)
			} else {
				visit(e.to, append(slices.Clip(above), name))
			}
		}
	}
	for _, t := range f.spec.Templates {
		visit(t.Name, nil)
	}
}

func mutexHeldTwice(i *inspection, f flow) {
	held := map[string]bool{}
	each := func(at *field.Path, s *wfv1.Synchronization, do func(at *field.Path, id string)) {
		if s == nil {
			return
		}
		at = at.Child("synchronization")
		if s.Mutex != nil {
			do(at.Child("mutex"), s.Mutex.Namespace+"/"+s.Mutex.Name)
		}
		for n, m := range s.Mutexes {
			if m != nil {
				do(at.Child("mutexes").Index(n), m.Namespace+"/"+m.Name)
			}
		}
	}
	each(f.path, f.spec.Synchronization, func(_ *field.Path, id string) { held[id] = true })
	for _, t := range f.templates() {
		each(t.path, t.Synchronization, func(at *field.Path, id string) {
			if held[id] && !strings.Contains(id, "{{") {
				i.report(at, "the Workflow holds the mutex %s until it ends", strings.TrimPrefix(id, "/"))
			}
		})
		own := map[string]bool{}
		each(t.path, t.Synchronization, func(_ *field.Path, id string) { own[id] = !held[id] && !strings.Contains(id, "{{") })
		if len(own) == 0 || t.Name == "" {
			continue
		}
		var inner []string
		eachCall(t, func(_ *field.Path, c call) {
			if c.ref == nil && c.inline == nil {
				inner = append(inner, c.template)
			}
		})
		alone := flow{spec: wfv1.WorkflowSpec{Templates: f.spec.Templates}, path: f.path}
		below := alone.reachable(inner...)
		for _, other := range f.templates() {
			each(other.path, other.Synchronization, func(at *field.Path, id string) {
				if own[id] && below[other.Name] && other.Name != "" {
					i.report(at, "template %s holds the mutex %s while it calls this one", t.Name, strings.TrimPrefix(id, "/"))
				}
			})
		}
	}
}

func unknownResourceFields(i *inspection, f flow) {
	for _, t := range f.templates() {
		if t.Resource == nil || t.Resource.Manifest == "" || t.Resource.Action == "patch" {
			continue
		}
		var object map[string]any
		if yaml.Unmarshal([]byte(placeholder().ReplaceAllString(t.Resource.Manifest, "tag0")), &object) != nil {
			continue
		}
		data, err := json.Marshal(object)
		if err != nil {
			continue
		}
		of, known := (objectOf{data}).typeOf()
		at := t.path.Child("resource", "manifest")
		if !known && object["metadata"] == nil {
			for key := range object {
				if diag.Nearest(key, []string{"metadata"}, strings.ToLower) != "" {
					i.reportHint(at, "did you mean metadata?", "the manifest has no metadata, but %s", key)
				}
			}
		}
		if known {
			for _, why := range unknownBelow(of, object, "") {
				i.reportHint(at, why.hint, "%s", why.message)
			}
		}
	}
}

type unknownBelowField struct{ message, hint string }

// unknownBelow returns the fields of a value that its type does not have.
func unknownBelow(of schema.Type, value any, at string) []unknownBelowField {
	var out []unknownBelowField
	switch value := value.(type) {
	case map[string]any:
		if of.Kind() != schema.Object {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			inner, ok := of.Field(key)
			path := strings.TrimPrefix(at+"."+key, ".")
			if !ok && !strings.Contains(key, "tag0") {
				out = append(out, unknownBelowField{
					fmt.Sprintf("the manifest has an unknown field %s", path), diag.DidYouMean(key, of.Fields(), strings.ToLower),
				})
				continue
			}
			out = append(out, unknownBelow(inner, value[key], path)...)
		}
	case []any:
		if of.Kind() != schema.Array {
			return nil
		}
		for n, inner := range value {
			out = append(out, unknownBelow(of.Item(), inner, fmt.Sprintf("%s[%d]", at, n))...)
		}
	}
	return out
}
