package source

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// DidYouMean returns a hint with the candidate nearest to a word, or with all
// candidates if none is near and they are few.
func DidYouMean(word string, candidates []string, what string) string {
	if best := Nearest(word, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	if len(candidates) == 0 || len(candidates) > 14 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates))
	return what + ": " + strings.Join(sorted, ", ")
}

// Nearest returns the candidate that a word probably misspells, or "".
func Nearest(word string, candidates []string) string {
	return diag.Nearest(word, candidates, diag.FoldKey)
}
