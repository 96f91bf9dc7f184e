package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/output"
)

func newGenerate(s streams) *cobra.Command {
	var from sourceFlags
	var format, dir, namespace string
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Print an operator's manifests, checked, in apply order",
		Example: `  argoperator generate -f examples/memcached | kubectl apply -f -
  argoperator generate -f operator.yaml -o dir --output-dir manifests
  argoperator generate -f - -n platform < operator.yaml`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			chosen, err := outputFormat(format, dir)
			if err != nil {
				return err
			}
			if problems := validation.IsDNS1123Label(namespace); namespace != "" && len(problems) > 0 {
				return usagef("--namespace %q: %s", namespace, problems[0])
			}
			return generate(s, &from, chosen, dir, argoperator.Options{Namespace: namespace})
		},
	}
	from.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "yaml", "output format: "+formatNames())
	cmd.Flags().StringVar(&dir, "output-dir", "", "directory to write into, for -o dir; made where it is missing")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace to install into, instead of the definition's install.namespace")
	completeWith(cmd, "output", names(output.Formats()))
	return cmd
}

func generate(s streams, from *sourceFlags, format output.Format, dir string, options argoperator.Options) error {
	sources, missing, err := from.read(s.in)
	if err != nil {
		return err
	}
	result, err := argoperator.Generate(sources, options)
	if err != nil {
		return err
	}
	if err := report(s, sources, withMissing(result.Findings, missing)); err != nil {
		return err
	}
	files, err := format.Files(result.Objects())
	if err != nil {
		return err
	}
	if format.Directory {
		return output.WriteDir(dir, files)
	}
	_, err = s.out.Write(files[0].Data)
	return err
}

// withMissing joins the findings about files that were named and are not there.
// Where one is, that no definition was found goes without saying.
func withMissing(findings, missing diag.List) diag.List {
	if len(missing) == 0 {
		return findings
	}
	for _, f := range findings {
		if f.Code != diag.NoDefinition || f.File != "" {
			missing = append(missing, f)
		}
	}
	return missing.Sorted()
}

func outputFormat(name, dir string) (output.Format, error) {
	for _, f := range output.Formats() {
		switch {
		case f.Name != name:
			continue
		case f.Directory && dir == "":
			return f, usagef("-o %s needs --output-dir", name)
		case !f.Directory && dir != "":
			return f, usagef("--output-dir goes with a format that writes files, not with -o %s", name)
		}
		return f, nil
	}
	return output.Format{}, oneOf("output", name, names(output.Formats()))
}

func names(formats []output.Format) []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = f.Name
	}
	return list
}

func formatNames() string {
	text := ""
	for i, name := range names(output.Formats()) {
		if i > 0 {
			text += "|"
		}
		text += name
	}
	return text
}

// completeWith lets a shell complete a flag from a fixed list.
func completeWith(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(fmt.Sprintf("flag %s does not exist: %v", flag, err)) // unreachable
	}
}
