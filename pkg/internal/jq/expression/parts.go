package expression

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Part is a value of a template that expressions compute.
type Part struct {
	Path []string // in the template
	// Whole tells that one expression is the whole value. Otherwise the value is a text, in which texts
	// are the literal texts before, between and after the expressions.
	Whole bool
	Types []schema.Type // of the expressions
	Null  bool          // a whole value may be null

	texts []string

	from, of, reads, carried, chosen reads
}

// Parts returns the values of a template that expressions compute.
func (p *Program) Parts() []Part { return slices.Clone(p.computed) }

// Reads returns the paths below "." that the expressions read, possibly with more.
func (p Part) Reads() [][]string { return p.reads.paths(inputRoot) }

// ReadsChildren returns the paths that the expressions read, by child.
func (p Part) ReadsChildren() map[string][][]string { return p.reads.children() }

// RelatedPaths returns the paths that the expressions read of related objects, by name.
func (p Part) RelatedPaths() map[string][][]string { return p.reads.named(relatedRoot) }

// Field returns the path below "." of the field that a whole value is, if it is one.
func (p Part) Field() (path []string, ok bool) {
	if !p.Whole || len(p.from) != 1 || p.from[0].root != inputRoot || slices.ContainsFunc(p.from[0].path, isItem) {
		return nil, false
	}
	return slices.Clone(p.from[0].path), true
}

// UsesOthers reports whether the expressions read children or related objects.
func (p Part) UsesOthers() bool { return p.reads.others() }

// UsesItem reports whether the expressions read $item or $index.
func (p Part) UsesItem() bool { return p.reads.ofItem() }

// Permits reports whether each expression may yield a value, by its type.
func (p Part) Permits(value any) bool {
	return !slices.ContainsFunc(p.Types, func(t schema.Type) bool { return ofType(t)&ofLiteral(value) == 0 })
}

// With returns the part with another value in the place of each expression.
func (p Part) With(value any) any {
	if p.Whole {
		return value
	}
	text, err := jq.Literal(value)
	if is, ok := value.(string); ok {
		text = is
	}
	if err != nil {
		return value
	}
	return strings.Join(p.texts, text)
}

// MayEqual reports whether two programs can yield one text for one input: where their literal texts begin
// and end, they agree, and texts of the same expressions have the same length.
func (p *Program) MayEqual(other *Program) bool {
	a, b := p.texts(), other.texts()
	if a == nil || b == nil {
		return true
	}
	length := func(texts []string) int { return len(strings.Join(texts, "")) }
	switch {
	case !endsAgree(a, b):
		return false
	case len(a) == 1 && length(a) < length(b), len(b) == 1 && length(b) < length(a):
		return false
	case !p.UsesItem() && !other.UsesItem() && sameParts(p, other):
		return length(a) == length(b)
	}
	return true
}

// MayEqualOf reports whether two programs can yield one text for two inputs that differ in a field, and have another
// one in common: they agree where their literal texts begin and end, and are not the same text around the field.
func (p *Program) MayEqualOf(other *Program, field, common string) bool {
	a, b := p.texts(), other.texts()
	if a == nil || b == nil {
		return true
	}
	rest := slices.DeleteFunc(slices.Clone(p.parts), func(part located) bool { return part.source == common })
	differ := sameParts(p, other) && slices.Equal(a, b) && len(rest) == 1 && rest[0].source == field
	return endsAgree(a, b) && !differ
}

// endsAgree reports whether two texts can begin and end with the same literal texts.
func endsAgree(a, b []string) bool {
	isPart := func(whole func(s, part string) bool, a, b string) bool { return whole(a, b) || whole(b, a) }
	return isPart(strings.HasPrefix, a[0], b[0]) && isPart(strings.HasSuffix, a[len(a)-1], b[len(b)-1])
}

func sameParts(p, other *Program) bool {
	return slices.EqualFunc(p.parts, other.parts, func(a, b located) bool { return a.source == b.source })
}

// texts returns the literal texts of a text before, between and after its expressions; nil if it is none.
func (p *Program) texts() []string {
	if value, is := p.Const(); is {
		if text, is := value.(string); is {
			return []string{text}
		}
		return nil
	}
	switch {
	case len(p.computed) != 1 || len(p.computed[0].Path) > 0:
		return nil
	case p.computed[0].Whole:
		return []string{"", ""}
	}
	return p.computed[0].texts
}
