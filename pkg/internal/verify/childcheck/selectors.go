package childcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// selector is what an object selects pods by.
type selector struct {
	path  []string // in the object
	value any      // there
	of    metav1.LabelSelector
}

// selectorOf returns by what an object selects pods; false if it does not.
func selectorOf(m member) (selector, bool) {
	path := []string{"spec", "selector"}
	plain := false
	switch m.kind.Group + "/" + m.kind.Kind {
	case "/Service", "/ReplicationController":
		plain = true
	case "policy/PodDisruptionBudget":
	case "networking.k8s.io/NetworkPolicy":
		path[1] = "podSelector"
	default:
		if _, makesPods := podLabels(m); !makesPods {
			return selector{}, false
		}
	}
	out := selector{path: path, value: schema.ValueAt(m.object, path...)}
	data, err := json.Marshal(out.value)
	if plain {
		err = json.Unmarshal(data, &out.of.MatchLabels)
	} else if err == nil {
		err = json.Unmarshal(data, &out.of)
	}
	return out, err == nil && len(out.of.MatchLabels)+len(out.of.MatchExpressions) > 0
}

// podAt returns where the pods of an object are described; false if it makes none.
func podAt(m member) (at []string, makes bool) {
	switch {
	case m.kind.Group == "" && m.kind.Kind == "Pod":
	case schema.ValueAt(m.object, "spec", "jobTemplate") != nil:
		at = []string{"spec", "jobTemplate", "spec", "template"}
	default:
		at = []string{"spec", "template"}
	}
	return at, schema.ValueAt(schema.ValueAt(m.object, at...), "spec", "containers") != nil
}

// podLabels returns the labels of the pods of an object; false if it makes none.
func podLabels(m member) (map[string]string, bool) {
	at, makes := podAt(m)
	if !makes {
		return nil, false
	}
	out := map[string]string{}
	fields, _ := schema.ValueAt(m.object, append(at, "metadata", "labels")...).(map[string]any)
	for key, value := range fields {
		out[key] = fmt.Sprint(value)
	}
	return out, true
}

// byController are the labels that controllers add to pods.
var byController = []string{
	"apps.kubernetes.io/pod-index", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index",
	"batch.kubernetes.io/job-name", "controller-revision-hash", "controller-uid", "job-name", "pod-template-generation",
	"pod-template-hash", "statefulset.kubernetes.io/pod-name",
}

// selects reports whether pods with these labels, and those of controllers, can be selected.
func (s selector) selects(pod map[string]string) bool {
	of := *s.of.DeepCopy()
	maps.DeleteFunc(of.MatchLabels, func(key, _ string) bool { return slices.Contains(byController, key) })
	of.MatchExpressions = slices.DeleteFunc(of.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return slices.Contains(byController, r.Key)
	})
	matcher, err := metav1.LabelSelectorAsSelector(&of)
	return err != nil || matcher.Matches(labels.Set(pod))
}

// shared warns of selectors that are the same for two custom resources with another name, if the
// pods of both are in one namespace: each selects the pods of all. It reports the first child only,
// because all selectors and labels must change together.
func (f *family) shared() diag.List {
	var findings diag.List
	var first selector
	var by int
	others := 0
	for i, r := range f.runs {
		if r == nil {
			continue
		}
		found, is := f.sharedBy(i)
		switch {
		case !is:
		case first.path == nil:
			first, by = found, i
		default:
			others++
		}
	}
	if first.path != nil {
		api := f.p.API.Kind
		same := "is the same for every " + api.Kind
		if !reflect.DeepEqual(first.value, schema.ValueAt(f.declared(by).Template, first.path...)) {
			same = fmt.Sprintf("does not contain the name of its %s, so it can be the same for two", api.Kind)
		}
		if api.Namespaced {
			same += " of a namespace"
		}
		findings.Warn(f.at(by, first.path...), diag.SharedSelector,
			fmt.Sprintf("the selector of this %s %s: it selects the pods of both%s", f.declared(by).Kind, same, diag.Places(others)),
			"add a label with the name to the selector and to the labels of the pods: "+
				"app.kubernetes.io/instance: "+source.Scalar("${ .metadata.name }", true, 0))
	}
	return findings
}

// sharedBy returns the selector of a child if it is the same for two custom resources. Of a child whose
// name is the same, too, that is reported.
func (f *family) sharedBy(child int) (selector, bool) {
	selects := func(m member) bool { _, is := selectorOf(m); return is }
	for _, cr := range f.having(child) {
		own := f.objects(child, cr)
		if !slices.ContainsFunc(own, selects) {
			continue
		}
		twin := f.twin(cr)
		twins := f.objects(child, twin)
		for i, made := range own {
			s, is := selectorOf(made)
			if !is || i >= len(twins) || !made.beside(twins[i]) || made.isNamed(twins[i]) ||
				!reflect.DeepEqual(s.value, schema.ValueAt(twins[i].object, s.path...)) || !f.isValid(twin) {
				continue
			}
			for _, pod := range f.all(cr) {
				if with, makes := podLabels(pod); makes && pod.beside(made) && s.selects(with) {
					return s, true
				}
			}
		}
	}
	return selector{}, false
}

// twin returns the custom resource with another name.
func (f *family) twin(cr customResource) customResource {
	other := place{"other", f.samples.place.namespace}
	out := customResource{written: cr.written, served: maps.Clone(cr.served)}
	metadata, _ := cr.served["metadata"].(map[string]any)
	out.served["metadata"] = maps.Clone(metadata)
	out.served = other.served(out.served, f.samples.api.Namespaced)
	out.served["metadata"].(map[string]any)["uid"] = "00000000-0000-4000-8000-000000000001"
	return out
}

// isValid reports whether the schema permits a custom resource.
func (f *family) isValid(cr customResource) bool {
	return f.samples.schema == nil || len(f.samples.schema.Validate(cr.served, nil)) == 0
}

// unmatched warns of a Service or a PodDisruptionBudget that selects the pods of no child, but
// has a key or a value in common with their labels.
func (f *family) unmatched(child int) diag.List {
	kind := f.declared(child).Kind
	if kind != "Service" && kind != "PodDisruptionBudget" || f.d.Operator.Spec.API.Existing != nil || f.hasUnknownPods() {
		return nil
	}
	var near selector
	label, of := "", -1
	for _, cr := range f.having(child) {
		all := f.all(cr)
		for _, made := range f.objects(child, cr) {
			s, is := selectorOf(made)
			if !is {
				return nil
			}
			for _, pod := range all {
				with, makes := podLabels(pod)
				if makes && s.selects(with) {
					return nil
				}
				if key := s.near(with); makes && key != "" && of < 0 {
					near, label, of = s, key, pod.child
				}
			}
		}
	}
	if of < 0 {
		return nil
	}
	var findings diag.List
	findings.Warn(f.at(child, near.path...), diag.UnmatchedChild,
		fmt.Sprintf("the %s selects no pods of a child: those of child %s have other labels", kind, f.declared(of).Name),
		fmt.Sprintf("select by label %s of the pods of child %s", label, f.declared(of).Name))
	return findings
}

// near returns a label with a key or a value of the selector; "" if there is none.
func (s selector) near(pod map[string]string) string {
	for _, key := range source.SortedKeys(pod) {
		for wanted, value := range s.of.MatchLabels {
			if key == wanted || pod[key] == value {
				return key
			}
		}
	}
	return ""
}

// hasUnknownPods reports whether a child may make pods of which the labels are not known: a custom
// kind, or one that logic makes.
func (f *family) hasUnknownPods() bool {
	for i, r := range f.runs {
		if r == nil || r.child.Object == nil {
			return true
		}
		k := r.child.Kind
		_, builtin := schema.Builtin(k.APIVersion(), k.Kind)
		if !builtin && schema.ValueAt(f.declared(i).Template, "spec", "template") == nil {
			return true
		}
	}
	return false
}
