package expression

import (
	"cmp"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// nearest returns the candidate that a word probably misspells, or "".
func nearest(word string, candidates []string) string {
	return cmp.Or(diag.Nearest(word, candidates, strings.ToLower), beginsLike(word, candidates))
}

// beginsLike returns the only candidate that has the longest common prefix with a word.
func beginsLike(word string, candidates []string) string {
	begin := word[:max(min(4, len(word)), len(word)*4/5)]
	best := ""
	for _, c := range candidates {
		if len(begin) < 4 || !strings.HasPrefix(c, begin) {
			continue
		}
		if best != "" {
			return ""
		}
		best = c
	}
	return best
}
