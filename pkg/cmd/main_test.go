package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/argoperator/argoperator/pkg/internal/testing/apiservertest"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
	"github.com/argoperator/argoperator/pkg/internal/testing/pythontest"
)

// TestMain makes the command available to the scripts.
func TestMain(m *testing.M) {
	testscript.Main(withPython{m}, map[string]func(){"argoperator": asMain, "kubectl-argoperator": asMain})
}

// withPython runs the tests with a python3 that is cheap to start.
type withPython struct{ *testing.M }

func (m withPython) Run() int {
	defer pythontest.Start()()
	return m.M.Run()
}

// asMain runs the command as cmd/argoperator does.
func asMain() {
	os.Exit(Run(os.Args, os.Stdin, os.Stdout, os.Stderr)) //revive:disable-line:deep-exit // testscript runs it as a main function
}

// TestScripts runs testdata/script: each file covers one behavior of the command
// line.
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts("../../testdata/script", goldenfile.Update()))
}

// scripts returns how to run the scripts in dir. The command "golden FILE WANT" compares
// a file with one of the script, as cmp does, and update rewrites the latter. What cmp
// and the other commands require is a behavior, which nothing rewrites.
func scripts(dir string, update bool) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"apiserver": apiServer,
			"golden": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 2 {
					ts.Fatalf("usage: golden FILE WANT")
				}
				golden(ts, filepath.Join(dir, ts.Name()+".txtar"), args[0], args[1], update)
			},
		},
		Setup: func(env *testscript.Env) error {
			env.Values[servers{}] = &started{}
			root, err := os.Getwd()
			env.Setenv("ROOT", root+"/../..")
			return err
		},
	}
}

// golden compares a file with another one, which is part of the script.
func golden(ts *testscript.TestScript, script, file, want string, update bool) {
	got := ts.ReadFile(file)
	diff := cmp.Diff(ts.ReadFile(want), got)
	switch {
	case diff == "":
	case update:
		ts.Check(rewrite(ts, script, ts.MkAbs(want), got))
		ts.Check(os.WriteFile(ts.MkAbs(want), []byte(got), 0o600))
	default:
		ts.Fatalf("%s and %s differ (-want +got); UPDATE=1 rewrites it:\n%s", file, want, diff)
	}
}

// rewrite replaces the content of one file of a script.
func rewrite(ts *testscript.TestScript, script, path, content string) error {
	archive, err := txtar.ParseFile(script)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return filepath.Join(ts.Getenv("WORK"), f.Name) == path })
	if i < 0 || txtar.NeedsQuote([]byte(content)) {
		return fmt.Errorf("%s cannot have this content in %s", path, script)
	}
	archive.Files[i].Data = []byte(content)
	return os.WriteFile(script, txtar.Format(archive), 0o600)
}

// TestScriptsUpdate requires that an update rewrites goldens, and that it leaves a wrong
// behavior red.
func TestScriptsUpdate(t *testing.T) {
	for _, tt := range []struct {
		name, code, check string
		passes            bool
		want              string
	}{
		{"an output", "0", "golden stdout want.txt", true, "new"},
		{"an exit code", "1", "golden stdout want.txt", false, "old"},
		{"a behavior as text", "0", "cmp stdout want.txt", false, "old"},
		{"a behavior as pattern", "0", "stdout old", false, "old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.txtar")
			before := "exec sh -c 'echo new; exit " + tt.code + "'\n" + tt.check + "\n-- want.txt --\n"
			if err := os.WriteFile(file, []byte(before+"old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			run := &recorder{T: t}
			testscript.RunT(run, scripts(dir, true))
			after, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if run.failed == tt.passes || string(after) != before+tt.want+"\n" {
				t.Errorf("failed %t, and the script became:\n%s", run.failed, after)
			}
		})
	}
}

// recorder is the test that a script belongs to, which may fail.
type recorder struct {
	*testing.T
	failed bool
}

func (r *recorder) Run(_ string, script func(testscript.T)) {
	ended := make(chan struct{})
	go func() { // FailNow ends it
		defer close(ended)
		script(r)
	}()
	<-ended
}
func (r *recorder) Parallel()     {}
func (r *recorder) Log(...any)    {}
func (r *recorder) Verbose() bool { return false }
func (r *recorder) FailNow()      { r.failed = true; runtime.Goexit() }
func (r *recorder) Fatal(...any)  { r.FailNow() }
func (r *recorder) Skip(...any)   { runtime.Goexit() }

// servers is the key of the started API server of a script.
type servers struct{}

type started struct{ *apiservertest.Server }

// apiServer is a command of the scripts. "apiserver start SCRIPT" plays an API server
// until the end of the script and sets KUBECONFIG; "apiserver requests FILE" writes the
// requests that the last one got.
func apiServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: apiserver start SCRIPT, or apiserver requests FILE")
	}
	file := ts.MkAbs(args[1])
	if args[0] == "requests" {
		ts.Check(os.WriteFile(file, []byte(strings.Join(ts.Value(servers{}).(*started).Requests(), "\n")+"\n"), 0o600))
		return
	}
	data, err := os.ReadFile(file)
	ts.Check(err)
	var script apiservertest.Script
	ts.Check(json.Unmarshal(data, &script))
	server := apiservertest.Start(script)
	ts.Defer(server.Close)
	ts.Value(servers{}).(*started).Server = server
	kubeconfig := ts.MkAbs("kubeconfig")
	ts.Check(server.Kubeconfig(kubeconfig, "team"))
	ts.Setenv("KUBECONFIG", kubeconfig)
}
