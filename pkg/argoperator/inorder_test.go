package argoperator_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/output"
)

// many are definitions that differ in their names, of which some take much longer
// than others.
func many(t *testing.T, n int) []argoperator.Source {
	t.Helper()
	var list []argoperator.Source
	for i := range n {
		example := benchmarked[i*i%len(benchmarked)]
		source := sourceOf(t, example)
		source.Name = fmt.Sprintf("%d.yaml", i)
		source.Data = bytes.Replace(source.Data, []byte("metadata:\n  name: "), fmt.Appendf(nil, "metadata:\n  name: n%d-", i), 1)
		list = append(list, source)
	}
	return list
}

// TestManyAtATime generates several definitions in one run: each becomes what it
// becomes alone, in the order in which they were given.
func TestManyAtATime(t *testing.T) {
	sources := many(t, 12)
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil || len(result.Operators) != len(sources) {
		t.Fatal(err, result.Findings)
	}
	for i, source := range sources {
		alone, err := output.Stream(operatorOf(t, source).Objects)
		if err != nil {
			t.Fatal(err)
		}
		together, err := output.Stream(result.Operators[i].Objects)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(alone), string(together)); diff != "" {
			t.Errorf("%s (-alone +together):\n%s", source.Name, diff)
		}
	}
}

// TestEachStops: nothing is handed out from the first error on, and the rest is
// looked at all the same.
func TestEachStops(t *testing.T) {
	sources := many(t, 8)
	for _, i := range []int{2, 6} {
		sources[i].Data = bytes.Replace(sources[i].Data, []byte("\nspec:"), []byte("\nspec:\n  nonsense: true"), 1)
	}
	var names []string
	findings, err := argoperator.Each(sources, argoperator.Options{}, func(o argoperator.Operator) error {
		names = append(names, o.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 2 {
		t.Errorf("%v were handed out, beyond the first error", names)
	}
	var files []string
	for _, f := range findings {
		files = append(files, f.File)
	}
	if diff := cmp.Diff([]string{"2.yaml", "6.yaml"}, files); diff != "" {
		t.Errorf("findings are in (-want +got):\n%s", diff)
	}
}

// TestEachEndsWithItsUser: an error of whoever takes the operators ends the run.
func TestEachEndsWithItsUser(t *testing.T) {
	full, taken := fmt.Errorf("no space left"), 0
	_, err := argoperator.Each(many(t, 6), argoperator.Options{}, func(argoperator.Operator) error {
		taken++
		return full
	})
	if err != full || taken != 1 { //nolint:errorlint // the very same
		t.Errorf("got %v after %d operators", err, taken)
	}
}
