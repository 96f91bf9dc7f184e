package cmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// sourceFlags say which files to read.
type sourceFlags struct {
	names     []string
	recursive bool
	alone     bool   // the files refer to no others
	unlocked  bool   // images are used as they are written
	check     string // what to check where a file is not there; empty is the name given with -f
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.names, "filename", "f", []string{"."},
		"file or directory that holds definitions, or - for standard input; repeatable")
	cmd.Flags().BoolVarP(&f.recursive, "recursive", "R", false, "read directories below the named ones too")
}

// read returns the named files. A file that was named must hold a definition; a
// file found in a directory may hold something else. What cannot be found is a
// finding; what cannot be read is an error.
func (f *sourceFlags) read(stdin io.Reader) ([]argoperator.Source, diag.List, error) {
	var sources []argoperator.Source
	var findings diag.List
	for _, name := range f.names {
		found, err := f.readOne(name, stdin)
		if err != nil {
			err = unreadable(&findings, name, cmp.Or(f.check, "the name given with -f"), err)
		}
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, found...)
	}
	return sources, findings, nil
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
	return sources, nil
}

func (f *sourceFlags) readFile(name string, lenient bool) ([]argoperator.Source, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(name)
	if handed(name) {
		dir = "."
	}
	return f.source(name, dir, data, lenient)
}

// source opens the definition's directory, out of which no path can lead.
func (f *sourceFlags) source(name, dir string, data []byte, lenient bool) ([]argoperator.Source, error) {
	if f.alone {
		return []argoperator.Source{{Name: filepath.ToSlash(name), Data: data, Lenient: lenient}}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the definition's directory: %w", err)
	}
	return []argoperator.Source{{Name: filepath.ToSlash(name), Data: data, Dir: root.FS(), Lenient: lenient, Unlocked: f.unlocked}}, nil
}

// generate reads the definitions and generates their operators. What was named
// and is not there is among the findings.
func (f *sourceFlags) generate(stdin io.Reader, options argoperator.Options) (argoperator.Result, []argoperator.Source, error) {
	sources, missing, err := f.read(stdin)
	if err != nil {
		return argoperator.Result{}, nil, err
	}
	result, err := argoperator.Generate(sources, options)
	result.Findings = withMissing(result.Findings, missing)
	return result, sources, err
}

// operators generates the operators of the definitions, and prints what is found;
// it returns errFindings where that ends the command.
func (f *sourceFlags) operators(s streams, options argoperator.Options) (argoperator.Result, []argoperator.Source, error) {
	result, sources, err := f.generate(s.in, options)
	if err == nil {
		err = report(s, sources, result.Findings)
	}
	return result, sources, err
}

// each hands out the operators of the definitions one by one, and then prints
// what is found; it returns errFindings where that ends the command: then nothing
// that was handed out may be used.
func (f *sourceFlags) each(s streams, options argoperator.Options, use func(argoperator.Operator) error) error {
	sources, missing, err := f.read(s.in)
	if err != nil {
		return err
	}
	findings, err := argoperator.Each(sources, options, use)
	if err != nil {
		return err
	}
	return report(s, sources, withMissing(findings, missing))
}

// report prints findings beside the output; it returns errFindings where they
// end the command.
func report(s streams, sources []argoperator.Source, findings diag.List) error {
	return reportFrom(s, excerpts(sources), findings)
}

// reportFrom is report with the text that findings point into.
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

// excerpts gives the printers the text that findings point into.
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

// colour tells whether to colour what goes to a stream.
func colour(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
