package lint

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Argo's validators name a place as templates.main.steps[0].a, or only quote the value that is
// wrong. The functions here find it in the object.

var (
	// dotted matches a path in a message.
	dotted = lazily(`[A-Za-z][-\w]*(?:\[\d+\])?(?:\.[-\w]+(?:\[\d+\])?)+`)
	// quotedIn matches what a message quotes.
	quotedIn = lazily(`'([^']+)'|"([^"]+)"|(\{\{[^}]+\}\})`)
	indexed  = lazily(`^([-\w]+)\[(\d+)\]$`)
)

// templateIn matches the name of the template that a message is about.
var templateIn = lazily(`templates\.([-\w]+)`)

// templatesOf returns the names of the templates that a message is about, the one to blame first: a tag that
// cannot be resolved is in the last of them, and what a call lacks is missing in the first.
func templatesOf(message string) []string {
	var out []string
	for _, m := range templateIn().FindAllStringSubmatch(message, -1) {
		out = append(out, m[1])
	}
	if unresolved(message) {
		slices.Reverse(out)
	}
	return out
}

func unresolved(message string) bool { return strings.Contains(message, "failed to resolve") }

// metadataTag matches a label or an annotation of a Workflow.
var metadataTag = lazily(`\{\{workflow\.(labels|annotations)\.`)

// aboutMetadata reports whether a message misses a label or an annotation, which a Workflow may have
// from the controller's configuration, or from who submits it.
func aboutMetadata(message string) bool { return metadataTag().MatchString(message) }

// place is a place in an object.
type place struct {
	at    *field.Path
	value any
}

// placeIn returns the place in the spec of an object that a message is about: the nearest that is found.
func placeIn(spec any, at *field.Path, message string) *field.Path {
	found := place{at, spec}
	used := []string{}
	paths := dotted().FindAllString(message, -1)
	if unresolved(message) {
		slices.Reverse(paths)
	}
	if first, _, _ := strings.Cut(message, " "); !strings.Contains(first, ".") {
		paths = append(paths, "templates."+first)
	}
	for _, path := range paths {
		next, steps := walked(place{at, spec}, path)
		if steps > 1 || steps > 0 && !strings.HasPrefix(path, "templates.") {
			found, used = next, strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
			break
		}
	}
	if best := mentioned(found, message, used); best != nil {
		return best
	}
	return found.at
}

// walked follows a path as far as the object has it. An element of a list has its name as a step.
func walked(from place, path string) (to place, steps int) {
	to = from
	for _, step := range strings.Split(strings.TrimPrefix(path, "spec."), ".") {
		index := ""
		if m := indexed().FindStringSubmatch(step); m != nil {
			step, index = m[1], m[2]
		}
		next, ok := to.child(step)
		if !ok && steps > 0 {
			return to, steps
		}
		if !ok {
			return from, 0
		}
		if to, steps = next, steps+1; index != "" {
			if next, ok := to.child(index); ok {
				to = next
			}
		}
	}
	return to, steps
}

func (p place) child(step string) (place, bool) {
	switch v := p.value.(type) {
	case map[string]any:
		if inner, ok := v[step]; ok {
			return place{p.at.Child(step), inner}, true
		}
		if dag, ok := v["dag"].(map[string]any); ok && step == "tasks" { // messages leave it out
			if inner, ok := dag[step]; ok {
				return place{p.at.Child("dag", step), inner}, true
			}
		}
	case []any:
		if n, err := strconv.Atoi(step); err == nil && n < len(v) {
			return place{p.at.Index(n), v[n]}, true
		}
		for n, inner := range v {
			switch inner := inner.(type) {
			case map[string]any:
				if inner["name"] == step {
					return place{p.at.Index(n), inner}, true
				}
			case []any: // parallel steps
				if found, ok := (place{p.at.Index(n), inner}).child(step); ok {
					return found, true
				}
			}
		}
	}
	return place{}, false
}

// mentioned returns the place below another one of a text that a message quotes or contains; nil if
// there is none. used are texts of the message that named the other place.
func mentioned(in place, message string, used []string) *field.Path {
	texts := map[*field.Path]string{}
	textsBelow(in.at, in.value, texts)
	order := slices.SortedFunc(maps.Keys(texts), func(a, b *field.Path) int { return strings.Compare(a.String(), b.String()) })
	for _, m := range quotedIn().FindAllStringSubmatch(message, -1) {
		word := m[1] + m[2] + m[3]
		if slices.Contains(used, word) {
			continue
		}
		for _, same := range []bool{true, false} {
			for _, at := range slices.Backward(order) {
				if texts[at] == word || !same && strings.Contains(texts[at], word) {
					return at
				}
			}
		}
	}
	var best *field.Path
	for _, at := range order {
		text := texts[at]
		if slices.Contains(used, text) || len(text) < 1 || best != nil && len(texts[best]) >= len(text) {
			continue
		}
		word, err := regexp.Compile(`(^|[\s:'"(.])` + regexp.QuoteMeta(text) + `($|[\s:'"),.])`)
		if err == nil && word.MatchString(message) {
			best = at
		}
	}
	for _, at := range order {
		last := message[strings.LastIndex(message, " ")+1:]
		if best == nil && strings.HasSuffix(at.String(), ".depends") && slices.Contains(words().FindAllString(texts[at], -1), last) {
			return at
		}
	}
	if fields, ok := in.value.(map[string]any); best == nil && ok {
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if slices.Contains(words().FindAllString(message, -1), key) {
				return in.at.Child(key)
			}
		}
	}
	return best
}

// garbled matches a message about a tag that is not closed: the tag that Argo reads ends with the next one.
var garbled = lazily(`failed to resolve \{\{[^{}]*["}\\]|Cannot find end tag|unmarshall JSON expression`)

// garbledTag returns the first tag of an object without one of its braces, and its place, if a message is about it.
func garbledTag(spec any, at *field.Path, message string) (place *field.Path, tag string) {
	if !garbled().MatchString(message) {
		return nil, ""
	}
	texts := map[*field.Path]string{}
	textsBelow(at, spec, texts)
	for _, at := range slices.SortedFunc(maps.Keys(texts), func(a, b *field.Path) int { return strings.Compare(a.String(), b.String()) }) {
		if tag := lacksBrace(texts[at]); tag != "" {
			return at, tag
		}
	}
	return nil, ""
}

// words matches the words of a message.
var words = lazily(`[A-Za-z]+`)

// taskResults are what depends can ask of a task.
var taskResults = []string{
	string(common.TaskResultSucceeded), string(common.TaskResultFailed), string(common.TaskResultErrored), string(common.TaskResultSkipped),
	string(common.TaskResultOmitted), string(common.TaskResultDaemoned), string(common.TaskResultAnySucceeded),
	string(common.TaskResultAllFailed),
}

// hintFor suggests another name for one that a message says is unknown.
func hintFor(spec any, message string) string {
	if _, task, is := strings.Cut(message, "invalid dependency "); is {
		if operator := map[string]string{"and": "&&", "or": "||", "not": "!"}[strings.ToLower(task)]; operator != "" {
			return "write " + operator
		}
		return diag.DidYouMean(task, taskResults, strings.ToLower)
	}
	if strings.HasSuffix(message, "was not supplied") {
		return "pass it in arguments, or give the input a value"
	}
	m := quotedIn().FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	of := templatesOf(message)
	names := func(path ...string) []string {
		var out []string
		var collect func(value any, path []string)
		collect = func(value any, path []string) {
			switch v := value.(type) {
			case map[string]any:
				if len(path) == 0 {
					if name, ok := v["name"].(string); ok {
						out = append(out, name)
					}
				} else {
					collect(v[path[0]], path[1:])
				}
			case []any:
				for _, inner := range v {
					template, _ := inner.(map[string]any)
					if len(path) == 0 || path[0] != "inputs" || len(of) == 0 || template["name"] == of[0] {
						collect(inner, path)
					}
				}
			}
		}
		collect(spec, path)
		return out
	}
	word := m[1] + m[2]
	if tag := strings.Trim(m[3], "{} "); tag != "" {
		parts := strings.Split(tag, ".")
		last, prefix := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], ".")
		var known []string
		switch prefix {
		case "inputs.parameters":
			known = names("templates", "inputs", "parameters")
		case "inputs.artifacts":
			known = names("templates", "inputs", "artifacts")
		case "workflow.parameters":
			known = names("arguments", "parameters")
		default:
			known = append(names("templates", "outputs", "parameters"), names("templates", "outputs", "artifacts")...)
		}
		return diag.DidYouMean(last, known, strings.ToLower)
	}
	if strings.Contains(message, "template name") {
		return diag.DidYouMean(word, names("templates"), strings.ToLower)
	}
	return ""
}

// calledOnly turns the errors of a WorkflowTemplate into warnings of another rule if they are not those of the
// templates that run: the controller does not validate it when it is stored.
func (i *inspection) calledOnly(r *problem.Report) {
	if templateSpec(i.Object) == nil || len(r.Problems) == 0 || i.set.launches[i.Object] {
		return
	}
	object := i.Object.DeepCopyObject().(manifest.Object)
	spec := templateSpec(object)
	f := i.set.flows[i.Object][0]
	f.spec = *spec // a copy: legalWorkflow replaces templates, and other rules read them
	f.spec.Entrypoint, f.spec.OnExit, f.spec.Hooks = "", "", nil
	if called := i.set.called[i.Object]; len(called) > 0 {
		used := f.reachable(called...)
		f.spec.Templates = slices.DeleteFunc(slices.Clone(spec.Templates), func(t wfv1.Template) bool { return !used[t.Name] })
	}
	*spec = f.spec
	broken := problem.About(object)
	i.legalWorkflow(broken, field.NewPath("spec"), object)
	for n, p := range r.Problems {
		if !slices.ContainsFunc(broken.Problems, func(b problem.Problem) bool { return strings.HasSuffix(b.Message, p.Message) }) {
			r.Problems[n].Code, r.Problems[n].Warning = codeUnlaunchable, true
			r.Problems[n].Hint = cmp.Or(p.Hint, unlaunchableFix)
		}
	}
}
