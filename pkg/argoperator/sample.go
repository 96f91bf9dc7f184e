package argoperator

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource/sample"
)

// SampleKind selects the samples to generate.
type SampleKind string

// The kinds of samples.
const (
	// Full has all fields that can be set together. It is the default.
	Full SampleKind = "full"
	// Minimal has the required fields.
	Minimal SampleKind = "minimal"
	// Edge generates one sample for each edge case of the schema.
	Edge SampleKind = "edge"
	// Random is a random valid custom resource.
	Random SampleKind = "random"
)

// SampleOptions of Samples. The zero value generates one full sample of each kind,
// in the version that the operator uses.
type SampleOptions struct {
	Kind    SampleKind
	Seed    uint64 // of random samples; equal seeds generate equal samples
	Version string // of the API; it must be served
}

// ErrNoSchema means that the kind has no schema to generate samples from.
var ErrNoSchema = errors.New("the schema of the custom resource is unknown")

// Samples generates valid custom resources of the operators as YAML documents, with
// the schema's descriptions as comments. It validates them as Resources does and
// returns an error for an invalid sample.
func (r Result) Samples(options SampleOptions) ([][]byte, error) {
	var out [][]byte
	apis := r.apis()
	for i, api := range apis {
		s, err := schemaOf(api, r.Operators[i], options.Version)
		if err != nil {
			return nil, err
		}
		made, err := texts(s, options, r.Operators[i].definition.Operator.Spec.Install.WatchNamespaces)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, validateSamples(apis, out)
}

// schemaOf returns the schema of the requested version, or of the version that the
// operator uses.
func schemaOf(api *admission.API, o Operator, version string) (*resource.Schema, error) {
	if version == "" {
		version = o.plan.API.Kind.Version
	}
	served := api.Versions()
	if !slices.ContainsFunc(served, func(v string) bool { return v == version || strings.HasSuffix(v, "/"+version) }) {
		return nil, fmt.Errorf("%w in version %s: %s is served as %s", ErrNoSchema, version, api.Kind(), strings.Join(served, ", "))
	}
	s, err := api.Schema(version)
	if err == nil && s == nil {
		err = fmt.Errorf("%w: the definition of %s does not contain its schema", ErrNoSchema, api.Kind())
	}
	return s, err
}

// texts returns the samples of one kind, in a namespace that the operator watches.
func texts(s *resource.Schema, options SampleOptions, namespaces []string) ([][]byte, error) {
	cases, err := casesOf(s, options)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, c := range cases {
		if metadata, ok := c.Object["metadata"].(map[string]any); ok && metadata["namespace"] != nil && len(namespaces) > 0 {
			metadata["namespace"] = namespaces[0]
		}
		text, err := sample.YAML(s, c.Object, c.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// casesOf returns the samples; they have names if there are several.
func casesOf(s *resource.Schema, options SampleOptions) ([]resource.Case, error) {
	one := func(object map[string]any, err error) ([]resource.Case, error) {
		return []resource.Case{{Object: object}}, err
	}
	switch options.Kind {
	case Minimal:
		return one(s.Start())
	case Edge:
		return s.Edges()
	case Random:
		return one(s.Random(rand.New(rand.NewPCG(options.Seed, 0))))
	}
	return one(s.Full())
}

// validateSamples validates samples in their encoded form.
func validateSamples(apis []*admission.API, texts [][]byte) error {
	_, findings, err := resourcesOf(apis, []Source{{Name: "sample", Data: Stream(texts)}}, nil)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Severity == diag.Error {
			return fmt.Errorf("the API server would reject the sample: line %d: %s", f.Line, f.Message)
		}
	}
	return nil
}

// Stream joins YAML documents.
func Stream(documents [][]byte) []byte { return bytes.Join(documents, []byte("---\n")) }
