package expression

import "strings"

// nearest returns the candidate that a word is probably a misspelling of, "" if there is none.
func nearest(word string, candidates []string) string {
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if strings.EqualFold(word, c) {
			return c
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < least && d < len(c) {
			best, least = c, d
		}
	}
	if best == "" {
		best = beginsLike(word, candidates)
	}
	return best
}

// beginsLike returns the one candidate that shares most of its beginning with a word.
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

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b) // nobody means it
	}
	var above, row [102]int // the rows of the last two letters of a
	before := [102]int{}
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		above, before = row, above
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
