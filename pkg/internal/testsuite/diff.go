package testsuite

import (
	"fmt"
	"strings"
)

// maxDiff is how many lines of a difference are shown, and around is how many
// that are the same go with them.
const (
	maxDiff = 60
	around  = 3
)

// diff shows where two texts differ, line by line: - is wanted, + is there.
func diff(want, got string) string {
	a, b := strings.Split(strings.TrimSuffix(want, "\n"), "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	lines := edits(a, b)
	var out []string
	gap := false
	for i, line := range lines {
		if line[0] == ' ' && !near(lines, i) {
			gap = true
			continue
		}
		if gap && len(out) > 0 {
			out = append(out, "  …")
		}
		gap = false
		out = append(out, line)
	}
	if more := len(out) - maxDiff; more > 0 {
		out = append(out[:maxDiff], fmt.Sprintf("  … and %d lines more", more))
	}
	return "-want +got\n" + strings.Join(out, "\n")
}

// near tells whether a line that differs is close by.
func near(lines []string, i int) bool {
	for j := max(0, i-around); j < min(len(lines), i+around+1); j++ {
		if lines[j][0] != ' ' {
			return true
		}
	}
	return false
}

// edits is the shortest way from one list of lines to another.
func edits(a, b []string) []string {
	longest := make([][]int, len(a)+1) // common lines from i and j on
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}
