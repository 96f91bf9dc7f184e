package place

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestLinks requires that nothing is written where a link of a project leads, whichever part
// of the path it is.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need permissions")
	}
	for _, tt := range []struct {
		name, link, target string // below the project; the target may be outside
		path               string
		refused            bool
	}{
		{"no link", "", "", "out/a.yaml", false},
		{"a new directory", "", "", "out/new/more/a.yaml", false},
		{"the file", "out/a.yaml", "../../victim/a.yaml", "out/a.yaml", true},
		{"a new file by a link", "out/a.yaml", "../../victim/new.yaml", "out/a.yaml", true},
		{"the directory", "manifests", "../victim", "manifests/a.yaml", true},
		{"a directory above", "more", "../victim", "more/deep/a.yaml", true},
		{"a link within the project", "manifests", "out", "manifests/a.yaml", true},
		{"an absolute link", "manifests", "VICTIM", "manifests/a.yaml", true},
		{"a link to nothing", "manifests", "../victim/new", "manifests/a.yaml", true},
		{"an absolute path", "manifests", "../victim", "PROJECT/manifests/a.yaml", true},
		{"a path with dots", "manifests", "../victim", "out/../manifests/a.yaml", true},
		{"a path from a sibling", "manifests", "../victim", "../project/manifests/a.yaml", true},
		{"another directory of the project", "../shared", "victim", "../shared/a.yaml", true},
		{"the working directory is a link", "", "", "out/a.yaml", false},
		{"a directory above the working directory is a link", "", "", "../project/out/a.yaml", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			project, victim := filepath.Join(dir, "project"), filepath.Join(dir, "victim")
			alias := filepath.Join(t.TempDir(), "alias")
			for _, err := range []error{
				os.MkdirAll(filepath.Join(project, "out"), 0o755), os.Mkdir(victim, 0o755), os.Symlink(project, alias),
				os.WriteFile(filepath.Join(victim, "a.yaml"), []byte("victim"), 0o600),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			fill := func(text string) string {
				for name, value := range map[string]string{"VICTIM": victim, "PROJECT": project} {
					if len(text) >= len(name) && text[:len(name)] == name {
						text = value + text[len(name):]
					}
				}
				return text
			}
			switch tt.name {
			case "the working directory is a link":
				t.Chdir(alias)
			case "a directory above the working directory is a link":
				if err := errors.Join(os.Remove(alias), os.Symlink(dir, alias)); err != nil {
					t.Fatal(err)
				}
				t.Chdir(filepath.Join(alias, "project"))
			default:
				t.Chdir(project)
			}
			if tt.link != "" {
				if err := os.Symlink(fill(tt.target), tt.link); err != nil {
					t.Fatal(err)
				}
			}
			for name, write := range map[string]func(string, []byte) error{"Replace": Replace, "Create": Create} {
				err := write(fill(tt.path), []byte(name))
				if refused := err != nil; refused != tt.refused {
					t.Errorf("%s: %v", name, err)
				}
				if name == "Replace" && tt.refused && !errors.As(err, new(*LinkError)) {
					t.Errorf("%s: %v is not a LinkError", name, err)
				}
				if data, err := os.ReadFile(filepath.Join(victim, "a.yaml")); string(data) != "victim" {
					t.Errorf("%s wrote %s, %v", name, data, err)
				}
				if found, _ := os.ReadDir(victim); len(found) != 1 {
					t.Errorf("%s left %v", name, found)
				}
				if !tt.refused {
					if err := os.Remove(fill(tt.path)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// TestRace requires that a directory that is replaced by a link again and again never lets a
// file out.
func TestRace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need permissions")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, err := range []error{os.Mkdir("victim", 0o755), os.Mkdir("project", 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("project")
	done := make(chan struct{})
	swapped := make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-done:
				swapped <- n
				return
			default:
				if os.RemoveAll("out") == nil && os.Symlink("../victim", "out") == nil {
					n++
				}
				if os.RemoveAll("out") == nil {
					_ = os.Mkdir("out", 0o755)
				}
			}
		}
	}()
	written, refused := 0, 0
	for range 2000 {
		if err := Replace("out/a.yaml", []byte("x")); err == nil {
			written++
		} else {
			refused++
		}
	}
	close(done)
	if n := <-swapped; n == 0 || written == 0 || refused == 0 {
		t.Errorf("%d swaps, %d written, %d refused: nothing was tried", n, written, refused)
	}
	if found, err := os.ReadDir("../victim"); err != nil || len(found) > 0 {
		t.Errorf("written through a link: %v %v", found, err)
	}
}

// TestReplace requires that the permissions of a file stay, and that a failure leaves no
// temporary file.
func TestReplace(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace("a", []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("a")
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if err := os.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Replace("dir", nil); err == nil {
		t.Error("replaced a directory")
	}
	if err := Create("a", nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	if found, _ := os.ReadDir("."); len(found) != 2 {
		t.Errorf("left %v", found)
	}
}
