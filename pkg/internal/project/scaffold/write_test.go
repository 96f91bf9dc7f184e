package scaffold_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

var some = []scaffold.File{{Path: "a.yaml", Data: []byte("a")}, {Path: "dir/b.yaml", Data: []byte("b")}, {Path: "dir/sub/c.yaml", Data: []byte("c")}, {Path: ".d", Data: nil}}

// tree lists what is in a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); name != "." {
			out = append(out, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestWrite(t *testing.T) {
	for _, dir := range []string{".", "new", "new/deep/er"} {
		top := t.TempDir()
		place := filepath.Join(top, dir)
		if err := scaffold.Write(place, some); err != nil {
			t.Fatal(err)
		}
		want := []string{".d", "a.yaml", "dir", "dir/b.yaml", "dir/sub", "dir/sub/c.yaml"}
		if diff := cmp.Diff(want, tree(t, place)); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
		if data, _ := os.ReadFile(filepath.Join(place, "dir/sub/c.yaml")); string(data) != "c" {
			t.Errorf("%s: c.yaml holds %q", dir, data)
		}
	}
}

// obstacles are what may be there already.
func obstacles() []struct {
	name   string
	make   func(dir string) error
	before []string // what is there then
	want   []string // what is in the way
} {
	return []struct {
		name   string
		make   func(dir string) error
		before []string
		want   []string
	}{
		{
			name: "a file", make: func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("mine"), 0o600) },
			before: []string{"a.yaml"}, want: []string{"a.yaml"},
		},
		{
			name: "a file in a directory", make: func(dir string) error {
				return os.MkdirAll(filepath.Join(dir, "dir/sub/c.yaml"), 0o755)
			},
			before: []string{"dir", "dir/sub", "dir/sub/c.yaml"}, want: []string{"dir/sub/c.yaml"},
		},
		{
			name: "a file where a directory is needed", make: func(dir string) error { return os.WriteFile(filepath.Join(dir, "dir"), nil, 0o600) },
			before: []string{"dir"}, want: []string{"dir"},
		},
		{
			name: "a link that leads nowhere", make: func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, ".d")) },
			before: []string{".d"}, want: []string{".d"},
		},
		{
			name: "a link that leads out", make: func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, "dir")) },
			before: []string{"dir"}, want: []string{"dir"},
		},
		{
			name: "other files", make: func(dir string) error { return os.MkdirAll(filepath.Join(dir, "dir/other"), 0o755) },
			before: []string{"dir", "dir/other"},
		},
	}
}

func TestInTheWay(t *testing.T) {
	for _, tt := range obstacles() {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			taken, err := scaffold.InTheWay(dir, some)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range taken {
				relative, _ := filepath.Rel(dir, name)
				got = append(got, filepath.ToSlash(relative))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWriteLeavesNothing: what comes in between is not written over, and what
// was written before it goes again.
func TestWriteLeavesNothing(t *testing.T) {
	for _, tt := range obstacles() {
		if tt.want == nil || tt.name == "a link that leads out" { // that is for InTheWay to see
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			if err := scaffold.Write(dir, some); err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(tt.before, tree(t, dir)); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "a.yaml")); err == nil && string(data) != "mine" {
				t.Errorf("the file holds %q", data)
			}
		})
	}
}

func TestInTheWayOfADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := scaffold.InTheWay(file, some)
	if diff := cmp.Diff([]string{file}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := scaffold.InTheWay(filepath.Join(file, "below"), some); err == nil {
		t.Error("no error for a directory in a file")
	}
	if got, err := scaffold.InTheWay(filepath.Join(t.TempDir(), "new"), some); got != nil || err != nil {
		t.Error(got, err)
	}
}
