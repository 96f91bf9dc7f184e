package cmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/argoperator/argoperator/pkg/internal/testing/apiservertest"
)

// TestMain makes the command available to the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"argoperator": process, "kubectl-argoperator": process})
}

// process runs the command as cmd/argoperator does.
func process() {
	os.Exit(Run(os.Args, os.Stdin, os.Stdout, os.Stderr)) //revive:disable-line:deep-exit // testscript runs it as a main function
}

// TestScripts runs testdata/script: each file covers one behavior of the command
// line. UPDATE=1 rewrites the expected output in them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"apiserver": apiServer},
		Setup: func(env *testscript.Env) error {
			env.Values[servers{}] = &started{}
			root, err := os.Getwd()
			env.Setenv("ROOT", root+"/../..")
			return err
		},
	})
}

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
