package simulate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Runner runs the programs of containers.
type Runner interface {
	// Run returns the combined output and the exit code of a program. It returns an
	// error if the program could not run, or the cause of the context if that ended
	// it. No process that the program started may outlive Run.
	Run(ctx context.Context, p Program) (output []byte, exitCode int, err error)
	// Isolated reports whether programs have a file system of their own.
	Isolated() bool
}

// Program describes a container as its pod does.
type Program struct {
	Image   string
	Command []string // with arguments
	Env     []string // NAME=value
	Dir     string   // working directory, in the container; empty: the image's
	Scratch string   // a directory on this machine for the pod alone
	Mounts  []cluster.Mount
	API     bool       // it calls the API server
	Publish *Published // it is a server; nil: it is none
	Digest  string     // of what a definition brings to it; empty: it is argoperator's own
}

// Published is the port of a server, and the one of this machine on which it is called.
type Published struct{ Port, On int }

// Local runs programs on this machine without their images. It translates container
// paths in commands and variables to paths on this machine.
type Local struct {
	// Env holds the variables that programs need on this machine: PATH, HOME.
	Env []string
	// Projects are directories that have no program of argoperator.
	Projects []string
}

// Isolated implements Runner.
func (Local) Isolated() bool { return false }

// path returns where programs are found. A definition's own programs may need those of its
// project, such as a virtual environment of Python.
func path(env, projects []string, own bool) process.Path {
	value := ""
	for _, pair := range env {
		if rest, ok := strings.CutPrefix(pair, "PATH="); ok {
			value = rest
		}
	}
	if !own {
		projects = nil
	}
	return process.NewPath(value, projects...)
}

// Run implements Runner.
func (l Local) Run(ctx context.Context, p Program) ([]byte, int, error) {
	command := make([]string, len(p.Command))
	for i, word := range p.Command {
		command[i] = p.localPath(word)
	}
	if len(command) > 2 && command[0] == "sh" && command[1] == "-c" { // a script contains paths but is not one
		command[2] = cluster.LocalPaths(p.Command[2], p.Mounts)
	}
	env := append([]string{}, l.Env...)
	for _, pair := range p.Env {
		name, value, _ := strings.Cut(pair, "=")
		paths := strings.Split(value, ":") // a variable may have several
		for i, path := range paths {
			paths[i] = p.localPath(path)
		}
		env = append(env, name+"="+strings.Join(paths, ":"))
	}
	if tmp := p.localPath("/tmp"); tmp != "/tmp" {
		env = append(env, "TMPDIR="+tmp)
	}
	e := p.execution(ctx)
	cmd, err := path(env, l.Projects, p.Digest == "").CommandIn(e.ctx, p.use(), env, command)
	if err != nil {
		e.end(nil)
		return nil, 0, &missingError{fmt.Sprintf("%s: install it, or run the program in its image %s with --runner docker", err, p.Image)}
	}
	if cmd.Dir = p.localPath(p.Dir); p.Dir == "" {
		cmd.Dir = p.Scratch
	}
	out, code, err := e.finish(cmd, nil)
	if err == nil && code == notFound {
		err = fmt.Errorf(
			"a program is not on the PATH (%s): install it, or run it in its image %s with --runner docker",
			bytes.TrimSpace(out),
			p.Image,
		)
	}
	return out, code, err
}

// use returns why the program runs.
func (p Program) use() process.Use {
	if p.Digest == "" {
		return process.Runtime
	}
	return process.Logic
}

// missingError reports a program that is not installed on this machine.
type missingError struct{ message string }

func (e *missingError) Error() string { return e.message }

// notFound is a shell's exit code for an unknown command.
const notFound = 127

// localPath translates a path in the container to one on this machine and returns
// other text unchanged.
func (p Program) localPath(text string) string {
	best := cluster.Mount{}
	for _, m := range p.Mounts {
		if (text == m.Path || strings.HasPrefix(text, m.Path+"/")) && len(m.Path) > len(best.Path) {
			best = m
		}
	}
	return best.Source + strings.TrimPrefix(text, best.Path)
}

// Docker runs programs in their images. Only argoperator's own program reaches the cluster,
// through the host network.
type Docker struct {
	// Env holds the variables that docker itself needs: PATH, HOME.
	Env []string
	// Projects are directories whose programs are not run as docker.
	Projects []string
	// Network lets the programs of definitions use the network, which may have the
	// services of this machine.
	Network bool
}

// Isolated implements Runner.
func (Docker) Isolated() bool { return true }

// Run implements Runner.
func (d Docker) Run(ctx context.Context, p Program) ([]byte, int, error) {
	name := "argoperator-" + strings.ToLower(rand.Text())
	arguments, err := d.arguments(name, p)
	if err != nil {
		return nil, 0, err
	}
	e := p.execution(ctx)
	cmd, err := d.command(e.ctx, arguments...)
	if err != nil {
		e.end(nil)
		return nil, 0, err
	}
	out, code, err := e.finish(cmd, func() { d.remove(name) })
	if err == nil && code == dockerFailed {
		return nil, 0, fmt.Errorf("docker could not run %s: %s", p.Image, bytes.TrimSpace(out))
	}
	return out, code, err
}

// Limits of a container. A program may use as much memory as argoperator's tests on a
// small machine.
const (
	containerMemory    = "--memory=2g"
	containerProcesses = "--pids-limit=512"
)

// arguments returns those of docker run. A container has the rights of the user to its
// volumes, and no others: it is no root, and cannot become it.
func (d Docker) arguments(name string, p Program) ([]string, error) {
	if strings.HasPrefix(p.Image, "-") {
		return nil, fmt.Errorf("%q is not an image", p.Image)
	}
	args := []string{
		"run",
		"--rm",
		"--name=" + name,
		"--network=" + d.network(p),
		"--read-only",
		"--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		containerMemory,
		containerProcesses,
		fmt.Sprintf("--user=%d:%d", os.Getuid(), os.Getgid()),
	}
	if p.Publish != nil {
		if !d.Network {
			return nil, errors.New("a server needs a network to be called: allow it with --logic-network")
		}
		args = append(args, fmt.Sprintf("--publish=127.0.0.1:%d:%d", p.Publish.On, p.Publish.Port))
	}
	for _, m := range p.Mounts {
		if strings.Contains(m.Source+m.Path, ":") && runtime.GOOS != "windows" {
			return nil, fmt.Errorf("docker cannot mount %s at %s", m.Source, m.Path)
		}
		mount := m.Source + ":" + m.Path
		if m.ReadOnly {
			mount += ":ro"
		}
		args = append(args, "--volume="+mount)
	}
	for _, pair := range p.Env {
		args = append(args, "--env="+pair)
	}
	if p.Dir != "" {
		args = append(args, "--workdir="+p.Dir)
	}
	return append(append(args, "--entrypoint="+p.Command[0], p.Image), p.Command[1:]...), nil
}

// network returns the network of a container. The API server in memory listens on this
// machine.
func (d Docker) network(p Program) string {
	switch {
	case p.API:
		return "host"
	case d.Network:
		return "bridge"
	}
	return "none"
}

// command returns a docker command.
func (d Docker) command(ctx context.Context, arguments ...string) (*process.Cmd, error) {
	words := append([]string{process.Docker.Program}, arguments...)
	return path(d.Env, d.Projects, true).CommandIn(ctx, process.Docker, d.Env, words)
}

// dockerFailed is docker's exit code if the container did not start.
const dockerFailed = 125

// remove stops a container, which outlives the docker command that started it.
func (d Docker) remove(name string) {
	ctx, stop := context.WithTimeout(context.Background(), removal)
	defer stop()
	if cmd, err := d.command(ctx, "rm", "--force", name); err == nil {
		_ = cmd.Run() // the container may not exist
	}
}

// removal limits how long docker may take to stop a container.
const removal = 20 * time.Second
