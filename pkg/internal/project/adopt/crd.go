package adopt

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// crdFile is the file name of the CustomResourceDefinition in a project.
const crdFile = "crd.yaml"

// FromCRD creates a project for the kind of a CustomResourceDefinition; o.Kind
// selects one if the file contains several. Findings refer to the file by its
// slash-separated name.
func FromCRD(o scaffold.Options, name string, data []byte) (scaffold.Project, diag.List) {
	p, findings := ofCRD(o, name, data)
	if !findings.HasErrors() {
		p.Keep(scaffold.ConfigMap, o.Logic)
	}
	return p, findings
}

// ofCRD creates a project without children.
func ofCRD(o scaffold.Options, name string, data []byte) (scaffold.Project, diag.List) {
	o = o.WithDefaults()
	name = path.Clean(name)
	var findings diag.List
	if source.TooLarge(&findings, diag.Position{File: name}, data) {
		return scaffold.Project{}, findings
	}
	chosen, findings := choose(name, data, o.Kind)
	if findings.HasErrors() {
		return scaffold.Project{}, findings
	}
	d, findings := read(name, chosen)
	if findings.HasErrors() {
		return scaffold.Project{}, findings
	}
	spec := d.CRD.Spec
	known := d.Schema(d.WorkingVersion())
	if known == nil {
		findings.Add(
			diag.Position{File: name},
			diag.MissingKey,
			fmt.Sprintf("version %q of the CustomResourceDefinition has no schema", d.WorkingVersion()),
			"give each entry of spec.versions a schema.openAPIV3Schema",
		)
		return scaffold.Project{}, findings
	}
	_, hasSpec := known.Properties["spec"]
	p := scaffold.Project{
		Name: o.Name, Namespace: o.Namespace, Tool: o.Tool,
		API: scaffold.API{
			Group: spec.Group, Kind: spec.Names.Kind, Plural: spec.Names.Plural, Version: d.WorkingVersion(),
			Cluster: spec.Scope == apiextensionsv1.ClusterScoped, CRD: crdFile, Existing: !o.Own,
			NoSpec: !hasSpec && len(known.Properties) > 0,
		},
		Files: []scaffold.File{{Path: crdFile, Data: []byte(strings.TrimLeft(string(chosen), "\n"))}},
	}
	return p, findings
}

// choose returns the document with the CustomResourceDefinition of a kind, or the
// whole file if no kind is named.
func choose(name string, data []byte, kind string) ([]byte, diag.List) {
	var findings diag.List
	var kinds []string
	for _, doc := range documents(data) {
		var crd apiextensionsv1.CustomResourceDefinition
		if yaml.Unmarshal(doc, &crd) != nil || crd.Kind != "CustomResourceDefinition" {
			continue // reading the file reports its errors
		}
		if kinds = append(kinds, crd.Spec.Names.Kind); crd.Spec.Names.Kind == kind {
			return doc, nil
		}
	}
	slices.Sort(kinds)
	switch {
	case kind != "" && len(kinds) > 0:
		findings.Add(
			diag.Position{File: name},
			diag.WrongKind,
			fmt.Sprintf("%s contains no CustomResourceDefinition of the kind %s", name, kind),
			"write --kind "+source.Either(kinds),
		)
	case len(kinds) > 1:
		findings.Add(diag.Position{File: name}, diag.WrongKind, fmt.Sprintf("%s contains %d CustomResourceDefinitions", name, len(kinds)),
			"choose one: --kind "+source.Either(kinds))
	}
	return data, findings
}

// documents returns the YAML documents of a file, each preceded by as many empty
// lines as precede it in the file, so that findings have the right line.
func documents(data []byte) [][]byte {
	lines := strings.SplitAfter(string(data), "\n")
	var out [][]byte
	start := 0
	for i, line := range append(lines, "---\n") {
		if strings.TrimRight(line, " \t\r\n") != "---" {
			continue
		}
		out = append(out, []byte(strings.Repeat("\n", start)+strings.Join(lines[start:i], "")))
		start = min(i+1, len(lines))
	}
	return out
}

// read validates a CustomResourceDefinition as the definition that refers to it
// will.
func read(name string, data []byte) (*definition.Definition, diag.List) {
	base := path.Base(name)
	text := fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: name}
spec:
  api: {crd: {file: %q%s}}
  children: [{name: child, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]
`, base, version(data))
	definitions, findings := definition.Parse(source.Input{
		Name: path.Join(path.Dir(name), "operator.yaml"), Data: []byte(text), Dir: fstest.MapFS{base: &fstest.MapFile{Data: data}},
	})
	for i, f := range findings {
		if f.File != name { // of the generated definition
			findings[i].Position = diag.Position{File: name}
			if f.Code == diag.MissingKey {
				findings[i].Message, findings[i].Hint = "the CustomResourceDefinition serves no version", ""
			}
		}
		if f.Code == diag.WrongAPIVersion {
			findings[i].Hint = "a cluster that has it prints it in the current version: kubectl get crd NAME -o yaml"
		}
	}
	if len(definitions) == 0 {
		return nil, findings
	}
	return definitions[0], findings
}

// version returns the version to use if the storage version is not served: the
// first served one.
func version(data []byte) string {
	var crd apiextensionsv1.CustomResourceDefinition
	if yaml.Unmarshal(data, &crd) != nil {
		return ""
	}
	first := ""
	for _, v := range crd.Spec.Versions {
		switch {
		case v.Served && v.Storage:
			return ""
		case v.Served && first == "":
			first = ", version: " + v.Name
		}
	}
	return first
}
