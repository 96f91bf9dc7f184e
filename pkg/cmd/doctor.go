package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/verify/doctor"
)

type doctorFlags struct {
	resource   string // such as memcached/one
	from       sourceFlags
	format     string
	context    string
	kubeconfig string
	options    argoperator.Options
}

func newDoctor(s streams) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [RESOURCE/NAME | PATH...]",
		Short: "Say why a custom resource is not ready, or whether a cluster is",
		Long: `With RESOURCE/NAME, as in "kubectl get", say why a custom resource is not ready:
its status, its children and their pods, the EventSource, the EventBus, the Sensors
and the worker of its operator, and the latest warnings. This needs no definition.

Otherwise check the cluster of the kubeconfig for an operator: Argo's
CustomResourceDefinitions, its controllers and their versions, the namespace of the
operator, the EventBus, and whether the API server accepts the manifests from you.

For each problem, doctor suggests a fix. It only reads, through kubectl and with
your permissions.`,
		Example: `  # Why is this custom resource not ready?
  argoperator doctor memcached/example -n team

  # Check the current cluster
  argoperator doctor -f .

  # Check another cluster for an operator in the namespace platform
  argoperator doctor -f . -n platform --context staging -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			// RESOURCE/NAME or, as kubectl accepts it, too, RESOURCE NAME
			resource := strings.Join(args, "/")
			if 0 < len(args) && len(args) <= 2 && !cmd.Flags().Changed("filename") && resourceName.MatchString(resource) {
				if _, err := os.Lstat(args[0]); errors.Is(err, os.ErrNotExist) {
					flags.resource = resource
					return nil
				}
			}
			return flags.from.paths(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return interruptible(cmd.Context(), func(ctx context.Context) error { return runDoctor(ctx, s, flags) })
		},
	}
	flags.from.register(cmd)
	outputVar(cmd, &flags.format, "text", "json")
	namespaceVar(cmd, &flags.options.Namespace)
	cmd.Flags().Lookup("namespace").Usage = "namespace of RESOURCE/NAME (default that of the kubeconfig), or of the operator (default " +
		"install.namespace of the definition)"
	cmd.Flags().StringVar(&flags.context, "context", "", "context of the kubeconfig to use")
	cmd.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "", "kubeconfig file (default the one that kubectl uses)")
	return cmd
}

// resourceName matches the name of an object as in kubectl get.
var resourceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

func runDoctor(ctx context.Context, s streams, flags doctorFlags) error {
	if err := flags.checkKubeconfig(s); err != nil {
		return err
	}
	if flags.resource != "" {
		if _, err := flags.from.path().Find(process.Kubectl.Program); err != nil {
			return usagef("doctor needs kubectl: %w", err)
		}
		r := doctor.Diagnose(ctx, flags.kubectl, flags.resource, flags.options.Namespace, time.Now())
		return flags.print(s, []doctor.Report{r})
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
	return flags.print(s, reports)
}

// print prints reports. It fails if one of them has an error.
func (f doctorFlags) print(s streams, reports []doctor.Report) error {
	if err := printDiagnoses(s, reports, f.format); err != nil {
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
