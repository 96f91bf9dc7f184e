// Package realcrds fetches the CustomResourceDefinitions of well-known projects
// from their Go modules.
//
// The rule of this package: no third-party files are kept here. The go command
// downloads a fixed version into its module cache.
package realcrds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Module is a Go module with CustomResourceDefinitions.
type Module struct {
	Path    string
	Version string   // exact
	Files   []string // patterns inside the module
}

// Modules lists all known modules. To add one, add a line.
func Modules() []Module {
	return []Module{
		{"github.com/argoproj/argo-cd/v2", "v2.13.2", []string{"manifests/crds/*-crd.yaml"}},
		{"github.com/argoproj/argo-rollouts", "v1.7.2", []string{"manifests/crds/*-crd.yaml"}},
		{"github.com/cert-manager/cert-manager", "v1.16.2", []string{"deploy/crds/*.yaml"}},
		{"github.com/cloudnative-pg/cloudnative-pg", "v1.25.0", []string{"config/crd/bases/*.yaml"}},
		{"github.com/crossplane/crossplane", "v1.18.0", []string{"cluster/crds/*.yaml"}},
		{"github.com/external-secrets/external-secrets", "v0.12.1", []string{"config/crds/bases/*.yaml"}},
		{"github.com/kedacore/keda/v2", "v2.16.0", []string{"config/crd/bases/*.yaml"}},
		{"github.com/kyverno/kyverno", "v1.13.2", []string{"config/crds/kyverno/*.yaml"}},
		{"github.com/open-telemetry/opentelemetry-operator", "v0.115.0", []string{"config/crd/bases/*.yaml"}},
		{"github.com/prometheus-operator/prometheus-operator", "v0.78.2", []string{"example/prometheus-operator-crd/*.yaml"}},
		{"github.com/tektoncd/pipeline", "v0.66.0", []string{"config/300-crds/*.yaml", "config/300*.yaml"}},
		{"istio.io/api", "v1.24.0", []string{"kubernetes/customresourcedefinitions.gen.yaml"}},
		{"knative.dev/serving", "v0.43.0", []string{"config/core/300-resources/*.yaml"}},
		{"sigs.k8s.io/cluster-api", "v1.9.0", []string{"config/crd/bases/*.yaml"}},
		{"sigs.k8s.io/gateway-api", "v1.2.1", []string{"config/crd/experimental/gateway*.yaml"}},
		{"sigs.k8s.io/karpenter", "v1.1.1", []string{"pkg/apis/crds/*.yaml"}},
		{"sigs.k8s.io/kueue", "v0.10.0", []string{"config/components/crd/bases/*.yaml"}},
		{"github.com/argoproj/argo-events", "v1.9.11", []string{"manifests/base/crds/*.yaml"}},
		{"github.com/argoproj/argo-workflows/v3", "v3.7.18", []string{"manifests/base/crds/full/*.yaml"}},
	}
}

// CRD is one CustomResourceDefinition as its project publishes it.
type CRD struct {
	Name string // metadata.name, or the file's name
	Data []byte // YAML, one document
}

// Fetch downloads a module, unless it is cached, and reads its
// CustomResourceDefinitions.
func Fetch(ctx context.Context, m Module) ([]CRD, error) {
	dir, err := download(ctx, m)
	if err != nil {
		return nil, err
	}
	var out []CRD
	for _, pattern := range m.Files {
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading a CustomResourceDefinition: %w", err)
			}
			out = append(out, split(filepath.Base(file), data)...)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s@%s has no CustomResourceDefinition in %v", m.Path, m.Version, m.Files)
	}
	return out, nil
}

// download runs the go command in a temporary module, so that this module's
// requirements stay unchanged.
func download(ctx context.Context, m Module) (string, error) {
	dir, err := os.MkdirTemp("", "realcrds")
	if err != nil {
		return "", fmt.Errorf("making a module: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module realcrds\n"), 0o600); err != nil {
		return "", fmt.Errorf("making a module: %w", err)
	}
	var problems bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.Path+"@"+m.Version)
	cmd.Dir, cmd.Stderr = dir, &problems
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	data, runErr := cmd.Output()
	var found struct{ Dir, Error string }
	if err := json.Unmarshal(data, &found); err != nil || found.Dir == "" {
		return "", fmt.Errorf("downloading %s@%s: %v %s%s", m.Path, m.Version, runErr, found.Error, problems.String())
	}
	return found.Dir, nil
}

// braces matches template expressions of a chart, in labels.
var (
	labels = regexp.MustCompile(`(?m)^ +[\w./-]+: '\{\{[^{}]*\}\}'`)
	braces = regexp.MustCompile(`\{\{[^{}]*\}\}`)
)

func split(file string, data []byte) []CRD {
	var out []CRD
	data = labels.ReplaceAllFunc(data, func(line []byte) []byte { return braces.ReplaceAll(line, []byte("chart")) })
	for _, document := range strings.Split(string(data), "\n---") {
		if !strings.Contains(document, "\nkind: CustomResourceDefinition") && !strings.HasPrefix(document, "kind: CustomResourceDefinition") {
			continue
		}
		name := file
		if _, after, ok := strings.Cut(document, "\n  name: "); ok {
			name, _, _ = strings.Cut(after, "\n")
		}
		out = append(out, CRD{Name: name, Data: []byte(strings.TrimPrefix(document, "---"))})
	}
	return out
}
