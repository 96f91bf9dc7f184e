package differential_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
	"github.com/argoperator/argoperator/pkg/internal/testing/need"
)

// usual is the number of definitions in a usual run, enough for each pair of keys.
const usual = 90

// TestDifferential plays drawn definitions on all engines, and compares them with each
// other, with their expressions, and with the verdict of lint. DEFINITIONS is the number of
// definitions, SEED the first of them. Of a new difference it writes the simplest case to
// DIFFERENCES, a directory.
func TestDifferential(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1600)) // many short-lived allocations
	seeds, drawn := seedsOf(t)
	if testing.Short() {
		seeds, drawn = seeds[:min(len(seeds), usual/6)], nil
	}
	var group sync.WaitGroup
	all := results{drawn: drawn, pairs: differential.Pairs{}}
	next := make(chan uint64)
	for range min(2*runtime.GOMAXPROCS(0), 8) { // each waits for its interpreter half of the time
		python := start(t)
		group.Go(func() {
			for seed := range next {
				all.add(t, seed, python)
			}
		})
	}
	for _, seed := range seeds {
		next <- seed
	}
	close(next)
	group.Wait()
	all.log(t)
}

func start(t *testing.T) *differential.Python {
	t.Helper()
	need.Program(t, "python3")
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // pods write files, which take half of the time on a disk
		t.Setenv("TMPDIR", "/dev/shm")
	}
	python, err := differential.StartPython("../../../../templates/runtime")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := python.Close(); err != nil {
			t.Error(err)
		}
	})
	return python
}

// seedsOf returns the seeds, and the pairs that they are chosen from; nil: they are not chosen.
func seedsOf(t *testing.T) ([]uint64, differential.Pairs) {
	t.Helper()
	from := number(t, "SEED", 0)
	if os.Getenv("DEFINITIONS") == "" {
		seeds, drawn, err := differential.Pairwise(from, usual)
		if err != nil {
			t.Fatal(err)
		}
		return seeds, drawn
	}
	var out []uint64
	for i := range number(t, "DEFINITIONS", 0) {
		out = append(out, from+i)
	}
	return out, nil
}

// number returns that of a variable of the environment, or another if it is not set.
func number(t *testing.T, name string, other uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return other
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// results counts what the cases have shown.
type results struct {
	mu                            sync.Mutex
	played, refused, all, claimed int
	steps, differences            int
	known                         map[string]int
	codes                         map[string]int     // of definitions that no engine supports
	pairs, drawn                  differential.Pairs // of the cases with a life; of all that could have been played
}

// add plays one case.
func (r *results) add(t *testing.T, seed uint64, python *differential.Python) {
	t.Helper()
	c, err := differential.Draw(seed, nil)
	if err != nil {
		t.Error(err)
		return
	}
	v, err := differential.Play(c, python)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	if v.Difference != nil && len(explanations(c, v.Difference)) == 0 {
		r.report(t, c, v.Difference, python)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known, r.codes = map[string]int{}, map[string]int{}
	}
	r.steps += v.Steps
	switch len(v.Engines) {
	case 0:
		r.refused++
		for _, code := range v.Refused {
			r.codes[code]++
		}
	case 3:
		r.all++
		fallthrough
	default:
		r.played++
	}
	if n := r.played + r.refused; n%1000 == 0 {
		t.Logf("%d definitions", n)
	}
	if len(v.Findings) == 0 {
		r.claimed++
	}
	if v.Steps > 0 {
		r.pairs.Add(c.Pairs())
	}
	if v.Difference != nil {
		for _, name := range explanations(c, v.Difference) {
			r.known[name]++
		}
	}
}

// isFew limits for how many differences the simplest case is looked for, which takes long.
func (r *results) isFew() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.differences++
	return r.differences <= 5
}

// report fails with a difference: with the simplest case of the first few.
func (r *results) report(t *testing.T, c *differential.Case, found *differential.Difference, python *differential.Python) {
	t.Helper()
	if !r.isFew() {
		t.Errorf("seed %d: %v", c.Seed(), found)
		return
	}
	t.Logf("seed %d: %v", c.Seed(), found)
	simplest, difference, err := differential.Shrink(c, found, python)
	if err != nil {
		t.Errorf("seed %d: %v", c.Seed(), err)
		return
	}
	dir := os.Getenv("DIFFERENCES")
	if dir == "" {
		dir = t.TempDir()
	}
	dir = filepath.Join(dir, strconv.FormatUint(c.Seed(), 10))
	if err := simplest.Write(dir, difference); err != nil {
		t.Error(err)
	}
	t.Errorf("seed %d: %v\nchoices %v\n%s", c.Seed(), difference, simplest.Choices(), simplest.Definition(""))
}

func (r *results) log(t *testing.T) {
	t.Helper()
	t.Logf("%d definitions played, %d of them on all engines, %d without findings, %d steps; %d refused: %v",
		r.played, r.all, r.claimed, r.steps, r.refused, r.codes)
	t.Logf("differences %d, of known defects: %v", r.differences, r.known)
	if r.drawn != nil {
		left := r.pairs.Missing(r.drawn)
		t.Logf("%d of %d pairs of keys, kinds of children and moves; not: %.500q", len(r.drawn)-len(left), len(r.drawn), left)
		if 50*len(left) > len(r.drawn) {
			t.Error("too many pairs are not played: lint rejects the definitions that have them")
		}
	}
	if r.played < r.refused {
		t.Errorf("the grammar draws too many definitions that no engine supports: %v", r.codes)
	}
}

// explanations returns the names of the known defects that explain a difference.
func explanations(c *differential.Case, d *differential.Difference) []string {
	var out []string
	for _, known := range differential.Defects() {
		if known.Covers(c, d) {
			out = append(out, known.Name)
		}
	}
	return out
}

// TestKnownDefects fails for a known defect that its case does not show any more: it has
// been fixed, and its entry must go.
func TestKnownDefects(t *testing.T) {
	python := start(t)
	for _, known := range differential.Defects() {
		c, err := differential.Draw(known.Seed, known.Choices)
		if err != nil {
			t.Fatal(err)
		}
		v, err := differential.Play(c, python)
		switch {
		case err != nil:
			t.Errorf("%s: %v", known.Name, err)
		case v.Difference == nil:
			t.Errorf("%s: its case shows no difference: remove the entry\n%s\n%v", known.Name, c.Definition(""), v.Findings)
		case !known.Covers(c, v.Difference):
			t.Errorf("%s: its case shows another difference: %v\n%s", known.Name, v.Difference, c.Definition(""))
		}
	}
}

// TestKeys requires that the grammar uses every key of a definition, or that
// notDrawn has the reason why it does not.
func TestKeys(t *testing.T) {
	used := map[string]bool{}
	for seed := range uint64(400) {
		c, err := differential.Draw(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(used, differential.UsedKeys(c.Spec()))
	}
	known := map[string]bool{}
	keys(reflect.TypeFor[v1alpha1.Spec](), "", known)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		reason := reasonOf(key)
		switch {
		case !used[key] && reason == "":
			t.Errorf("%s: the grammar does not draw it: draw it, or give the reason", key)
		case used[key] && notDrawn[key] != "":
			t.Errorf("%s: the grammar draws it: remove its reason", key)
		}
	}
	for key := range notDrawn {
		if !known[key] {
			t.Errorf("%s is no key", key)
		}
	}
}

// notDrawn are the keys that the grammar does not draw, with those below them, and why.
var notDrawn = map[string]string{
	"patches[].subresource":           "the shared object has no status: testdata/behaviour/patched-status and approval test it",
	"deleteAfter":                     "what comes with time: testdata/behaviour/expiring tests it",
	"related[].schedule":              "what comes with time: testdata/behaviour/scheduled tests it",
	"related[].timeZone":              "part of schedule",
	"logic":                           "a program of the user, which can do anything: the examples and testdata/ports test it",
	"related[].delete":                "only logic uses it",
	"related[].crd":                   "testdata/ports/kro-singleton tests it",
	"api.existing.decorate":           "only logic uses it",
	"api.versions[].scale":            "a subresource that the operator does not use: TestResources of kube/resource tests it",
	"api.versions[].selectableFields": "for clients; the operator does not use it",
	"api.versions[].columns[].type":   "what kubectl shows; the operator does not use it",
	"api.versions[].validations[].messageExpression": "the text of a rejection",
	"api.versions[].validations[].fieldPath":         "the text of a rejection",
	"children[].apiVersion":                          "of children that logic makes",
	"children[].kind":                                "of children that logic makes",
	"children[].plural":                              "part of crd, which the grammar draws",
	"children[].scope":                               "part of crd, which the grammar draws",
	"reconcile.concurrency":                          "how many custom resources run at a time: tests of the worker's queue play it",
	"reconcile.engine":                               "each definition is played on every engine that supports it",
	"install.namespace":                              "a name of where the operator runs",
	"install.eventBus":                               "the API server in memory has no bus",
	"install.permissions":                            "the API server in memory enforces no rights",
	"install.replicas":                               "the number of pods, which events do not show",
	"install.names":                                  "names of objects of the operator",
	"install.runtimeImage":                           "programs run without images",
	"install.imagesLock":                             "programs run without images",
	"install.runtimeResources":                       "limits of pods, which the simulation does not enforce",
	"install.podTemplate":                            "the API server in memory has no nodes",
	"install.argoServerURL":                          "a link in messages",
	"install.userRoles":                              "rights of users",
	"install.networkPolicies":                        "the network of the cluster",
	"install.tokenRotation":                          "the token of the Sensors, which the simulation does not check",
	"install.monitoring":                             "objects for Prometheus",
}

// reasonOf returns why the grammar draws neither a key nor one above it.
func reasonOf(key string) string {
	for name, reason := range notDrawn {
		if key == name || strings.HasPrefix(key, name+".") || strings.HasPrefix(key, name+"[]") {
			return reason
		}
	}
	return ""
}

// keys adds the paths of the keys of a type. [] stands for each item of a list.
func keys(typ reflect.Type, at string, out map[string]bool) {
	switch typ.Kind() {
	case reflect.Pointer:
		keys(typ.Elem(), at, out)
	case reflect.Slice:
		keys(typ.Elem(), at+"[]", out)
	case reflect.Struct:
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			path := strings.TrimPrefix(at+"."+name, ".")
			out[path] = true
			keys(typ.Field(i).Type, path, out)
		}
	}
}
