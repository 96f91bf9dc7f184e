package lint

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// hostOnly is the form of a field with a host and perhaps a port.
func hostOnly(of string) form {
	host := func(text string) string {
		_, after, has := strings.Cut(text, "://")
		if !has {
			after = text
		}
		name, _, _ := strings.Cut(after, "/")
		return name
	}
	right := func(text string) bool {
		return !strings.Contains(text, "://") && host(text) == strings.TrimSuffix(text, "/")
	}
	return form{of, right, "an endpoint is a host and a port, without a scheme and a path", func(text string) string {
		if strings.HasPrefix(text, "http://") {
			return "write " + host(text) + ", and insecure: true"
		}
		return "write " + host(text)
	}}
}

// bucket is the form of a field with the name of a bucket.
func bucket(of string) form {
	right := func(text string) bool { return !strings.Contains(text, "/") }
	return form{of, right, "a bucket has a name, and the path in it is the key", func(text string) string {
		name, key, _ := strings.Cut(schemes().ReplaceAllString(text, ""), "/")
		if key == "" {
			return "write " + name
		}
		return "write " + name + ", and the rest in key"
	}}
}

// withHost is the form of a field with a URL that Go can request.
func withHost(of string) form {
	out := withScheme(of, "https", "http")
	known := out.right
	out.right = func(text string) bool {
		u, err := url.Parse(text)
		return known(text) && (err != nil || u.Host != "")
	}
	return out
}

// locationForms are the forms of texts without which an artifact cannot be read or written.
var locationForms = []form{
	hostOnly("s3.endpoint"), bucket("s3.bucket"), bucket("gcs.bucket"), bucket("oss.bucket"),
	withHost("http.url"), withHost("artifactory.url"), withHost("azure.endpoint"),
}

// failingTemplates reports settings that Argo accepts, and with which a Workflow or a template always fails.
func failingTemplates(i *inspection, f flow) {
	if d := f.spec.ActiveDeadlineSeconds; d != nil && *d <= 0 && f.whole {
		i.reportHint(f.path.Child("activeDeadlineSeconds"), "write the seconds that the Workflow may take, or remove it",
			"a deadline of %d seconds ends the Workflow when it starts", *d)
	}
	i.locations(f.path.Child("arguments", "artifacts"), f.spec.Arguments.Artifacts)
	for _, t := range f.templates() {
		if d := t.ActiveDeadlineSeconds; d != nil && t.IsPodType() && d.StrVal == "" && d.IntValue() <= 0 {
			i.reportHint(t.path.Child("activeDeadlineSeconds"), "write the seconds that the pod may take, or remove it",
				"the API server rejects a pod with a deadline of %d seconds", d.IntValue())
		}
		if t.Resource != nil {
			i.resourceOutputs(t)
		}
		if t.HTTP != nil {
			if t.HTTP.URL == "" {
				i.reportHint(t.path.Child("http"), "add url", "an http template needs a url")
			}
			withHost("url").check(i, t.path.Child("http", "url"), t.HTTP.URL)
		}
		i.locations(t.path.Child("inputs", "artifacts"), t.Inputs.Artifacts)
		i.locations(t.path.Child("outputs", "artifacts"), t.Outputs.Artifacts)
		if t.ArchiveLocation != nil {
			i.location(t.path.Child("archiveLocation"), *t.ArchiveLocation)
		}
		eachCall(t, func(at *field.Path, c call) { i.locations(at.Child("arguments", "artifacts"), c.arguments.Artifacts) })
	}
}

// resourceOutputs checks what a resource template hands to kubectl, and the programs that read its output.
func (i *inspection) resourceOutputs(t template) {
	strategy, known := t.Resource.MergeStrategy, []string{"json", "merge", "strategic"}
	if strategy != "" && !fromTemplate(strategy) && !slices.Contains(known, strategy) {
		i.reportHint(t.path.Child("resource", "mergeStrategy"), oneOf(strategy, known), "kubectl has no patch of type %s", strategy)
	}
	for n, p := range t.Outputs.Parameters {
		if p.ValueFrom == nil {
			continue
		}
		at := t.path.Child("outputs", "parameters").Index(n).Child("valueFrom")
		path := p.ValueFrom.JSONPath
		if rest := closedBraces().ReplaceAllString(path, ""); strings.ContainsAny(rest, "{}") && !fromTemplate(path) {
			i.reportHint(at.Child("jsonPath"), "write a path in braces, such as {.status.phase}", "a brace of the path has no other one")
		}
		if text := tag().ReplaceAllString(p.ValueFrom.JQFilter, "0"); text != "" && !fromTemplate(text) {
			if _, err := gojq.Parse(text); err != nil {
				i.reportHint(at.Child("jqFilter"), "correct the program of jq", "%v", err)
			}
		}
	}
}

// closedBraces matches an expression of JSONPath in braces.
var closedBraces = lazily(`\{[^{}]*\}`)

func (i *inspection) locations(at *field.Path, list wfv1.Artifacts) {
	for n, a := range list {
		i.location(at.Index(n), a.ArtifactLocation)
	}
}

// location checks the texts of one location.
func (i *inspection) location(at *field.Path, location wfv1.ArtifactLocation) {
	fields := fieldsOf(location)
	for _, f := range locationForms {
		steps := strings.Split(f.field, ".")
		of, _ := fields.(map[string]any)
		for _, step := range steps[:len(steps)-1] {
			of, _ = of[step].(map[string]any)
		}
		f.check(i, at.Child(steps[0], steps[1:]...), stringOf(of, steps[len(steps)-1]))
	}
}

var (
	// shellPath matches a path with a part that only a shell replaces.
	shellPath = lazily(`^~(/|$)|\$(HOME|PWD|USER|TMPDIR)\b|\*`)
	// variable matches an argument that is one variable of a shell.
	variable = lazily(`^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$`)
)

// fragileTemplates reports what works only with some images, values or programs.
func fragileTemplates(i *inspection, f flow) {
	if p := f.spec.Parallelism; p != nil && *p <= 0 {
		i.reportHint(f.path.Child("parallelism"), "write a larger number, or suspend: true", "with a parallelism of %d, no pod starts", *p)
	}
	for _, t := range f.templates() {
		for at, path := range pathsIn(t) {
			if part := shellPath().FindString(path); part != "" {
				i.reportHint(at, "write the whole path", "no shell replaces %s in a path", strings.TrimSuffix(part, "/"))
			}
		}
		i.literalVariables(t)
		i.cacheKey(f, t)
		i.withoutCommand(f, t)
	}
	i.conditions(f)
	i.itemsOfArguments(f)
}

// cacheKey reports the key of a cache with a value in the manifest that has other characters than a key can have.
func (i *inspection) cacheKey(f flow, t template) {
	if t.Memoize == nil {
		return
	}
	for _, one := range f.givenIn(t, t.Memoize.Key) {
		if bad := noKeyText().FindString(one.value); bad != "" {
			i.reportHint(t.path.Child("memoize", "key"), "write {{=sprig.sha256sum("+inExpressions(one.tag)+")}} in place of the tag",
				"with %q for %s, the key has %q, which is no part of a key", one.value, one.tag, bad)
		}
	}
}

// inExpressions returns the parameter of a tag as an expression names it.
func inExpressions(tag string) string {
	name := strings.Trim(tag, "{}= ")
	root, last, _ := strings.Cut(name, ".parameters.")
	if strings.Contains(last, "-") {
		return root + ".parameters['" + last + "']"
	}
	return name
}

// pathsIn returns the paths of files that a template names.
func pathsIn(t template) map[*field.Path]string {
	out := map[*field.Path]string{}
	for where, list := range map[string]wfv1.Artifacts{"inputs": t.Inputs.Artifacts, "outputs": t.Outputs.Artifacts} {
		for n, a := range list {
			out[t.path.Child(where, "artifacts").Index(n).Child("path")] = a.Path
		}
	}
	for n, p := range t.Outputs.Parameters {
		if p.ValueFrom != nil {
			out[t.path.Child("outputs", "parameters").Index(n).Child("valueFrom", "path")] = p.ValueFrom.Path
		}
	}
	for at, c := range containersOf(t) {
		out[at.Child("workingDir")] = c.WorkingDir
		for n, m := range c.VolumeMounts {
			out[at.Child("volumeMounts").Index(n).Child("mountPath")] = m.MountPath
		}
	}
	return out
}

// literalVariables reports arguments that are a variable of the container, in the form of a shell, if no shell reads them.
func (i *inspection) literalVariables(t template) {
	for at, c := range containersOf(t) {
		words := slices.Concat(c.Command, c.Args)
		if len(c.Command) == 0 || slices.ContainsFunc(words, shell().MatchString) {
			continue
		}
		for n, word := range words {
			m := variable().FindStringSubmatch(word)
			if m == nil {
				continue
			}
			name, place := m[1]+m[2], at.Child("command").Index(n)
			if n >= len(c.Command) {
				place = at.Child("args").Index(n - len(c.Command))
			}
			for _, e := range c.Env {
				if e.Name == name {
					i.reportHint(place, "write $("+name+")", "no shell replaces %s", word)
				}
			}
		}
	}
}

// withoutCommand reports a script that only an entrypoint of its image can run: if there is none, Argo starts the file
// itself, which has no interpreter.
func (i *inspection) withoutCommand(f flow, t template) {
	s := t.Script
	if s == nil || len(s.Command)+len(s.Args) > 0 || s.Source == "" || strings.HasPrefix(s.Source, "#!") ||
		strings.HasPrefix(s.Source, "{{") {
		return
	}
	for _, d := range []*wfv1.Template{f.spec.TemplateDefaults, i.set.defaults.TemplateDefaults} {
		if d != nil && d.Script != nil && len(d.Script.Command)+len(d.Script.Args) > 0 {
			return
		}
	}
	i.reportHint(t.path.Child("script"), "add command, such as [sh] or [python], or begin the source with #!",
		"without a command, only an entrypoint of the image %s can run the script", s.Image)
}

// never matches what no number has: Argo reads the value of a metric with strconv.ParseFloat.
var never = lazily(`[^-+.0-9_a-fA-FxXpPiInNtTyY]`)

// noNumber reports whether the value of a metric is no number, whatever its tags stand for.
func noNumber(value string) bool {
	if expressionTag().MatchString(value) {
		return false
	}
	_, err := strconv.ParseFloat(value, 64)
	rest := tag().ReplaceAllString(value, "")
	return err != nil && (rest == value || never().MatchString(rest))
}

// ignoredParameters reports fields of inputs and outputs that Argo reads only elsewhere.
func (i *inspection) ignoredParameters(f flow) {
	for _, t := range f.templates() {
		at := t.path.Child("outputs", "parameters")
		for n, p := range t.Outputs.Parameters {
			if p.Default != nil {
				i.reportHint(at.Index(n).Child("default"), "move it into valueFrom: valueFrom.default",
					"an output has no default beside valueFrom")
			}
		}
		at = t.path.Child("inputs")
		for n, p := range t.Inputs.Parameters {
			if p.GlobalName != "" {
				i.reportHint(at.Child("parameters").Index(n).Child("globalName"), "move it to an output", "an input has no global name")
			}
		}
		for n, a := range t.Inputs.Artifacts {
			if a.GlobalName != "" {
				i.reportHint(at.Child("artifacts").Index(n).Child("globalName"), "move it to an output", "an input has no global name")
			}
		}
	}
}
