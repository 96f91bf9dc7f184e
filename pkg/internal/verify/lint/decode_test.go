package lint

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestDecodeAsJSON decodes the objects of Argo's examples, also with other values in random places, and compares with
// encoding/json.
func TestDecodeAsJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	objects := examplesOfArgo(t)
	decoded := 0
	for _, o := range objects {
		for range 10 {
			if decodesAsJSON(t, o.Fields) {
				decoded++
			}
			o.Fields = mutated(random, o.Fields, 0.02).(map[string]any)
		}
	}
	if decoded < 2*len(objects) {
		t.Errorf("only %d of %d were compared", decoded, 10*len(objects))
	}
}

func decodesAsJSON(t *testing.T, fields map[string]any) bool {
	t.Helper()
	kind := schema.FromAPIVersionAndKind(fmt.Sprint(fields["apiVersion"]), fmt.Sprint(fields["kind"]))
	got, want := argo.NewObject(kind), argo.NewObject(kind)
	if got == nil {
		return false
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	r := problem.About(got)
	ok := argo.DecodeFields(fields, got, r, nil)
	unmarshal := json.Unmarshal
	if len(r.Problems) > 0 {
		unmarshal = utiljson.Unmarshal
	}
	if err := unmarshal(data, want); ok != (err == nil) {
		t.Errorf("%s: decoded: %v, encoding/json: %v", data, ok, err)
	} else if ok && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: -encoding/json +Fill:\n%s", data, cmp.Diff(want, got))
	}
	return len(r.Problems) == 0
}

// mutated returns a value with others in random places.
func mutated(random *rand.Rand, value any, share float64) any {
	others := []any{nil, "", "1", "{{x}}", int64(1), int64(1) << 40, 1.0, 1.5, 1e30, true, []any{}, []any{nil}, map[string]any{}, map[string]any{"name": nil}}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = inner
			if key == "apiVersion" || key == "kind" {
				continue
			}
			if out[key] = mutated(random, inner, share); random.Float64() < share {
				out[key] = others[random.IntN(len(others))]
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for n, inner := range out {
			if out[n] = mutated(random, inner, share); random.Float64() < share {
				out[n] = others[random.IntN(len(others))]
			}
		}
		return out
	}
	return value
}

// examplesOfArgo returns the objects in the YAML files of Argo's modules.
func examplesOfArgo(t *testing.T) []source.Object {
	t.Helper()
	var out []source.Object
	for _, module := range []string{"github.com/argoproj/argo-workflows/v3", "github.com/argoproj/argo-events"} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatal(err)
		}
		before := len(out)
		err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(dir)), "examples"), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(path)
			objects, _ := source.Objects(source.Input{Name: path, Data: data, Lenient: true}, source.NotEmpty)
			out = append(out, objects...)
			return err
		})
		if err != nil || len(out) < before+100 {
			t.Fatalf("%s: %d objects, %v", module, len(out)-before, err)
		}
	}
	return out
}
