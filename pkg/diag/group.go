package diag

import (
	"fmt"
	"regexp"
)

// index matches the index of an item in a path.
var index = regexp.MustCompile(`\[\d+\]`)

// WithoutIndexes returns a message or a path without the indexes of items.
func WithoutIndexes(text string) string { return index.ReplaceAllString(text, "[]") }

// Places returns how messages count the further places of one problem; "" for none.
func Places(count int) string {
	switch count {
	case 0:
		return ""
	case 1:
		return " (and at 1 more place)"
	}
	return fmt.Sprintf(" (and at %d more places)", count)
}
