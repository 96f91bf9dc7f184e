package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/verify/doctor"
)

type doctorFlags struct {
	from       sourceFlags
	format     string
	context    string
	kubeconfig string
	options    argoperator.Options
}

func newDoctor(s streams) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [PATH]...",
		Short: "Check whether a cluster is ready for an operator",
		Long: `Check the cluster of the kubeconfig: Argo's CustomResourceDefinitions, its
controllers and their versions, the namespace of the operator, the EventBus, and
whether the API server accepts the manifests from you. For each problem, doctor
suggests a fix. It only reads, through kubectl and with your permissions.`,
		Example: `  # Check the current cluster
  argoperator doctor -f .

  # Check another cluster for an operator in the namespace platform
  argoperator doctor -f . -n platform --context staging -o json`,
		Args: flags.from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return interruptible(cmd.Context(), func(ctx context.Context) error { return runDoctor(ctx, s, flags) })
		},
	}
	flags.from.register(cmd)
	outputVar(cmd, &flags.format, "text", "json")
	namespaceVar(cmd, &flags.options.Namespace)
	cmd.Flags().StringVar(&flags.context, "context", "", "context of the kubeconfig to use")
	cmd.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "", "kubeconfig file (default the one that kubectl uses)")
	return cmd
}

func runDoctor(ctx context.Context, s streams, flags doctorFlags) error {
	if err := flags.checkKubeconfig(s); err != nil {
		return err
	}
	needs, err := flags.from.requirements(s, flags.options, "doctor")
	if err != nil {
		return err
	}
	reports := []doctor.Report{}
	for _, n := range needs {
		reports = append(
			reports,
			doctor.Report{Operator: n.Operator, Namespace: n.Namespace, Checks: doctor.Examine(ctx, flags.kubectl, n)},
		)
	}
	if err := printDiagnoses(s, reports, flags.format); err != nil {
		return err
	}
	if slices.ContainsFunc(reports, func(r doctor.Report) bool { return !r.Ready() }) {
		return errFindings
	}
	return nil
}

// requirements returns what operators need in a cluster, for a command that runs kubectl.
func (f *sourceFlags) requirements(s streams, options argoperator.Options, asks string) ([]doctor.Requirements, error) {
	result, _, err := f.operators(s, options)
	if err != nil {
		return nil, err
	}
	if _, err := f.path().Find(process.Kubectl.Program); err != nil {
		return nil, usagef("%s needs kubectl: %w", asks, err)
	}
	return result.Requirements()
}

func printDiagnoses(s streams, reports []doctor.Report, format string) error {
	if format == "json" {
		return terminal.JSON(s.out, map[string]any{"apiVersion": v1alpha1.APIVersion, "kind": "DoctorReportList", "items": reports})
	}
	for _, r := range reports {
		if err := r.Print(s.out, colour(s.out)); err != nil {
			return err
		}
	}
	return nil
}

// checkKubeconfig rejects a file that kubectl cannot read more than once, such as a
// pipe.
func (f doctorFlags) checkKubeconfig(s streams) error {
	if f.kubeconfig == "" {
		return nil
	}
	info, err := os.Stat(f.kubeconfig)
	if err == nil && !info.Mode().IsRegular() {
		err = &irregularError{info.Mode()}
	}
	if err == nil {
		return nil
	}
	var findings diag.List
	if err := unreadable(&findings, f.kubeconfig, "the value of --kubeconfig", err); err != nil {
		return err
	}
	return report(s, nil, findings)
}

// kubectl runs a kubectl command.
func (f doctorFlags) kubectl(ctx context.Context, input []byte, arguments ...string) ([]byte, string, error) {
	all := []string{"--request-timeout=20s"}
	if f.context != "" {
		all = append(all, "--context="+f.context)
	}
	if f.kubeconfig != "" {
		all = append(all, "--kubeconfig="+f.kubeconfig)
	}
	cmd, err := f.from.path().Command(ctx, process.Kubectl, append(all, arguments...)...)
	if err != nil {
		return nil, "", err
	}
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), &out, &said, outputGrace
	err = cmd.Run()
	var exit *process.ExitError
	if errors.As(err, &exit) {
		err = errors.New("kubectl: " + exit.String())
	}
	return out.Bytes(), said.String(), err
}
