package explain

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Decision is a value of a child, a patch or a related object that others than the author of
// the definition decide.
type Decision struct {
	Of   string `json:"of"`   // child NAME, patch NAME or related NAME
	Kind string `json:"kind"` // of the object
	// Decides is namespace, name, existence, image, command, role, subjects, rules, labels, data, fields or selection.
	Decides string    `json:"decides"`
	Sources []Decider `json:"sources"`
	Fixed   string    `json:"fixed,omitempty"` // the value, if the definition decides it
}

// Decider is where a value comes from, and who can write that.
type Decider struct {
	From  string `json:"from"`
	Who   string `json:"who"` // author, editor, controller or server
	By    string `json:"by"`
	Limit string `json:"limit,omitempty"`
}

// decided are what values of a template decide, in the order of the report.
var decided = []string{"namespace", "name", "existence", "role", "subjects", "rules", "labels", "image", "command", "data", "fields"}

// dataFlow returns who decides what the operator writes and reads.
func dataFlow(p *plan.Plan, d *definition.Definition) []Decision {
	f, out := p.Flow(d), []Decision{}
	for _, group := range []struct {
		of       string
		children []plan.Child
	}{{"child", p.Children}, {"patch", p.Patches}} {
		for _, c := range group.children {
			if c.Object == nil {
				continue
			}
			for _, what := range decided {
				one := Decision{Of: group.of + " " + c.Name, Kind: c.Kind.Kind, Decides: what, Sources: []Decider{}}
				sources := sourcesOf(f, c, what)
				for _, s := range sources {
					one.Sources = append(one.Sources, decider(s, limitOf(d, what, s)))
				}
				if what == "namespace" && c.Kind.Namespaced && len(sources) == 0 {
					one.Fixed = fixedNamespace(c)
				}
				if len(one.Sources) > 0 || one.Fixed != "" {
					out = append(out, one)
				}
			}
		}
	}
	for _, r := range p.Related {
		for _, part := range []struct {
			what    string
			program *expression.Program
		}{{"namespace", r.Namespace}, {"selection", r.Selection}} {
			one := Decision{Of: "related " + r.Name, Kind: r.Kind.Kind, Decides: part.what, Sources: []Decider{}}
			for _, s := range f.Program(plan.Child{}, part.program) {
				one.Sources = append(one.Sources, decider(s, limitOf(d, part.what, s)))
			}
			if part.what == "namespace" && len(one.Sources) == 0 && r.Kind.Namespaced {
				one.Fixed = cmp.Or(r.FixedNamespace, "that of the custom resource")
				if r.Everywhere {
					one.Fixed = "all"
				}
			}
			if len(one.Sources) > 0 || one.Fixed != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

func fixedNamespace(c plan.Child) string {
	return cmp.Or(c.FixedNamespace(), "that of the custom resource")
}

// sourcesOf returns the sources of what a child's programs decide.
func sourcesOf(f *plan.Flow, c plan.Child, what string) []plan.Source {
	switch what {
	case "namespace":
		if c.SameNamespace {
			return nil
		}
		return f.Program(c, c.Namespace)
	case "name":
		return f.Program(c, c.ObjectName)
	case "existence":
		return slices.Concat(f.Conditions(c.When), f.Conditions(c.ForEach))
	}
	var out []plan.Source
	for _, part := range c.Object.Parts() {
		if !slices.Contains(placesOf(part.Path), what) {
			continue
		}
		for _, s := range f.Part(c, part) {
			if !slices.ContainsFunc(out, func(o plan.Source) bool { return o.Path == s.Path && o.Selects == s.Selects }) {
				out = append(out, s)
			}
		}
	}
	return out
}

// pods are the paths of the containers in the kinds that have pods. A value above them
// decides their images and commands, too.
var pods = [][]string{
	{"spec", "containers"},
	{"spec", "template", "spec", "containers"},
	{"spec", "jobTemplate", "spec", "template", "spec", "containers"},
}

// placesOf returns what a value at a path of a template decides.
func placesOf(path []string) []string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(path, name) })
	}
	above := slices.ContainsFunc(pods, func(p []string) bool {
		return len(path) <= len(p)+1 && schema.Overlap(p, path)
	})
	switch {
	case len(path) > 0 && path[len(path)-1] == "image":
		return []string{"image"}
	case has("command", "args"):
		return []string{"command"}
	case above:
		return []string{"image", "command", "fields"}
	case path[0] == "metadata" && len(path) > 1 && (path[1] == "name" || path[1] == "namespace"):
		return nil
	case path[0] == "metadata":
		return []string{"labels"}
	case path[0] == "roleRef":
		return []string{"role"}
	case path[0] == "subjects":
		return []string{"subjects"}
	case path[0] == "rules", path[0] == "aggregationRule":
		return []string{"rules"}
	case path[0] == "data", path[0] == "stringData", path[0] == "binaryData":
		return []string{"data"}
	}
	return []string{"fields"}
}

func decider(s plan.Source, limit string) Decider {
	return Decider{From: s.String(), Who: string(s.Who), By: s.By, Limit: limit}
}

// limitOf returns the limit of a source, and that of the namespaces which it may choose.
func limitOf(d *definition.Definition, what string, s plan.Source) string {
	limits := []string{s.Limit}
	if what == "namespace" && s.Free() {
		if allowed := d.Operator.Spec.Install.AllowedNamespaces; len(allowed) > 0 {
			limits = append(limits, "allowedNamespaces "+strings.Join(allowed, ", "))
		} else {
			limits = append(limits, "no namespace of Kubernetes, Argo or the operator")
		}
	}
	return strings.Join(slices.DeleteFunc(limits, func(s string) bool { return s == "" }), "; ")
}

// dataFlow prints one line for each source.
func (p Printer) dataFlow(w io.Writer, list []Decision) {
	if len(list) == 0 {
		return
	}
	p.heading(w, "DATA FLOW")
	terminal.Fprintf(w, "  who decides what: author writes the custom resource, editor changes the other object\n")
	var rows [][]string
	last := ""
	for _, one := range list {
		of, what := one.Of, one.Decides
		if of == last {
			of = ""
		}
		last = one.Of
		if one.Fixed != "" {
			rows = append(rows, []string{of, what, "definition", one.Fixed})
			of, what = "", ""
		}
		for _, s := range one.Sources {
			text := s.From
			if s.Limit != "" {
				text += ": " + s.Limit
			} else if s.Who == string(plan.ByAuthor) || s.Who == string(plan.ByEditor) {
				text += ": no limit"
			}
			rows = append(rows, []string{of, what, s.Who, text})
			of, what = "", ""
		}
	}
	p.table(w, rows)
}
