package argoperator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/diff"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/operator/rights"
)

// Baseline is what operators are compared with.
type Baseline struct {
	objects   []map[string]any
	operators []Operator // none if it was read from manifests
}

// Earlier returns what earlier sources say: the operators that they define, or the
// objects in them if they define none.
func Earlier(sources []Source, options Options) (Baseline, diag.List, error) {
	if slices.ContainsFunc(sources, Defines) {
		options.earlier = true
		result, err := Generate(sources, options)
		if err != nil || result.Findings.HasErrors() {
			return Baseline{}, result.Findings, err
		}
		objects, err := result.fields()
		return Baseline{objects, result.Operators}, nil, err
	}
	var out []map[string]any
	var findings diag.List
	for _, file := range sources {
		objects, found := source.Objects(file, source.NotEmpty)
		findings = append(findings, found...)
		for _, o := range objects {
			if o.Text("kind") != "" && o.Text("apiVersion") != "" && !strings.HasSuffix(o.Text("apiVersion"), ".config.k8s.io/v1beta1") {
				out = append(out, o.Fields)
			}
		}
	}
	if len(out) == 0 && !findings.HasErrors() {
		findings.Add(
			diag.Position{File: nameOf(sources)},
			diag.NoDefinition,
			"nothing to compare with",
			"use --against with definitions or generated manifests",
		)
	}
	return Baseline{objects: out}, findings, nil
}

// definitionPattern matches the apiVersion of argoperator's own kinds.
var definitionPattern = regexp.MustCompile(`(?m)^[\s{]*"?apiVersion"?:\s*"?argoperator\.dev/`)

// Defines reports whether a source contains a definition, valid or not.
func Defines(source Source) bool {
	return bytes.Contains(source.Data, []byte("argoperator.dev/")) && definitionPattern.Match(source.Data)
}

func (r Result) fields() ([]map[string]any, error) {
	var out []map[string]any
	for _, o := range r.Objects() {
		fields, err := output.Fields(o)
		if err != nil {
			return nil, err
		}
		out = append(out, fields)
	}
	return out, nil
}

// Comparison is what operators change.
type Comparison struct {
	Definitions []diff.Difference // if the earlier operators are definitions, too
	Objects     []diff.Change
	Permissions []rights.Change // of every account, the most dangerous first
	Findings    diag.List       // for each change of a kind that breaks clients, and each child whose objects are concerned
}

// Compare returns the changes between earlier objects and those of the operators.
func (r Result) Compare(earlier Baseline) (Comparison, error) {
	now, err := r.fields()
	if err != nil {
		return Comparison{}, err
	}
	var out Comparison
	if out.Objects, err = diff.Objects(earlier.objects, now); err != nil {
		return Comparison{}, err
	}
	if out.Permissions, err = rights.Compare(earlier.objects, now); err != nil {
		return Comparison{}, fmt.Errorf("comparing permissions: %w", err)
	}
	for _, o := range r.Operators {
		wrong, err := o.breakingChanges(earlier.objects)
		if err != nil {
			return Comparison{}, err
		}
		out.Findings = append(out.Findings, wrong...)
		out.Findings = append(out.Findings, o.changedOperator(earlier.operators)...)
		out.Findings = append(out.Findings, o.changedChildren(earlier.operators)...)
		changes, err := o.changedDefinition(earlier.operators)
		if err != nil {
			return Comparison{}, err
		}
		out.Definitions = append(out.Definitions, changes...)
	}
	out.Findings = out.Findings.Sorted()
	return out, nil
}

// changedDefinition returns where the definition differs from the earlier one of its name.
func (o Operator) changedDefinition(earlier []Operator) ([]diff.Difference, error) {
	for _, before := range earlier {
		if before.Name != o.Name {
			continue
		}
		renamed := map[string]string{}
		for _, child := range before.plan.Children {
			if hasChild(o.plan.Children, child.Name) {
				continue
			}
			if i := o.renamed(before, child); i >= 0 {
				renamed[child.Name] = o.plan.Children[i].Name
			}
		}
		old, err := before.written()
		if err != nil {
			return nil, err
		}
		now, err := o.written()
		return diff.Definitions(o.Name, old, now, renamed), err
	}
	return nil, nil
}

// written returns the definition as its fields, with the files of its logic.
func (o Operator) written() (map[string]any, error) {
	data, err := json.Marshal(o.definition.Operator)
	if err != nil {
		return nil, fmt.Errorf("encoding the definition: %w", err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("reading the definition: %w", err)
	}
	files := map[string]any{}
	for _, f := range o.definition.Files {
		files[f.Path] = f.Content
	}
	if len(files) > 0 {
		out["files"] = files
	}
	return out, nil
}

// observedState is the path of the operator's observed state, which no client
// reads.
const observedState = "^.status.children"

// breakingChanges compares the operator's own kind with an earlier CRD.
func (o Operator) breakingChanges(earlier []map[string]any) (diag.List, error) {
	var findings diag.List
	for _, object := range o.Objects {
		now, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			continue
		}
		before, err := crdNamed(now.Name, earlier)
		if err != nil || before == nil {
			return nil, err
		}
		breaks, err := diff.Breaks(before, now)
		if err != nil {
			return nil, err
		}
		for _, b := range breaks {
			if !strings.HasPrefix(b.Path, observedState) {
				findings = append(findings, o.breakingChange(now, b))
			}
		}
	}
	return findings, nil
}

func crdNamed(name string, objects []map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	for _, o := range objects {
		if o["kind"] != "CustomResourceDefinition" {
			continue
		}
		data, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("encoding an earlier object: %w", err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if json.Unmarshal(data, &crd) == nil && crd.Name == name {
			return &crd, nil
		}
	}
	return nil, nil
}

// breakingChange returns a finding at the field's position in the definition, or
// close to it.
func (o Operator) breakingChange(crd *apiextensionsv1.CustomResourceDefinition, b diff.Break) diag.Finding {
	path := []string{"spec", "api"}
	version := b.Version[strings.LastIndex(b.Version, " ")+1:]
	for i, v := range crd.Spec.Versions {
		if v.Name == version {
			path = append(path, "versions", strconv.Itoa(i), "schema")
			path = append(path, strings.FieldsFunc(strings.TrimPrefix(b.Path, "^."), func(r rune) bool { return r == '.' })...)
		}
	}
	f := diag.Finding{Position: o.definition.Position(path...), Severity: diag.Error, Code: diag.BreakingChange, Message: b.Message}
	if b.Warning || strings.HasPrefix(b.Path, "^.status") { // only the operator writes it
		f.Severity = diag.Warning
	}
	if at := strings.TrimPrefix(b.Path, "^"); at != "" {
		f.Message = at + ": " + f.Message
	}
	if b.Version != "" {
		f.Message = b.Version + ": " + f.Message
	}
	f.Hint = "add a version with the new schema and keep serving this one"
	if strings.Contains(b.Version, " -> ") {
		f.Hint = "let both versions permit it, or stop serving one: the API server converts nothing"
	}
	if b.Warning {
		f.Hint = "if all custom resources stay valid, ignore this; otherwise " + f.Hint
	}
	return f
}
