package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pairwise returns the seeds of cases that together have most pairs of alternatives of
// their main choices: those of the API, of the first child with each other and with the
// rest, and of the life. It draws candidates and takes, of some at a time, the one with
// the most new pairs.
func Pairwise(from uint64, count int) []uint64 {
	const candidates = 8
	have := map[string]bool{}
	var out []uint64
	for len(out) < count {
		best, most := from, -1
		for range candidates {
			added := 0
			for _, pair := range pairsOf(from) {
				if !have[pair] {
					added++
				}
			}
			if added > most {
				best, most = from, added
			}
			from++
		}
		for _, pair := range pairsOf(best) {
			have[pair] = true
		}
		out = append(out, best)
	}
	return out
}

// pairsOf returns the pairs of main choices of a case, without making it.
func pairsOf(seed uint64) []string {
	taken := newDefinition(newDrawing(seed, nil)).taken
	var main []string
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		if strings.Count(name, ".") <= 1 && !strings.HasPrefix(name, "c2.") {
			main = append(main, fmt.Sprintf("%s=%d", name, taken[name]))
		}
	}
	var out []string
	for i := range main {
		for j := range i {
			out = append(out, main[j]+" "+main[i])
		}
	}
	return out
}
