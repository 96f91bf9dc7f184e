package explain

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TrustBoundary is a restriction of what users can do through the operator, or the lack
// of one.
type TrustBoundary struct {
	What string `json:"kind"`    // policy, permission, adopted, allowed namespaces, event bus or unbounded fields
	Of   string `json:"subject"` // the policy, account, child, kind or fields
	Note string `json:"note"`
}

func security(p *plan.Plan, d *definition.Definition) []TrustBoundary {
	out := []TrustBoundary{}
	for _, policy := range p.Policies {
		out = append(out, TrustBoundary{"policy", manifest.PolicyName(p, policy), policy.Why})
	}
	out = append(out, dangerous(permissions(p))...)
	for _, c := range p.Children {
		if c.Adopt {
			out = append(out, TrustBoundary{"adopted", c.Name, fmt.Sprintf("takes over an existing %s of the same name", c.Kind.Kind)})
		}
	}
	if allowed := d.Operator.Spec.Install.AllowedNamespaces; len(allowed) > 0 {
		out = append(
			out,
			TrustBoundary{
				"allowed namespaces",
				strings.Join(allowed, ", "),
				"custom resources may choose these for children and related objects, in addition to their own",
			},
		)
	}
	var seen []string
	for _, e := range p.SecretEvents() {
		note := "every Secret that the operator watches is published on event bus " + p.Shared.EventBus.Name
		if e.Selector != nil {
			note = "the children are published on event bus " + p.Shared.EventBus.Name
		}
		if !slices.Contains(seen, note) {
			seen = append(seen, note)
			out = append(out, TrustBoundary{"event bus", e.Kind.Kind, note})
		}
	}
	return append(out, unboundedSpec(p, d)...)
}

// dangerous returns what accounts can do in addition to what their permissions say, the most
// dangerous first.
func dangerous(list []Permission) []TrustBoundary {
	var out []TrustBoundary
	slices.SortStableFunc(list, func(a, b Permission) int { return cmp.Compare(a.rank, b.rank) })
	for i, g := range list {
		same := func(other Permission) bool {
			return other.ServiceAccount == g.ServiceAccount && other.Danger == g.Danger
		}
		if g.Danger == "" || slices.ContainsFunc(list[:i], same) {
			continue
		}
		var by []string
		for _, other := range list[i:] {
			text := strings.Join(other.Verbs, ", ") + " " + strings.Join(append([]string{other.Resource}, other.Names...), " ")
			if same(other) && !slices.Contains(by, text) {
				by = append(by, text)
			}
		}
		out = append(out, TrustBoundary{"permission", g.ServiceAccount, g.Danger + ", by: " + strings.Join(by, "; ")})
	}
	return out
}

// fewFields limits how many unbounded fields are named.
const fewFields = 3

// unboundedSpec reports whether the size of a custom resource is limited only by the
// API server. All events wait while a large one is processed.
func unboundedSpec(p *plan.Plan, d *definition.Definition) []TrustBoundary {
	schema := d.Schema(p.API.Kind.Version)
	if schema == nil {
		return nil
	}
	spec, written := schema.Properties["spec"]
	if !written {
		return nil
	}
	fields := unbounded(&spec, ".spec")
	if len(fields) == 0 {
		return nil
	}
	of := strings.Join(fields[:min(len(fields), fewFields)], ", ")
	if more := len(fields) - fewFields; more > 0 {
		of += fmt.Sprintf(" and %d more", more)
	}
	return []TrustBoundary{
		{
			"unbounded fields",
			of,
			"the schema allows custom resources of up to 1.5 MiB; if you do not trust the users, set maxLength, maxItems or maxProperties",
		},
	}
}

// unbounded returns the paths of a schema's fields without a size limit.
func unbounded(s *apiextensionsv1.JSONSchemaProps, at string) []string {
	if len(s.Enum) > 0 {
		return nil
	}
	var out []string
	anything := s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
	values := s.AdditionalProperties
	switch {
	case anything,
		s.Type == "string" && s.MaxLength == nil && !short[s.Format],
		s.Type == "array" && s.MaxItems == nil,
		values != nil && s.MaxProperties == nil:
		out = append(out, at)
	case values != nil && values.Schema != nil:
		out = append(out, unbounded(values.Schema, at+".*")...)
	case s.Items != nil && s.Items.Schema != nil:
		out = append(out, unbounded(s.Items.Schema, at+"[]")...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		out = append(out, unbounded(&field, at+"."+name)...)
	}
	return out
}

// short are formats whose values are short.
var short = map[string]bool{
	"date": true, "date-time": true, "ipv4": true, "ipv6": true, "cidr": true, "mac": true,
	"uuid": true, "uuid3": true, "uuid4": true, "uuid5": true, "isbn": true, "isbn10": true, "isbn13": true, "creditcard": true,
	"ssn": true, "hexcolor": true,
	"rgbcolor": true, "bsonobjectid": true,
}

func (p Printer) security(w io.Writer, list []TrustBoundary) {
	if len(list) == 0 {
		return
	}
	p.heading(w, "SECURITY")
	terminal.Fprintf(w, "\n")
	var rows [][]string
	for _, t := range list {
		rows = append(rows, []string{t.What, t.Of, t.Note})
	}
	p.table(w, rows)
}
