package expression

import (
	"regexp"
	"slices"
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// shellParameter matches what a shell has between ${ and }: a parameter, an index, and an
// operator, as in name, 2:-7, files[@] and file%.gz.
var shellParameter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[!#]?(\w+|[@*#?$!-])(\[[^\]]*\])?((:?[-=+?]|[:#%^,/]).*)?$`)
})

// asShell adds to the problems of an expression how to leave it to a shell. One problem
// says this of an expression that is more than a name.
func asShell(p part, found []Problem) []Problem {
	if !p.tight || !shellParameter().MatchString(p.text) {
		return found
	}
	first := found[slices.IndexFunc(found, func(p Problem) bool { return !p.Warning })]
	special := !jq.IsName(p.text[:1]) // a number, or a character such as @
	switch {
	case first.Fix != "" && !special, first.guessed:
		return found
	case first.Hint != "" && jq.IsName(p.text):
		first.Hint += "; or " + literally(p.text)
	default:
		first.Fix, first.Caveat, first.Hint = "", "", literally(p.text)
	}
	return []Problem{first}
}

// literally returns how to write a text in ${ } that is not an expression.
func literally(text string) string {
	return "write $${" + text + "} for the characters ${" + text + "}"
}
