package realcrds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// compared are the modules whose kinds are asked about: rules, scales, sets and
// maps, texts that may be numbers, and unusual schemas.
var compared = []string{"karpenter", "gateway-api", "cert-manager", "kueue", "argo-rollouts", "keda", "crossplane"}

// requests of each kind: half of them new objects, half of them changes.
const requests = 60

// TestStrategy asks the API server's own registry about custom resources that
// are a little wrong, and holds what pkg/internal/kube/resource says of them to its answers.
// It downloads, so it wants to be asked as TestRealCRDs does.
func TestStrategy(t *testing.T) {
	wanted := os.Getenv("ARGOPERATOR_REAL_CRDS")
	if wanted == "" {
		t.Skip("ARGOPERATOR_REAL_CRDS is not set")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	server := start(ctx, t)
	asked, refused := 0, 0
	for _, m := range Modules() {
		if !slices.ContainsFunc(compared, func(part string) bool { return strings.Contains(m.Path, part) }) || wanted != "1" && !strings.Contains(m.Path, wanted) {
			continue
		}
		crds, err := Fetch(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range crds {
			if len(c.Data) < large {
				a, r := server.compare(t, c)
				asked, refused = asked+a, refused+r
			}
		}
	}
	t.Logf("%d requests, %d of them refused by both", asked, refused)
	if refused < asked/10 || refused > asked*9/10 {
		t.Errorf("%d of %d requests were refused: that compares little", refused, asked)
	}
}

// strategy is the program in testdata/strategy.
type strategy struct {
	in  *json.Encoder
	out *json.Decoder
}

type request struct {
	CRD         *apiextensionsv1.CustomResourceDefinition
	Version     string
	Object, Old map[string]any
}

type answer struct{ Field, Message string }

// start builds the program in a module of its own, with the versions that this
// one has, and runs it.
func start(ctx context.Context, t *testing.T) strategy {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile(filepath.Join("testdata", "strategy", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	module := "module strategy\n\ngo 1.24\n"
	for _, path := range []string{"k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/apiserver"} {
		version, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		module += fmt.Sprintf("require %s %s\n", path, bytes.TrimSpace(version))
	}
	for name, data := range map[string]string{"main.go": string(source), "go.mod": module} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", "strategy", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the strategy: %v\n%s", err, out)
	}
	run := exec.CommandContext(ctx, filepath.Join(dir, "strategy"))
	run.Stderr = os.Stderr
	in, err1 := run.StdinPipe()
	out, err2 := run.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = run.Wait()
	})
	return strategy{json.NewEncoder(in), json.NewDecoder(io.Reader(out))}
}

// compare asks about objects of one kind.
func (s strategy) compare(t *testing.T, c CRD) (asked, refused int) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(c.Data, crd); err != nil {
		t.Fatal(err)
	}
	version := crd.Spec.Versions[0].Name
	known, err := resource.FromCRD(crd, version)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, uint64(len(c.Data))))
	for i := range requests {
		object, err := known.Random(r)
		if err != nil {
			t.Fatal(err)
		}
		q := request{Version: version, Object: object}
		if i%2 == 1 {
			for range r.IntN(3) {
				spoil(r, object, false) // it was wrong before, which is forgiven
			}
			q.Old = runtime.DeepCopyJSON(object)
		}
		for range r.IntN(3) {
			spoil(r, object, q.Old == nil)
		}
		if !readable(object) {
			continue // the server does not come to ask its strategy
		}
		if asked == 0 {
			q.CRD = crd
		}
		asked++
		if s.agree(t, known, q) {
			refused++
		}
	}
	return asked, refused
}

// agree tells whether both refuse an object, for the same reasons.
func (s strategy) agree(t *testing.T, known *resource.Schema, q request) bool {
	t.Helper()
	admitted := known.Admit(q.Object, q.Old)
	// The server prunes and defaults before it asks the strategy; so is the
	// object that it is asked about here.
	whole := func(object map[string]any) map[string]any {
		if object == nil {
			return nil
		}
		object = runtime.DeepCopyJSON(object)
		known.Prune(object)
		known.Default(object)
		metadata, ok := object["metadata"].(map[string]any)
		if ok && q.Old != nil {
			metadata["resourceVersion"], metadata["uid"] = "1", "a"
		}
		return object
	}
	q.Object, q.Old = whole(q.Object), whole(q.Old)
	if err := s.in.Encode(q); err != nil {
		t.Fatal(err)
	}
	var theirs []answer
	if err := s.out.Decode(&theirs); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	fields := map[string]bool{}
	for _, a := range theirs {
		at := strings.TrimPrefix(strings.TrimPrefix(a.Field, "<nil>"), ".")
		scale := strings.Contains(a.Message, "accessor error") || strings.Contains(a.Message, "should be a non-negative integer")
		if strings.Contains(a.Message, "some validation rules were not checked") || scale && fields[at] {
			continue // what is left out, as pkg/internal/kube/resource says
		}
		fields[at] = true
		want[at+": "+a.Message] = true
	}
	for _, err := range append(append(field.ErrorList{}, admitted.Invalid...), admitted.FailedRules...) {
		got[strings.TrimPrefix(strings.TrimPrefix(err.Field, "<nil>"), ".")+": "+err.ErrorBody()] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		data, err := json.Marshal(q.Object)
		t.Errorf("%s (-server +resource):\n%s\n%s %v", q.Object["kind"], diff, data, err)
	}
	return len(want) > 0
}

// readable tells whether metadata can be decoded at all.
func readable(object map[string]any) bool {
	metadata, ok := object["metadata"].(map[string]any)
	for _, key := range []string{"name", "namespace"} {
		if _, isText := metadata[key].(string); metadata[key] != nil && !isText {
			return false
		}
	}
	return ok
}

// spoil makes an object a little wrong somewhere: it takes a value away, puts
// another in its place, or has it twice.
func spoil(r *rand.Rand, object map[string]any, metadata bool) {
	var places []func(change func(any) (any, bool))
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				places = append(places, func(change func(any) (any, bool)) {
					if changed, keep := change(value[key]); keep {
						value[key] = changed
					} else {
						delete(value, key)
					}
				})
				walk(value[key])
			}
		case []any:
			for i := range value {
				places = append(places, func(change func(any) (any, bool)) { value[i], _ = change(value[i]) })
				walk(value[i])
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key != "apiVersion" && key != "kind" && (key != "metadata" || metadata && r.IntN(10) == 0) {
			walk(object[key])
		}
	}
	if len(places) == 0 {
		return
	}
	places[r.IntN(len(places))](func(value any) (any, bool) {
		if list, ok := value.([]any); ok && len(list) > 0 && r.IntN(2) == 0 {
			return append(list, runtime.DeepCopyJSONValue(list[0])), true
		}
		others := []any{nil, "", "A_b c", int64(-1), int64(1 << 40), 0.5, true, []any{}, map[string]any{}, map[string]any{"unknown": "x"}, strings.Repeat("x", 300)}
		if i := r.IntN(len(others) + 2); i < len(others) {
			return others[i], true
		}
		return nil, false
	})
}
