package diag

import "strings"

// Nearest returns the candidate that a word probably misspells, or "". Words are
// compared after fold.
func Nearest(word string, candidates []string, fold func(string) string) string {
	folded := fold(word)
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if fold(c) == folded {
			return c
		}
		if d := distance(folded, fold(c)); d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// longest is the maximum length of a word in letters, because the cost is quadratic.
const longest = 100

// distance counts the insertions, deletions, replacements and swaps of neighbouring
// letters that turn a into b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > longest || len(t) > longest {
		return len(s) + len(t)
	}
	var before, above, row [longest + 1]int // for the previous letters of s
	for j := range len(t) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(s); i++ {
		before, above = above, row
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(t)]
}

// DidYouMean returns a hint with the nearest candidate, or "".
func DidYouMean(word string, candidates []string, fold func(string) string) string {
	if near := Nearest(word, candidates, fold); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// FoldKey returns the same for api_version, api-version and apiVersion.
func FoldKey(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(word))
}
