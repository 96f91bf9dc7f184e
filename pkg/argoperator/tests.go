package argoperator

import (
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Test is one test of an operator; package testsuite runs it.
type Test = *definition.Test

// ParseTests parses the tests of one file. The source's directory is that of the
// operator, and paths may not lead out of it; base is the file's directory within
// it, "." at the top. Tests with an error are left out and reported as findings.
func ParseTests(source Source, base string) ([]Test, diag.List) {
	return definition.ParseTests(source, base)
}

// AppliedByTests returns the definitions that steps of the tests in a file apply, as paths relative
// to the file.
func AppliedByTests(source Source) []string { return definition.AppliedByTests(source) }

// Objects reads the objects of files, such as those that exist in a cluster. An object
// without apiVersion, kind or name is a finding.
func Objects(sources []Source) ([]source.Object, diag.List) {
	var out []source.Object
	var findings diag.List
	for _, file := range sources {
		objects, found := source.Objects(file, source.NotEmpty)
		findings = append(findings, found...)
		if len(objects) == 0 && !found.HasErrors() {
			findings.Add(diag.Position{File: file.Name}, diag.WrongKind, "the file contains no object", "write an object into it")
		}
		for _, o := range objects {
			if missing := definition.MissingName(o.Fields); missing != "" {
				findings.Add(o.At(nil), diag.MissingKey, "the object "+missing, "")
			}
			out = append(out, o)
		}
	}
	return out, findings
}
