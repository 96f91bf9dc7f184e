package rights

import (
	"cmp"
	"io"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Change is a permission that an account gets or loses. Its JSON form is part of the
// interface.
type Change struct {
	Action     Action   `json:"action"`
	Account    string   `json:"account"` // KIND NAMESPACE/NAME, or KIND NAME
	Verbs      []string `json:"verbs,omitempty"`
	Resources  []string `json:"resources,omitempty"`  // PLURAL.GROUP[/SUBRESOURCE]
	Names      []string `json:"names,omitempty"`      // of the objects; empty: all
	URLs       []string `json:"urls,omitempty"`       // of what is no resource
	Role       string   `json:"role,omitempty"`       // KIND NAME of a role that is not among the objects
	Namespaces []string `json:"namespaces,omitempty"` // empty: the whole cluster
	Danger     string   `json:"danger,omitempty"`     // what the account can do with it
	rank       int
}

// Action says whether an account gets or loses a permission.
type Action string

// The actions.
const (
	Added   Action = "added"
	Removed Action = "removed"
)

// Compare returns what the accounts get and lose if some objects replace others: first
// what they get, then what they lose, the most dangerous first.
func Compare(old, now []map[string]any) ([]Change, error) {
	before, err := effective(old)
	if err != nil {
		return nil, err
	}
	after, err := effective(now)
	if err != nil {
		return nil, err
	}
	return append(changes(Added, after.beyond(before)), changes(Removed, before.beyond(after))...), nil
}

// More reports whether an account gets a permission.
func More(list []Change) bool {
	return slices.ContainsFunc(list, func(c Change) bool { return c.Action == Added })
}

// changes merges rights that differ in one field only.
func changes(action Action, list []right) []Change {
	var out []Change
	for _, r := range list {
		out = append(out, r.change(action))
	}
	for _, field := range []func(*Change) *[]string{
		func(c *Change) *[]string { return &c.Verbs },
		func(c *Change) *[]string { return &c.Names },
		func(c *Change) *[]string { return &c.Resources },
		func(c *Change) *[]string { return &c.URLs },
		func(c *Change) *[]string { return &c.Namespaces },
	} {
		out = merge(out, field)
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(a.rank, b.rank),
			cmp.Compare(min(len(a.Namespaces), 1), min(len(b.Namespaces), 1)),
			cmp.Compare(min(len(a.Names), 1), min(len(b.Names), 1)),
			cmp.Compare(a.String(), b.String()),
		)
	})
	return out
}

// verbOrder is the order in which people name verbs; others follow.
var verbOrder = []string{"*", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// merge joins the changes that differ in one list only. An empty list means everything,
// so it is not joined with others.
func merge(list []Change, field func(*Change) *[]string) []Change {
	place := map[string]int{}
	var out []Change
	for _, c := range list {
		values := *field(&c)
		rest := c
		*field(&rest) = []string{strings.Repeat("some", min(len(values), 1))}
		key := rest.key()
		at, seen := place[key]
		if !seen {
			place[key] = len(out)
			out = append(out, c)
			continue
		}
		all := append(*field(&out[at]), values...)
		slices.SortFunc(all, func(a, b string) int {
			i, j := slices.Index(verbOrder, a), slices.Index(verbOrder, b)
			return cmp.Or(cmp.Compare(uint(i), uint(j)), cmp.Compare(a, b)) // -1 is the largest
		})
		*field(&out[at]) = slices.Compact(all)
	}
	return out
}

// key is the same for changes that say the same.
func (c Change) key() string {
	parts := []string{string(c.Action), c.Account, c.Role, dangers[c.rank].effect, string(rune(c.rank))}
	for _, list := range [][]string{c.Verbs, c.Names, c.Resources, c.URLs, c.Namespaces} {
		parts = append(parts, strings.Join(list, "\x00"))
	}
	return strings.Join(parts, "\x01")
}

func (r right) change(action Action) Change {
	c := Change{Action: action, Account: r.account, Role: r.role}
	if r.namespace != "" {
		c.Namespaces = []string{r.namespace}
	}
	switch {
	case r.role != "":
		c.rank, c.Danger = unknownRole(r.role)
		return c
	case r.url != "":
		c.Verbs, c.URLs, c.rank = []string{r.verb}, []string{r.url}, len(dangers)-1
		return c
	}
	c.Verbs, c.Resources = []string{r.verb}, []string{qualified(r.resource, r.group)}
	rule := rbacv1.PolicyRule{Verbs: []string{r.verb}, APIGroups: []string{r.group}, Resources: []string{r.resource}}
	if r.name != "" {
		c.Names = []string{r.name}
		rule.ResourceNames = c.Names
	}
	c.rank, c.Danger = Danger(rule)
	return c
}

// unknownRole returns the danger of a role that is not among the objects.
func unknownRole(role string) (int, string) {
	as := func(effect string) int {
		return slices.IndexFunc(dangers, func(d danger) bool { return d.effect == effect })
	}
	if allows, powerful := PowerfulRole(strings.TrimPrefix(role, "ClusterRole ")); powerful {
		return as(workloads), "has " + allows
	}
	return as(givesRole), "has the permissions of a role that is not among the objects"
}

// qualified returns the name of a resource for kubectl: PLURAL.GROUP[/SUBRESOURCE].
func qualified(resource, group string) string {
	resource, sub, found := strings.Cut(resource, "/")
	if group != "" {
		resource += "." + group
	}
	if found {
		resource += "/" + sub
	}
	return resource
}

// String says what an account gets or loses.
func (c Change) String() string {
	text := "new: "
	if c.Action == Removed {
		text = "removed: "
	}
	text += c.Account + ": "
	if c.Role != "" {
		text += c.Role
	} else {
		text += strings.Join(c.Verbs, ", ") + " " + strings.Join(append(c.Resources, c.URLs...), ", ")
	}
	if len(c.Names) > 0 {
		text += " " + strings.Join(c.Names, ", ")
	}
	switch len(c.Namespaces) {
	case 0:
		text += " in the whole cluster"
	case 1:
		text += " in namespace " + c.Namespaces[0]
	default:
		text += " in namespaces " + strings.Join(c.Namespaces, ", ")
	}
	if c.Danger != "" && c.Action == Added {
		text += "; " + c.Danger
	}
	return text
}

// Print prints each change.
func Print(w io.Writer, list []Change, colour bool) error {
	for _, c := range list {
		style := terminal.Green
		if c.Action == Added {
			style = terminal.Red // it needs a review
		}
		if _, err := terminal.Fprintf(w, "%s\n", terminal.Style(colour, style, c.String())); err != nil {
			return err
		}
	}
	return nil
}
