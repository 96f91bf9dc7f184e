package expression

import "github.com/argoperator/argoperator/pkg/schema"

type result struct {
	min, max int
}

func (e *expr) mayBeNull() bool { return true }

func (c *templates) analyse(e *expr) {
	e.max = 1
	c.reads = append(c.reads, read{root: inputRoot})
	for _, t := range e.tokens() {
		switch {
		case t.kind == tokenVar && t.text == "$children":
			for name := range c.scope.Children {
				c.reads = append(c.reads, read{childrenRoot, []string{name}})
			}
		case t.kind == tokenVar && (t.text == "$item" || t.text == "$index"):
			c.reads = append(c.reads, read{root: itemRoot})
		}
	}
}

func (e *expr) tokens() []token {
	tokens, _, _ := lex(e.text)
	return tokens
}

type kinds int

const (
	object kinds = iota
	array
	str
)

func (c *templates) wantKind(_ []string, _ kinds, _ schema.Type)  {}
func (c *templates) wantLiteral(_ []string, _ any, _ schema.Type) {}
func (c *templates) wantValue(_ *expr, _ schema.Type)             {}
func (c *templates) wantText(_ *expr)                             {}
func (c *templates) wantBoolean(_ *expr)                          {}
func (c *templates) wantArray(_ *expr)                            {}
func (c *templates) wantField(_ []string, name string, want schema.Type) schema.Type {
	t, _ := want.Field(name)
	return t
}
