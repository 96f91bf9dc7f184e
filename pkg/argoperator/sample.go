package argoperator

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/admission"
	"github.com/argoperator/argoperator/pkg/internal/resource"
	"github.com/argoperator/argoperator/pkg/internal/sample"
)

// Sort says which samples are wanted.
type Sort string

// The sorts of samples.
const (
	// Full has every field that can be there at once. It is what the zero Sort means.
	Full Sort = "full"
	// Minimal has what is required.
	Minimal Sort = "minimal"
	// Edge is one sample for each sort of value in which mistakes show.
	Edge Sort = "edge"
	// Random is any legal custom resource.
	Random Sort = "random"
)

// SampleOptions of Samples. The zero value makes one full sample of each kind,
// in the version that the operator works with.
type SampleOptions struct {
	Sort    Sort
	Seed    uint64 // of random samples: the same seed, the same samples
	Version string // of the API; it must be served
}

// ErrNoSchema says that nothing is known of what the custom resources look like.
var ErrNoSchema = errors.New("no schema says what a custom resource looks like")

// Samples makes custom resources of the operators that the API server accepts,
// as YAML documents with what the schema says in comments. It has them judged as
// Resources does: a sample that would be refused is an error.
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
	return out, accepted(apis, out)
}

// schemaOf is the schema of the version that was asked for, or of the one that
// the operator works with.
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
		err = fmt.Errorf("%w: %s is not of the operator's making", ErrNoSchema, api.Kind())
	}
	return s, err
}

// texts are the samples of one kind, in a namespace that the operator watches.
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

// casesOf are samples, with a name where there are several.
func casesOf(s *resource.Schema, options SampleOptions) ([]resource.Case, error) {
	one := func(object map[string]any, err error) ([]resource.Case, error) {
		return []resource.Case{{Object: object}}, err
	}
	switch options.Sort {
	case Minimal:
		return one(s.Start())
	case Edge:
		return s.Edges()
	case Random:
		return one(s.Random(rand.New(rand.NewPCG(options.Seed, 0))))
	}
	return one(s.Full())
}

// accepted has samples judged as they will be read.
func accepted(apis []*admission.API, texts [][]byte) error {
	_, findings, err := resourcesOf(apis, []Source{{Name: "sample", Data: Stream(texts)}}, nil)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Severity == diag.Error {
			return fmt.Errorf("a sample would be refused: line %d: %s", f.Line, f.Message)
		}
	}
	return nil
}

// Stream puts YAML documents into one text.
func Stream(documents [][]byte) []byte { return bytes.Join(documents, []byte("---\n")) }
