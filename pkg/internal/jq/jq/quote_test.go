package jq

import (
	"testing"

	"github.com/itchyny/gojq"
)

func TestQuoteMeansTheText(t *testing.T) {
	for _, text := range []string{"", "a<b>&c", `\(.a) "q"`, "a\nb\u2028\x00", "größe 😀"} {
		query, err := gojq.Parse(Quote(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, _ := query.Run(nil).Next(); got != text {
			t.Errorf("Quote(%q) means %q", text, got)
		}
	}
	if got := Quote("a<b"); got != `"a<b"` {
		t.Errorf("got %s, want it as written", got)
	}
}
