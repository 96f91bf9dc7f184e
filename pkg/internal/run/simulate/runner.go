package simulate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

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
	Own     bool // argoperator's own program, and none of a user
}

// Local runs programs on this machine without their images. It translates container
// paths in commands and variables to paths on this machine.
type Local struct {
	// Env holds the variables that programs need on this machine: PATH, HOME.
	Env []string
}

// Isolated implements Runner.
func (Local) Isolated() bool { return false }

// Run implements Runner.
func (l Local) Run(ctx context.Context, p Program) ([]byte, int, error) {
	command := make([]string, len(p.Command))
	for i, word := range p.Command {
		command[i] = p.localPath(word)
	}
	if len(command) > 2 && command[0] == "sh" && command[1] == "-c" { // a script contains paths but is not one
		command[2] = cluster.LocalPaths(p.Command[2], p.Mounts)
	}
	e := p.execution(ctx)
	cmd := exec.CommandContext(e.ctx, command[0], command[1:]...)
	if errors.Is(cmd.Err, exec.ErrNotFound) {
		return nil, 0, &missingError{
			fmt.Sprintf("%s is not on the PATH: install it, or run the program in its image %s with --runner docker", command[0], p.Image),
		}
	}
	if cmd.Dir = p.localPath(p.Dir); p.Dir == "" {
		cmd.Dir = p.Scratch
	}
	cmd.Env = append([]string{}, l.Env...)
	for _, pair := range p.Env {
		name, value, _ := strings.Cut(pair, "=")
		cmd.Env = append(cmd.Env, name+"="+p.localPath(value))
	}
	if tmp := p.localPath("/tmp"); tmp != "/tmp" {
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
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

// Docker runs programs in their images. They reach the cluster through the host
// network.
type Docker struct {
	// Env holds the variables that docker itself needs: PATH, HOME.
	Env []string
}

// Isolated implements Runner.
func (Docker) Isolated() bool { return true }

// Run implements Runner.
func (d Docker) Run(ctx context.Context, p Program) ([]byte, int, error) {
	name := "argoperator-" + strings.ToLower(rand.Text())
	args := []string{
		"run",
		"--rm",
		"--name=" + name,
		"--network=host",
		"--read-only",
		fmt.Sprintf("--user=%d:%d", os.Getuid(), os.Getgid()),
	}
	for _, m := range p.Mounts {
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
	args = append(args, "--entrypoint="+p.Command[0], p.Image)
	e := p.execution(ctx)
	cmd := exec.CommandContext(e.ctx, "docker", append(args, p.Command[1:]...)...)
	if errors.Is(cmd.Err, exec.ErrNotFound) {
		return nil, 0, errors.New("docker is not on the PATH")
	}
	cmd.Env = append([]string{}, d.Env...)
	out, code, err := e.finish(cmd, func() { d.remove(name) })
	if err == nil && code == dockerFailed {
		return nil, 0, fmt.Errorf("docker could not run %s: %s", p.Image, bytes.TrimSpace(out))
	}
	return out, code, err
}

// dockerFailed is docker's exit code if the container did not start.
const dockerFailed = 125

// remove stops a container, which outlives the docker command that started it.
func (d Docker) remove(name string) {
	ctx, stop := context.WithTimeout(context.Background(), removal)
	defer stop()
	cmd := exec.CommandContext(ctx, "docker", "rm", "--force", name)
	cmd.Env = append([]string{}, d.Env...)
	_ = cmd.Run() // the container may not exist
}

// removal limits how long docker may take to stop a container.
const removal = 20 * time.Second
