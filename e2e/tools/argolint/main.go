// Command argolint is `argo lint --offline FILE...` alone: the command of the
// Argo CLI, whose module leaves out what the rest of it needs to be built.
package main

import (
	"fmt"
	"os"

	"github.com/argoproj/argo-workflows/v3/cmd/argo/lint"
	"github.com/argoproj/argo-workflows/v3/pkg/apiclient"
	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow"
)

func main() {
	files := os.Args[1:]
	ctx, client, err := apiclient.NewClientFromOpts(apiclient.Opts{Offline: true, OfflineFiles: files})
	if err == nil {
		kinds := []string{workflow.WorkflowPlural, workflow.WorkflowTemplatePlural, workflow.CronWorkflowPlural, workflow.ClusterWorkflowTemplatePlural}
		err = lint.RunLint(ctx, client, kinds, "pretty", true, lint.LintOptions{Files: files, Strict: true, Printer: os.Stdout})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "argolint:", err)
		os.Exit(1)
	}
}
