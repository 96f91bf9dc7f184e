// Command argoperator-dev runs a Kubernetes cluster without containers in one process, for
// trying operators on a laptop: Kubernetes' own API server and controllers over an embedded
// etcd, and a node on which every Pod is ready at once. It prints the kubeconfig when the
// cluster is ready, and leaves nothing behind when it ends.
//
// Everything listens on 127.0.0.1 only and requires credentials, which are in a directory
// that only the user can read.
//
// It is a module of its own: Kubernetes needs a replace directive for each of its staging
// modules, and other versions of libraries than Argo.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"
	componentversion "k8s.io/component-base/version"
)

// version is the version of argoperator; the linker sets it for a release.
var version = "devel"

func main() {
	stderr := silence()
	err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(stderr, "argoperator-dev:", err)
		os.Exit(1)
	}
}

// flags are the flags of the command.
type flags struct {
	options
	dir                 string
	withParent, version bool
}

func parseFlags(args []string, out io.Writer) (flags, error) {
	var f flags
	set := pflag.NewFlagSet("argoperator-dev", pflag.ContinueOnError)
	set.StringVar(&f.dir, "dir", "", "write everything to this empty directory and keep it (default: a temporary directory, removed at the end)")
	set.BoolVar(&f.withParent, "with-parent", false, "end when standard input is closed")
	set.BoolVar(&f.controllers, "controllers", true, "run the controllers of workloads, and a node on which Pods become ready")
	set.BoolVar(&f.version, "version", false, "print the version")
	set.SetOutput(out)
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if set.NArg() > 0 {
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	return f, nil
}

func run(args []string, in io.Reader, out io.Writer) error {
	f, err := parseFlags(args, out)
	if err != nil {
		return err
	}
	if f.version {
		_, err := fmt.Fprintf(out, "argoperator-dev %s, Kubernetes %s\n", version, componentversion.Get().GitVersion)
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	dir, remove, err := directory(f.dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go interrupt(signals, cancel, remove)
	if f.withParent {
		go func() {
			_, _ = io.Copy(io.Discard, in)
			cancel()
		}()
	}
	return errors.Join(serve(ctx, dir, f.options, out), remove())
}

// directory returns the given directory, or a temporary one, and a function that removes
// the temporary one.
func directory(given string) (dir string, remove func() error, err error) {
	if given != "" {
		dir, err = filepath.Abs(given)
		return dir, func() error { return nil }, err
	}
	dir, err = os.MkdirTemp("", "argoperator-dev-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// interrupt ends the cluster at the first signal, and the process at the second.
func interrupt(signals <-chan os.Signal, cancel func(), remove func() error) {
	<-signals
	cancel()
	<-signals
	_ = remove()
	os.Exit(1)
}

// serve runs a cluster until the context ends or a part of the cluster fails.
func serve(ctx context.Context, dir string, o options, out io.Writer) error {
	c, err := start(ctx, dir, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer c.stop()
	if _, err := fmt.Fprintf(out, "export KUBECONFIG=%s\n", c.file(kubeconfig)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.failed:
		return err
	}
}
