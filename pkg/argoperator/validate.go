package argoperator

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
)

// Resource is a custom resource in a file.
type Resource struct {
	Object map[string]any
	// Old is the previous state of the custom resource; nil for a new one.
	Old map[string]any

	written source.Object
}

// Position returns the position of the value at a path of the custom resource.
func (r Resource) Position(path string) diag.Position { return r.written.Position(path) }

// Resources parses custom resources of the operators and validates them as the API
// server does. Objects of other kinds are findings, except in a lenient source. Old
// custom resources with the same kind and name make a resource an update.
func (r Result) Resources(sources, old []Source) ([]Resource, diag.List, error) {
	return resourcesOf(r.apis(), sources, old)
}

// RejectedNames returns findings about the names in valid custom resources with which the
// API server would reject a child.
func (r Result) RejectedNames(resources []Resource) diag.List {
	var findings diag.List
	for _, o := range r.Operators {
		names := childcheck.NewNames(o.definition, o.plan)
		for _, one := range resources {
			if !o.plan.API.Kind.Is(one.Object) {
				continue
			}
			namespace := cmp.Or(one.written.Text("metadata", "namespace"), defaultNamespace)
			for _, rejected := range names.Rejections(one.Object, namespace) {
				at := rejected.Path
				if _, value := one.written.Entry(at); value == nil {
					at = "metadata.name" // a default of the schema is not in the file
				}
				findings.Add(one.written.Position(at), diag.BadName, rejected.Message, rejected.Hint)
			}
		}
	}
	return findings
}

func resourcesOf(apis []*admission.API, sources, old []Source) ([]Resource, diag.List, error) {
	resources, findings := read(apis, sources)
	before, wrong := read(apis, old)
	findings = append(findings, wrong...)
	if len(resources) == 0 && !findings.HasErrors() {
		findings.Add(
			diag.Position{File: nameOf(sources)},
			diag.NoCustomResource,
			"no custom resource found",
			"the definitions have the kinds "+kindsOf(apis),
		)
	}
	pairs := pair(resources, before)
	if len(before) > 0 && len(resources) > 0 && pairs == 0 {
		findings.Add(
			before[0].Position("metadata.name"),
			diag.BadValue,
			fmt.Sprintf(
				"%s is not one of the custom resources",
				before[0].written.Text("kind")+" "+before[0].written.Text("metadata", "name"),
			),
			"kind, namespace and name must match",
		)
	}
	problems, err := validate(apis, resources)
	findings = append(findings, problems...)
	return resources, findings.Sorted(), err
}

// apis returns the operators' primary kinds.
func (r Result) apis() []*admission.API {
	var out []*admission.API
	for _, o := range r.Operators {
		k := o.plan.API.Kind
		known := o.Objects
		if crd := o.definition.ExistingCRD; crd != nil {
			known = append(slices.Clip(known), crd)
		}
		out = append(out, admission.NewAPI(known, k.Group, k.Version, k.Kind, k.Namespaced))
	}
	return out
}

// read returns the objects of the operators' kinds.
func read(apis []*admission.API, sources []Source) ([]Resource, diag.List) {
	var out []Resource
	var findings diag.List
	for _, file := range sources {
		objects, found := source.Objects(file, func(text []byte) bool { return !file.Lenient || mentions(apis, text) })
		findings = append(findings, found...)
		for _, o := range objects {
			if api, found := apiOf(apis, o, file.Lenient); api != nil {
				out = append(out, Resource{Object: o.Fields, written: o})
			} else {
				findings = append(findings, found...)
			}
		}
		if len(objects) == 0 && len(found) == 0 && !file.Lenient {
			findings.Add(diag.Position{File: file.Name}, diag.NoCustomResource, "the file contains no custom resource", "")
		}
	}
	return out, findings
}

// mentions reports whether a text may contain an object of the operators' kinds, to
// skip parsing other files.
func mentions(apis []*admission.API, text []byte) bool {
	return slices.ContainsFunc(apis, func(a *admission.API) bool {
		return slices.ContainsFunc(append(a.Versions(), a.Kind()), func(word string) bool {
			group, _, _ := strings.Cut(word, "/")
			return bytes.Contains(text, []byte(group))
		})
	})
}

// apiOf returns the kind of an object, or findings if no operator has it.
func apiOf(apis []*admission.API, o source.Object, lenient bool) (*admission.API, diag.List) {
	var findings diag.List
	for _, key := range []string{"apiVersion", "kind"} {
		if !lenient && o.Text(key) == "" {
			findings.Add(o.Position(key), diag.MissingKey, fmt.Sprintf("missing %s", key), "")
		}
	}
	if len(findings) > 0 {
		return nil, findings
	}
	group, kind, misspelt := o.Group(), o.Text("kind"), false
	for _, a := range apis {
		if a.Is(group, kind) {
			return a, nil
		}
		near := diag.Nearest(kind, []string{a.Kind()}, strings.ToLower)
		misspelt = misspelt || near != "" && a.Is(group, near)
	}
	if lenient && !misspelt {
		return nil, nil // an unrelated object in the same file
	}
	return nil, unknownKind(apis, o)
}

// unknownKind reports whether the kind or the apiVersion of an object is wrong.
func unknownKind(apis []*admission.API, o source.Object) diag.List {
	var findings diag.List
	var names []string
	for _, a := range apis {
		if a.Kind() == o.Text("kind") {
			findings.Add(
				o.Position("apiVersion"),
				diag.WrongAPIVersion,
				fmt.Sprintf(
					"no definition has the kind %s of %s",
					a.Kind(),
					o.Text("apiVersion"),
				),
				"want "+strings.Join(a.Versions(), " or "),
			)
			return findings
		}
		names = append(names, a.Kind())
	}
	hint := cmp.Or(diag.DidYouMean(o.Text("kind"), names, strings.ToLower), "the definitions have "+kindsOf(apis))
	findings.Add(o.Position("kind"), diag.WrongKind, fmt.Sprintf("no definition has the kind %s", o.Text("kind")), hint)
	return findings
}

func kindsOf(apis []*admission.API) string {
	var out []string
	for _, a := range apis {
		out = append(out, a.Kind()+" of "+strings.Join(a.Versions(), " or "))
	}
	return strings.Join(out, ", ")
}

// pair sets the previous state of each custom resource and returns how many have
// one.
func pair(resources, before []Resource) int {
	count := 0
	for i := range resources {
		for _, old := range before {
			if identity(old) == identity(resources[i]) {
				resources[i].Old = old.Object
				count++
			}
		}
	}
	return count
}

// identity identifies a custom resource in its cluster, independently of the
// version.
func identity(r Resource) [4]string {
	namespace := r.written.Text("metadata", "namespace")
	if namespace == "" {
		namespace = defaultNamespace
	}
	return [4]string{r.written.Group(), r.written.Text("kind"), namespace, r.written.Text("metadata", "name")}
}

func validate(apis []*admission.API, resources []Resource) (diag.List, error) {
	var findings diag.List
	for _, r := range resources {
		i := slices.IndexFunc(apis, func(a *admission.API) bool { return a.Is(r.written.Group(), r.written.Text("kind")) })
		problems, err := apis[i].Validate(r.Object, r.Old)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			at := r.written.Position(p.Path)
			if p.Code == diag.UnknownField {
				at = r.written.KeyPosition(p.Path)
			}
			if p.Warning {
				findings.Warn(at, p.Code, p.Message, p.Hint)
			} else {
				findings.Add(at, p.Code, p.Message, p.Hint)
			}
		}
	}
	return findings, nil
}

func nameOf(sources []Source) string {
	if len(sources) == 1 {
		return sources[0].Name
	}
	return ""
}
