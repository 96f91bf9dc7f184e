package main

import (
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// namespaceFlag is a flag's value that is a namespace; empty is that of the definition.
type namespaceFlag string

// installInto registers the flag of all commands that work for a namespace.
func installInto(cmd *cobra.Command, namespace *string) {
	cmd.Flags().VarP((*namespaceFlag)(namespace), "namespace", "n", "namespace to install into, instead of the definition's install.namespace")
}

func (f *namespaceFlag) String() string { return string(*f) }

// Type is what the help calls a value.
func (f *namespaceFlag) Type() string { return "string" }

// Set refuses what the API server would.
func (f *namespaceFlag) Set(value string) error {
	if problems := validation.IsDNS1123Label(value); value != "" && len(problems) > 0 {
		return errors.New(problems[0])
	}
	*f = namespaceFlag(value)
	return nil
}
