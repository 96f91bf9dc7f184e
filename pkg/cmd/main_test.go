package cmd

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
		Setup: func(env *testscript.Env) error {
			root, err := os.Getwd()
			env.Setenv("ROOT", root+"/../..")
			return err
		},
	})
}
