package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Exit codes.
const (
	exitOK       = 0
	exitFindings = 1 // errors or differences found
	exitUsage    = 2 // invalid command line
	exitFailure  = 3 // internal error or failure of the machine
)

// errFindings ends a command that has already printed its findings.
var errFindings = errors.New("findings")

// usageError is an invalid command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes one command line and returns its exit code.
func run(args []string, s streams) int {
	logrus.SetOutput(io.Discard) // Argo's validators log there
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

// The groups of commands in the help of the root command, in this order.
const (
	groupBuild      = "Build"
	groupUnderstand = "Understand"
	groupTest       = "Test"
	groupCluster    = "Cluster"
	groupOther      = "Other"
)

// newRoot lists the commands. To add one, write its file and add it to its group here.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:         "argoperator",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: cmp.Or(s.name, "argoperator")},
		Short:       "Generate Kubernetes operators that run on Argo Events and Argo Workflows",
		Long: `argoperator generates all manifests of a Kubernetes operator from one short
definition: the API, permissions, event sources, Sensors and Workflows. Stock
Argo Events and Argo Workflows run the operator. You write no controller and
build no image.

Commands read the definitions that the arguments or -f name, by default those in
the current directory.

Exit codes: 0 success, 1 errors or differences found, 2 invalid command line,
3 internal error or failure of the machine.

Output has colour on a terminal. NO_COLOR=1 turns it off, CLICOLOR_FORCE=1 turns
it on elsewhere.`,
		Example: `  # Create a project
  argoperator init guestbook --group example.com --kind Guestbook
  cd guestbook

  # Simulate the operator, then apply it
  argoperator render -f . samples/guestbook.yaml
  argoperator generate -f . | kubectl apply -f -`,
		Version:       release.Read().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(flagError)
	addGroup(root, groupBuild, newInit(s), newGenerate(s), newLock(s), newFn(s))
	addGroup(root, groupUnderstand, newRender(s), newExplain(s), newGraph(s), newSample(s), newSchema(s))
	addGroup(root, groupTest, newDev(s), newLint(s), newTest(s), newValidate(s))
	addGroup(root, groupCluster, newDoctor(s), newDiff(s))
	addGroup(root, groupOther, newMan(s), newVersion(s))
	addCobraCommands(root)
	return root
}

func addGroup(root *cobra.Command, group string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: group, Title: group + ":"})
	for _, cmd := range commands {
		cmd.GroupID = group
	}
	root.AddCommand(commands...)
}

// addCobraCommands adds the commands of cobra itself and makes them reject unknown
// arguments, which they accept by default.
func addCobraCommands(root *cobra.Command) {
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Short = "Print a shell completion script"
			strict(cmd)
		case "help":
			cmd.Short = "Print the help of a command"
			cmd.Args = topic
		}
	}
}

// strict makes a command and its subcommands reject unknown arguments.
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
	if !cmd.HasAvailableSubCommands() {
		return usagef("%s takes no arguments, got %q", cmd.Name(), args[0])
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q; did you mean %q?", args[0], near[0])
	}
	return usagef("unknown command %q", args[0])
}
