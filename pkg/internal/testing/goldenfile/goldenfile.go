// Package goldenfile compares results of tests with files.
//
// The rule of this package: UPDATE=1 rewrites outputs, which are reviewed as a diff; what a
// test requires otherwise is never rewritten.
package goldenfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update reports whether tests rewrite the files.
func Update() bool { return os.Getenv("UPDATE") != "" }

// Compare fails the test if a file has other content than got. UPDATE=1 rewrites the file.
func Compare(t testing.TB, file, got string) {
	t.Helper()
	if Update() {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; UPDATE=1 rewrites it):\n%s", file, diff)
	}
}
