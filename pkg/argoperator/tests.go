package argoperator

import (
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// Test is one test of an operator; package testsuite runs it.
type Test = *definition.Test

// ParseTests parses the tests of one file. The source's directory is that of the
// operator, and paths may not lead out of it; base is the file's directory within
// it, "." at the top. Tests with an error are left out and reported as findings.
func ParseTests(source Source, base string) ([]Test, diag.List) {
	return definition.ParseTests(source, base)
}
