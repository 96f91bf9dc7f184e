package cmd

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
)

// serverVar registers --server.
func serverVar(cmd *cobra.Command, server *bool) {
	cmd.Flags().BoolVar(server, "server", false, "also check the objects with the API server of the kubeconfig, by dry runs")
}

// connect returns a connection to the API server of the kubeconfig. A failure is a
// finding.
func connect(ctx context.Context) (*dryrun.Client, diag.List, error) {
	client, err := dryrun.Connect(ctx)
	findings, err := unreachableServer(err)
	return client, findings, err
}

// mustConnect is connect for a command that fails without a connection. It returns nil if
// the command needs none.
func mustConnect(ctx context.Context, s streams, wanted bool) (*dryrun.Client, error) {
	if !wanted {
		return nil, nil
	}
	client, findings, err := connect(ctx)
	if err == nil {
		err = report(s, nil, findings)
	}
	return client, err
}

// checkOnServer checks objects with the API server.
func checkOnServer(ctx context.Context, s streams, client *dryrun.Client, objects []dryrun.Object) (diag.List, error) {
	line := newProgress(s.err)
	defer line.close()
	found, err := client.Check(ctx, objects, func(done, total int) {
		line.set("the API server checked %d of %d objects", done, total)
	})
	findings, err := unreachableServer(err)
	return append(findings, found...).Sorted(), err
}

// reportFromServer checks objects with the API server and prints the findings; it returns
// errFindings if they end the command. Without a client it does nothing.
func reportFromServer(ctx context.Context, s streams, client *dryrun.Client, sources []argoperator.Source, objects []dryrun.Object) error {
	if client == nil {
		return nil
	}
	findings, err := checkOnServer(ctx, s, client, objects)
	if err != nil {
		return err
	}
	return report(s, sources, findings)
}

func unreachableServer(err error) (diag.List, error) {
	var findings diag.List
	var lost *dryrun.ConnectionError
	if errors.As(err, &lost) {
		findings.Add(diag.Position{}, diag.ServerUnreachable, lost.Error(), lost.Hint())
		return findings, nil
	}
	return nil, err
}

// appliedObjects returns what operators have written in a simulation. defaulted reports
// whether the objects in the namespace default belong to custom resources that name none.
func appliedObjects(result argoperator.Result, trace simulate.Trace, defaulted bool) []dryrun.Object {
	var out []dryrun.Object
	last := map[string]dryrun.Object{} // statuses, by custom resource
	for _, w := range trace.Writes() {
		if one, ok := result.Applied(w.Applied, w.Manager, defaulted); ok {
			out = append(out, one)
		}
		if one, ok := result.Status(w.Answer, defaulted); ok {
			last[w.Path] = one
		}
	}
	for _, path := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[path])
	}
	return out
}
