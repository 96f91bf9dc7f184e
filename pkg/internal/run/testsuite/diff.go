package testsuite

import (
	"fmt"
	"strings"
)

// maxDiff limits the lines of a diff, and contextLines is the number of equal lines
// around each difference.
const (
	maxDiff      = 60
	contextLines = 3
)

// diff returns the line diff of two texts: - is expected, + is actual.
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
		out = append(out[:maxDiff], fmt.Sprintf("  … and %d more lines", more))
	}
	return "-want +got\n" + strings.Join(out, "\n")
}

// near reports whether a differing line is close.
func near(lines []string, i int) bool {
	for j := max(0, i-contextLines); j < min(len(lines), i+contextLines+1); j++ {
		if lines[j][0] != ' ' {
			return true
		}
	}
	return false
}

// edits returns the shortest edit script between two lists of lines.
func edits(a, b []string) []string {
	longest := make([][]int, len(a)+1) // length of the longest common subsequence from i and j
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
