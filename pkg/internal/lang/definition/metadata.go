package definition

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// metadata checks the operator's name, labels and annotations, and the names derived from the name.
func (c *checker) metadata() {
	m, p := c.op.Metadata, source.PathOf("metadata")
	names := c.usedNames()
	if len(m.Name) > maxLabel || c.label(m.Name, p.To("name")) {
		c.checkNameLength(names)
	}
	c.overrides(names)
	c.objectLabels(m.Labels, p.To("labels"))
	for _, key := range source.SortedKeys(m.Annotations) {
		c.metaKey(key, p.To("annotations", key))
	}
}

// objectLabels checks the labels that emitted objects get.
func (c *checker) objectLabels(labels map[string]string, p source.Path) {
	for _, key := range source.SortedKeys(labels) {
		at := p.To(key)
		c.metaKey(key, at)
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			c.add(at, diag.BadValue, fmt.Sprintf("%q is not a label value", labels[key]),
				"use letters, digits, '-', '_' and '.', at most 63 in total, with a letter or digit at both ends")
		}
	}
}

// metaKey checks the key of a label or annotation of emitted objects.
func (c *checker) metaKey(key string, p source.Path) {
	c.keyBeside(
		key,
		p,
		"app.kubernetes.io/name",
		managedBy,
		"app.kubernetes.io/part-of",
		"app.kubernetes.io/component",
	)
}

// keyBeside checks the key of a label or annotation that stands beside reserved ones.
func (c *checker) keyBeside(key string, p source.Path, reserved ...string) {
	switch {
	case slices.Contains(reserved, key), strings.HasPrefix(key, v1alpha1.Group+"/"):
		c.addKey(p, diag.ReservedName, fmt.Sprintf("argoperator sets %s itself", key), "remove the key")
	case len(validation.IsQualifiedName(strings.ToLower(key))) > 0:
		c.addKey(
			p,
			diag.BadName,
			fmt.Sprintf("%q is not a label or annotation key", key),
			"write NAME or DNS.NAME/NAME; a name has letters, digits, '-', '_' and '.', at most 63 in total",
		)
	}
}

// checkNameLength reports an operator name that is too long for the names derived from
// it. One finding has the limit for all of them.
func (c *checker) checkNameLength(names []derivedName) {
	name := c.op.Metadata.Name
	var tightest *derivedName
	for i := range names {
		d := &names[i]
		if *d.value == d.of(name) && len(*d.value) > d.limit && (tightest == nil || d.maxOperatorName() < tightest.maxOperatorName()) {
			tightest = d
		}
	}
	if tightest == nil {
		return
	}
	c.add(
		source.PathOf("metadata", "name"),
		diag.NameTooLong,
		fmt.Sprintf(
			"the %s would be named %s: %d characters, more than %d",
			tightest.kind,
			tightest.of(name),
			len(tightest.of(name)),
			tightest.limit,
		),
		fmt.Sprintf(
			"metadata.name may have %d characters, it has %d; or set install.names.%s",
			tightest.maxOperatorName(),
			len(name),
			tightest.key,
		),
	)
}

// overrides checks the names that are set, and that no two objects of a kind have the
// same name.
func (c *checker) overrides(names []derivedName) {
	owner := map[string]derivedName{}
	for _, d := range names {
		p := source.PathOf("spec", "install", "names", d.key)
		if c.Written(p) && c.label(*d.value, p) && len(*d.value) > d.limit {
			c.add(p, diag.NameTooLong, fmt.Sprintf("the %s's name has %d characters, more than %d", d.kind, len(*d.value), d.limit), "")
		}
		id := d.kind + "/" + *d.value
		first, again := owner[id]
		if owner[id] = d; !again {
			continue
		}
		if !c.Written(p) {
			p = source.PathOf("spec", "install", "names", first.key)
		}
		c.add(
			p,
			diag.DuplicateValue,
			fmt.Sprintf("%s and %s are both the %s %s", first.key, d.key, d.kind, *d.value),
			"give each its own name",
		)
	}
}
