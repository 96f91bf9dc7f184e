// Package lint checks manifests that argoperator did not generate: those of Argo
// Events and Argo Workflows, with the roles, ConfigMaps and
// CustomResourceDefinitions that belong to them.
//
// The rule of this package: an object that is not among the files may exist in the
// cluster, so no rule reports it as missing. Findings that a comment or the
// configuration accepts are left out.
package lint

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/internal/source"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Holds tells whether a file holds an object that a rule is about. A file that
// is not legal YAML holds what it can be seen to name, unless it was only found
// in a directory and is a template.
func Holds(in source.Input) bool {
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

// subject is an object that rules are about, and where it stands.
type subject struct {
	file    string
	written source.Object
	object  manifest.Object
}

// judged is a problem of an object as a finding.
type judged struct {
	diag.Finding
	in   source.Object
	path string
}

// Manifests judges the objects of files together. What is not among them may be
// in the cluster: nothing is said about it. The configuration may be nil.
func Manifests(files []source.Input, config *Config) (diag.List, error) {
	all, err := judge(files, config)
	return all.findings, err
}

// judgement is all that there is to say of files.
type judgement struct {
	findings diag.List       // those that count
	problems []judged        // all
	broken   map[string]bool // files that cannot be read as a whole
}

func judge(files []source.Input, config *Config) (judgement, error) {
	var findings diag.List
	var problems []judged
	var subjects []subject
	broken := map[string]bool{}
	for _, file := range files {
		objects, found := source.Objects(file, source.NotEmpty)
		findings = append(findings, found...)
		broken[file.Name] = found.HasErrors()
		for _, o := range objects {
			one, wrong, err := newSubject(file.Name, o)
			if err != nil {
				return judgement{}, err
			}
			for _, p := range wrong {
				problems = append(problems, newJudged(o, p))
			}
			if one.object != nil {
				subjects = append(subjects, one)
			}
		}
	}
	list := make([]manifest.Object, len(subjects))
	for i, s := range subjects {
		list[i] = s.object
	}
	for i, wrong := range Foreign(list, config.targets()) {
		for _, p := range wrong {
			problems = append(problems, newJudged(subjects[i].written, p))
		}
	}
	for _, p := range problems {
		findings = append(findings, p.Finding)
	}
	return judgement{accepted(files, subjects, config.apply(findings, subjects)).Sorted(), problems, broken}, nil
}

func newSubject(file string, o source.Object) (subject, []problem.Problem, error) {
	data, err := json.Marshal(o.Fields)
	if err != nil {
		return subject{}, nil, fmt.Errorf("encoding an object of %s: %w", file, err)
	}
	object, problems := Decode(schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind")), data)
	return subject{file: file, written: o, object: object}, problems, nil
}

// newJudged is a problem at the key of the field that it is about.
func newJudged(o source.Object, p problem.Problem) judged {
	severity := diag.Error
	if p.Warning {
		severity = diag.Warning
	}
	f := diag.Finding{Position: o.KeyPosition(p.Path), Severity: severity, Code: p.Code, Message: p.Message, Hint: p.Hint}
	return judged{f, o, p.Path}
}
