package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/lang/chart"
	"github.com/argoperator/argoperator/pkg/internal/project/adopt"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// largestChart limits the size of a chart that init reads, in bytes. The definition has a
// lower limit for what a ConfigMap can hold.
const largestChart = 32 << 20

// fromChart creates a project from a Helm chart.
func fromChart(ctx context.Context, s streams, flags initFlags) (scaffold.Project, error) {
	var findings diag.List
	none := func(string) []byte { return nil }
	files, err := readChart(flags.chart)
	if err != nil {
		if err := unreadable(&findings, flags.chart, "the value of --from-chart", err); err != nil {
			return scaffold.Project{}, err
		}
		return scaffold.Project{}, reportFrom(s, none, findings)
	}
	at := diag.Position{File: filepath.ToSlash(flags.chart)}
	read, err := chart.New(files, largestChart)
	if err != nil {
		findings.Add(at, diag.BadChart, fmt.Sprintf("this is not a chart: %v", err),
			"pass the directory with Chart.yaml, or a file that helm package wrote")
	}
	for _, missing := range read.Missing() {
		findings.Add(at, diag.BadChart, "the chart lacks the dependency "+missing, "run helm dependency build "+quoted(flags.chart))
	}
	if findings.HasErrors() {
		return scaffold.Project{}, reportFrom(s, none, findings)
	}
	manifest, problem, err := renderChart(ctx, flags)
	if err != nil {
		return scaffold.Project{}, err
	}
	if problem != nil {
		findings.Add(at, diag.BadChart, problem.Message, problem.Hint)
		return scaffold.Project{}, reportFrom(s, none, findings)
	}
	project, findings := adopt.FromChart(flags.options, at.File, read, manifest)
	return project, reportFrom(s, none, findings)
}

// readChart reads the files of a chart from a directory or an archive.
func readChart(name string) ([]chart.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := readFile(name)
		if err != nil {
			return nil, err
		}
		return chart.Unpack(data, largestChart)
	}
	names, err := chart.List(os.DirFS(name))
	if err != nil {
		return nil, fmt.Errorf("reading a chart: %w", err)
	}
	var files []chart.File
	for _, file := range names {
		data, err := readFile(filepath.Join(name, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		files = append(files, chart.File{Path: file, Data: data})
	}
	return files, nil
}

// renderChart renders the chart with its defaults, for a release with the name of the
// operator. It returns why Helm cannot, if the reason is in the user's hands.
func renderChart(ctx context.Context, flags initFlags) ([]byte, *diag.Finding, error) {
	from := sourceFlags{names: []string{flags.chart}}
	name, err := filepath.Abs(flags.chart)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the chart: %w", err)
	}
	helm, err := from.path().Command(ctx, process.Helm, "template", flags.options.Name, name, "--namespace", "default")
	if err != nil {
		return nil, &diag.Finding{
			Message: "the chart cannot be rendered: " + err.Error(),
			Hint:    "install Helm (https://helm.sh/docs/intro/install), so that argoperator can find the kinds of objects",
		}, nil
	}
	var out, said bytes.Buffer
	helm.Stdout, helm.Stderr = &out, &said
	if err := helm.Run(); err != nil {
		return nil, &diag.Finding{
			Message: "helm template fails: " + string(bytes.Join(bytes.Fields(said.Bytes()), []byte(" "))),
			Hint: "correct the chart until its values.yaml is enough for: helm template " + flags.options.Name + " " +
				quoted(flags.chart),
		}, nil
	}
	return out.Bytes(), nil, nil
}
