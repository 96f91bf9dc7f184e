package argoperator

import (
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
)

// Test is one test of an operator; package testsuite runs it.
type Test = *definition.Test

// ParseTests reads the tests of one file. The source's directory is that of the
// operator, out of which no path leads; base is where the file is in it, "." at
// the top. What is wrong is in the findings; a test with an error is left out.
func ParseTests(source Source, base string) ([]Test, diag.List) {
	return definition.ParseTests(source, base)
}
