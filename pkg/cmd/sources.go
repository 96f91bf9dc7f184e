package cmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// sourceFlags select the files to read.
type sourceFlags struct {
	names     []string
	recursive bool
	alone     bool   // the files may not refer to others
	unlocked  bool   // images are used as written
	check     string // what to check if a file is missing; empty: the path

	set, values []string // parameters: NAME=VALUE, and files
	parameters  []argoperator.Parameter
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	f.registerAs(cmd, "file or directory with definitions, or - for standard input; repeatable")
}

func (f *sourceFlags) registerAs(cmd *cobra.Command, usage string) {
	cmd.Flags().StringArrayVarP(&f.names, "filename", "f", []string{"."}, usage)
	cmd.Flags().BoolVarP(&f.recursive, "recursive", "R", false, "read subdirectories too")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "parameter of the definitions, as NAME=VALUE; repeatable")
	cmd.Flags().StringArrayVar(&f.values, "values", nil, "YAML file with parameters of the definitions; repeatable")
}

// paths adds the arguments of a command to the files named with -f. It implements
// cobra.PositionalArgs.
func (f *sourceFlags) paths(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && !cmd.Flags().Changed("filename") {
		f.names = nil // the default
	}
	f.names = append(f.names, args...)
	return nil
}

// read returns the named files. A named file must contain a definition; files in a
// directory may not. A missing file is a finding; an unreadable one is an error.
func (f *sourceFlags) read(stdin io.Reader) ([]argoperator.Source, diag.List, error) {
	var sources []argoperator.Source
	findings, err := f.readParameters()
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	for _, name := range f.names {
		if names[filepath.Clean(name)] {
			continue
		}
		names[filepath.Clean(name)] = true
		found, err := f.readOne(name, stdin)
		if err != nil {
			err = unreadable(&findings, name, cmp.Or(f.check, "the path"), err)
		}
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, found...)
	}
	return sources, findings, nil
}

// readParameters reads the values for parameters. Those of the flag --set come last, so
// they take precedence.
func (f *sourceFlags) readParameters() (diag.List, error) {
	var findings diag.List
	f.parameters = nil
	for _, name := range f.values {
		data, err := readFile(name)
		if err != nil {
			if err = unreadable(&findings, name, "the value of --values", err); err != nil {
				return nil, err
			}
			continue
		}
		read, wrong := argoperator.ParseParameters(filepath.ToSlash(name), data)
		f.parameters, findings = append(f.parameters, read...), append(findings, wrong...)
	}
	for _, text := range f.set {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("--set %q is not NAME=VALUE", text)
		}
		f.parameters = append(f.parameters, argoperator.Parameter{Name: name, Text: &value})
	}
	return findings, nil
}

func (f *sourceFlags) readOne(name string, stdin io.Reader) ([]argoperator.Source, error) {
	if name == "-" {
		data, err := readStdin(stdin)
		if err != nil {
			return nil, err
		}
		return f.source(name, ".", data, false)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return f.readFile(name, false)
	}
	files, err := yamlFiles(name, f.recursive)
	if err != nil {
		return nil, err
	}
	var sources []argoperator.Source
	for _, file := range files {
		found, err := f.readFile(file, true)
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	if f.recursive {
		sources = withoutApplied(sources)
	}
	return sources, nil
}

// withoutApplied returns the files without the definitions that steps of tests among them apply
// from other directories: versions of operators that are in the files, too.
func withoutApplied(sources []argoperator.Source) []argoperator.Source {
	var applied []string
	for _, s := range sources {
		for _, file := range argoperator.AppliedByTests(s) {
			if strings.Trim(path.Dir(path.Clean(file)), "./") != "" { // else it is the operator that is tested
				applied = append(applied, path.Join(path.Dir(s.Name), file))
			}
		}
	}
	return slices.DeleteFunc(sources, func(s argoperator.Source) bool { return slices.Contains(applied, path.Clean(s.Name)) })
}

func (f *sourceFlags) readFile(name string, lenient bool) ([]argoperator.Source, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(name)
	if openStream(name) {
		dir = "."
	}
	return f.source(name, dir, data, lenient)
}

// source opens the definition's directory, which paths may not leave.
func (f *sourceFlags) source(name, dir string, data []byte, lenient bool) ([]argoperator.Source, error) {
	if f.alone {
		return []argoperator.Source{{Name: filepath.ToSlash(name), Data: data, Lenient: lenient, Parameters: f.parameters}}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the definition's directory: %w", err)
	}
	return []argoperator.Source{{
		Name: filepath.ToSlash(name), Data: data, Dir: root.FS(), Lenient: lenient, Unlocked: f.unlocked, Parameters: f.parameters,
	}}, nil
}

// generate reads the definitions and generates their operators. Missing files are
// among the findings. It counts the warnings and leaves them out.
func (f *sourceFlags) generate(s streams, options argoperator.Options) (argoperator.Result, []argoperator.Source, error) {
	result, sources, err := f.generateAll(s, options)
	if err == nil {
		result.Findings = f.countWarnings(s, result.Findings)
	}
	return result, sources, err
}

// generateAll is generate with all findings.
func (f *sourceFlags) generateAll(s streams, options argoperator.Options) (argoperator.Result, []argoperator.Source, error) {
	sources, missing, err := f.read(s.in)
	if err != nil {
		return argoperator.Result{}, nil, err
	}
	result, err := argoperator.Generate(sources, options)
	result.Findings = f.withMissing(result.Findings, missing, sources)
	return result, sources, err
}

// operators generates the operators and prints the findings; it returns errFindings
// if these end the command.
func (f *sourceFlags) operators(s streams, options argoperator.Options) (argoperator.Result, []argoperator.Source, error) {
	result, sources, err := f.generate(s, options)
	if err == nil {
		err = report(s, sources, result.Findings)
	}
	return result, sources, err
}

// each passes the operators to use one by one and then prints the findings; it
// returns errFindings if these end the command, and then the results of use must be
// discarded. It returns what groups of operators share.
func (f *sourceFlags) each(s streams, options argoperator.Options, use func(argoperator.Operator) error) ([]argoperator.Group, error) {
	sources, missing, err := f.read(s.in)
	if err != nil {
		return nil, err
	}
	groups, findings, err := argoperator.Each(sources, options, use)
	if err != nil {
		return nil, err
	}
	return groups, report(s, sources, f.countWarnings(s, f.withMissing(findings, missing, sources)))
}

// withMissing joins the findings with those about missing files, and says what to do
// if there is no definition.
func (f *sourceFlags) withMissing(findings, missing diag.List, sources []argoperator.Source) diag.List {
	redundant := len(missing) > 0 // then a missing file is the reason
	for _, finding := range findings {
		if finding.Code == diag.NoDefinition && finding.File == "" && !slices.ContainsFunc(sources, argoperator.Defines) {
			if redundant {
				continue
			}
			finding.Hint = f.startHint()
		}
		missing = append(missing, finding)
	}
	return missing.Sorted()
}

// startHint says what to do if there is no definition.
func (f *sourceFlags) startHint() string {
	for _, name := range f.names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() || f.recursive {
			continue
		}
		entries, _ := visible(name) // an error only costs the hint
		for _, e := range entries {
			if !e.isDir {
				continue
			}
			if found, _ := holdsDefinition(e.path, false); found {
				return "a definition is in " + e.path + ": add -f " + quoted(e.path)
			}
		}
	}
	return "name the file or directory of a definition, or create a project: argoperator init guestbook --group example.com --kind " +
		"Guestbook"
}

// countWarnings prints how many warnings the definitions have and which command shows
// them, and returns the errors.
func (f *sourceFlags) countWarnings(s streams, findings diag.List) diag.List {
	if warnings := findings.Only(diag.Warning); len(warnings) > 0 {
		s.say("%s; %s shows them", warnings.Summary(), f.command(s, "lint"))
	}
	return findings.Only(diag.Error)
}

// command returns the command line of another command for the same files.
func (f *sourceFlags) command(s streams, name string) string {
	line := cmp.Or(s.name, "argoperator") + " " + name
	for _, path := range f.names {
		line += " -f " + quoted(path)
	}
	if f.recursive {
		line += " -R"
	}
	for _, one := range f.set {
		line += " --set " + quoted(one)
	}
	for _, path := range f.values {
		line += " --values " + quoted(path)
	}
	return line
}

// report prints findings to the error stream; it returns errFindings if they end
// the command.
func report(s streams, sources []argoperator.Source, findings diag.List) error {
	return reportFrom(s, excerpts(sources), findings)
}

// reportFrom is report with a given source of the text excerpts.
func reportFrom(s streams, source diag.Source, findings diag.List) error {
	printer := diag.Printer{Colour: colour(s.err), Source: source}
	if err := printer.Print(s.err, findings); err != nil {
		return err
	}
	if findings.HasErrors() {
		return errFindings
	}
	return nil
}

// excerpts returns the text of the sources for printing findings.
func excerpts(sources []argoperator.Source) diag.Source {
	return func(file string) []byte {
		for _, s := range sources {
			if s.Name == file {
				return s.Data
			}
		}
		data, err := readFile(filepath.FromSlash(file)) // a file that a definition refers to
		if err != nil {
			return nil
		}
		return data
	}
}
