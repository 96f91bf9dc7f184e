package definition

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// checker holds one document and its findings.
type checker struct {
	source.Positions
	dec   *source.Decoder
	in    source.Input
	base  string // directory that paths of the document are relative to; "" is that of the definition
	def   *Definition
	op    *v1alpha1.Operator
	kinds Kinds // of other definitions; may be nil
	found diag.List

	isDefinition bool

	referred int             // bytes read so far of the files that the definition refers to
	doubtful map[string]bool // versions whose schemas have findings

	doubtfulCRD bool // the CustomResourceDefinition of the crd form has findings
}

// isOf reports whether a document is meant as an argoperator document of a kind, so
// that decoding it is useful.
func (c *checker) isOf(want string) bool {
	if c.Root.Kind != yaml.MappingNode {
		c.found.Add(c.Of(c.Root), diag.WrongType, fmt.Sprintf("the document is %s, want a mapping", source.Describe(c.Root)), "")
		return false
	}
	version, kind := c.Text("apiVersion"), c.Text("kind")
	ours := version == "" || strings.HasPrefix(version, v1alpha1.Group)
	if want == v1alpha1.Kind && !ours && kind != "" && kind != want && source.Spelling(kind, []string{want}) == "" {
		of := kind + " of " + version
		c.dec.Reject(c.node("kind"), source.Path{"kind"}, diag.WrongKind,
			of+" is not a definition", fmt.Sprintf("want the kind %s of %s", want, v1alpha1.APIVersion))
		c.found[len(c.found)-1].Kind = of
		return false
	}
	if version != "" && version != v1alpha1.APIVersion {
		c.dec.Reject(c.node("apiVersion"), source.Path{"apiVersion"}, diag.WrongAPIVersion,
			fmt.Sprintf("apiVersion is %q, want %s", version, v1alpha1.APIVersion), "")
	}
	if kind != "" && kind != want {
		c.dec.Reject(c.node("kind"), source.Path{"kind"}, diag.WrongKind,
			fmt.Sprintf("kind is %q, want %s", kind, want), source.Spelling(kind, []string{want}))
	}
	return ours || kind == want
}

// node returns the node at a path, or its nearest existing ancestor.
func (c *checker) node(path ...string) *yaml.Node {
	_, n, _ := c.Find(path)
	return n
}

// wasRejected reports whether a value, or one that contains it, was rejected already.
func (c *checker) wasRejected(p source.Path) bool {
	for i := range len(p) + 1 {
		if c.dec.Rejected[p[:i].ID()] {
			return true
		}
	}
	return false
}

// add reports the value at a path, unless it was rejected already.
func (c *checker) add(p source.Path, code, message, hint string) {
	if !c.wasRejected(p) {
		c.found.Add(c.At(p), code, message, hint)
	}
}

// report reports the value at a path, unless it was rejected already.
func (c *checker) report(p source.Path, f diag.Finding) {
	if !c.wasRejected(p) {
		f.Position = c.At(p)
		c.found = append(c.found, f)
	}
}

// addNamed reports the value at a path with a message that begins with the path. fix is what
// to write; "" takes the hint.
func (c *checker) addNamed(p source.Path, code, problem, fix, hint string) {
	f := diag.Finding{Severity: diag.Error, Code: code, Message: diag.About(p.String(), problem), Hint: hint}
	f.Problem = problem
	if fix != "" {
		f = f.Writing(fix)
	}
	c.report(p, f)
}

// reject reports the value at a path and marks it as rejected.
func (c *checker) reject(p source.Path, code, message, hint string) {
	c.add(p, code, message, hint)
	c.dec.Rejected[p.ID()] = true
}

// addKey reports the key at a path.
func (c *checker) addKey(p source.Path, code, message, hint string) {
	if !c.wasRejected(p) {
		c.found.Add(c.AtKey(p), code, message, hint)
	}
}

// warn reports the value at a path as a warning.
func (c *checker) warn(p source.Path, code, message, hint string) {
	if !c.wasRejected(p) {
		c.found.Warn(c.At(p), code, message, hint)
	}
}

// missing reports a required key of the mapping at a path.
func (c *checker) missing(p source.Path, key, hint string) {
	if !c.wasRejected(p.To(key)) && !c.Written(p.To(key)) {
		c.found.Add(c.AtKey(p), diag.MissingKey, fmt.Sprintf("missing key %q%s", key, source.Inside(p)), hint)
	}
}

// has reports whether a string is set, and reports an empty one.
func (c *checker) has(value string, p source.Path) bool {
	if value == "" && c.Written(p) {
		c.add(p, diag.BadValue, fmt.Sprintf("%s is empty", p), "write a value, or remove the key")
	}
	return value != ""
}
