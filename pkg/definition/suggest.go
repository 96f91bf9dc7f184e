package definition

import (
	"slices"
	"strings"
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
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if fold(c) == fold(word) {
			return c
		}
		if d := levenshtein(fold(word), fold(c)); d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// fold makes api_version, api-version and apiVersion the same.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// levenshtein counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func levenshtein(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(s)][len(t)]
}
