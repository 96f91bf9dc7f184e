package goldenfile

import (
	"os"
	"path/filepath"
	"testing"
)

// failures is a test that counts its errors instead of failing.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.count++ }

func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "file")
	for _, step := range []struct {
		update, got, want string
		fails             int
	}{
		{update: "1", got: "a", want: "a"},
		{got: "a", want: "a"},
		{got: "b", want: "a", fails: 1},
		{update: "1", got: "b", want: "b"},
	} {
		t.Setenv("UPDATE", step.update)
		f := &failures{TB: t}
		Compare(f, file, step.got)
		data, err := os.ReadFile(file)
		if err != nil || string(data) != step.want || f.count != step.fails {
			t.Errorf("%+v: %q, %d failures, %v", step, data, f.count, err)
		}
	}
}
