package admission

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"github.com/robfig/cron/v3"
)

// Argo's validator writes and reads each template as JSON several times for each call of it. Most Workflows have
// nothing that it could refuse, and one look at each template shows that. isPlain says so only of what the validator
// surely accepts: what is rare, such as expressions or references to other objects, it leaves to the validator.

// plain is a spec of which isPlain looks at the parts.
type plain struct {
	spec        *wfv1.WorkflowSpec
	labels      map[string]string
	annotations map[string]string
	template    bool // it is one of a WorkflowTemplate, whose arguments a Workflow may give
	templates   map[string]*wfv1.Template
}

// isPlain reports whether Argo's validator surely accepts an object.
func isPlain(object any, options validate.ValidateOpts) bool {
	switch o := object.(type) {
	case *wfv1.Workflow:
		p := plain{spec: &o.Spec, labels: o.Labels, annotations: o.Annotations}
		stored := o.Status.StoredWorkflowSpec != nil || len(o.Status.StoredTemplates) > 0
		return !options.WorkflowTemplateValidation && !options.IgnoreEntrypoint && !stored && len(o.Name) <= 63 && p.legal(options.Lint)
	case *wfv1.WorkflowTemplate:
		p := plain{spec: &o.Spec, labels: o.Labels, annotations: o.Annotations, template: true}
		return len(o.Name) <= 63 && p.legal(options.Lint || !options.Submit)
	case *wfv1.ClusterWorkflowTemplate:
		p := plain{spec: &o.Spec, labels: o.Labels, annotations: o.Annotations, template: true}
		return len(o.Name) <= 63 && p.legal(options.Lint || !options.Submit)
	case *wfv1.CronWorkflow:
		p := plain{spec: &o.Spec.WorkflowSpec}
		return len(o.Name) <= 52 && plainCron(&o.Spec) && p.legal(false)
	}
	return false
}

func plainCron(s *wfv1.CronWorkflowSpec) bool {
	schedules := s.Schedules
	if s.Schedule != "" {
		schedules = append(slices.Clip(schedules), s.Schedule)
	}
	for _, schedule := range schedules {
		if _, err := cron.ParseStandard(schedule); err != nil {
			return false
		}
	}
	_, err := time.LoadLocation(s.Timezone)
	policies := []wfv1.ConcurrencyPolicy{"", wfv1.AllowConcurrent, wfv1.ForbidConcurrent, wfv1.ReplaceConcurrent}
	return err == nil && (s.Schedule == "" || len(s.Schedules) == 0) && slices.Contains(policies, s.ConcurrencyPolicy) &&
		(s.StartingDeadlineSeconds == nil || *s.StartingDeadlineSeconds >= 0)
}

// legal looks at the whole spec. Arguments may lack a value if lacking is set.
func (p *plain) legal(lacking bool) bool {
	s := p.spec
	if s.WorkflowTemplateRef != nil || s.PodMetadata != nil || !plainHooks(s.Hooks) ||
		len(s.Arguments.Artifacts) > 0 || s.Entrypoint == "" && !p.template {
		return false
	}
	var names []string
	for _, a := range s.Arguments.Parameters {
		names = append(names, a.Name)
		if a.ValueFrom != nil || a.Enum != nil || a.Value == nil && !lacking || a.Value != nil && !isPlainValue(a.Value.String()) {
			return false
		}
	}
	if _, err := s.PodGC.GetLabelSelector(); err != nil || !s.PodGC.GetStrategy().IsValid() {
		return false
	}
	p.templates = make(map[string]*wfv1.Template, len(s.Templates))
	for n := range s.Templates {
		t := &s.Templates[n]
		if !isName(t.Name) || p.templates[t.Name] != nil {
			return false
		}
		p.templates[t.Name] = t
	}
	if !areInputNames(names) || !p.starts(s.Entrypoint, !p.template) || !p.starts(s.OnExit, true) {
		return false
	}
	return !slices.ContainsFunc(s.Templates, func(t wfv1.Template) bool { return !p.plainTemplate(&t) })
}

// isPlainValue reports whether an argument of a Workflow can stand in the JSON of each template.
func isPlainValue(text string) bool {
	return text != "" && !strings.Contains(text, "{{") && !strings.HasSuffix(text, "{") && !strings.Contains(text, "__argo") &&
		!strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) && r != '\n' && r != '\t' })
}

func plainHooks(hooks wfv1.LifecycleHooks) bool {
	for event, hook := range hooks {
		if event != wfv1.ExitLifecycleEvent && hook.Expression == "" {
			return false
		}
	}
	return true
}

// starts reports whether the Workflow can run a template; given means with its arguments.
func (p *plain) starts(name string, given bool) bool {
	t := p.templates[name]
	if name == "" || t == nil {
		return name == ""
	}
	for _, in := range t.Inputs.Parameters {
		value := in.Value
		if value == nil {
			value = in.Default
		}
		if arg := p.spec.Arguments.GetParameterByName(in.Name); arg != nil && given {
			value = arg.Value
		}
		if given && (value == nil || value.String() == "") {
			return false
		}
	}
	return !slices.ContainsFunc(t.Inputs.Artifacts, func(a wfv1.Artifact) bool {
		return given && !a.Optional && !a.HasLocationOrKey()
	})
}

// isName reports whether a template, a step or a task can have a name.
func isName(name string) bool {
	return name != "" && len(name) <= 128 && name[0] != '-' && !strings.Contains(name, "_") && isInputName(name)
}

// isInputName reports whether a parameter or an artifact can have a name.
func isInputName(name string) bool {
	for _, c := range []byte(name) {
		if !isAlphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return name != ""
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func areInputNames(names []string) bool {
	for n, name := range names {
		if !isInputName(name) || slices.Contains(names[:n], name) {
			return false
		}
	}
	return true
}

// plainTemplate looks at one template.
func (p *plain) plainTemplate(t *wfv1.Template) bool {
	types := 0
	for _, has := range []bool{t.Container != nil, len(t.Steps) > 0, t.Script != nil, t.DAG != nil, t.Suspend != nil, t.HTTP != nil} {
		if has {
			types++
		}
	}
	rare := t.ContainerSet != nil || t.Resource != nil || t.Data != nil || t.Plugin != nil || t.Steps != nil && len(t.Steps) == 0 ||
		t.Timeout != "" || t.Metrics != nil || t.ArchiveLocation != nil || t.ActiveDeadlineSeconds != nil
	if types != 1 || rare || !plainInputs(t) || !plainOutputs(t) || !plainRetries(t.RetryStrategy) ||
		slices.ContainsFunc(t.InitContainers, func(c wfv1.UserContainer) bool { return c.Name == "" }) {
		return false
	}
	s := scope{plain: p, of: t, calls: map[string]called{}}
	rest := *t
	switch {
	case t.DAG != nil:
		rest.DAG, rest.Outputs = nil, wfv1.Outputs{}
		return s.knows(rest) && s.plainTasks(t.DAG) && s.knows(t.Outputs)
	case len(t.Steps) > 0:
		rest.Steps, rest.Outputs = nil, wfv1.Outputs{}
		return s.knows(rest) && s.plainSteps(t.Steps) && s.knows(t.Outputs)
	case t.Container != nil && (t.Container.Image == "" || !distinctPaths(t)), t.Script != nil && t.Script.Image == "":
		return false
	}
	return t.Parallelism == nil && s.knows(rest)
}

func plainRetries(r *wfv1.RetryStrategy) bool {
	policies := []wfv1.RetryPolicy{
		"", wfv1.RetryPolicyAlways, wfv1.RetryPolicyOnError, wfv1.RetryPolicyOnFailure, wfv1.RetryPolicyOnTransientError,
	}
	return r == nil || slices.Contains(policies, r.RetryPolicy)
}

func plainInputs(t *wfv1.Template) bool {
	var parameters, artifacts []string
	for _, in := range t.Inputs.Parameters {
		parameters = append(parameters, in.Name)
		for _, value := range []*wfv1.AnyString{in.Value, in.Default} {
			if in.ValueFrom != nil || value != nil && strings.HasSuffix(value.String(), "{") {
				return false
			}
		}
	}
	for _, a := range t.Inputs.Artifacts {
		artifacts = append(artifacts, a.Name)
		if a.From != "" || a.HDFS != nil || a.Git != nil && a.Git.Repo == "" || !plainPath(t, a.Path) {
			return false
		}
	}
	return areInputNames(parameters) && areInputNames(artifacts)
}

// plainPath reports whether a template can have a path for an artifact: only a pod has one.
func plainPath(t *wfv1.Template, path string) bool {
	if !t.IsLeaf() {
		return path == ""
	}
	return path != "" && !strings.Contains(path, "..") && !strings.Contains(path, "{{")
}

// distinctPaths reports whether no path of a container has two contents.
func distinctPaths(t *wfv1.Template) bool {
	var paths []string
	for _, m := range t.Container.VolumeMounts {
		paths = append(paths, m.MountPath)
	}
	for _, a := range t.Inputs.Artifacts {
		paths = append(paths, a.Path)
	}
	for n, path := range paths {
		if strings.Contains(path, "{{") || slices.Contains(paths[:n], path) {
			return false
		}
	}
	return true
}

func plainOutputs(t *wfv1.Template) bool {
	var parameters, artifacts []string
	for _, out := range t.Outputs.Parameters {
		parameters = append(parameters, out.Name)
		if out.GlobalName != "" || (out.Value == nil) == (out.ValueFrom == nil) ||
			out.ValueFrom != nil && !plainSource(t, out.ValueFrom) {
			return false
		}
	}
	for _, a := range t.Outputs.Artifacts {
		artifacts = append(artifacts, a.Name)
		if a.GlobalName != "" || !plainPath(t, a.Path) {
			return false
		}
	}
	return areInputNames(parameters) && areInputNames(artifacts)
}

func plainSource(t *wfv1.Template, from *wfv1.ValueFrom) bool {
	kinds := 0
	for _, text := range []string{from.Path, from.JQFilter, from.JSONPath, from.Parameter, from.Expression} {
		if text != "" {
			kinds++
		}
	}
	if from.Supplied != nil {
		kinds++
	}
	switch {
	case kinds != 1:
		return false
	case t.Container != nil, t.Script != nil:
		return from.Path != ""
	case t.DAG != nil, t.Steps != nil:
		return from.Parameter != "" || from.Expression != ""
	}
	return true
}

// called is a step or a task that has an output, and its template.
type called struct {
	template *wfv1.Template
	repeated bool
	status   bool // its status is known
}

// scope is what tags in a template can name.
type scope struct {
	*plain
	of    *wfv1.Template
	calls map[string]called // by name
	items func(key string) bool
}

// step is what steps and tasks have in common.
type step struct {
	name, template string
	arguments      *wfv1.Arguments
	items          []wfv1.Item
	param          string
	sequence       *wfv1.Sequence
	hooks          wfv1.LifecycleHooks
	text           any
}

func (s *scope) plainSteps(groups []wfv1.ParallelSteps) bool {
	for _, group := range groups {
		if len(group.Steps) == 0 {
			return false
		}
		for n := range group.Steps {
			one := &group.Steps[n]
			_, twice := s.calls[one.Name]
			if twice || one.TemplateRef != nil || one.Inline != nil || one.OnExit != "" {
				return false
			}
			c := step{one.Name, one.Template, &one.Arguments, one.WithItems, one.WithParam, one.WithSequence, one.Hooks, one}
			s.calls[c.name] = called{&wfv1.Template{}, false, true} // its own status
			if !s.plainCall(c) {
				return false
			}
			s.calls[c.name] = called{s.templates[c.template], len(c.items) > 0 || c.param != "", true}
		}
	}
	return true
}

func (s *scope) plainTasks(dag *wfv1.DAGTemplate) bool {
	tasks := dagOf{}
	depends := false
	for n := range dag.Tasks {
		one := &dag.Tasks[n]
		if tasks[one.Name] != nil || one.TemplateRef != nil || one.Inline != nil || one.OnExit != "" || s.templates[one.Template] == nil {
			return false
		}
		tasks[one.Name] = one
		depends = depends || one.Depends != ""
		s.calls[one.Name] = called{s.templates[one.Template], len(one.WithItems) > 0 || one.WithParam != "", false}
	}
	if len(tasks) == 0 || dag.Target != "" {
		return false
	}
	needs := map[string][]string{}
	for _, one := range tasks {
		of, plain := tasks.needsOf(one)
		if !plain || depends && (len(one.Dependencies) > 0 || one.ContinueOn != nil) {
			return false
		}
		needs[one.Name] = of
	}
	for _, one := range tasks {
		ancestors := map[string]bool{}
		if reach(needs, one.Name, ancestors); ancestors[one.Name] {
			return false // a cycle
		}
		for name := range s.calls {
			of := s.calls[name]
			of.status = ancestors[name]
			s.calls[name] = of
		}
		c := step{one.Name, one.Template, &one.Arguments, one.WithItems, one.WithParam, one.WithSequence, one.Hooks, one}
		if !afterTasks(one, ancestors) || !s.plainCall(c) {
			return false
		}
	}
	s.items = nil // outputs can name no item, and the status of no task
	for name, of := range s.calls {
		of.status = false
		s.calls[name] = of
	}
	return true
}

// dagOf are the tasks of a DAG. It implements common.DagContext.
type dagOf map[string]*wfv1.DAGTask

func (d dagOf) GetTask(name string) *wfv1.DAGTask {
	if t := d[name]; t != nil {
		return t
	}
	return &wfv1.DAGTask{}
}

// needsOf returns the tasks that a task waits for; false if one does not exist, or cannot have the result.
func (d dagOf) needsOf(task *wfv1.DAGTask) (names []string, plain bool) {
	if common.ValidateTaskResults(task) != nil || strings.Contains(task.Depends, "{{") ||
		task.Name != "" && task.Name[0] >= '0' && task.Name[0] <= '9' {
		return nil, false
	}
	of := map[string]common.DependencyType{}
	for _, name := range task.Dependencies {
		of[name] = common.DependencyTypeTask
	}
	if task.Depends != "" {
		of, _ = common.GetTaskDependencies(task, d)
	}
	for name, kind := range of {
		other := d[name]
		if other == nil {
			return nil, false
		}
		one := len(other.WithItems) == 0 && other.WithParam == "" && other.WithSequence == nil
		if kind == common.DependencyTypeItems && one {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

func (d dagOf) GetTaskDependencies(string) []string { return nil }

func (d dagOf) GetTaskFinishedAtTime(string) time.Time { return time.Time{} }

// reach adds the tasks that a task needs, directly or not.
func reach(needs map[string][]string, name string, out map[string]bool) {
	for _, other := range needs[name] {
		if !out[other] {
			out[other] = true
			reach(needs, other, out)
		}
	}
}

// afterTasks reports whether a task needs those whose outputs its arguments are.
func afterTasks(task *wfv1.DAGTask, ancestors map[string]bool) bool {
	of := func(text string) bool {
		rest, is := strings.CutPrefix(text, "{{tasks.")
		name, _, _ := strings.Cut(rest, ".")
		return !is || ancestors[name]
	}
	for _, a := range task.Arguments.Parameters {
		if a.Value != nil && !of(a.Value.String()) {
			return false
		}
	}
	return !slices.ContainsFunc(task.Arguments.Artifacts, func(a wfv1.Artifact) bool { return !of(a.From) })
}

// plainCall looks at a step or a task.
func (s *scope) plainCall(c step) bool {
	to := s.templates[c.template]
	kinds := 0
	for _, has := range []bool{len(c.items) > 0, c.param != "", c.sequence != nil} {
		if has {
			kinds++
		}
	}
	if to == nil || kinds > 1 || !isName(c.name) || !plainHooks(c.hooks) || !s.setItems(c) || !plainArguments(c.arguments) {
		return false
	}
	for _, in := range to.Inputs.Parameters {
		if in.Value == nil && in.Default == nil && c.arguments.GetParameterByName(in.Name) == nil {
			return false
		}
	}
	for _, in := range to.Inputs.Artifacts {
		if !in.Optional && !in.HasLocationOrKey() && c.arguments.GetArtifactByName(in.Name) == nil {
			return false
		}
	}
	return s.knows(c.text)
}

func plainArguments(of *wfv1.Arguments) bool {
	var parameters, artifacts []string
	for _, a := range of.Parameters {
		parameters = append(parameters, a.Name)
		if a.ValueFrom != nil || a.Enum != nil || a.Value == nil || strings.HasSuffix(a.Value.String(), "{") {
			return false
		}
	}
	for _, a := range of.Artifacts {
		artifacts = append(artifacts, a.Name)
		if a.FromExpression != "" || a.From == "" && !a.HasLocationOrKey() {
			return false
		}
	}
	return areInputNames(parameters) && areInputNames(artifacts)
}

// setItems makes the items of a step known to its tags.
func (s *scope) setItems(c step) bool {
	s.items = func(string) bool { return c.param != "" }
	if c.sequence != nil && c.sequence.Count != nil && c.sequence.End != nil {
		return false
	}
	keys := map[string]bool{}
	for _, item := range c.items {
		if strings.Contains(string(item.Value), "{{") {
			return false
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(item.Value, &object) == nil {
			for key := range object {
				keys[key] = true
			}
		}
	}
	if len(c.items) > 0 {
		s.items = func(key string) bool { return keys[key] }
	}
	return true
}

// knows reports whether a part of a template has plain text, and tags for known values.
func (s *scope) knows(part any) bool {
	data, err := json.Marshal(part)
	if err != nil {
		return false
	}
	text := string(data)
	if strings.Contains(text, "__argo") || !isPlainText(text) {
		return false
	}
	for {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return true
		}
		tag, after, closed := strings.Cut(rest, "}}")
		tag = strings.TrimSpace(tag)
		if !closed || tag == "" || !isTag(tag) || !s.has(tag) {
			return false
		}
		text = after
	}
}

// isPlainText reports whether JSON has no character that Go quotes in another way.
func isPlainText(text string) bool {
	for n := 0; n < len(text); n++ {
		switch c := text[n]; {
		case c == '\\' && strings.HasPrefix(text[n:], `\u00`):
			code := text[n+4 : min(n+6, len(text))]
			if code != "3c" && code != "3e" && code != "26" {
				return false
			}
		case c == '\\':
			n++
		case c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[n:])
			if !strconv.IsPrint(r) {
				return false
			}
			n += size - 1
		}
	}
	return true
}

func isTag(tag string) bool {
	return !strings.ContainsFunc(tag, func(r rune) bool {
		return r >= utf8.RuneSelf || !isAlphanumeric(byte(r)) && r != '-' && r != '_' && r != '.'
	})
}

// has reports whether the validator knows what a tag names.
func (s *scope) has(tag string) bool {
	root, rest, dotted := strings.Cut(tag, ".")
	if !dotted {
		return true // the validator does not look at it
	}
	switch root {
	case "outputs":
		return true
	case "item":
		return s.items != nil && s.items(rest)
	case "pod":
		return rest == "name" && s.of.IsPodType()
	case "inputs":
		return s.hasInput(rest)
	case "workflow":
		return s.hasGlobal(tag)
	case "steps", "tasks":
		name, output, _ := strings.Cut(rest, ".")
		c, known := s.calls[name]
		return known && (root == "tasks") == (s.of.DAG != nil) && c.has(output)
	}
	return true
}

func (s *scope) hasInput(rest string) bool {
	kind, name, _ := strings.Cut(rest, ".")
	switch kind {
	case "parameters":
		return name == "" && len(s.of.Inputs.Parameters) > 0 ||
			slices.ContainsFunc(s.of.Inputs.Parameters, func(p wfv1.Parameter) bool { return p.Name == name })
	case "artifacts":
		if s.of.IsLeaf() {
			name = strings.TrimSuffix(name, ".path")
		}
		return slices.ContainsFunc(s.of.Inputs.Artifacts, func(a wfv1.Artifact) bool { return a.Name == name })
	}
	return false
}

func (s *scope) hasGlobal(tag string) bool {
	spec := s.spec
	switch tag {
	case common.GlobalVarWorkflowName, common.GlobalVarWorkflowNamespace, common.GlobalVarWorkflowMainEntrypoint,
		common.GlobalVarWorkflowServiceAccountName, common.GlobalVarWorkflowUID, common.GlobalVarWorkflowStatus,
		common.GlobalVarWorkflowCreationTimestamp, common.GlobalVarWorkflowDuration, common.GlobalVarWorkflowCronScheduleTime:
		return true
	case common.GlobalVarWorkflowParameters, common.GlobalVarWorkflowParametersJSON:
		return len(spec.Arguments.Parameters) > 0
	case common.GlobalVarWorkflowPriority:
		return spec.Priority != nil
	}
	if name, is := strings.CutPrefix(tag, "workflow.parameters."); is {
		return s.template || spec.Arguments.GetParameterByName(name) != nil
	}
	if key, is := strings.CutPrefix(tag, "workflow.labels."); is {
		_, has := s.labels[key]
		return has
	}
	key, is := strings.CutPrefix(tag, "workflow.annotations.")
	_, has := s.annotations[key]
	return is && has
}

// has reports whether a step or a task has an output.
func (c called) has(output string) bool {
	t := c.template
	switch output {
	case "id", "startedAt", "finishedAt", "hostNodeName":
		return t.GetType() != wfv1.TemplateTypeUnknown
	case "status":
		return c.status
	case "ip":
		return t.IsDaemon()
	case "outputs.result", "exitCode":
		return t.HasOutput()
	case "outputs.parameters":
		return c.repeated
	}
	if name, is := strings.CutPrefix(output, "outputs.parameters."); is {
		return slices.ContainsFunc(t.Outputs.Parameters, func(p wfv1.Parameter) bool { return p.Name == name })
	}
	name, is := strings.CutPrefix(output, "outputs.artifacts.")
	return is && slices.ContainsFunc(t.Outputs.Artifacts, func(a wfv1.Artifact) bool { return a.Name == name })
}
