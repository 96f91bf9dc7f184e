package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/place"
	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint"
)

type lintFlags struct {
	from   sourceFlags
	format string
	config string
	fix    bool
	server bool
	strict bool

	diff       bool
	statistics bool
	baseline   string
	rules      bool
	explain    string
}

func newLint(s streams) *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint [PATH]...",
		Short: "Check definitions and Argo manifests for problems",
		Long: `Report all problems in definitions, and in manifests that others wrote:
EventSources, Sensors, EventBuses, Workflows and their templates, and the roles
and ConfigMaps that belong to them. The arguments or -f name both; argoperator
recognizes them by their content.

To accept a finding, add this comment at the end of its line, above the line, or
above the first line of an object:

  # argoperator:ignore CODE REASON

Rules and the configuration of directories:
https://github.com/argoperator/argoperator/blob/main/docs/how-to/lint.md

With --server, the API server of the kubeconfig also checks sample custom resources
and their children: with its admission policies, webhooks and quotas. argoperator
sends dry runs only, so the cluster stores nothing.`,
		Example: `  # Check the project in the current directory
  argoperator lint -f .

  # Write a report for code scanning
  argoperator lint -f . -R -o sarif > findings.sarif

  # Fix the manifests in this directory and its subdirectories
  argoperator lint -f . -R --fix

  # Check the objects in a cluster
  kubectl get eventsources,sensors -A -o yaml | argoperator lint -f -

  # Also check the definitions with a cluster
  argoperator lint -f . --server`,
		Args: flags.from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case flags.rules:
				return printRules(s)
			case flags.explain != "":
				return explainRule(s, flags.explain)
			case flags.diff && !flags.fix:
				return usagef("--diff shows what --fix would write; add --fix")
			}
			if !flags.server {
				return runLint(cmd.Context(), s, flags)
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error { return runLint(ctx, s, flags) })
		},
	}
	flags.from.register(cmd)
	outputVar(cmd, &flags.format, "text", "json", "sarif", "github", "junit")
	cmd.Flags().StringVar(&flags.config, "config", "", "configuration file (default "+lint.ConfigFile+" if it exists)")
	serverVar(cmd, &flags.server)
	cmd.Flags().BoolVar(&flags.strict, "strict", false, "apply all rules, also those that many manifests break on purpose")
	cmd.Flags().BoolVar(&flags.fix, "fix", false, "fix manifests in place, where only one fix is possible")
	cmd.Flags().BoolVar(&flags.diff, "diff", false, "with --fix, print the changes as a patch and write nothing")
	cmd.Flags().StringVar(&flags.baseline, "baseline", "", "report of lint -o json; only findings that it lacks are reported")
	cmd.Flags().BoolVar(&flags.statistics, "statistics", false, "print the number of findings of each code")
	cmd.Flags().BoolVar(&flags.rules, "rules", false, "list the rules for manifests")
	cmd.Flags().StringVar(&flags.explain, "explain", "", "print what a code means, why it matters, and how to fix it")
	return cmd
}

func runLint(ctx context.Context, s streams, flags lintFlags) error {
	config, err := readLintConfig(s, flags.config)
	if err != nil {
		return err
	}
	if flags.strict {
		config = config.Stricter()
	}
	sources, findings, err := flags.from.read(s.in)
	if err != nil {
		return err
	}
	definitions, manifests := divide(sources)
	if flags.diff {
		return printFixes(s, manifests, config)
	}
	if flags.fix {
		if manifests, err = fixManifests(s, manifests, config); err != nil {
			return err
		}
	}
	if flags.server && len(definitions) == 0 && len(manifests) > 0 {
		return usagef("--server checks definitions, and the files contain none")
	}
	if len(definitions) > 0 || len(manifests) == 0 {
		found, err := lintDefinitions(ctx, s, definitions, flags.server)
		if err != nil {
			return err
		}
		findings = flags.from.withMissing(orManifest(found), findings, definitions)
	}
	more, skipped := lint.Manifests(manifests, config)
	for _, list := range []*diag.List{&findings, &more} {
		if *list, err = withoutBaseline(s, flags.baseline, *list); err != nil {
			return err
		}
	}
	if flags.format == "text" || flags.format == "github" { // machines take each place
		more = more.Grouped()
	}
	findings = append(findings, more...).Sorted()
	if len(definitions)+len(findings) == 0 && !slices.ContainsFunc(manifests, lint.ContainsManifest) {
		s.say("the list has no object that lint checks")
	}
	if flags.statistics {
		return printStatistics(s, findings)
	}
	err = printReport(s, append(definitions, manifests...), findings, flags.format)
	if text := skipped.String(); flags.format == "text" && text != "" {
		terminal.Fprintf(s.err, "not checked: %s\n", text)
	}
	switch {
	case flags.format != "text":
	case len(findings) > 0:
		terminal.Fprintf(s.err, "%s\n", findings.Summary())
	default:
		s.say("no findings in %s", lint.Counted(len(definitions)+skipped.Checked, "file", "files"))
	}
	return err
}

// lintDefinitions returns the findings about definitions. The API server checks what
// they make if they have no error.
func lintDefinitions(ctx context.Context, s streams, definitions []argoperator.Source, server bool) (diag.List, error) {
	var operators []argoperator.Operator
	_, findings, err := argoperator.Each(definitions, argoperator.Options{}, func(o argoperator.Operator) error {
		if server {
			operators = append(operators, o)
		}
		return nil
	})
	if err != nil || !server || findings.HasErrors() {
		return findings, err
	}
	client, lost, err := connect(ctx)
	if client == nil {
		return append(findings, lost...), err
	}
	var objects []dryrun.Object
	for _, o := range operators {
		objects = append(objects, o.SampleObjects(client.Namespace)...)
	}
	found, err := checkOnServer(ctx, s, client, objects)
	return append(findings, found...), err
}

// orManifest extends the findings about missing definitions to manifests.
func orManifest(findings diag.List) diag.List {
	for i, f := range findings {
		if f.Code == diag.NoDefinition && f.File == "" {
			findings[i].Message = "no definition and no Argo manifest found"
		}
		if f.Kind != "" {
			findings[i].Message = "lint does not check the kind " + f.Kind
			findings[i].Hint = "lint checks definitions, EventSources, Sensors, EventBuses, Workflows and their templates, " +
				"CronWorkflows, and roles; argoperator validate checks custom resources"
		}
	}
	return findings
}

// divide separates definitions from other manifests. Files next to a definition
// belong to it; files with neither are parsed as definitions.
func divide(sources []argoperator.Source) (definitions, manifests []argoperator.Source) {
	homes := map[string]bool{}
	for _, source := range sources {
		if argoperator.Defines(source) {
			homes[path.Dir(source.Name)] = true
		}
	}
	var neither []argoperator.Source
	for _, source := range sources {
		switch {
		case argoperator.Defines(source) || beside(homes, source.Name):
			definitions = append(definitions, source)
		case lint.ContainsManifest(source) || !source.Lenient && lint.IsList(source):
			manifests = append(manifests, source)
		default:
			neither = append(neither, source)
		}
	}
	for _, source := range neither {
		if !source.Lenient || len(manifests) == 0 {
			definitions = append(definitions, source)
		} else {
			manifests = append(manifests, source) // for example their ConfigMaps
		}
	}
	return definitions, manifests
}

func beside(homes map[string]bool, name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if homes[dir] {
			return true
		}
		if dir == path.Dir(dir) {
			return false
		}
	}
}

// readLintConfig reads the named file or the default one.
func readLintConfig(s streams, name string) (*lint.Config, error) {
	file := name
	if file == "" {
		file = lintConfigFile()
	}
	data, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		return nil, nil
	}
	var findings diag.List
	if err != nil {
		if err := unreadable(&findings, file, "the value of --config", err); err != nil {
			return nil, err
		}
		return nil, report(s, nil, findings)
	}
	config, findings := lint.ReadConfig(filepath.ToSlash(file), data)
	if findings.HasErrors() {
		return nil, report(s, nil, findings.Sorted())
	}
	if dir, err := filepath.Abs(filepath.Dir(file)); name == "" && err == nil {
		if work, err := os.Getwd(); err == nil {
			base, _ := filepath.Rel(dir, work)
			config.Base = filepath.ToSlash(base)
		}
	}
	return config, nil
}

// fixManifests writes the safe fixes and returns the new content.
func fixManifests(s streams, manifests []argoperator.Source, config *lint.Config) ([]argoperator.Source, error) {
	for _, source := range manifests {
		if source.Name == "-" {
			return nil, usagef("--fix cannot write to standard input")
		}
	}
	fixed := lint.Fixed(manifests, config)
	for _, file := range fixed {
		if err := place.Replace(filepath.FromSlash(file.Name), file.Data); err != nil {
			return nil, fmt.Errorf("fixing a file: %w", err)
		}
		terminal.Fprintf(s.err, "fixed %s\n", file.Name)
		for i := range manifests {
			if manifests[i].Name == file.Name {
				manifests[i].Data = file.Data
			}
		}
	}
	return manifests, nil
}

const (
	rulesPage       = "https://github.com/argoperator/argoperator/blob/main/docs/reference/rules.md"
	findingsPageURL = "https://github.com/argoperator/argoperator/blob/main/docs/reference/findings.md"
)

// linter identifies argoperator in reports.
func linter() diag.Tool {
	tool := diag.Tool{Name: "argoperator", Version: release.Read().Version, URI: "https://github.com/argoperator/argoperator"}
	for _, r := range lint.Rules() {
		tool.Rules = append(tool.Rules, diag.ToolRule{
			Code: r.Code, Summary: r.Summary, URI: rulesPage + "#" + r.Code,
			Help: r.Why + "\n\n" + strings.ToUpper(r.Fix[:1]) + r.Fix[1:] + ".",
		})
	}
	for _, c := range diag.Codes() {
		tool.Rules = append(
			tool.Rules,
			diag.ToolRule{
				Code:    c.Code,
				Summary: c.Doc,
				URI:     findingsPageURL + "#" + c.Code,
				Help:    c.Doc,
			},
		)
	}
	return tool
}
