package process

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// install writes an executable file.
func install(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestFind requires that a project never decides which program runs, whatever PATH has.
func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have extensions")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(path string) string { return filepath.Join(dir, path) }
	for _, place := range []string{"project/git", "project/bin/git", "project/only/kubectl", "system/git", "home/bin/git"} {
		install(t, in(place))
	}
	if err := os.Symlink(in("project/bin"), in("linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("project"), in("alias")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(in("project"))
	for _, tt := range []struct {
		name, path string
		projects   []string
		program    string
		want       string // empty: not found
		place      string // where only the project has it
	}{
		{"a directory of the system", in("system"), []string{in("project")}, "git", in("system/git"), ""},
		{"the first directory", in("home/bin") + ":" + in("system"), []string{in("project")}, "git", in("home/bin/git"), ""},
		{"the working directory", ".:" + in("system"), nil, "git", in("system/git"), ""},
		{"an empty entry", ":" + in("system"), nil, "git", in("system/git"), ""},
		{"a relative directory", "bin:" + in("system"), nil, "git", in("system/git"), ""},
		{"a directory of the project", in("project/bin") + ":" + in("system"), []string{in("project")}, "git", in("system/git"), ""},
		{"the project itself", in("project") + ":" + in("system"), []string{in("project")}, "git", in("system/git"), ""},
		{"a path with dots", in("system/../project/bin") + ":" + in("system"), []string{in("project")}, "git", in("system/git"), ""},
		{"a link into the project", in("linked") + ":" + in("system"), []string{in("project")}, "git", in("system/git"), ""},
		{"a link to the project", in("alias/bin") + ":" + in("system"), []string{in("project")}, "git", in("system/git"), ""},
		{"a project named by a link", in("project/bin") + ":" + in("system"), []string{in("alias")}, "git", in("system/git"), ""},
		{"a relative project", in("project/bin") + ":" + in("system"), []string{"."}, "git", in("system/git"), ""},
		{"a directory that begins as the project", in("home/bin"), []string{in("ho")}, "git", in("home/bin/git"), ""},
		{"only in the project", in("project/only") + ":" + in("system"), []string{in("project")}, "kubectl", "", in("project/only/kubectl")},
		{"only in a relative directory", "only", nil, "kubectl", "", in("project/only/kubectl")},
		{"nowhere", in("system"), nil, "kubectl", "", ""},
		{"no PATH", "", nil, "git", "", ""},
		{"a path in place of a name", in("system"), nil, "./git", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := NewPath(tt.path, tt.projects...)
			got, err := p.Find(tt.program)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
			var missing *MissingError
			if err != nil && (!errors.As(err, &missing) || missing.Place != tt.place || !errors.Is(err, ErrNotFound)) {
				t.Errorf("got %#v, want place %q", err, tt.place)
			}
			for _, dir := range filepath.SplitList(p.String()) {
				if !filepath.IsAbs(dir) || tt.projects != nil && strings.HasPrefix(resolved(dir), in("project")) {
					t.Errorf("processes find programs in %s", dir)
				}
			}
		})
	}
}

// TestCommandEnvironment requires that the processes of a program use the same path.
func TestCommandEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have extensions")
	}
	dir := t.TempDir()
	install(t, filepath.Join(dir, "kubectl"))
	install(t, filepath.Join(dir, "git"))
	for name, value := range map[string]string{"GIT_DIR": "/evil", "GIT_SSH_COMMAND": "evil", "GIT_EXTERNAL_DIFF": "evil", "GIT_CONFIG_COUNT": "0"} {
		t.Setenv(name, value)
	}
	p := NewPath("relative:" + dir)
	cmd, err := p.Command(t.Context(), Kubectl, "version")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(cmd.Env, "PATH="+dir) || !slices.Contains(cmd.Env, "GIT_DIR=/evil") {
		t.Errorf("got %q", cmd.Env)
	}
	cmd, err = p.Command(t.Context(), Git, "ls-tree", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range cmd.Env {
		if strings.Contains(pair, "evil") {
			t.Errorf("git gets %s", pair)
		}
	}
	if !slices.Contains(cmd.Env, "GIT_CONFIG_COUNT=0") {
		t.Error("git does not get the settings of the user")
	}
	if end := cmd.Args[len(cmd.Args)-2:]; !slices.Equal(end, []string{"ls-tree", "HEAD"}) || !slices.Contains(cmd.Args, "safe.bareRepository=explicit") {
		t.Errorf("got %q", cmd.Args)
	}
}

// TestUsesAreExplained requires a reason for each program.
func TestUsesAreExplained(t *testing.T) {
	for _, u := range Uses() {
		if u.Program == "" || u.Commands == "" || u.For == "" || u.ChosenBy == "" {
			t.Errorf("%+v is incomplete", u)
		}
	}
}
