package definition

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notInLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9-]+`) })
)

const versionHint = "use lower-case letters, digits and '-', with a letter first, as in v1, v2alpha1 and v1beta2"

// versionName reports a name that the API server rejects as a version, and returns whether
// it accepts it.
func (c *checker) versionName(value string, p source.Path, hint string) bool {
	if len(validation.IsDNS1035Label(value)) > 0 {
		c.add(p, diag.BadName, fmt.Sprintf("%q is not a version", value), hint)
		return false
	}
	return true
}

// short reports a name that is longer than a DNS label, and returns whether it is not.
func (c *checker) short(value string, most int, p source.Path) bool {
	if len(value) > most {
		c.add(p, diag.NameTooLong, fmt.Sprintf("%s has %d characters, more than %d", p, len(value), most), "")
		return false
	}
	return true
}

// label reports a value that is not a DNS label, and returns whether it is one.
func (c *checker) label(value string, p source.Path) bool {
	if !c.has(value, p) || !c.short(value, maxLabel, p) {
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

// resourceName reports a value that the API server rejects as a plural, a short name or a
// category.
func (c *checker) resourceName(value string, p source.Path) {
	if c.label(value, p) && len(validation.IsDNS1035Label(value)) > 0 {
		c.addNamed(p, diag.BadName, fmt.Sprintf("%q begins with a digit", value), "", "use a name that begins with a letter")
	}
}

// kindName reports a value that the API server rejects as a kind that is at most so long,
// and returns whether it accepts it. The API server accepts kinds that begin with a small
// letter, such as `postgresql`.
func (c *checker) kindName(value string, most int, p source.Path) bool {
	if !c.short(value, most, p) {
		return false
	}
	if len(validation.IsDNS1035Label(strings.ToLower(value))) > 0 {
		c.addNamed(
			p,
			diag.BadName,
			fmt.Sprintf("%q is not a kind", value),
			toKind(value)+": a kind has letters, digits and '-', begins with a letter, and does not end with '-'",
			"",
		)
		return false
	}
	return true
}

// toKind returns the kind nearest to a text that is none.
func toKind(s string) string {
	var b strings.Builder
	other := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(s, other) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if kind := b.String(); len(validation.IsDNS1035Label(strings.ToLower(kind))) == 0 {
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

// resourceNames is labels for names of a resource.
func (c *checker) resourceNames(values []string, p source.Path) {
	for i, v := range values {
		c.resourceName(v, p.To(i))
	}
	c.unique(values, func(i int) source.Path { return p.To(i) })
}
