package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// environment checks the environment variables of the logic.
func (c *checker) environment() {
	if c.op.Spec.Logic == nil {
		return
	}
	p := source.PathOf("spec", "logic", "env")
	var names []string
	for i, v := range c.op.Spec.Logic.Env {
		c.variable(v, p.To(i))
		names = append(names, v.Name)
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
}

func (c *checker) variable(v v1alpha1.EnvVar, p source.Path) {
	switch {
	case !c.has(v.Name, p.To("name")):
	case !identifier.MatchString(v.Name):
		c.add(
			p.To("name"),
			diag.BadName,
			fmt.Sprintf("%q is not the name of a variable", v.Name),
			"use letters, digits and '_', and no digit at the start",
		)
	case strings.HasPrefix(v.Name, "ARGOPERATOR_"):
		c.add(
			p.To("name"),
			diag.ReservedName,
			fmt.Sprintf("argoperator sets %s itself", v.Name),
			"choose a name that does not begin with ARGOPERATOR_",
		)
	}
	value, secret, key := c.Written(p.To("value")), c.Written(p.To("secret")), c.Written(p.To("key"))
	switch {
	case value && (secret || key):
		c.addKey(p.To("value"), diag.ConflictingKeys, "value cannot be combined with secret and key", "remove one of them")
	case !value && !secret && !key:
		c.missing(p, "value", "write value, or secret and key")
	case secret && !key:
		c.missing(p, "key", "write the key in the Secret")
	case key && !secret:
		c.missing(p, "secret", "write the name of the Secret")
	}
	if secret && c.has(v.Secret, p.To("secret")) {
		c.subdomain(v.Secret, p.To("secret"))
	}
	if key && c.has(v.Key, p.To("key")) && len(validation.IsConfigMapKey(v.Key)) > 0 {
		c.add(p.To("key"), diag.BadName, fmt.Sprintf("%q cannot be a key of a Secret", v.Key), "use letters, digits, '-', '_' and '.'")
	}
}

var flagName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) })

// logicParameters checks the files that the steps engine passes to the command.
func (c *checker) logicParameters() {
	logic, p := c.op.Spec.Logic, source.PathOf("spec", "logic", "parameters")
	if logic == nil || !c.Written(p) {
		return
	}
	if c.op.Spec.Reconcile.Engine != "steps" {
		c.addKey(
			p,
			diag.ConflictingKeys,
			"parameters need the steps engine",
			"write reconcile: {engine: steps}, or read the files in the logic",
		)
	}
	var names []string
	for i, param := range logic.Parameters {
		names = append(names, param.Name)
		if at := p.To(i, "name"); c.has(param.Name, at) && !flagName().MatchString(param.Name) {
			c.add(
				at,
				diag.BadName,
				fmt.Sprintf("%q is not the name of a flag", param.Name),
				"begin with a letter; use letters, digits, '-' and '_', without leading dashes",
			)
		}
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
}

// resources checks the resource quantities of the logic's container and of
// argoperator's own steps.
func (c *checker) resources() {
	if logic := c.op.Spec.Logic; logic != nil {
		c.requestsAndLimits(logic.Resources, source.PathOf("spec", "logic", "resources"))
	}
	c.requestsAndLimits(c.op.Spec.Install.RuntimeResources, source.PathOf("spec", "install", "runtimeResources"))
}

func (c *checker) requestsAndLimits(r *v1alpha1.Resources, p source.Path) {
	if r == nil {
		return
	}
	limits := c.quantities(r.Limits, p.To("limits"))
	requests := c.quantities(r.Requests, p.To("requests"))
	for _, name := range source.SortedKeys(requests) {
		request := requests[name]
		if limit, ok := limits[name]; ok && request.Cmp(limit) > 0 {
			c.add(
				p.To("requests", name),
				diag.BadValue,
				fmt.Sprintf("%s: the request %s exceeds the limit %s", name, r.Requests[name], r.Limits[name]),
				"",
			)
		}
	}
}

func (c *checker) quantities(values map[string]string, p source.Path) map[string]resource.Quantity {
	out := map[string]resource.Quantity{}
	plain := []string{"cpu", "memory", "ephemeral-storage"}
	for _, name := range source.SortedKeys(values) {
		if !strings.Contains(name, "/") && !strings.HasPrefix(name, "hugepages-") && !slices.Contains(plain, name) {
			c.addKey(p.To(name), diag.BadName, fmt.Sprintf("unknown resource %q", name), source.DidYouMean(name, plain, "resources"))
		}
		if q, ok := c.quantity(values[name], p.To(name)); ok {
			out[name] = q
		}
	}
	return out
}

func (c *checker) quantity(text string, p source.Path) (resource.Quantity, bool) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		c.add(p, diag.BadValue, fmt.Sprintf("%s: %q is not a quantity", p, text), "write a quantity, such as 100m, 0.5, 64Mi or 1Gi")
		return q, false
	}
	return q, true
}
