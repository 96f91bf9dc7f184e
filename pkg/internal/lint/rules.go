package lint

import (
	"cmp"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Rule is one thing that goes wrong in manifests that people write. What is not
// among the objects may be in the cluster: a rule says nothing about it.
type Rule struct {
	Code    string // stable, kebab-case; never renamed or reused
	Warning bool   // it works, and bites later
	Summary string // what is wrong, one sentence
	Why     string // what happens then
	Fix     string // what to do; the hint of a problem that has no better one

	look func(*inspection)
}

// Rules are all of them, in the order of the documentation. To add one, write it
// into the list of its file.
func Rules() []Rule {
	return slices.Concat(shapeRules(), sourceRules(), sensorRules(), triggerRulesOfOthers(), busRules(), workflowRules(), eventDrivenRules(), rightsRules())
}

// Of what Decode finds. The codes of the rules are in Rules.
const (
	CodeUnreadable  = "unreadable"
	CodeOtherFields = "unknown-manifest-field"
)

// Targets are the versions that manifests are for.
type Targets struct {
	Workflows Version // of Argo Workflows; the zero Version is 3.7
}

// Version is a version of Argo.
type Version struct{ Major, Minor int }

// atLeast tells whether a version is another one or newer.
func (v Version) atLeast(major, minor int) bool {
	if v == (Version{}) {
		v = Version{3, 7}
	}
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// inspection is one rule that looks at one object among others.
type inspection struct {
	*problem.Report
	rule    Rule
	among   *surroundings
	targets Targets
}

// wrong notes a problem with the rule's own hint.
func (i *inspection) wrong(path *field.Path, format string, args ...any) {
	i.mend(path, i.rule.Fix, format, args...)
}

// mend notes a problem with a hint of its own.
func (i *inspection) mend(path *field.Path, hint, format string, args ...any) {
	i.Add(path, i.rule.Code, hint, format, args...)
	i.Problems[len(i.Problems)-1].Warning = i.rule.Warning
}

// adopt takes over a problem that our own checks have found.
func (i *inspection) adopt(p problem.Problem) {
	p.Code, p.Warning, p.Hint = i.rule.Code, i.rule.Warning, cmp.Or(p.Hint, i.rule.Fix)
	i.Problems = append(i.Problems, p)
}

// on lets a rule look at the objects of one type.
func on[T manifest.Object](look func(*inspection, T)) func(*inspection) {
	return func(i *inspection) {
		if typed, ok := i.Object.(T); ok {
			look(i, typed)
		}
	}
}

// Decode reads an object that somebody else has written, given as YAML or JSON,
// strictly: what the type does not know is a problem. It returns nil for a kind
// that no rule is about.
func Decode(kind schema.GroupVersionKind, data []byte) (manifest.Object, []problem.Problem) {
	object := argo.NewObject(kind)
	if object == nil {
		return nil, nil
	}
	r := problem.About(object)
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		r.Add(nil, problem.CodeStrict, "", "%v", err)
		return nil, called(r.Problems, CodeUnreadable)
	}
	if !argo.DecodeStrict(text, object, r, nil) {
		return nil, called(r.Problems, CodeUnreadable)
	}
	if sensor, ok := object.(*eventsv1.Sensor); ok {
		for _, t := range argo.Triggers(sensor) {
			carriedStrictly(r, t)
		}
	}
	return object, called(r.Problems, CodeOtherFields)
}

// carriedStrictly decodes the object that a trigger carries, where its kind is known.
func carriedStrictly(r *problem.Report, t argo.Trigger) {
	data, path := t.ObjectBytes()
	kind := kindOf(data)
	if object := argo.NewObject(kind); object != nil {
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

// called gives problems of our own checks the code of a rule.
func called(problems []problem.Problem, code string) []problem.Problem {
	for i := range problems {
		problems[i].Code = code
	}
	return problems
}

// Foreign judges objects that somebody else has written, by the rules. The
// problems of the object at an index are at the same index. It judges deep copies.
func Foreign(list []manifest.Object, targets Targets) [][]problem.Problem {
	out := make([][]problem.Problem, len(list))
	among, rules := newSurroundings(argo.NewObjects(list).Copy()), Rules()
	for i, object := range among.all.List {
		for _, rule := range rules {
			in := &inspection{Report: problem.About(object), rule: rule, among: among, targets: targets}
			rule.look(in)
			out[i] = append(out[i], in.Problems...)
		}
	}
	return out
}
