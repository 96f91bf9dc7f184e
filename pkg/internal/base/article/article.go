// Package article puts "a" or "an" before a noun of a message.
package article

import (
	"regexp"
	"sync"
)

// vowel matches a noun that begins with the sound of a vowel, as far as its letters tell: an
// ingress, an HTTPRoute, but a user and a URL.
var vowel = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([AEIOaeio]|[FHLMNRSX][A-Z0-9]|[Uu]([bcdfghjklmpqvwxyz]|n[^io]|t[^ei]))`)
})

// With returns a noun with its article.
func With(noun string) string {
	if vowel().MatchString(noun) {
		return "an " + noun
	}
	return "a " + noun
}
