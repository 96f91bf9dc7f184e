package cmd

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/terminal"
)

// Exit codes.
const (
	exitOK       = 0
	exitFindings = 1 // findings or differences
	exitUsage    = 2 // wrong usage
	exitFailure  = 3 // an error of argoperator or of the machine
)

// errFindings ends a command that has already printed its findings.
var errFindings = errors.New("findings")

// usageError is an invalid command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes one command line and returns its exit code.
func run(args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	command, err := root.ExecuteC()
	var signalled interrupted
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &signalled):
		if !errors.Is(signalled, brokenPipe) {
			s.complain(signalled)
		}
		return signalled.end()
	case errors.As(err, new(usageError)):
		s.complain(err)
		terminal.Fprintf(s.err, "Run '%s --help' for usage.\n", command.CommandPath())
		return exitUsage
	default:
		s.complain(err)
		return exitFailure
	}
}

// newRoot lists the commands. To add one, write its file and add a line here.
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
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newDiff(s),
		newDoctor(s),
		newExplain(s),
		newFn(s),
		newGenerate(s),
		newGraph(s),
		newInit(s),
		newLint(s),
		newLock(s),
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
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			strict(cmd)
		case "help":
			cmd.Args = topic
		}
	}
	return root
}

// strict makes one of cobra's commands with subcommands reject unknown ones.
func strict(cmd *cobra.Command) {
	cmd.Args = noArgs
	if !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, below := range cmd.Commands() {
		strict(below)
	}
}

// topic rejects help for unknown commands.
func topic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) == 0 {
		return err
	}
	return noArgs(found, rest)
}

// noArgs rejects arguments and suggests the command that was probably meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	switch {
	case cmd.HasAvailableSubCommands():
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return usagef("unknown command %q; did you mean %q?", args[0], near[0])
		}
		return usagef("unknown command %q", args[0])
	case cmd.Flags().Lookup("filename") != nil:
		return usagef("%s takes no arguments, got %q; name files with -f", cmd.Name(), args[0])
	}
	return usagef("%s takes no arguments, got %q", cmd.Name(), args[0])
}
