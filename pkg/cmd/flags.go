package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// enumFlag is the value of a flag that takes one of a list of values. It
// implements pflag.Value.
type enumFlag struct {
	name    string
	value   *string
	allowed []string
}

// enumVar registers a flag that takes one of the allowed values, which its help
// and the completion of shells list. Its default is what value holds.
func enumVar(cmd *cobra.Command, value *string, name, shorthand string, allowed []string, usage string) {
	cmd.Flags().VarP(&enumFlag{name, value, allowed}, name, shorthand, usage+": "+strings.Join(allowed, "|"))
	completeWith(cmd, name, allowed)
}

// outputVar registers --output, whose default is the first of the formats.
func outputVar(cmd *cobra.Command, format *string, formats ...string) {
	*format = formats[0]
	enumVar(cmd, format, "output", "o", formats, "output format")
}

// runnerVar registers --runner.
func runnerVar(cmd *cobra.Command, runner *string) {
	*runner = "local"
	enumVar(cmd, runner, "runner", "", []string{"local", "docker"}, "where programs run")
}

func (f *enumFlag) String() string { return *f.value }

// Type is what the help calls a value.
func (f *enumFlag) Type() string { return "string" }

// Set rejects a value that is not in the list. The error already names the flag.
func (f *enumFlag) Set(value string) error {
	if !slices.Contains(f.allowed, value) {
		return usagef("--%s %q is none of %q", f.name, value, f.allowed)
	}
	*f.value = value
	return nil
}

// flagError turns an error of a flag into wrong usage. pflag wraps what Set
// returns: of an error that names the flag itself, only that remains.
func flagError(_ *cobra.Command, err error) error {
	var usage usageError
	if errors.As(err, &usage) {
		return usage
	}
	return usageError{err}
}

// namespaceFlag is the value of a flag that is a namespace; empty is that of the
// definition. It implements pflag.Value.
type namespaceFlag string

// namespaceVar registers --namespace of the commands that work for a namespace.
func namespaceVar(cmd *cobra.Command, namespace *string) {
	cmd.Flags().VarP((*namespaceFlag)(namespace), "namespace", "n", "namespace to install into, instead of the definition's install.namespace")
	completeWith(cmd, "namespace", nil)
}

func (f *namespaceFlag) String() string { return string(*f) }

// Type is what the help calls a value.
func (f *namespaceFlag) Type() string { return "string" }

// Set rejects what the API server would.
func (f *namespaceFlag) Set(value string) error {
	if problems := validation.IsDNS1123Label(value); value != "" && len(problems) > 0 {
		return errors.New(problems[0])
	}
	*f = namespaceFlag(value)
	return nil
}

// completeWith lets a shell complete a flag from a fixed list, and never from the
// names of files.
func completeWith(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(fmt.Sprintf("flag %s does not exist: %v", flag, err)) // unreachable
	}
}
