// Package lint judges manifests that somebody else has written: those of Argo
// Events and Argo Workflows, with the roles, ConfigMaps and definitions of kinds
// that belong to them.
//
// The rule of this room: pkg/check knows what is wrong; here it becomes findings
// at a line of a file, less those that a comment or the configuration accepts.
package lint

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/check"
	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Rules are what is looked for, in the order of the documentation.
func Rules() []check.Rule { return check.Rules() }

// Holds tells whether a file holds an object that a rule is about. A file that
// is not legal YAML holds what it can be seen to name, unless it was only found
// in a directory and is a template.
func Holds(in definition.Input) bool {
	if in.Lenient && strings.Contains(string(in.Data), "{{-") {
		return false
	}
	in.Lenient = true
	objects, found := definition.Objects(in, notEmpty)
	for _, o := range objects {
		if o.Group() == argo || strings.HasSuffix(o.Group(), "rbac.authorization.k8s.io") {
			return true
		}
	}
	return found.HasErrors() && strings.Contains(string(in.Data), "apiVersion: "+argo+"/")
}

const argo = "argoproj.io"

func notEmpty(text []byte) bool { return len(strings.TrimSpace(string(text))) > 0 }

// subject is an object that rules are about, and where it stands.
type subject struct {
	file    string
	written definition.Object
	object  manifest.Object
}

// Manifests judges the objects of files together. What is not among them may be
// in the cluster: nothing is said about it. The configuration may be nil.
func Manifests(files []definition.Input, config *Config) (diag.List, error) {
	var findings diag.List
	var subjects []subject
	for _, file := range files {
		objects, found := definition.Objects(file, notEmpty)
		findings = append(findings, found...)
		for _, o := range objects {
			one, problems, err := newSubject(file.Name, o)
			if err != nil {
				return nil, err
			}
			for _, p := range problems {
				findings = append(findings, finding(o, p))
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
	for i, problems := range check.Foreign(list, config.targets()) {
		for _, p := range problems {
			findings = append(findings, finding(subjects[i].written, p))
		}
	}
	return accepted(files, subjects, config.apply(findings, subjects)).Sorted(), nil
}

func newSubject(file string, o definition.Object) (subject, []check.Problem, error) {
	data, err := json.Marshal(o.Fields)
	if err != nil {
		return subject{}, nil, fmt.Errorf("encoding an object of %s: %w", file, err)
	}
	object, problems := check.Decode(schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind")), data)
	return subject{file: file, written: o, object: object}, problems, nil
}

// finding is a problem at the key of the field that it is about.
func finding(o definition.Object, p check.Problem) diag.Finding {
	severity := diag.Error
	if p.Warning {
		severity = diag.Warning
	}
	return diag.Finding{Position: o.KeyPosition(p.Path), Severity: severity, Code: p.Code, Message: p.Message, Hint: p.Hint}
}
