package source

import "testing"

func TestNearest(t *testing.T) {
	candidates := []string{"apiVersion", "kind", "name", "files", "shortNames"}
	for word, want := range map[string]string{
		"Kind": "kind", "api_version": "apiVersion", "api-version": "apiVersion", "fils": "files",
		"shortname": "shortNames", "nmae": "name", "colour": "", "x": "", "": "",
	} {
		if got := Nearest(word, candidates); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
