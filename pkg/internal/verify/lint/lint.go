// Package lint checks manifests that argoperator did not generate: those of Argo
// Events and Argo Workflows, with their roles, ConfigMaps and
// CustomResourceDefinitions.
//
// The rule of this package: an object that is not among the files may exist in the
// cluster, so no rule reports it as missing. Comments and the configuration can
// suppress findings.
package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint/accept"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// ContainsManifest reports whether a file contains an object that a rule checks.
// For invalid YAML it searches for the apiVersion, except in templates found in a
// directory.
func ContainsManifest(in source.Input) bool {
	if in.Lenient && strings.Contains(string(in.Data), "{{-") {
		return false
	}
	in.Lenient = true
	objects, found := source.Objects(in, source.NotEmpty)
	for _, o := range objects {
		if o.Group() == argo.Group || o.Group() == "rbac.authorization.k8s.io" {
			return true
		}
	}
	return found.HasErrors() && strings.Contains(string(in.Data), "apiVersion: "+argo.Group+"/")
}

// IsList reports whether a file consists of lists of objects, as kubectl prints them.
func IsList(in source.Input) bool { return source.IsList(in) }

// subject is an object to check and its source.
type subject struct {
	file    string
	written source.Object
	object  manifest.Object
}

// located is a problem of an object as a finding.
type located struct {
	diag.Finding
	in   subject
	path string
}

// Manifests checks the objects of all files together. Objects that are not in the
// files may be in the cluster and are not reported. The configuration may be nil.
func Manifests(files []source.Input, config *Config) (diag.List, error) {
	all, err := run(files, config)
	return all.findings, err
}

// results are all findings in a set of files.
type results struct {
	findings diag.List       // the reported ones
	problems []located       // those that the configuration allows
	broken   map[string]bool // files with invalid YAML
}

func run(files []source.Input, config *Config) (results, error) {
	var findings diag.List
	var problems []located
	var subjects []subject
	broken := map[string]bool{}
	for _, file := range files {
		objects, found := source.Objects(file, source.NotEmpty)
		findings = append(findings, found...)
		broken[file.Name] = found.HasErrors()
		for _, o := range objects {
			one, wrong, err := newSubject(file.Name, o)
			if err != nil {
				return results{}, err
			}
			problems = append(problems, one.locate(wrong)...)
			if one.object != nil {
				subjects = append(subjects, one)
			}
		}
	}
	list := make([]manifest.Object, len(subjects))
	for i, s := range subjects {
		list[i] = s.object
	}
	for i, wrong := range Objects(list, config.targets()) {
		problems = append(problems, subjects[i].locate(wrong)...)
	}
	problems = config.apply(problems)
	for _, p := range problems {
		findings = append(findings, p.Finding)
	}
	return results{withoutAccepted(files, subjects, findings).Sorted(), problems, broken}, nil
}

// withoutAccepted returns the findings that no comment in the files accepts.
func withoutAccepted(files []source.Input, subjects []subject, findings diag.List) diag.List {
	var options accept.Options
	for _, rule := range Rules() {
		options.Codes = append(options.Codes, rule.Code)
	}
	for _, s := range subjects {
		options.Objects = append(options.Objects, diag.Position{File: s.file, Line: s.written.Position("").Line})
	}
	var texts []accept.File
	for _, file := range files {
		texts = append(texts, accept.File{Name: file.Name, Data: file.Data})
	}
	return accept.Without(texts, findings, options)
}

func newSubject(file string, o source.Object) (subject, []problem.Problem, error) {
	data, err := json.Marshal(withoutServerFields(o.Fields))
	if err != nil {
		return subject{}, nil, fmt.Errorf("encoding an object of %s: %w", file, err)
	}
	object, problems := Decode(schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind")), data)
	return subject{file: file, written: o, object: object}, problems, nil
}

// locate returns problems of the object as findings at the keys of their fields. It drops
// what the user cannot change.
func (s subject) locate(problems []problem.Problem) []located {
	if isGenerated(s.written) {
		return nil
	}
	var out []located
	for _, p := range problems {
		if isAccepted(s.written) && slices.Contains([]string{CodeUnknownManifestField, CodeWrongFieldType, CodeInvalidManifest}, p.Code) {
			continue
		}
		severity := diag.Error
		if p.Warning {
			severity = diag.Warning
		}
		f := diag.Finding{Position: s.written.KeyPosition(p.Path), Severity: severity, Code: p.Code, Message: p.Message, Hint: p.Hint}
		if s.file == "-" {
			f.Object = nameOf(s.written)
		}
		out = append(out, located{f, s, p.Path})
	}
	return out
}
