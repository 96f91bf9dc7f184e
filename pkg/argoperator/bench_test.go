package argoperator_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// BenchmarkGenerate measures one more operator in a run, with all checks, up to its
// YAML. BenchmarkFloor measures the minimum: encoding existing objects as YAML.
func BenchmarkGenerate(b *testing.B) {
	for _, name := range benchmarked {
		b.Run(name, func(b *testing.B) {
			source := sourceOf(b, name)
			b.ReportAllocs()
			for b.Loop() {
				printed(b, source)
			}
		})
	}
}

func BenchmarkFloor(b *testing.B) {
	for _, name := range benchmarked {
		b.Run(name, func(b *testing.B) {
			objects := operatorOf(b, sourceOf(b, name)).Objects
			b.ReportAllocs()
			for b.Loop() {
				if _, err := output.Stream(objects); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchmarked lists an example of each engine.
var benchmarked = []string{"memcached", "memcached-logic", "memcached-tutorial"}

func sourceOf(b testing.TB, example string) argoperator.Source {
	b.Helper()
	dir := filepath.Join("../../examples", example)
	data, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	return argoperator.Source{Name: "operator.yaml", Data: data, Dir: os.DirFS(dir)}
}

// printed generates and encodes a definition, as the command does.
func printed(b testing.TB, source argoperator.Source) {
	b.Helper()
	if err := output.Formats()[0].Append(io.Discard)(operatorOf(b, source).Documents()); err != nil {
		b.Fatal(err)
	}
}

func operatorOf(b testing.TB, source argoperator.Source) argoperator.Operator {
	b.Helper()
	result, err := argoperator.Generate([]argoperator.Source{source}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		b.Fatal(err, result.Findings)
	}
	return result.Operators[0]
}
