package scaffoldtest

import (
	"bytes"
	order "cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
)

// story is a file of tests/.
type story struct {
	Spec struct {
		Resource struct{ File string }
		Steps    []step
	}
}

type step struct {
	Name           string
	Create, Delete *struct{}
	Edit           map[string]any
	ChildStatus    *childStatus
	Expect         struct {
		Exactly  bool
		Children *[]map[string]any
		Status   map[string]any
	}
}

type childStatus struct {
	APIVersion, Kind, Name, Namespace string
	Status                            map[string]any
}

// Player runs the steps on an in-memory cluster.
type Player struct {
	*testing.T
	simulation *simulate.Simulation
	resource   map[string]any
	seen       []map[string]any // expected children, which must be deleted with the custom resource
}

// Play runs the tests of a project.
func Play(t *testing.T, operator argoperator.Result, files []scaffold.File) {
	t.Helper()
	dir := scaffold.Directory(files)
	var s story
	if err := yaml.UnmarshalStrict(dir["tests/first-steps.yaml"].Data, &struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		*story
	}{story: &s}); err != nil {
		t.Fatal(err)
	}
	simulation, err := simulate.New(simulate.Inputs{Objects: operator.Objects(), Kinds: operator.Kinds(), Runner: Machine()})
	if err != nil {
		t.Fatal(err)
	}
	sample := strings.TrimPrefix(s.Spec.Resource.File, "../")
	p := Player{T: t, simulation: simulation, resource: Decoded(t, dir[sample].Data)}
	for _, step := range s.Spec.Steps {
		p.do(step)
		if err := simulation.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		p.expect(step)
	}
	if len(s.Spec.Steps) < 2 || len(p.seen) == 0 {
		t.Errorf("the test has %d steps and expects %d children", len(s.Spec.Steps), len(p.seen))
	}
	if failures := simulation.Trace().Failures(); len(failures) > 0 {
		t.Errorf("failed: %v", failures)
	}
}

func (p *Player) do(s step) {
	p.Helper()
	var err error
	switch {
	case s.Create != nil:
		err = p.simulation.Apply(p.resource)
	case s.Edit != nil:
		p.resource = merged(p.resource, s.Edit)
		err = p.simulation.Apply(p.resource)
	case s.Delete != nil:
		err = p.simulation.Delete(p.resource)
	case s.ChildStatus != nil:
		err = p.report(s.ChildStatus)
	default:
		p.Fatalf("%s does nothing", s.Name)
	}
	if err != nil {
		p.Fatalf("%s: %v", s.Name, err)
	}
}

func (p *Player) expect(s step) {
	p.Helper()
	if s.Expect.Status != nil {
		p.holds(s.Name, p.get(p.resource), map[string]any{"status": s.Expect.Status})
	}
	if s.Expect.Children == nil {
		return
	}
	for _, child := range *s.Expect.Children {
		p.holds(s.Name, p.get(child), child)
		p.seen = append(p.seen, child)
	}
	if len(*s.Expect.Children) > 0 {
		return
	}
	if !s.Expect.Exactly {
		p.Errorf("%s: no children without exactly: that is always true", s.Name)
	}
	for _, child := range p.seen {
		if p.get(child) != nil {
			p.Errorf("%s: the %s is still there", s.Name, child["kind"])
		}
	}
}

// get reads an object; nil if it does not exist.
func (p *Player) get(object map[string]any) map[string]any {
	p.Helper()
	got, err := p.simulation.Get(object)
	if err != nil {
		p.Fatal(err)
	}
	return got
}

// holds checks that an object contains the expected part: merging that changes
// nothing.
func (p *Player) holds(step string, got, want map[string]any) {
	p.Helper()
	if diff := cmp.Diff(p.Plain(merged(got, want)), p.Plain(got)); diff != "" {
		p.Errorf("%s (-want +got):\n%s", step, diff)
	}
}

// Plain returns a value as decoded from JSON, with one type of numbers.
func (p *Player) Plain(value any) (out any) {
	p.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		p.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		p.Fatal(err)
	}
	return out
}

// merged returns an object after a merge patch.
func merged(object, patch map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range patch {
		inner, deep := value.(map[string]any)
		switch before, _ := out[key].(map[string]any); {
		case value == nil:
			delete(out, key)
		case deep:
			out[key] = merged(before, inner)
		default:
			out[key] = value
		}
	}
	return out
}

// report writes the status of a child as its controller does.
func (p *Player) report(c *childStatus) error {
	p.Helper()
	kind := p.simulation.Cluster().Kind(schema.FromAPIVersionAndKind(c.APIVersion, c.Kind))
	root := "/apis/" + c.APIVersion
	if !strings.Contains(c.APIVersion, "/") {
		root = "/api/" + c.APIVersion
	}
	body, err := json.Marshal(map[string]any{"status": c.Status})
	if err != nil {
		p.Fatal(err)
	}
	path := fmt.Sprintf("%s/namespaces/%s/%s/%s/status", root, order.Or(c.Namespace, "default"), kind.Plural, c.Name)
	req, err := http.NewRequestWithContext(p.Context(), http.MethodPatch, path, bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	_, err = p.simulation.Do(req)
	return err
}
