// Command argoperator-dev runs a Kubernetes cluster without containers in one process, for
// trying operators on a laptop: Kubernetes' own API server and controllers over an embedded
// etcd, and a node on which every Pod is ready at once. It prints the kubeconfig, and leaves
// nothing behind when it ends.
//
// It is a module of its own: Kubernetes needs a replace directive for each of its staging
// modules, and other versions of libraries than Argo.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "argoperator-dev:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "argoperator-dev-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := start(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", c.kubeconfig)
	<-ctx.Done()
	c.stop()
	return nil
}
