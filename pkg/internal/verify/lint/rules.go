package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Rule detects one common mistake in hand-written manifests. Objects that are not among the
// files may be in the cluster, so a rule needs evidence in the files to report them as missing.
type Rule struct {
	Code    string  // stable, kebab-case; never renamed or reused
	Warning bool    // works now but causes trouble later
	Strict  bool    // only of the profile strict
	Summary string  // the problem in one sentence
	Why     string  // the consequence
	Fix     string  // the fix; hint of problems without a more specific one
	Since   string  // release of argoperator that added the rule; empty: 0.1.0
	Argo    Version // version of Argo Workflows from which on the rule applies; zero: any

	check func(*inspection)
}

// Group is a list of rules about the same kind of object.
type Group struct {
	Name  string
	Rules []Rule
}

// Groups returns all rules in the order of the documentation. To add one, add it to the
// list in its file.
func Groups() []Group {
	return []Group{
		{"All objects", shapeRules()},
		{"EventSources", append(sourceRules(), eventRules()...)},
		{"Sensors: dependencies and filters", sensorRules()},
		{"Sensors: the content of events", filterRules()},
		{"Sensors: triggers", triggerRules()},
		{"Sensors: parameters", parameterRules()},
		{"EventBuses", busRules()},
		{"Workflows", workflowRules()},
		{"Workflows: what runs", runtimeRules()},
		{"Workflows that events start", eventDrivenRules()},
		{"Permissions", permissionRules()},
		{"Monitoring", monitoringRules()},
	}
}

// Rules returns the rules of all groups.
func Rules() []Rule {
	var out []Rule
	for _, g := range Groups() {
		out = append(out, g.Rules...)
	}
	return out
}

// Codes of problems that the API server rules out for live objects of other groups than
// Argo's. decode finds the first two.
const (
	CodeWrongFieldType       = "wrong-field-type"
	CodeUnknownManifestField = "unknown-manifest-field"
	CodeInvalidManifest      = "invalid-manifest"
)

// Targets are the versions that manifests must work with.
type Targets struct {
	Workflows Version // of Argo Workflows; the zero Version is 4.0
}

// Profile decides which rules apply.
type Profile struct {
	Targets
	Strict  bool     // all of them
	Further []string // codes of those that apply also without Strict
	patched patched
}

// Version is a version of Argo.
type Version struct{ Major, Minor int }

// atLeast reports whether a target is the given version or newer.
func (v Version) atLeast(other Version) bool {
	if v == (Version{}) {
		v = Version{4, 0}
	}
	return v.Major > other.Major || v.Major == other.Major && v.Minor >= other.Minor
}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Fixable reports whether --fix can fix findings of the rule.
func (r Rule) Fixable() bool { return fixes[r.Code] != nil }

// Severity returns the severity of the rule's findings, unless a configuration changes it.
func (r Rule) Severity() diag.Severity {
	if r.Warning {
		return diag.Warning
	}
	return diag.Error
}

// inspection is the check of one object by one rule.
type inspection struct {
	*problem.Report
	rule   Rule
	set    *objectSet
	strict bool                                   // the profile is strict
	tagged map[*field.Path]map[*field.Path]string // texts of templates, by the path of these
}

// report adds a problem with the rule's hint.
func (i *inspection) report(path *field.Path, format string, args ...any) {
	i.reportHint(path, i.rule.Fix, format, args...)
}

// reportHint adds a problem with a more specific hint, if it is not empty.
func (i *inspection) reportHint(path *field.Path, hint, format string, args ...any) {
	i.Add(path, i.rule.Code, cmp.Or(hint, i.rule.Fix), format, args...)
	i.Problems[len(i.Problems)-1].Warning = i.rule.Warning
}

// adopt adds a problem that another package's check found.
func (i *inspection) adopt(p problem.Problem) {
	p.Code, p.Warning, p.Hint = i.rule.Code, i.rule.Warning, cmp.Or(p.Hint, i.rule.Fix)
	i.Problems = append(i.Problems, p)
}

// lazily returns a regular expression that is compiled when it is first needed.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// on returns a check for the objects of one type.
func on[T manifest.Object](check func(*inspection, T)) func(*inspection) {
	return func(i *inspection) {
		if typed, ok := i.Object.(T); ok {
			check(i, typed)
		}
	}
}

// decode decodes a hand-written object strictly: unknown fields are problems. It returns nil for
// a kind that no rule checks. newer tells that the object has fields of a newer version of Argo Workflows
// than this program knows.
func decode(o source.Object, targets Targets) (object manifest.Object, problems []problem.Problem, newer bool) {
	kind := schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind"))
	if object = newObject(kind); object == nil {
		return nil, nil, false
	}
	r := problem.About(object)
	if !argo.DecodeFields(withoutServerFields(o.Fields), object, r, nil) {
		object = nil
	}
	if sensor, ok := object.(*eventsv1.Sensor); ok {
		for _, t := range argo.Triggers(sensor) {
			checkTriggerObject(r, t)
		}
	}
	for _, p := range r.Problems {
		p, of := ofVersion(p, targets)
		newer = newer || of
		if !of || targets.Workflows != (Version{}) && !targets.Workflows.atLeast(versionOf(newerFields, p.Type, lastOf(p))) {
			problems = append(problems, ofShape(kind, p))
		}
	}
	return object, problems, newer
}

// newObject returns an empty object of a kind that a rule checks; nil for another kind.
func newObject(kind schema.GroupVersionKind) manifest.Object {
	if kind == corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim") {
		return &corev1.PersistentVolumeClaim{}
	}
	return argo.NewObject(kind)
}

// checkTriggerObject decodes the object in a trigger if its kind is known.
func checkTriggerObject(r *problem.Report, t argo.Trigger) {
	data, path := t.ObjectBytes()
	kind := kindOf(data)
	if object := newObject(kind); object != nil {
		argo.DecodeStrict(data, object, r, path)
	}
}

func kindOf(data []byte) schema.GroupVersionKind {
	var meta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if yaml.Unmarshal(data, &meta) != nil {
		return schema.GroupVersionKind{}
	}
	return schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
}

// ofShape gives a problem of decoding the code and the hint of its rule.
func ofShape(kind schema.GroupVersionKind, p problem.Problem) problem.Problem {
	switch {
	case p.Code == codeNewerField:
		p.Hint = newerFieldFix
	case p.Code == diag.UnknownField && p.Hint == "" && storesUnknown(kind, p.Path):
		p.Code, p.Hint, p.Warning = codeIgnoredField, unknownFieldFix, true
	case p.Code == diag.UnknownField:
		p.Code, p.Hint = CodeUnknownManifestField, cmp.Or(p.Hint, unknownFieldFix)
	default:
		p.Code, p.Hint = CodeWrongFieldType, cmp.Or(p.Hint, wrongTypeFix)
	}
	return p
}

// oneOf returns the hint for a value that is none of the known ones.
func oneOf(value string, known []string) string {
	return cmp.Or(diag.DidYouMean(value, known, strings.ToLower), "use "+strings.Join(known, ", "))
}

// storesUnknown reports whether the API server accepts an unknown field at a path: the CustomResourceDefinitions
// of Argo Events preserve all below spec. The argo command rejects one in what it submits.
func storesUnknown(kind schema.GroupVersionKind, path string) bool {
	return kind.Group == argo.Group && slices.Contains([]string{"EventBus", "EventSource", "Sensor"}, kind.Kind) &&
		strings.HasPrefix(path, "spec.") && !strings.Contains(path, ".argoWorkflow.source.resource.")
}

// check checks hand-written objects with all rules. It returns the problems of each object by its index.
func check(list []manifest.Object, profile Profile) [][]problem.Problem {
	set := newObjectSet(argo.NewObjects(list))
	set.patched = profile.patched
	rules := slices.DeleteFunc(Rules(), func(r Rule) bool { return !profile.includes(r) })
	out := make([][]problem.Problem, len(list))
	sideBySide(len(list), func(n int) {
		out[n] = set.check(list[n], rules, profile.Strict)
		set.all.Forget(list[n])
	})
	return out
}

// includes reports whether a rule applies.
func (p Profile) includes(r Rule) bool {
	return p.Workflows.atLeast(r.Argo) && (!r.Strict || p.Strict || slices.Contains(p.Further, r.Code))
}

// check returns the problems of an object in the order of the rules.
func (s *objectSet) check(object manifest.Object, rules []Rule, strict bool) []problem.Problem {
	in := &inspection{Report: problem.About(object), set: s, strict: strict, tagged: map[*field.Path]map[*field.Path]string{}}
	for _, rule := range rules {
		in.rule = rule
		rule.check(in)
	}
	return in.Problems
}
