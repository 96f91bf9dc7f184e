package testsuite

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// expectGolden compares the result with a golden file, or records the new content
// of the file.
func (s *stepRun) expectGolden(children []map[string]any, cr map[string]any) {
	if s.step.Expect.Golden == "" {
		return
	}
	at, file := s.at("expect", "golden"), s.test.Golden(s.index)
	got, err := s.picture(children, cr)
	if err != nil {
		s.unmet(at, err.Error(), "")
		return
	}
	want, there := s.test.Goldens[s.index]
	switch {
	case bytes.Equal(want, got) && there:
	case s.update:
		s.goldens = append(s.goldens, Golden{File: file, Data: got})
	case !there:
		s.unmet(at, "missing file "+file, "write it with argoperator test --update")
	default:
		s.unmet(
			at,
			"the result differs from the file",
			diff(string(want), string(got))+"\nif the change is intended, run argoperator test --update",
		)
	}
}

// picture encodes all children in creation order, then the custom resource, without
// cluster-specific values.
func (s *stepRun) picture(children []map[string]any, cr map[string]any) ([]byte, error) {
	var out bytes.Buffer
	if cr != nil {
		children = append(children, cr)
	}
	for i, o := range children {
		shown, _ := withFixedTimes(withoutBookkeeping(s.s.Normalized(o))).(map[string]any)
		data, err := output.YAML(shown)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", placeOf(o), err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(data)
	}
	return out.Bytes(), nil
}

// withoutBookkeeping removes argoperator's own labels, annotations and observed
// state.
func withoutBookkeeping(o map[string]any) map[string]any {
	for _, key := range []string{"labels", "annotations"} {
		notes, _ := valueOf(o, "metadata", key).(map[string]any)
		for name := range notes {
			if domain, _, _ := strings.Cut(name, "/"); domain == v1alpha1.Group || strings.HasSuffix(domain, "."+v1alpha1.Group) {
				delete(notes, name)
			}
		}
		if metadata, ok := o["metadata"].(map[string]any); ok && len(notes) == 0 {
			delete(metadata, key)
		}
	}
	owners, _ := valueOf(o, "metadata", "ownerReferences").([]any)
	for _, owner := range owners {
		if fields, ok := owner.(map[string]any); ok {
			delete(fields, "uid")
		}
	}
	seen, _ := valueOf(o, "status", "children").(map[string]any)
	for _, one := range seen {
		if fields, ok := one.(map[string]any); ok && (fields["failed"] != nil || fields["uid"] != nil && fields["resourceVersion"] != nil) {
			for _, name := range []string{
				"ownerUID", "uid", "deletedUID", "reclaimed", "resourceVersion", "fields", "generation", "failed", "drift",
			} {
				delete(fields, name)
			}
		}
	}
	return o
}

var timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// withFixedTimes replaces all times by the same one.
func withFixedTimes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = withFixedTimes(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withFixedTimes(inner)
		}
	case string:
		if timePattern.MatchString(v) {
			return "2000-01-01T00:00:00Z"
		}
	}
	return value
}
