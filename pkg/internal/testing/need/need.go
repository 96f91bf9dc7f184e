// Package need skips the tests whose program is not installed.
//
// The rule of this package: a skip ends with the words that .ci/missing looks for.
package need

import (
	"os/exec"
	"testing"
)

// Program returns the path of a program. It skips the test if there is none.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on the PATH", name)
	}
	return path
}
