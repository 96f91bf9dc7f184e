package definition

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// didYouMean returns a hint with the candidate nearest to a word, or the list
// of candidates if none is near and they are few.
func didYouMean(word string, candidates []string, what string) string {
	if best := nearest(word, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	if len(candidates) == 0 || len(candidates) > 14 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates))
	return what + ": " + strings.Join(sorted, ", ")
}

// nearest returns the candidate that a word is probably a misspelling of, "" if there is none.
func nearest(word string, candidates []string) string {
	return diag.Nearest(word, candidates, diag.FoldKey)
}
