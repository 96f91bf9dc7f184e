package argoperator

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// findingsOf returns the problems of emitted objects as findings about the fields
// of the definition that cause them. It returns an error if no field can cause a
// problem, which is a defect of argoperator.
func findingsOf(d *definition.Definition, problems []problem.Problem) (diag.List, error) {
	var findings diag.List
	for _, p := range problems {
		at := p.Object
		if p.Path != "" {
			at += " " + p.Path
		}
		path := origin(d, p)
		if path == nil {
			return nil, fmt.Errorf(
				"%s: %s [%s]: this is a defect of argoperator, please report it with the definition",
				at,
				p.Message,
				p.Code,
			)
		}
		findings.Add(d.Position(path...), p.Code, at+": "+p.Message, p.Hint)
	}
	return findings, nil
}

// origin returns the path of the definition's field that causes a problem; nil if
// no field can cause it.
func origin(d *definition.Definition, p problem.Problem) []string {
	spec := d.Operator.Spec
	kind, _, _ := strings.Cut(p.Object, "/")
	switch {
	case p.Code == problem.CodeCRD && spec.API.CRD != nil:
		return []string{"spec", "api", "crd", "file"}
	case p.Code == problem.CodeCRD:
		return append([]string{"spec", "api"}, crdOrigin(d, p.Segments())...)
	case kind == "ConfigMap":
		return []string{"spec", "logic", "files"}
	case p.Code == problem.CodeSize && strings.HasPrefix(p.Path, "metadata"):
		return []string{"metadata", "annotations"}
	case kind == "WorkflowTemplate" && spec.Logic != nil:
		return []string{"spec", "logic"}
	case p.Code == problem.CodeSize:
		return []string{"spec", "children"}
	}
	return nil
}

// crdOrigin maps a field of the CustomResourceDefinition to the path below api.
// The API server reports spec.validation and similar paths if all versions agree.
func crdOrigin(d *definition.Definition, path []string) []string {
	if len(path) < 2 || path[0] != "spec" {
		return nil
	}
	version, rest := "0", path[1:]
	if rest[0] == "versions" && len(rest) > 2 {
		version, rest = rest[1], rest[2:]
	}
	below := map[string]string{
		"additionalPrinterColumns": "columns", "selectableFields": "selectableFields", "scale": "scale",
		"deprecationWarning": "deprecationWarning", "served": "served", "storage": "storage", "name": "name",
	}
	base := []string{"versions", version}
	for i, part := range rest {
		if part == "openAPIV3Schema" {
			return append(base, schemaOrigin(d, version, rest[i+1:])...)
		}
		if key, ok := below[part]; ok {
			return append(append(base, key), rest[i+1:]...)
		}
	}
	if rest[0] == "names" && len(rest) > 1 {
		return []string{rest[1]}
	}
	if rest[0] == "versions" || rest[0] == "validation" {
		return base
	}
	return []string{rest[0]}
}

// schemaOrigin maps a path in a schema to the schema notation of the version.
func schemaOrigin(d *definition.Definition, version string, path []string) []string {
	i, err := strconv.Atoi(version)
	if err != nil || i >= len(d.Operator.Spec.API.Versions) {
		return nil
	}
	v := d.Operator.Spec.API.Versions[i]
	if len(path) > 0 && path[0] == "x-kubernetes-validations" && len(v.Validations) > 0 {
		return append([]string{"validations"}, path[1:]...)
	}
	if v.Schema == nil {
		return append([]string{"openAPIV3Schema"}, path...)
	}
	short := []string{"schema"}
	for j := 0; j+1 < len(path); j++ {
		if path[j] == "properties" {
			short = append(short, path[j+1])
			j++
		}
	}
	return short
}
