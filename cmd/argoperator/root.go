package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK       = 0
	exitFindings = 1 // findings or differences
	exitUsage    = 2 // wrong usage
	exitFailure  = 3 // our failure, or the machine's
)

// errFindings ends a command whose findings are printed already.
var errFindings = errors.New("findings")

// usageError is a command line that cannot be meant.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes one command line and returns its exit code.
func run(args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	command, err := root.ExecuteC()
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, new(usageError)):
		fmt.Fprintf(s.err, "argoperator: %v\nRun '%s --help' for usage.\n", err, command.CommandPath())
		return exitUsage
	default:
		fmt.Fprintf(s.err, "argoperator: %v\n", err)
		return exitFailure
	}
}

// newRoot lists the commands. To add one, write its file and a line here.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:         "argoperator",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: cmp.Or(s.name, "argoperator")},
		Short:       "Kubernetes operators from one short definition, carried by Argo Events and Argo Workflows",
		Long: `argoperator turns one short definition into everything a Kubernetes operator
needs: API, permissions, events and workflows, carried by stock Argo Events and
Argo Workflows. There is no controller to write and no image to build.

  argoperator generate -f examples/memcached | kubectl apply -f -

Exit codes: 0 ok, 1 findings, 2 wrong usage, 3 failure of argoperator itself.`,
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noArgs,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		newDiff(s),
		newDoctor(s),
		newExplain(s),
		newFn(s),
		newGenerate(s),
		newGraph(s),
		newInit(s),
		newLint(s),
		newMan(s),
		newRender(s),
		newSample(s),
		newSchema(s),
		newTest(s),
		newValidate(s),
		newVersion(s),
	)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	return root
}

// noArgs refuses arguments, naming the command that was probably meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasParent() {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return usagef("unknown command %q; did you mean %q?", args[0], near[0])
		}
		return usagef("unknown command %q", args[0])
	}
	return usagef("%s takes no arguments, got %q; name files with -f", cmd.Name(), args[0])
}

// oneOf refuses a flag's value that is not in the list.
func oneOf(flag, value string, allowed []string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return usagef("--%s %q is none of %q", flag, value, allowed)
}
