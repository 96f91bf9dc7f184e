package definition

import "testing"

func TestLevenshtein(t *testing.T) {
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
	} {
		if got := levenshtein(tt.a, tt.b); got != tt.want {
			t.Errorf("levenshtein(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	candidates := []string{"apiVersion", "kind", "name", "files", "shortNames"}
	for word, want := range map[string]string{
		"Kind": "kind", "api_version": "apiVersion", "api-version": "apiVersion", "fils": "files",
		"shortname": "shortNames", "nmae": "name", "colour": "", "x": "", "": "",
	} {
		if got := nearest(word, candidates); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
