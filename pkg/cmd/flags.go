package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// enumFlag is a flag with a list of allowed values. It implements pflag.Value.
type enumFlag struct {
	name    string
	value   *string
	allowed []string
}

// enumVar registers a flag with allowed values, which its help and shell completion
// list. The default is the current value.
func enumVar(cmd *cobra.Command, value *string, name, shorthand string, allowed []string, usage string) {
	cmd.Flags().VarP(&enumFlag{name, value, allowed}, name, shorthand, usage+": "+strings.Join(allowed, "|"))
	completeWith(cmd, name, allowed)
}

// outputVar registers --output; the default is the first format.
func outputVar(cmd *cobra.Command, format *string, formats ...string) {
	*format = formats[0]
	enumVar(cmd, format, "output", "o", formats, "output format")
}

func (f *enumFlag) String() string { return *f.value }

// Type is the name of the value in the help.
func (f *enumFlag) Type() string { return "string" }

// Set rejects a value that is not allowed. The error already names the flag.
func (f *enumFlag) Set(value string) error {
	if !slices.Contains(f.allowed, value) {
		return usagef("--%s %q is not one of %s", f.name, value, strings.Join(f.allowed, ", "))
	}
	*f.value = value
	return nil
}

// flagError turns a flag's error into a usageError. It removes pflag's wrapping
// from errors that already name the flag.
func flagError(_ *cobra.Command, err error) error {
	var usage usageError
	if errors.As(err, &usage) {
		return usage
	}
	return usageError{err}
}

// namespaceFlag is a flag with a namespace; empty means that of the definition. It
// implements pflag.Value.
type namespaceFlag string

// namespaceVar registers --namespace.
func namespaceVar(cmd *cobra.Command, namespace *string) {
	cmd.Flags().
		VarP((*namespaceFlag)(namespace), "namespace", "n", "namespace of the operator (default install.namespace of the definition)")
	completeWith(cmd, "namespace", nil)
}

func (f *namespaceFlag) String() string { return string(*f) }

// Type is the name of the value in the help.
func (f *namespaceFlag) Type() string { return "string" }

// Set rejects invalid names.
func (f *namespaceFlag) Set(value string) error {
	if problems := validation.IsDNS1123Label(value); value != "" && len(problems) > 0 {
		return errors.New(problems[0])
	}
	*f = namespaceFlag(value)
	return nil
}

// completeWith completes a flag from a fixed list, without file names.
func completeWith(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(fmt.Sprintf("flag %s does not exist: %v", flag, err)) // unreachable
	}
}
