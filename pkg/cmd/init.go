package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/project/adopt"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// initFlags are the flags of init.
type initFlags struct {
	options scaffold.Options
	dir     string
	crd     string   // file with the CustomResourceDefinition; empty: a new kind
	objects []string // files with objects that become the children
	chart   string   // directory or archive of the chart that makes the children
}

func newInit(s streams) *cobra.Command {
	var flags initFlags
	cmd := &cobra.Command{
		Use:   "init NAME",
		Short: "Create an operator project",
		Long: `Create the directory NAME with a project that works at once: a definition, a
sample custom resource, a test, a README, a Makefile and a GitHub Actions workflow
that tests the operator on a cluster. init never overwrites a file. On a terminal,
it asks for the values that the flags leave open.

The operator keeps one object for each custom resource. A template makes this
object, or with --logic a program. To start from something that exists, use:

  --from-manifest  Objects in files. Each becomes a child. Values that users
                   typically set, such as image, replicas and host, become
                   fields of the new kind.
  --from-chart     A Helm chart, as a directory or an archive. Its values become the
                   fields of the new kind, and helm renders it for each custom
                   resource.
  --from-crd       The CustomResourceDefinition of an existing kind. Others install
                   it, so that the operator never applies or deletes it. With
                   --own, it becomes a part of the operator.`,
		Example: `  # Create a project
  argoperator init guestbook --group example.com --kind Guestbook

  # Create a project with a Python program instead of a template
  argoperator init shop --group example.com --kind Shop --logic python

  # Create a project from a Helm chart
  argoperator init shop --group example.com --kind Shop --from-chart ./chart

  # Create a project for a kind that a cluster has
  kubectl get crd certificates.cert-manager.io -o yaml | argoperator init certs --from-crd -

  # Create a project from objects in a cluster
  kubectl get deployment,service web -o yaml | argoperator init web --group example.com --kind Web --from-manifest -`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				flags.options.Name = args[0]
			}
			return initialize(cmd, s, flags)
		},
	}
	o := &flags.options
	cmd.Flags().StringVar(&flags.dir, "dir", "", "directory of the project (default NAME)")
	cmd.Flags().StringVar(&o.Group, "group", "", "API group of the kind, such as cache.example.com")
	cmd.Flags().StringVar(&o.Kind, "kind", "", "the kind, such as Memcached; with --from-crd, selects one of several kinds")
	cmd.Flags().StringVar(&o.Plural, "plural", "", "name of the resource, such as memcacheds (default derived from the kind)")
	cmd.Flags().StringVar(&o.Version, "version", "v1alpha1", "version of the API")
	cmd.Flags().StringVar(&o.Scope, "scope", "Namespaced", "scope of the kind: "+strings.Join(scaffold.Scopes(), "|"))
	cmd.Flags().
		StringVar(&o.Child, "child", scaffold.Children()[0], "object to keep for each custom "+
			"resource: "+strings.Join(scaffold.Children(), "|"))
	cmd.Flags().StringVar(&o.Logic, "logic", "", "make the object with a program in a language: "+strings.Join(scaffold.Languages(), "|"))
	cmd.Flags().StringVar(&flags.crd, "from-crd", "", "file with the CustomResourceDefinition of an existing kind, or - for standard input")
	cmd.Flags().BoolVar(&o.Own, "own", false, "make the kind of --from-crd a part of the operator, which applies and deletes it")
	cmd.Flags().StringVar(&flags.chart, "from-chart", "", "directory or archive of a Helm chart that makes the objects")
	cmd.Flags().
		StringArrayVar(&flags.objects, "from-manifest", nil, "file or directory with objects to keep for each custom resource, or - for "+
			"standard input; repeatable")
	cmd.Flags().StringVarP(&o.Namespace, "namespace", "n", "argo-events", "namespace of the operator")
	completeWith(cmd, "namespace", nil)
	completeWith(cmd, "scope", scaffold.Scopes())
	completeWith(cmd, "child", scaffold.Children())
	completeWith(cmd, "logic", scaffold.Languages())
	return cmd
}

func oneName(_ *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return usagef("init takes one NAME, got %s", strings.Join(args, ", "))
}

// initialize creates a project from the flags and, on a terminal, from the answers
// to prompts.
func initialize(cmd *cobra.Command, s streams, flags initFlags) error {
	if err := excluded(cmd, flags); err != nil {
		return err
	}
	if err := wrong(flags.options); err != nil {
		return err
	}
	if !complete(flags) && onTerminal(s) {
		var err error
		if flags.options, err = ask(s, flags, cmd.Flags().Changed); err != nil {
			return err
		}
	}
	if err := missing(flags); err != nil {
		return err
	}
	flags.options.Tool = pinned(release.Read())
	project, err := newProject(cmd.Context(), s, flags)
	if err != nil {
		return err
	}
	result, err := scaffold.Files(project)
	if err != nil {
		return err
	}
	if result.Findings.HasErrors() {
		return refuse(s, result)
	}
	if flags.chart != "" {
		if err := reportFrom(s, result.Text, result.Findings); err != nil {
			return err
		}
	}
	dir := cmp.Or(flags.dir, flags.options.Name)
	if err := write(s, dir, result.Files); err != nil {
		return err
	}
	printNextSteps(s, dir, result)
	return nil
}

// excluded rejects flags that a CustomResourceDefinition already determines.
func excluded(cmd *cobra.Command, flags initFlags) error {
	source, says, rest := flags.source()
	for _, flag := range rest {
		if cmd.Flags().Changed(flag) {
			return usagef("--%s does not work with --%s: %s", flag, source, says)
		}
	}
	if flags.crd == "" {
		if flags.options.Own {
			return usagef("--own needs --from-crd: without it, the kind is a part of the operator")
		}
		return nil
	}
	if cmd.Flags().Changed("child") && flags.options.Child != "configmap" {
		return usagef("--child %s needs fields that the kind of --from-crd may not have; use --child configmap", flags.options.Child)
	}
	return nil
}

// source returns the flag with existing input for the project, what that input
// determines, and the flags that it conflicts with; empty without such input.
func (f initFlags) source() (flag, says string, rest []string) {
	switch {
	case len(f.objects) > 0:
		return "from-manifest", "the manifests define the children", []string{"child", "logic", "from-crd", "from-chart"}
	case f.chart != "":
		return "from-chart", "the chart defines the children", []string{"child", "logic", "from-crd"}
	case f.crd != "":
		return "from-crd", "the CustomResourceDefinition defines it", []string{"group", "plural", "version", "scope"}
	}
	return "", "", nil
}

// complete reports whether all required options are set.
func complete(flags initFlags) bool {
	o := flags.options
	return o.Name != "" && (flags.crd != "" || o.Group != "" && o.Kind != "")
}

// wrong returns an error with all invalid options.
func wrong(o scaffold.Options) error {
	var said []error
	for _, p := range o.Problems() {
		said = append(said, errors.New(refusedOption(p)))
	}
	if len(said) == 0 {
		return nil
	}
	return usageError{errors.Join(said...)}
}

// missing returns an error about missing options.
func missing(flags initFlags) error {
	if complete(flags) {
		return nil
	}
	var names []string
	said := ""
	if flags.crd != "" {
		said = "said"
	}
	for _, value := range []struct{ name, is string }{
		{"NAME", flags.options.Name}, {"--group", flags.options.Group + said}, {"--kind", flags.options.Kind + said},
	} {
		if value.is == "" {
			names = append(names, value.name)
		}
	}
	return usagef("missing %s; example: argoperator init guestbook --group example.com --kind Guestbook", strings.Join(names, ", "))
}

// refusedOption describes a problem in terms of the command line.
func refusedOption(p scaffold.Problem) string {
	switch p.Option {
	case "":
		return explained(p)
	case "Name":
		return "NAME: " + explained(p)
	}
	flag := "--" + strings.ToLower(p.Option)
	if p.Fix != "" {
		p.Hint = "write " + flag + " " + p.Fix
	}
	return flag + ": " + explained(p)
}

func explained(p scaffold.Problem) string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + "; " + p.Hint
}

// newProject creates the project for the flags.
func newProject(ctx context.Context, s streams, flags initFlags) (scaffold.Project, error) {
	switch {
	case flags.chart != "":
		return fromChart(ctx, s, flags)
	case len(flags.objects) > 0:
		return fromManifests(s, flags)
	case flags.crd == "":
		return scaffold.New(flags.options), nil
	}
	data, err := readCRD(s.in, flags.crd)
	var findings diag.List
	var project scaffold.Project
	if err == nil {
		project, findings = adopt.FromCRD(flags.options, filepath.ToSlash(flags.crd), data)
	} else if err := unreadable(&findings, flags.crd, "the value of --from-crd", err); err != nil {
		return scaffold.Project{}, err
	}
	return project, reportFrom(s, func(string) []byte { return data }, findings)
}

// fromManifests creates a project from existing objects.
func fromManifests(s streams, flags initFlags) (scaffold.Project, error) {
	files := sourceFlags{names: flags.objects, recursive: true, alone: true, check: "the value of --from-manifest"}
	sources, findings, err := files.read(s.in)
	if err != nil {
		return scaffold.Project{}, err
	}
	if findings.HasErrors() {
		return scaffold.Project{}, report(s, sources, findings)
	}
	project, findings := adopt.FromManifests(flags.options, sources)
	return project, report(s, sources, findings)
}

func readCRD(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return readStdin(stdin)
	}
	return readFile(name)
}

// refuse prints why a project cannot be created.
func refuse(s streams, result scaffold.Result) error {
	err := reportFrom(s, result.Text, result.Findings)
	if errors.Is(err, errFindings) {
		s.say("wrote nothing, because the project would have errors")
	}
	return err
}

// write writes the project, unless files are in the way.
func write(s streams, dir string, files []scaffold.File) error {
	taken, err := scaffold.InTheWay(dir, files)
	if err != nil {
		return err
	}
	if len(taken) == 0 {
		return scaffold.Write(dir, files)
	}
	s.list("wrote nothing, because these files exist", taken)
	terminal.Fprintf(s.err, "Choose another directory with --dir, or move the files.\n")
	return errFindings
}

// printNextSteps prints what was created and what to do next.
func printNextSteps(s streams, dir string, result scaffold.Result) {
	s.say("created %s:", dir)
	for _, f := range result.Files {
		terminal.Fprintf(s.err, "  %s\n", f.Path)
	}
	for _, note := range result.Notes {
		s.say("%s", note)
	}
	terminal.Fprintf(s.err, "Next, simulate the operator, then apply it to a cluster that has Argo (see README.md):\n")
	for _, line := range nextCommands(dir, result) {
		terminal.Fprintf(s.err, "  %s\n", line)
	}
}

// nextCommands returns the next commands, with cd first if the project is in
// another directory.
func nextCommands(dir string, result scaffold.Result) []string {
	render := "argoperator render -f . "
	if result.Programs {
		render += "--run-logic "
	}
	next := []string{
		"cd " + quoted(dir),
		render + result.Sample,
		"argoperator generate -f . | " + result.Apply + " -f -",
	}
	if filepath.Clean(dir) == "." {
		return next[1:]
	}
	return next
}

// plainWord matches words that need no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quoted quotes a word for a shell.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// commit matches a whole commit of Git.
var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// pinned returns the installable version of this build: a release or a commit. A build
// from changed source has none; then it is the latest release.
func pinned(f release.Facts) string {
	switch {
	case f.Modified:
	case released.MatchString(f.Version):
		return f.Version
	case commit.MatchString(f.Commit):
		return f.Commit
	}
	return "latest"
}

// onTerminal reports whether a user can be prompted.
func onTerminal(s streams) bool { return isTerminal(s.in) && isTerminal(s.err) }
