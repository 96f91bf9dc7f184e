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

	"github.com/argoperator/argoperator/pkg/internal/cluster"
)

// Runner runs the programs of containers.
type Runner interface {
	// Run returns what a program wrote to both of its streams, and its exit
	// code; an error where it could not be run at all, or not to its end: then
	// the cause of the context. Nothing that it started may outlive it.
	Run(ctx context.Context, p Program) (output []byte, exitCode int, err error)
	// Isolated tells whether programs have a file system of their own.
	Isolated() bool
}

// Program is a container as its pod describes it.
type Program struct {
	Image   string
	Command []string // with its arguments
	Env     []string // NAME=value
	Dir     string   // working directory, in the container; empty: the image's
	Scratch string   // a directory of this machine that is the pod's alone
	Mounts  []cluster.Mount
}

// Local runs programs on this machine, without their images. The paths of a
// container in commands and variables become those of this machine.
type Local struct {
	// Env is what programs need to know of this machine to run at all: PATH, HOME.
	Env []string
}

// Isolated implements Runner.
func (Local) Isolated() bool { return false }

// Run implements Runner.
func (l Local) Run(ctx context.Context, p Program) ([]byte, int, error) {
	command := make([]string, len(p.Command))
	for i, word := range p.Command {
		command[i] = p.here(word)
	}
	if len(command) > 2 && command[0] == "sh" && command[1] == "-c" { // a program, and so not a path but full of them
		command[2] = cluster.Localised(p.Command[2], p.Mounts)
	}
	e := p.execution(ctx)
	cmd := exec.CommandContext(e.ctx, command[0], command[1:]...)
	if errors.Is(cmd.Err, exec.ErrNotFound) {
		return nil, 0, fmt.Errorf("%s is not on the PATH of this machine: install it, or let the program run in its image %s (docker)", command[0], p.Image)
	}
	if cmd.Dir = p.here(p.Dir); p.Dir == "" {
		cmd.Dir = p.Scratch
	}
	cmd.Env = append([]string{}, l.Env...)
	for _, pair := range p.Env {
		name, value, _ := strings.Cut(pair, "=")
		cmd.Env = append(cmd.Env, name+"="+p.here(value))
	}
	if tmp := p.here("/tmp"); tmp != "/tmp" {
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	}
	out, code, err := e.finish(cmd, nil)
	if err == nil && code == notFound {
		err = fmt.Errorf("a program is not on the PATH of this machine (%s): install it, or let it run in its image %s (docker)", bytes.TrimSpace(out), p.Image)
	}
	return out, code, err
}

// notFound is the exit code of a shell that finds no such program.
const notFound = 127

// here is a path of the container on this machine; other text stays as it is.
func (p Program) here(text string) string {
	best := cluster.Mount{}
	for _, m := range p.Mounts {
		if (text == m.Path || strings.HasPrefix(text, m.Path+"/")) && len(m.Path) > len(best.Path) {
			best = m
		}
	}
	return best.Source + strings.TrimPrefix(text, best.Path)
}

// Docker runs programs in their images. They find the cluster through the
// network of this machine.
type Docker struct {
	// Env is what docker itself needs to know of this machine: PATH, HOME.
	Env []string
}

// Isolated implements Runner.
func (Docker) Isolated() bool { return true }

// Run implements Runner.
func (d Docker) Run(ctx context.Context, p Program) ([]byte, int, error) {
	name := "argoperator-" + strings.ToLower(rand.Text())
	args := []string{"run", "--rm", "--name=" + name, "--network=host", "--read-only", fmt.Sprintf("--user=%d:%d", os.Getuid(), os.Getgid())}
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
		return nil, 0, errors.New("docker is not on the PATH of this machine")
	}
	cmd.Env = append([]string{}, d.Env...)
	out, code, err := e.finish(cmd, func() { d.remove(name) })
	if err == nil && code == dockerFailed {
		return nil, 0, fmt.Errorf("docker could not run %s: %s", p.Image, bytes.TrimSpace(out))
	}
	return out, code, err
}

// dockerFailed is the exit code of docker where the container did not even start.
const dockerFailed = 125

// remove ends a container: it outlives the command that has started it.
func (d Docker) remove(name string) {
	ctx, stop := context.WithTimeout(context.Background(), removal)
	defer stop()
	cmd := exec.CommandContext(ctx, "docker", "rm", "--force", name)
	cmd.Env = append([]string{}, d.Env...)
	_ = cmd.Run() // it may not have come to be
}

// removal is how long docker may take to end a container.
const removal = 20 * time.Second
