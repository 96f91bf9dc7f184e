package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/doctor"
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
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether a cluster is ready for the operators",
		Long: `doctor looks whether the cluster of the kubeconfig is ready for operators: Argo's
kinds, controllers and their versions, the namespace, the EventBus, and whether
the API server would take the manifests from you. It reads only, by kubectl, with
your rights; for what is wrong it says what to do.`,
		Example: `  argoperator doctor -f examples/memcached
  argoperator doctor -f . -n platform --context staging -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("output", flags.format, formats); err != nil {
				return err
			}
			return examine(cmd.Context(), s, flags)
		},
	}
	flags.from.register(cmd)
	cmd.Flags().StringVarP(&flags.format, "output", "o", "text", "output format: text|json")
	cmd.Flags().StringVarP(&flags.options.Namespace, "namespace", "n", "", "namespace to install into, instead of the definition's install.namespace")
	cmd.Flags().StringVar(&flags.context, "context", "", "context of the kubeconfig")
	cmd.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "", "file to reach the cluster by, instead of kubectl's own choice")
	completeWith(cmd, "output", formats)
	return cmd
}

func examine(ctx context.Context, s streams, flags doctorFlags) error {
	result, sources, err := flags.from.generate(s.in, flags.options)
	if err != nil {
		return err
	}
	if err := report(s, sources, result.Findings); err != nil {
		return err
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		return usagef("doctor asks by kubectl, which is not there")
	}
	needs, err := result.Needs()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	reports, ready := []doctor.Report{}, true
	for _, n := range needs {
		one := doctor.Report{Operator: n.Operator, Namespace: n.Namespace, Checks: doctor.Examine(ctx, flags.kubectl, n)}
		reports, ready = append(reports, one), ready && one.Ready()
		if err := one.Print(&out); err != nil {
			return err
		}
	}
	if flags.format == "json" {
		out.Reset()
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		list := map[string]any{"apiVersion": "argoperator.dev/v1alpha1", "kind": "DoctorReportList", "items": reports}
		if err := encoder.Encode(list); err != nil {
			return err
		}
	}
	if _, err := s.out.Write(out.Bytes()); err != nil {
		return err
	}
	if !ready {
		return errFindings
	}
	return nil
}

// kubectl asks the cluster.
func (f doctorFlags) kubectl(ctx context.Context, input []byte, arguments ...string) ([]byte, string, error) {
	all := []string{"--request-timeout=20s"}
	if f.context != "" {
		all = append(all, "--context="+f.context)
	}
	if f.kubeconfig != "" {
		all = append(all, "--kubeconfig="+f.kubeconfig)
	}
	cmd := exec.CommandContext(ctx, "kubectl", append(all, arguments...)...) //nolint:gosec // the arguments are ours
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.New("kubectl: " + exit.String())
	}
	return out.Bytes(), said.String(), err
}
