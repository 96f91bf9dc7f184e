package definition

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Plural returns the resource name of a new kind whose definition sets none. It is the
// name that controller-tools would generate, which Kubernetes users expect. If that is
// not a valid name, as for some acronyms (DNS), it appends "es".
//
// The resource that a Sensor calls at run time is schema.GuessedPlural.
func Plural(kind string) string {
	singular := strings.ToLower(kind)
	if name := pluralize(singular); len(validation.IsDNS1123Label(name)) == 0 {
		return name
	}
	return singular + "es"
}

// pluralize returns the plural of a word. A word with the end of a plural is one.
func pluralize(word string) string {
	for pair := range strings.FieldsSeq(wholeWords) {
		if one, many, _ := strings.Cut(pair, "/"); one == word {
			return many
		}
	}
	for pair := range strings.FieldsSeq(wordEnds) {
		one, many, _ := strings.Cut(pair, "/")
		if strings.HasSuffix(word, many) {
			return word
		}
		if stem, ok := strings.CutSuffix(word, one); ok {
			return stem + many
		}
	}
	if strings.HasSuffix(word, "s") {
		return word
	}
	return word + "s"
}
