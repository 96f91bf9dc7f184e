package diag

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"same", "same", 0},
		{"minimun", "minimum", 1},
		{"mian", "main", 1},
		{"größe", "grösse", 2},
		{strings.Repeat("a", longest), strings.Repeat("a", longest-1), 1},
		{strings.Repeat("a", longest+1), strings.Repeat("a", longest), 2*longest + 1},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	candidates := []string{"apiVersion", "kind", "name", "files", "shortNames"}
	for word, want := range map[string]string{
		"Kind": "kind", "fils": "files", "shortname": "shortNames", "nmae": "name", "namespace": "",
		"colour": "", "x": "", "": "", strings.Repeat("kind", 100): "",
	} {
		if got := Nearest(word, candidates, strings.ToLower); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	long := strings.Repeat("Long", 100)
	if got := Nearest(strings.ToLower(long), []string{long}, strings.ToLower); got != long {
		t.Errorf("a long word that differs in case only is near to %q", got)
	}
}
