package definition

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
)

// checker holds one document and what was found in it.
type checker struct {
	positions
	dec   *decoder
	in    Input
	def   *Definition
	op    *v1alpha1.Operator
	found diag.List

	referred int             // bytes read of the files that the definition refers to
	doubtful map[string]bool // versions whose schemas have findings
}

// isOf tells whether a document is worth decoding as one of ours of a kind.
func (c *checker) isOf(want string) bool {
	if c.root.Kind != yaml.MappingNode {
		c.found.Add(c.of(c.root), diag.WrongType, fmt.Sprintf("the document is %s, want a mapping", describe(c.root)), "")
		return false
	}
	version, kind := c.text("apiVersion"), c.text("kind")
	ours := version == "" || strings.HasPrefix(version, v1alpha1.Group)
	if version != "" && version != v1alpha1.APIVersion {
		c.dec.refuse(c.node("apiVersion"), steps{"apiVersion"}, diag.WrongAPIVersion,
			fmt.Sprintf("apiVersion is %q, want %s", version, v1alpha1.APIVersion), "")
	}
	if kind != "" && kind != want {
		c.dec.refuse(c.node("kind"), steps{"kind"}, diag.WrongKind,
			fmt.Sprintf("kind is %q, want %s", kind, want), spelling(kind, []string{want}))
	}
	return ours || kind == want
}

// node returns what is written at a path, or its nearest written ancestor.
func (c *checker) node(path ...string) *yaml.Node {
	_, n, _ := c.find(path)
	return n
}

// dealtWith tells whether a value, or one that it is part of, has been refused already.
func (c *checker) dealtWith(p steps) bool {
	for i := range len(p) + 1 {
		if c.dec.bad[p[:i].id()] {
			return true
		}
	}
	return false
}

// add reports the value at a path, unless it has been refused already.
func (c *checker) add(p steps, code, message, hint string) {
	if !c.dealtWith(p) {
		c.found.Add(c.at(p), code, message, hint)
	}
}

// reject reports the value at a path and marks it as dealt with.
func (c *checker) reject(p steps, code, message, hint string) {
	c.add(p, code, message, hint)
	c.dec.bad[p.id()] = true
}

// addKey reports the key at a path.
func (c *checker) addKey(p steps, code, message, hint string) {
	if !c.dealtWith(p) {
		c.found.Add(c.atKey(p), code, message, hint)
	}
}

// warn reports the value at a path as a warning.
func (c *checker) warn(p steps, code, message, hint string) {
	if !c.dealtWith(p) {
		c.found.Warn(c.at(p), code, message, hint)
	}
}

// missing reports a key that the mapping at a path must have.
func (c *checker) missing(p steps, key, hint string) {
	if !c.dealtWith(p.to(key)) && !c.written(p.to(key)) {
		c.found.Add(c.atKey(p), diag.MissingKey, fmt.Sprintf("missing key %q%s", key, inside(p)), hint)
	}
}

// has tells whether a string is written and, if it is empty, reports it.
func (c *checker) has(value string, p steps) bool {
	if value == "" && c.written(p) {
		c.add(p, diag.BadValue, fmt.Sprintf("%s is empty", p), "")
	}
	return value != ""
}
