package definition

import (
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// versions checks that the versions fit together, and their CEL rules.
func (c *checker) versions() {
	versions, p := c.op.Spec.API.Versions, source.PathOf("spec", "api", "versions")
	if c.wasRejected(p) || !c.Written(p) {
		return
	}
	if len(versions) == 0 {
		c.add(p, diag.BadValue, "versions is empty", "write one version, such as - name: v1alpha1")
		return
	}
	var names []string
	stored, served := 0, 0
	for i, v := range versions {
		names = append(names, v.Name)
		c.version(v, p.To(i))
		if v.Served != nil && *v.Served {
			served++
		}
		if v.Storage == nil || !*v.Storage {
			continue
		}
		if stored++; stored > 1 {
			c.add(p.To(i, "storage"), diag.ConflictingKeys, "two versions have storage: true", "write storage: true for one version only")
		}
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
	if stored == 0 {
		c.addKey(p, diag.BadValue, "no version has storage: true", "write storage: true for one version")
	}
	if served == 0 {
		c.addKey(p, diag.BadValue, "no version is served", "remove served: false")
	}
}

func (c *checker) version(v v1alpha1.Version, p source.Path) {
	if c.has(v.Name, p.To("name")) {
		c.versionName(v.Name, p.To("name"), versionHint)
	}
	if v.DeprecationWarning != "" && !v.Deprecated {
		c.addKey(
			p.To("deprecationWarning"),
			diag.ConflictingKeys,
			"deprecationWarning needs deprecated: true",
			"write deprecated: true beside it",
		)
	}
	if len(v.DeprecationWarning) > 256 {
		c.add(
			p.To("deprecationWarning"),
			diag.BadValue,
			fmt.Sprintf("the warning has %d bytes, more than 256", len(v.DeprecationWarning)),
			"",
		)
	}
	for i, rule := range v.Validations {
		at := p.To("validations", i)
		if strings.TrimSpace(rule.Rule) == "" {
			c.add(at.To("rule"), diag.BadValue, "the CEL rule is empty", "write a rule, such as self.spec.size > 0")
		}
		if strings.ContainsAny(rule.Message, "\r\n") {
			c.add(at.To("message"), diag.BadValue, "a message must be one line", "remove the line breaks")
		}
	}
}

// workingVersion returns the name of the stored version if it is served, else of the
// first served one, or "".
func workingVersion(versions []v1alpha1.Version) string {
	name := ""
	for _, v := range versions {
		if v.Served != nil && *v.Served && (v.Storage != nil && *v.Storage || name == "") {
			name = v.Name
		}
	}
	return name
}

// workingSchema returns the schema of the version that the operator works with, or nil
// if it is unknown.
func (c *checker) workingSchema() *props { return c.def.Schema(c.def.WorkingVersion()) }

// scope returns the scope of the operator's kind, or "" if it is unknown.
func (c *checker) scope() string {
	api := &c.op.Spec.API
	switch {
	case api.Existing != nil:
		return api.Existing.Scope
	case c.def.CRD != nil:
		return string(c.def.CRD.Spec.Scope)
	}
	return api.Scope
}
