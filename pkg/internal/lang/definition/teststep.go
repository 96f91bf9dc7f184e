package definition

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Actions returns the keys of a step that act. A step has exactly one of them.
func Actions() []string {
	return []string{
		"create",
		"edit",
		"delete",
		"ready",
		"childStatus",
		"childEdit",
		"childDelete",
		"objectStatus",
		"apply",
		"remove",
		"definition",
		"resync",
		"timer",
		"replay",
	}
}

// Action returns the action of a step.
func (t *Test) Action(step int) string {
	for _, key := range Actions() {
		if t.Written(source.PathOf("spec", "steps", step, key)...) {
			return key
		}
	}
	return ""
}

func (c *testChecker) steps() {
	p := source.PathOf("spec", "steps")
	if c.Written(p) && len(c.test.Spec.Steps) == 0 && !c.wasRejected(p) {
		c.add(p, diag.BadValue, "the test has no step", "begin with - name: created and create: {}")
	}
	seen := map[string]int{}
	for i := range c.test.Spec.Steps {
		s, at := &c.test.Spec.Steps[i], p.To(i)
		if c.has(s.Name, at.To("name")) {
			if first, again := seen[s.Name]; again {
				c.add(
					at.To("name"),
					diag.DuplicateValue,
					fmt.Sprintf("two steps are named %q", s.Name),
					fmt.Sprintf("rename one; the first is steps[%d]", first),
				)
			}
			seen[s.Name] = i
		}
		c.has(s.NotIdempotent, at.To("notIdempotent"))
		c.action(at)
		c.references(s, at)
		c.refusals(s.Refuse, at.To("refuse"))
		c.expect(&s.Expect, at.To("expect"), i)
	}
}

// action checks that a step has exactly one action.
func (c *testChecker) action(p source.Path) {
	var written []string
	for _, key := range Actions() {
		if c.Written(p.To(key)) {
			written = append(written, key)
		}
	}
	switch {
	case len(written) == 0 && !c.wasRejected(p) && !c.strayKey(p):
		c.found.Add(c.At(p), diag.MissingKey, "the step has no action", "write one of "+source.Either(Actions()))
	case len(written) > 1:
		c.addKey(p.To(written[1]), diag.ConflictingKeys, fmt.Sprintf("%s and %s in one step", written[0], written[1]), "write two steps")
	}
}

// strayKey reports whether a step has an unknown key, which is probably a misspelled
// action.
func (c *testChecker) strayKey(p source.Path) bool {
	n := c.node(p...)
	for i := 0; i+1 < len(n.Content); i += 2 {
		known := c.dec.FieldsOf(reflect.TypeFor[v1alpha1.TestStep]())
		if _, ok := known[n.Content[i].Value]; !ok {
			return true
		}
	}
	return false
}

// references checks that steps identify their objects.
func (c *testChecker) references(s *v1alpha1.TestStep, p source.Path) {
	if s.ChildStatus != nil {
		c.reference(s.ChildStatus.Reference, p.To("childStatus"))
	}
	if s.ChildEdit != nil {
		c.reference(s.ChildEdit.Reference, p.To("childEdit"))
	}
	if s.ChildDelete != nil {
		c.reference(*s.ChildDelete, p.To("childDelete"))
	}
	if s.ObjectStatus != nil {
		c.reference(s.ObjectStatus.Reference, p.To("objectStatus"))
	}
	if s.Remove != nil {
		c.reference(*s.Remove, p.To("remove"))
	}
	if s.Ready != nil && *s.Ready != (v1alpha1.Reference{}) {
		c.reference(*s.Ready, p.To("ready"))
	}
}

func (c *testChecker) reference(r v1alpha1.Reference, p source.Path) {
	if c.wasRejected(p) {
		return
	}
	c.missing(p, "kind", "")
	for _, one := range []struct{ value, key string }{
		{r.APIVersion, "apiVersion"},
		{r.Kind, "kind"},
		{r.Name, "name"},
		{r.Namespace, "namespace"},
	} {
		c.has(one.value, p.To(one.key))
	}
}

func (c *testChecker) refusals(all []v1alpha1.Refuse, p source.Path) {
	for i, r := range all {
		c.has(r.Kind, p.To(i, "kind"))
		if at := p.To(i, "code"); c.Written(at) && (r.Code < 400 || r.Code > 599) {
			c.add(
				at,
				diag.BadValue,
				fmt.Sprintf("%s is %d, want an HTTP status from 400 to 599", at, r.Code),
				"write 403 for a quota or a webhook, 422 for a schema, 503 for an outage",
			)
		}
		if at := p.To(i, "times"); r.Times != nil && *r.Times < 1 {
			c.add(at, diag.BadValue, fmt.Sprintf("%s is %d, want 1 or more", at, *r.Times), "")
		}
	}
}

func (c *testChecker) expect(e *v1alpha1.Expect, p source.Path, step int) {
	for i, o := range e.Children {
		c.partial(o, p.To("children", i))
	}
	for i, o := range e.Objects {
		c.partial(o, p.To("objects", i))
	}
	for i, r := range e.Absent {
		c.reference(r, p.To("absent", i))
	}
	for i, t := range e.Events {
		c.has(t.Reason, p.To("events", i, "reason"))
	}
	for i, text := range e.Failures {
		if text == "" {
			c.add(p.To("failures", i), diag.BadValue, "an empty string is part of every message", "write a part of the expected message")
		}
	}
	c.vacuous(e, p)
	c.has(e.Refused, p.To("refused"))
	c.expectTrace(e.Trace, p.To("trace"))
	if c.has(e.Golden, p.To("golden")) && !c.wasRejected(p.To("golden")) {
		c.golden(e.Golden, p.To("golden"), step)
	}
}

// vacuous reports expectations that always hold.
func (c *testChecker) vacuous(e *v1alpha1.Expect, p source.Path) {
	empty := func(at source.Path) bool {
		n := c.node(at...)
		return n != nil && c.Written(at) && (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && len(n.Content) == 0
	}
	warn := func(at source.Path, hint string) {
		c.found.Warn(c.Of(c.node(at...)), diag.EmptyExpectation, fmt.Sprintf("%s is empty: it passes whatever happens", at), hint)
	}
	if empty(p) {
		warn(p, "write what is expected, or remove the key")
		return
	}
	if at := p.To("children"); empty(at) && !e.Exactly { // certainly meant as no children
		c.found.Add(c.Of(c.node(at...)), diag.EmptyExpectation, fmt.Sprintf("%s is empty: it passes with any children", at),
			"write exactly: true beside it to expect no children")
	}
	for _, key := range []string{"objects", "absent", "resource", "status", "trace"} {
		if at := p.To(key); empty(at) {
			warn(at, "write what is expected, or remove the key")
		}
	}
}

func (c *testChecker) expectTrace(t *v1alpha1.ExpectTrace, p source.Path) {
	if t == nil {
		return
	}
	for key, n := range map[string]*int32{"requests": t.Requests, "workflows": t.Workflows, "reconciles": t.Reconciles} {
		if n != nil && *n < 0 {
			c.add(p.To(key), diag.BadValue, fmt.Sprintf("%s is %d, want 0 or more", p.To(key), *n), "")
		}
	}
}

// partial checks that an expected object is identified.
func (c *testChecker) partial(o map[string]any, p source.Path) {
	if c.wasRejected(p) {
		return
	}
	if kind, _ := o["kind"].(string); kind == "" {
		c.found.Add(
			c.At(p),
			diag.MissingKey,
			fmt.Sprintf("missing key \"kind\" in %s", p),
			"write kind, and metadata.name if there are several objects of the kind",
		)
	}
	if metadata, written := o["metadata"]; written {
		if _, ok := metadata.(map[string]any); !ok {
			c.add(p.To("metadata"), diag.WrongType, fmt.Sprintf("%s is not a mapping", p.To("metadata")), "write metadata: {name: NAME}")
		}
	}
}

// golden reads a golden file. A missing one is written later.
func (c *testChecker) golden(name string, p source.Path, step int) {
	if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
		c.add(p, diag.BadValue, fmt.Sprintf("%s is not the name of a YAML file", name), "write a name that ends in .yaml")
		return
	}
	inDir := path.Join(c.base, name)
	if c.in.Dir != nil && fs.ValidPath(inDir) {
		if _, err := fs.Stat(c.in.Dir, inDir); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	if data, ok := c.beside(name, p); ok {
		c.test.Goldens[step] = append([]byte{}, data...)
	}
}
