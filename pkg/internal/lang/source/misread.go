package source

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// misread reports a value that YAML does not read as it looks: as a tag, an anchor, a
// comment, a key or a mapping. From there on, the node has the text as it is written.
func (c *cleaner) misread(n *yaml.Node) {
	line, at, ok := c.written(n)
	if !ok || c.flow > 0 {
		return
	}
	text := strings.TrimRight(line[at:], " ")
	switch {
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && strings.HasPrefix(text, "{{"):
		c.doc.Found.Add(c.doc.Of(n), diag.BadExpression, "templates of Helm and Go are not expanded here", bracesHint(text))
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: n.Line, Column: n.Column}
		c.doc.asWritten(n.Line, line)
	case n.Kind == yaml.ScalarNode && strings.HasPrefix(text, "!") && negated().MatchString(text):
		c.negation(n, line, at)
	case n.Kind == yaml.ScalarNode && text != "" && text[0] == '!' && (n.Value == "" || !plainTag().MatchString(n.Tag)):
		c.retell(n, line, at, diag.YAMLTag, fmt.Sprintf("YAML reads %s as a tag", n.Tag))
	case n.Kind == yaml.ScalarNode && text != "" && text[0] == '&' && isNull(n):
		c.retell(n, line, at, diag.YAMLAlias, fmt.Sprintf("YAML reads &%s as an anchor", n.Anchor))
	case n.Kind == yaml.ScalarNode && n.Style == 0 && strings.HasPrefix(text, n.Value) &&
		strings.HasPrefix(strings.TrimLeft(text[len(n.Value):], " "), "#"):
		c.commented(n, line, at)
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && cutByKey(n):
		c.retell(n, line, at, diag.YAMLSyntax, `YAML reads what is before ": " as a key`)
	}
}

// written returns the line of a node and the offset of its text in the line.
func (c *cleaner) written(n *yaml.Node) (line string, at int, ok bool) {
	lines := c.doc.lines
	if n.Line < 1 || n.Line > len(lines) || n.Kind != yaml.ScalarNode && n.Kind != yaml.MappingNode {
		return "", 0, false
	}
	if _, is := c.doc.repaired[n.Line]; is {
		return "", 0, false
	}
	line = strings.TrimRight(lines[n.Line-1], "\r")
	at = diag.Offset(line, n.Column)
	return line, at, at < len(line)
}

// retell reports a node and gives it the rest of its line as its value.
func (c *cleaner) retell(n *yaml.Node, line string, at int, code, message string) {
	text := strings.TrimRight(line[at:], " ")
	c.doc.Found.Add(c.doc.Of(n), code, message, quoteIt+": "+strings.TrimSpace(line[:at])+" "+Scalar(text, false, 0))
	c.doc.Found[len(c.doc.Found)-1].Unquoted = code == diag.YAMLSyntax
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: n.Line, Column: n.Column}
	c.doc.asWritten(n.Line, line)
}

// negated matches a path after the ! of other languages.
var negated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^! *([.$][\w.$]+)$`) })

// negation reports a path after !, which YAML reads as a tag. In a condition, the node
// gets the path negated in jq.
func (c *cleaner) negation(n *yaml.Node, line string, at int) {
	before, text := strings.TrimSpace(line[:at]), strings.TrimRight(line[at:], " ")
	if before != "when:" && !strings.HasSuffix(before, " when:") {
		c.retell(n, line, at, diag.YAMLTag, "YAML reads ! as the beginning of a tag")
		return
	}
	*n = yaml.Node{
		Kind:   yaml.ScalarNode,
		Tag:    "!!str",
		Value:  negated().FindStringSubmatch(text)[1] + " | not",
		Line:   n.Line,
		Column: n.Column,
	}
	c.doc.Found.Add(
		c.doc.Of(n),
		diag.YAMLTag,
		"YAML reads ! as the beginning of a tag",
		"jq has no !; write not after the value: "+before+` "`+n.Value+`"`,
	)
	c.doc.asWritten(n.Line, line)
}

// asWritten marks a line whose nodes have other text than YAML reads.
func (d *Document) asWritten(n int, line string) {
	if d.repaired == nil {
		d.repaired = map[int]string{}
	}
	d.repaired[n] = line
}

// plainTag matches the tags of YAML's own types and of programs.
var plainTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^!{0,2}[A-Za-z][\w/-]*$`) })

// commented reports a string or an expression that a comment ends.
func (c *cleaner) commented(n *yaml.Node, line string, at int) {
	const message = "YAML reads what follows # as a comment"
	open := strings.LastIndex(n.Value, "${")
	switch {
	case strings.Count(n.Value, `"`)%2 > 0:
		c.retell(n, line, at, diag.YAMLSyntax, message)
	case open >= 0 && closing(n.Value, open) < 0: // jq would read the brace as a part of the comment, too
		n.Value += " }"
		c.doc.Found.Add(
			c.doc.Of(n),
			diag.YAMLSyntax,
			message,
			"write the comment after the value: "+strings.TrimSpace(line[:at])+" "+Scalar(n.Value, false, 0),
		)
	}
}

// cutByKey reports whether the key of a mapping is the beginning of an expression.
func cutByKey(n *yaml.Node) bool {
	key, value := n.Content[0], n.Content[1]
	open := strings.LastIndex(key.Value, "${")
	return key.Kind == yaml.ScalarNode && key.Style == 0 && open >= 0 && closing(key.Value, open) < 0 && value.Line == key.Line
}

var helmPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{\{-? *\.(Values|spec|metadata|status)((?:\.\w+)+)(?: *\|[^}]*)? *-?\}\}`)
})

// bracesHint returns the expression that a template of Helm stands for.
func bracesHint(text string) string {
	ours := "an expression of jq, such as ${ .spec.field }"
	if m := helmPath().FindStringSubmatch(text); m != nil {
		ours = "${ ." + strings.Replace(m[1], "Values", "spec", 1) + m[2] + " }"
	}
	return "write " + ours + "; to have Helm fill it in, run helm template before argoperator"
}
