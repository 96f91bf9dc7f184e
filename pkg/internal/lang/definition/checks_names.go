package definition

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

var (
	camelCase   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	versionName = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	identifier  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notInLabel  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9-]+`) })
)

const versionHint = "versions are v1, v2alpha1, v1beta2 and so on"

// label reports a value that is not a DNS label, and returns whether it is one.
func (c *checker) label(value string, p source.Path) bool {
	if !c.has(value, p) {
		return false
	}
	if len(value) > maxLabel {
		c.add(p, diag.NameTooLong, fmt.Sprintf("%s has %d characters, more than %d", p, len(value), maxLabel), "")
		return false
	}
	if len(validation.IsDNS1123Label(value)) > 0 {
		const form = "lower-case letters, digits and '-', with a letter or digit at both ends"
		fix := ""
		if better := toLabel(value); better != "" {
			fix = better + ": " + form
		}
		c.addNamed(p, diag.BadName, fmt.Sprintf("%q is not a DNS label", value), fix, "use "+form)
		return false
	}
	return true
}

// toLabel returns the DNS label nearest to a text, or "".
func toLabel(s string) string {
	s = strings.Trim(notInLabel().ReplaceAllString(strings.ToLower(s), "-"), "-")
	return s[:min(len(s), maxLabel)]
}

// subdomain reports a value that is not a DNS subdomain, and returns whether it is one.
func (c *checker) subdomain(value string, p source.Path) bool {
	if len(validation.IsDNS1123Subdomain(value)) > 0 {
		c.addNamed(
			p,
			diag.BadName,
			fmt.Sprintf("%q is not a DNS name", value),
			"",
			"use lower-case letters, digits, '-' and '.', as in cache.example.com",
		)
		return false
	}
	return true
}

// camelCase reports a value that is not a valid kind, and returns whether it is one.
func (c *checker) camelCase(value string, p source.Path) bool {
	switch {
	case !camelCase.MatchString(value):
		c.addNamed(
			p,
			diag.BadName,
			fmt.Sprintf("%q is not a kind", value),
			toKind(value)+": a kind begins with a capital letter, and has letters and digits only",
			"",
		)
	case len(value) > maxLabel:
		c.add(p, diag.NameTooLong, fmt.Sprintf("%s has %d characters, more than %d", p, len(value), maxLabel), "")
	default:
		return true
	}
	return false
}

func toKind(s string) string {
	if builtin, ok := schema.FindBuiltinSpelled(s); ok {
		return builtin.Kind
	}
	var b strings.Builder
	other := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(s, other) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if kind := b.String(); camelCase.MatchString(kind) {
		return kind
	}
	return "Memcached"
}

// unique reports duplicate entries of a list.
func (c *checker) unique(values []string, at func(i int) source.Path) {
	first := map[string]int{}
	for i, v := range values {
		if j, again := first[v]; again && v != "" {
			c.reject(
				at(i),
				diag.DuplicateValue,
				fmt.Sprintf("%q is listed twice", v),
				fmt.Sprintf("the first is on line %d", c.At(at(j)).Line),
			)
			continue
		}
		first[v] = i
	}
}

// labels reports entries of a list that are not DNS labels or are duplicates.
func (c *checker) labels(values []string, p source.Path) {
	for i, v := range values {
		c.label(v, p.To(i))
	}
	c.unique(values, func(i int) source.Path { return p.To(i) })
}
