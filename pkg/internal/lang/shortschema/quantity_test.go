package shortschema

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// lenient matches what the pattern rejects although ParseQuantity accepts it: a suffix
// without a number, which its grammar does not have, and long exponents.
var lenient = regexp.MustCompile(`[eE][-+]?[0-9]{3,}$|^[-+]?\.?([a-zA-Z]|$)`)

// TestQuantityPattern compares the pattern of the type quantity with ParseQuantity.
func TestQuantityPattern(t *testing.T) {
	pattern := regexp.MustCompile(quantity().Pattern)
	parts := []string{"0", "1", "25", "007", ".", "+", "-", "e", "E", "i", "k", "K", "m", "M", "u", "n", "G", "Ti", "Pi", "Ei", " ", "x"}
	random := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 200_000 {
		text := ""
		for range 1 + random.IntN(5) {
			text += parts[random.IntN(len(parts))]
		}
		_, err := resource.ParseQuantity(text)
		legal := err == nil && !lenient.MatchString(text)
		if legal {
			taken++
		}
		if matches := pattern.MatchString(text); matches != legal {
			t.Fatalf("%q: the pattern says %v, ParseQuantity %v", text, matches, err)
		}
	}
	if taken < 1000 {
		t.Errorf("only %d texts were quantities", taken)
	}
}
