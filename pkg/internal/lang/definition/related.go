package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// readRelated completes the related kinds from their CustomResourceDefinitions.
func (c *checker) readRelated() {
	c.def.RelatedCRDs = map[string]*apiextensionsv1.CustomResourceDefinition{}
	for i := range c.op.Spec.Related {
		r, p := &c.op.Spec.Related[i], source.PathOf("spec", "related", i)
		crd := c.kindOfOther(asChild(*r), p)
		if r.CRD != nil {
			crd = c.crdFile(p.To("crd", "file"), r.CRD.File, asChild(*r))
		}
		if crd != nil {
			c.def.RelatedCRDs[r.Name] = crd
			completeKind(r, func(kind *v1alpha1.Child) { c.childCRD(kind, crd, p) })
		}
	}
}

// asChild returns the kind of a related object as a child, whose fields have the same
// names.
func asChild(r v1alpha1.Related) v1alpha1.Child {
	return v1alpha1.Child{Name: r.Name, APIVersion: r.APIVersion, Kind: r.Kind, CRD: r.CRD, Plural: r.Plural, Scope: r.Scope}
}

// completeKind completes the kind of a related object like that of a child.
func completeKind(r *v1alpha1.Related, complete func(*v1alpha1.Child)) {
	kind := asChild(*r)
	complete(&kind)
	r.Plural, r.Scope = kind.Plural, kind.Scope
}

// related checks the related objects.
func (c *checker) related() {
	p := source.PathOf("spec", "related")
	var names []string
	for i, r := range c.op.Spec.Related {
		at := p.To(i)
		c.variableName(r.Name, "$related", at.To("name"))
		names = append(names, r.Name)
		if c.Written(at.To("schedule")) {
			c.schedule(r, at)
			continue
		}
		if c.Written(at.To("timeZone")) {
			c.missing(at, "schedule", "write schedule: 0 20 * * *, or remove timeZone")
			continue
		}
		c.childKind(asChild(r), at)
		c.selection(r, at)
		if r.Delete && c.op.Spec.Logic == nil {
			c.addKey(at.To("delete"), diag.ConflictingKeys, "delete needs logic", "remove the key, or write logic")
		}
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
}

// schedule checks an entry with times in place of objects.
func (c *checker) schedule(r v1alpha1.Related, p source.Path) {
	c.has(r.Schedule, p.To("schedule"))
	if at := p.To("timeZone"); c.Written(at) {
		c.has(r.TimeZone, at)
	}
	for _, key := range []string{"apiVersion", "kind", "crd", "plural", "scope", "names", "labelSelector", "namespace", "watch", "delete"} {
		if c.Written(p.To(key)) {
			c.addKey(p.To(key), diag.ConflictingKeys, key+" is about objects, and an entry with schedule has none",
				"remove one of the keys")
			break
		}
	}
}

// selection checks that an entry selects objects.
func (c *checker) selection(r v1alpha1.Related, p source.Path) {
	byName, byLabel := c.Written(p.To("names")), c.Written(p.To("labelSelector"))
	switch {
	case byName && byLabel:
		c.addKey(p.To("labelSelector"), diag.ConflictingKeys, "names and labelSelector cannot be combined", "remove one of them")
	case !byName && !byLabel:
		c.missing(p, "names", "write names: [\"${ .spec.configMap }\"], or labelSelector: {matchLabels: {app: web}}")
	case byName && len(r.Names) == 0:
		c.add(p.To("names"), diag.BadValue, "names is empty", "write the names of the objects")
	}
	for i, name := range r.Names {
		c.has(name, p.To("names", i))
	}
	for key := range r.LabelSelector {
		if key != "matchLabels" && key != "matchExpressions" {
			c.addKey(
				p.To("labelSelector", key),
				diag.UnknownKey,
				fmt.Sprintf("unknown key %q%s", key, source.Inside(p.To("labelSelector"))),
				source.DidYouMean(key, []string{"matchExpressions", "matchLabels"}, "keys"),
			)
		}
	}
	if at := p.To("namespace"); c.Written(at) && c.has(r.Namespace, at) && r.Namespace != "*" && !holdsExpression(r.Namespace) {
		c.label(r.Namespace, at)
	}
	if at := p.To("namespace"); c.Written(at) && r.Scope == "Cluster" {
		c.addKey(at, diag.ConflictingKeys, fmt.Sprintf("%s is cluster-scoped and has no namespace", r.Kind), "remove the key")
	}
}

var notInIdentifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_]+`) })

// variableName checks a name that expressions use as a field of a variable.
func (c *checker) variableName(name, variable string, p source.Path) {
	if problem, hint := badVariable(name, variable); c.has(name, p) && problem != "" {
		c.add(p, diag.BadName, problem, hint)
	}
}

// badVariable returns why such a name is invalid and what to write, or "".
func badVariable(name, variable string) (problem, hint string) {
	if identifier.MatchString(name) {
		return "", ""
	}
	hint = "use letters, digits and '_', and no digit at the start"
	if better := notInIdentifier().ReplaceAllString(name, "_"); identifier.MatchString(better) && strings.Trim(better, "_") != "" {
		hint = "write " + better + ": letters, digits and '_', and no digit at the start"
	}
	return fmt.Sprintf("%q cannot be used in an expression as %s.%s", name, variable, name), hint
}

// dependencies checks that a child depends on children that exist.
func (c *checker) dependencies() {
	var names []string
	for _, child := range c.op.Spec.Children {
		names = append(names, child.Name)
	}
	for i, child := range c.op.Spec.Children {
		p := source.PathOf("spec", "children", i, "dependsOn")
		for j, name := range child.DependsOn {
			if !slices.Contains(names, name) {
				c.add(p.To(j), diag.BadValue, fmt.Sprintf("there is no child %q", name), source.DidYouMean(name, names, "children"))
			}
		}
		if at := source.PathOf("spec", "children", i, "adopt"); child.Adopt && child.Update == "Never" {
			c.addKey(at, diag.ConflictingKeys, "adopt changes an existing object, and update: Never forbids it", "remove one of them")
		}
		c.unique(child.DependsOn, func(j int) source.Path { return p.To(j) })
	}
}

// selectors checks the selectors of an existing kind.
func (c *checker) selectors() {
	e, p := c.op.Spec.API.Existing, source.PathOf("spec", "api", "existing")
	if e == nil {
		return
	}
	c.selector(e.LabelSelector, p.To("labelSelector"), true)
	c.selector(e.AnnotationSelector, p.To("annotationSelector"), false)
	if e.Decorate && c.op.Spec.Logic == nil {
		c.addKey(p.To("decorate"), diag.ConflictingKeys, "decorate needs logic", "remove the key, or write logic")
	}
}

// selector checks a selector like the API server. The values of an annotation selector
// are not checked, because annotations may have any value.
func (c *checker) selector(s *v1alpha1.Selector, p source.Path, labels bool) {
	if s == nil {
		return
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		c.add(
			p,
			diag.BadValue,
			"the selector is empty and selects every object",
			"write matchLabels or matchExpressions, or remove the key",
		)
		return
	}
	wrong := func(at source.Path, what string) { c.add(at, diag.BadValue, fmt.Sprintf("%s: %s", at, what), "") }
	options := validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: !labels}
	for _, key := range source.SortedKeys(s.MatchLabels) {
		pair := map[string]string{key: s.MatchLabels[key]}
		if !labels {
			pair[key] = ""
		}
		for _, err := range validation.ValidateLabelSelector(&metav1.LabelSelector{MatchLabels: pair}, options, nil) {
			wrong(p.To("matchLabels", key), err.ErrorBody())
		}
	}
	for i, r := range s.MatchExpressions {
		requirement := metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values}
		for _, err := range validation.ValidateLabelSelectorRequirement(requirement, options, nil) {
			if err.Field != "operator" { // operators are reported at their own position
				wrong(p.To("matchExpressions", i), err.Error())
			}
		}
	}
}
