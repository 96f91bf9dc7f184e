package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// instanceLabel distinguishes the pods of different custom resources.
const instanceLabel = "app.kubernetes.io/instance"

// label sets the custom resource's name as a label on all objects and pods, and
// adds it to the selectors.
func (m *Manifest) label() {
	known := m.labels()
	m.release = commonLabel(known)
	for _, p := range m.Kept {
		m.selectors(p, known)
	}
	for _, p := range m.Kept {
		if pods := PodTemplate(p.Fields); pods != nil {
			m.setInstance(at(pods, "metadata", "labels"))
		}
		m.setInstance(at(p.Fields, "metadata", "labels"))
	}
}

// labels returns the labels of the objects and of their pod templates.
func (m *Manifest) labels() []map[string]any {
	var out []map[string]any
	for _, p := range m.Kept {
		out = append(out, maps.Clone(Mapping(p.Fields, "metadata", "labels")))
		if pods := PodTemplate(p.Fields); pods != nil {
			out = append(out, maps.Clone(Mapping(pods, "metadata", "labels")))
		}
	}
	return out
}

func (m *Manifest) selectors(p *piece, known []map[string]any) {
	selected := func(labels map[string]any) bool {
		return len(labels) > 0 && slices.ContainsFunc(known, func(set map[string]any) bool {
			for key, value := range labels {
				if set[key] != value {
					return false
				}
			}
			return true
		})
	}
	ForEachMap(p.Fields["spec"], func(key string, object map[string]any) {
		if key == "matchLabels" && selected(object) {
			m.setInstance(object)
		}
	})
	selector := Mapping(p.Fields, "spec", "selector")
	_, structured := selector["matchLabels"]
	_, expressions := selector["matchExpressions"]
	switch {
	case p.kind == "Service" || p.kind == "ReplicationController":
		if selected(selector) {
			m.setInstance(selector)
		} else if len(selector) > 0 {
			m.warn(p.Position("spec.selector"), diag.ChangedOnImport, fmt.Sprintf("%s selects pods that are not in the "+
				"manifests", called(p.kind, p.name)),
				"pass the object that creates the pods, too; otherwise the Services of all custom resources in a namespace select the "+
					"same pods")
		}
	case PodTemplate(p.Fields) != nil && (structured || expressions):
		m.setInstance(at(p.Fields, "spec", "selector", "matchLabels"))
	}
}

// setInstance sets the label and replaces its previous value.
func (m *Manifest) setInstance(labels map[string]any) {
	was, plain := labels[instanceLabel].(string)
	rest, own := strings.CutPrefix(was, m.base)
	switch {
	case labels[instanceLabel] != nil && !plain: // already set
	case was == "" || was == m.release || was == m.base:
		labels[instanceLabel] = Expr(OwnName)
	case m.base != "" && own && rest[0] == '-':
		labels[instanceLabel] = Expr(OwnName + rest)
	default:
		labels[instanceLabel] = Expr(OwnName + "-" + was)
	}
}

// commonLabel returns the value of the label if all objects have the same; empty
// otherwise.
func commonLabel(known []map[string]any) string {
	var all []string
	for _, labels := range known {
		if was, _ := labels[instanceLabel].(string); was != "" {
			all = append(all, was)
		}
	}
	if all = slices.Compact(all); len(all) != 1 {
		return ""
	}
	return all[0]
}

// at returns the object at a path and creates missing ones.
func at(fields map[string]any, path ...string) map[string]any {
	for _, key := range path {
		inner, ok := fields[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			fields[key] = inner
		}
		fields = inner
	}
	return fields
}

// PodTemplate returns the pod template of an object, or a Pod itself; nil for other
// kinds.
func PodTemplate(fields map[string]any) map[string]any {
	if fields["kind"] == "Pod" {
		return fields
	}
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		if template := Mapping(fields, path...); len(List(template, "spec", "containers")) > 0 {
			return template
		}
	}
	return nil
}
