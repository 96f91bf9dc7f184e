package definition

import (
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// ownKeys returns the keys of the form that generates a CustomResourceDefinition.
func ownKeys() []string {
	return []string{"group", "kind", "versions", "plural", "shortNames", "categories", "scope", "types"}
}

// form checks that the API has exactly one of its three forms.
func (c *checker) form() {
	p := source.PathOf("spec", "api")
	if c.wasRejected(p) || !c.Written(p) {
		return
	}
	inCRD, inExisting := c.Written(p.To("crd")), c.Written(p.To("existing"))
	switch {
	case inCRD && inExisting:
		c.addKey(p.To("existing"), diag.ConflictingKeys, "crd and existing cannot be combined", "remove one of them")
	case !inCRD && !inExisting:
		for _, key := range []string{"group", "kind", "versions"} {
			c.missing(p, key, source.Example("API", key)+"; or write crd or existing in place of group, kind and versions")
		}
		return
	}
	other := "existing"
	if inCRD {
		other = "crd"
	}
	for _, key := range ownKeys() {
		if c.Written(p.To(key)) {
			c.addKey(p.To(key), diag.ConflictingKeys, fmt.Sprintf("%s and %s cannot be combined", key, other),
				"write group, kind and versions, or crd, or existing")
		}
	}
}

// ownAPI checks the names of the form that generates a CustomResourceDefinition.
func (c *checker) ownAPI() {
	api, p := &c.op.Spec.API, source.PathOf("spec", "api")
	if api.CRD != nil || api.Existing != nil || c.wasRejected(p) {
		return
	}
	if c.has(api.Group, p.To("group")) && c.subdomain(api.Group, p.To("group")) {
		c.ownGroup(api.Group, p.To("group"))
	}
	if c.has(api.Kind, p.To("kind")) && !c.ownKind(api.Kind, p.To("kind")) {
		return
	}
	if c.Written(p.To("plural")) {
		c.resourceName(api.Plural, p.To("plural"))
	}
	c.resourceNames(api.ShortNames, p.To("shortNames"))
	c.resourceNames(api.Categories, p.To("categories"))
	c.distinct(api, p)
	if crd := api.Plural + "." + api.Group; len(crd) > maxSubdomain {
		c.add(
			p.To("group"),
			diag.NameTooLong,
			fmt.Sprintf("the CustomResourceDefinition's name PLURAL.GROUP has %d characters, more than %d", len(crd), maxSubdomain),
			"",
		)
	}
}

const maxSubdomain = 253

// ownKind checks a new kind, and returns whether the API server accepts it. The kind of
// its lists is four characters longer, and a name as well.
func (c *checker) ownKind(kind string, p source.Path) bool {
	if !c.kindName(kind, maxLabel-len("List"), p) {
		return false
	}
	if first := kind[:1]; first != strings.ToUpper(first) {
		c.report(p, diag.Finding{
			Severity: diag.Warning, Code: diag.BadName,
			Message: fmt.Sprintf("the kind %s begins with a small letter, which is unusual in Kubernetes", kind),
		}.Writing(toKind(kind)))
	}
	return true
}

func (c *checker) ownGroup(group string, p source.Path) {
	switch {
	case !strings.Contains(group, "."):
		c.addNamed(p, diag.BadName, fmt.Sprintf("%q has no dot", group), "a DNS name that you own, such as cache.example.com", "")
	case protected(group, "k8s.io"), protected(group, "kubernetes.io"):
		c.report(p, diag.Finding{
			Severity: diag.Error, Code: diag.ProtectedGroup,
			Message: fmt.Sprintf("the group %s belongs to the Kubernetes project", group),
		}.Writing("a DNS name that you own; for an approved API, write api: {crd: {file: crd.yaml}}"))
	}
}

func protected(group, domain string) bool {
	return group == domain || strings.HasSuffix(group, "."+domain)
}

// distinct reports short names that are names of the resource already.
func (c *checker) distinct(api *v1alpha1.API, p source.Path) {
	for i, short := range api.ShortNames {
		if short != "" && (short == api.Plural || short == strings.ToLower(api.Kind)) {
			c.add(
				p.To("shortNames", i),
				diag.DuplicateValue,
				fmt.Sprintf("the short name %q repeats the plural or the singular", short),
				"remove it",
			)
		}
	}
}
