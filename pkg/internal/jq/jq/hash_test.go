package jq_test

import (
	"context"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// TestHash: only a program that was prepared for it has the function, and it may define its own.
func TestHash(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for source, want := range map[string]any{
		`"abc" | sha256`: abc, `{a: "abc"} | "\(.a | sha256)"`: abc, `def f: sha256; "abc" | f`: abc,
		`[1 | try sha256 catch .][0]`:                        "sha256 cannot be applied to: number (1)",
		`def sha256: "own"; "abc" | sha256`:                  "own",
		`[(def sha256: "own"; sha256), ("abc" | sha256)][1]`: abc,
	} {
		query, err := gojq.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		own := want == "own"
		if _, err := jq.Compile(query); (err == nil) != own {
			t.Errorf("%s without WithHash: %v", source, err)
		}
		if jq.WithHash(query) == own {
			t.Errorf("WithHash(%s) = %t", source, own)
		}
		program, err := jq.Compile(query)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if got, err := program.Run(context.Background(), nil); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", source, got, err, want)
		}
	}
}
