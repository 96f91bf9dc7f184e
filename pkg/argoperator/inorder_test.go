package argoperator_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// severalDefinitions returns definitions with different names. Some of them take
// much longer than others.
func severalDefinitions(t *testing.T, n int) []argoperator.Source {
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

// TestGenerateSeveralDefinitions requires that several definitions in one run give the same result
// as each alone, in the order of the input.
func TestGenerateSeveralDefinitions(t *testing.T) {
	sources := severalDefinitions(t, 12)
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

// TestEachStopsAtFirstError requires that no operator is returned after the first error, while
// the other definitions are still checked.
func TestEachStopsAtFirstError(t *testing.T) {
	sources := severalDefinitions(t, 8)
	for _, i := range []int{2, 6} {
		sources[i].Data = bytes.Replace(sources[i].Data, []byte("\nspec:"), []byte("\nspec:\n  nonsense: true"), 1)
	}
	var names []string
	_, findings, err := argoperator.Each(sources, argoperator.Options{}, func(o argoperator.Operator) error {
		names = append(names, o.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 2 {
		t.Errorf("%v were returned after the first error", names)
	}
	var files []string
	for _, f := range findings {
		files = append(files, f.File)
	}
	if diff := cmp.Diff([]string{"2.yaml", "6.yaml"}, files); diff != "" {
		t.Errorf("findings are in (-want +got):\n%s", diff)
	}
}

// TestEachReturnsCallbackError requires that an error of the callback ends the run.
func TestEachReturnsCallbackError(t *testing.T) {
	full, calls := fmt.Errorf("no space left"), 0
	_, _, err := argoperator.Each(severalDefinitions(t, 6), argoperator.Options{}, func(argoperator.Operator) error {
		calls++
		return full
	})
	if err != full || calls != 1 { //nolint:errorlint // the very same
		t.Errorf("got %v after %d operators", err, calls)
	}
}
