// Command argoperator-dev runs a Kubernetes cluster without containers in one process, for
// trying operators on a laptop: Kubernetes' own API server and controllers over an embedded
// etcd, and a node that only pretends to run Pods. It prints the kubeconfig when the cluster
// is ready, and leaves nothing behind when it ends.
//
// The node acts as follows, each time at once:
//   - A Pod whose restart policy is Always becomes ready. Any other Pod succeeds.
//   - A Pod with an image that is tagged "fail", or with the annotation
//     argoperator.dev/fail: "true", stays pending, as if its image could not be pulled. It
//     starts with another image or without the annotation.
//   - A running Pod keeps the status that a user gives it, for example not to be ready.
//   - A Service of type LoadBalancer and an Ingress get the address 192.0.2.1.
//   - A PersistentVolumeClaim is bound, and can grow, if its StorageClass exists. The default
//     one is called standard.
//   - A Pod that is deleted is gone.
//
// There is no scheduler: every Pod is on the node, whatever it asks for. There are no logs,
// and no commands in containers.
//
// With --controllers=false there is no node, and no controller of Deployments, Jobs and
// other workloads, Services or volumes: their objects keep the status that a user gives
// them.
//
// Everything listens on 127.0.0.1 only and requires credentials, which are in files that
// only the user can read.
//
// It is a module of its own: Kubernetes needs a replace directive for each of its staging
// modules, and other versions of libraries than Argo. `make dev` tells the program the
// version of Kubernetes, which `go build` alone does not.
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
	args := os.Args[1:]
	os.Args[0] = "kube-controller-manager" // field manager of the controllers, as on a cluster
	err := run(args, os.Stdin, os.Stdout)
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
	set.StringVar(
		&f.dir,
		"dir",
		"",
		"write everything to this empty directory and keep it (default: a temporary directory, removed at the end)",
	)
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
	if f.withParent {
		go func() {
			_, _ = io.Copy(io.Discard, in)
			cancel()
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, dir, f.options, out) }()
	for {
		select {
		case err := <-ended:
			return errors.Join(err, remove())
		case <-signals:
			if ctx.Err() != nil {
				return errors.Join(errors.New("interrupted while ending"), remove())
			}
			cancel()
		}
	}
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
