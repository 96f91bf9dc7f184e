// Package process finds and starts the programs that argoperator runs.
//
// The rule of this package: it alone starts processes, each for a Use of its list, and no
// file of a project decides which program that is.
package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/place"
)

// Types and errors of os/exec, which no other package imports.
type (
	// Cmd is a command that has not started, or that runs.
	Cmd = exec.Cmd
	// ExitError reports that a program ended with another exit code than 0.
	ExitError = exec.ExitError
)

var (
	// ErrNotFound reports that there is no such program.
	ErrNotFound = exec.ErrNotFound
	// ErrWaitDelay reports that a process of a program kept its output open.
	ErrWaitDelay = exec.ErrWaitDelay
)

// Use is one reason to start a program.
type Use struct {
	Program  string // as users know it
	Commands string // that start it
	For      string // what the command uses it for
	ChosenBy string // what decides which program that is
	arranges func(c *Cmd)
}

// Uses returns every reason to start a program. The documentation lists them.
func Uses() []Use {
	return []Use{Git, Kubectl, Helm, Server, Runtime, Logic, Docker, Container, Taskkill}
}

const (
	onPath  = "`PATH`"
	consent = "the definition, with your consent"
	runs    = "`render`, `test`, `dev`"
)

// The reasons to start a program.
var (
	Git = Use{
		Program: "git", Commands: "`diff --against REVISION`", ChosenBy: onPath,
		For:      "lists and reads the files of a revision, with `ls-tree` and `cat-file`",
		arranges: isolateGit,
	}
	Kubectl = Use{
		Program: "kubectl", Commands: "`diff --live`, `doctor`, `generate --uninstall=leftovers`", ChosenBy: onPath,
		For: "reads the cluster of your kubeconfig",
	}
	Helm = Use{
		Program: "helm", Commands: "`init --from-chart`", ChosenBy: onPath,
		For: "renders the chart with its default values, with `template`",
	}
	Server = Use{
		Program: "argoperator-dev", Commands: "`dev`", ChosenBy: "the directory of `argoperator`, then `PATH`",
		For: "is the API server",
	}
	Runtime = Use{
		Program: "python3", Commands: runs, ChosenBy: onPath,
		For: "runs the operator's own program, which argoperator contains",
	}
	Logic = Use{
		Program: "`logic.command`", Commands: runs, ChosenBy: consent,
		For: "runs the custom code of a definition",
	}
	Docker = Use{
		Program: "docker", Commands: runs + " with `--runner docker`", ChosenBy: onPath,
		For: "runs the programs of pods in containers, and removes these",
	}
	Container = Use{
		Program: "`logic.image`, `install.runtimeImage`", Commands: runs + " with `--runner docker`", ChosenBy: consent,
		For: "are the containers",
	}
	Taskkill = Use{
		Program: "taskkill", Commands: runs + ", on Windows", ChosenBy: "the system directory of Windows",
		For: "ends custom code and the processes that it started",
	}
)

// Path is a list of directories to find programs in, without those of projects. The zero
// value has none.
type Path struct {
	value    string
	dirs     []string
	projects []string
}

// NewPath returns the directories of a PATH. It leaves out relative ones, whose meaning
// depends on the working directory, and those inside a project.
func NewPath(value string, projects ...string) Path {
	p := Path{value: value}
	for _, dir := range projects {
		p.projects = append(p.projects, resolved(dir))
	}
	for _, dir := range filepath.SplitList(value) {
		if filepath.IsAbs(dir) && p.project(dir) == "" {
			p.dirs = append(p.dirs, dir)
		}
	}
	return p
}

// resolved returns a path without links, as far as it exists.
func resolved(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Clean(path)
}

// project returns the project that a directory is in; empty: none.
func (p Path) project(dir string) string {
	real := resolved(dir)
	i := slices.IndexFunc(p.projects, func(project string) bool { return place.Within(project, real) })
	if i < 0 {
		return ""
	}
	return p.projects[i]
}

// String returns the value of PATH for programs.
func (p Path) String() string { return strings.Join(p.dirs, string(os.PathListSeparator)) }

// MissingError reports that a program is not on the path.
type MissingError struct {
	Program string
	Place   string // in a relative directory or a project; empty: there is none either
}

func (e *MissingError) Error() string {
	if e.Place == "" {
		return e.Program + " is not on the PATH"
	}
	return fmt.Sprintf("%s is on the PATH only as %s, which is part of the project and therefore not run", e.Program, e.Place)
}

// Unwrap makes it a case of ErrNotFound.
func (*MissingError) Unwrap() error { return ErrNotFound }

// Find returns the absolute path of a program.
func (p Path) Find(name string) (string, error) {
	if name == "" || filepath.Base(name) != name {
		return "", &MissingError{Program: name}
	}
	for _, dir := range p.dirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	for _, dir := range filepath.SplitList(p.value) {
		if whole, err := filepath.Abs(dir); err == nil {
			if path, err := exec.LookPath(filepath.Join(whole, name)); err == nil {
				return "", &MissingError{name, path}
			}
		}
	}
	return "", &MissingError{Program: name}
}

// Command returns a command for a use that Find finds. It and its processes find programs
// with the same path.
func (p Path) Command(ctx context.Context, u Use, arguments ...string) (*Cmd, error) {
	path, err := p.Find(u.Program)
	if err != nil {
		return nil, err
	}
	return p.at(ctx, u, path, arguments...), nil
}

// at returns a command for a program with a known path.
func (p Path) at(ctx context.Context, u Use, path string, arguments ...string) *Cmd {
	cmd := exec.CommandContext(ctx, path, arguments...)
	cmd.Env = With(os.Environ(), "PATH", p.String())
	if u.arranges != nil {
		u.arranges(cmd)
	}
	return cmd
}

// Beside returns a command for the server: next to an executable, or found on the path.
func (p Path) Beside(executable string, arguments ...string) (*Cmd, error) {
	path, err := exec.LookPath(filepath.Join(filepath.Dir(executable), Server.Program))
	if err != nil {
		path, err = p.Find(Server.Program)
	}
	if err != nil {
		return nil, err
	}
	return p.at(context.Background(), Server, path, arguments...), nil
}

// CommandIn returns a command with an environment in place of that of argoperator. Its
// first word is the program, or the path of one.
func (p Path) CommandIn(ctx context.Context, _ Use, environment, words []string) (*Cmd, error) {
	path := words[0]
	if filepath.Base(path) == path {
		var err error
		if path, err = p.Find(path); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, path, words[1:]...)
	cmd.Args[0], cmd.Env = words[0], With(environment, "PATH", p.String())
	return cmd, nil
}

// With returns an environment in which a variable has a value.
func With(environment []string, name, value string) []string {
	out := Without(environment, func(n string) bool { return strings.EqualFold(n, name) })
	return append(out, name+"="+value)
}

// Without returns an environment without some variables.
func Without(environment []string, drop func(name string) bool) []string {
	out := []string{}
	for _, pair := range environment {
		if name, _, _ := strings.Cut(pair, "="); !drop(name) {
			out = append(out, pair)
		}
	}
	return out
}

// Kill ends a process and those that it started, on Windows.
func Kill(leader *os.Process) error {
	for _, pair := range os.Environ() {
		if name, root, _ := strings.Cut(pair, "="); strings.EqualFold(name, "SystemRoot") {
			taskkill := filepath.Join(root, "System32", Taskkill.Program+".exe")
			return exec.Command(taskkill, "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run() //nolint:gosec // of the system
		}
	}
	return ErrNotFound
}
