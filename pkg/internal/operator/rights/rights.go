// Package rights computes the permissions that objects give to accounts, and compares them.
//
// The rule of this package: it knows RBAC and no operator. How a permission is written,
// split over rules and roles or repeated, makes no difference.
package rights

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// right is the smallest permission: one verb on one resource of one account.
type right struct {
	account   string
	namespace string // "" for the whole cluster
	verb      string // "*" for each
	group     string // "*" for each
	resource  string // "*" for each, "*/SUB" for the subresource of each
	name      string // "" for objects of every name
	url       string // of what is no resource; "PREFIX*" for all that begin so
	role      string // a role with unknown rules, instead of the fields above
}

// set is the permissions of all accounts.
type set map[right]bool

// effective returns what objects give to each account.
func effective(objects []map[string]any) (set, error) {
	in, err := decode(objects)
	if err != nil {
		return nil, err
	}
	out := set{}
	for _, b := range in.clusterBindings {
		in.bind(out, b.RoleRef, b.Subjects, "")
	}
	for _, b := range in.bindings {
		in.bind(out, b.RoleRef, b.Subjects, b.Namespace)
	}
	for _, role := range in.clusterRoles {
		for key, value := range role.Labels {
			if into, found := strings.CutPrefix(key, aggregation); found && value == "true" {
				out.add("holders of ClusterRole "+into, "", in.rules(role))
			}
		}
	}
	return out, nil
}

// aggregation is the prefix of the labels that add a ClusterRole to one of Kubernetes.
const aggregation = rbacGroup + "/aggregate-to-"

// roles are the objects of RBAC.
type roles struct {
	clusterRoles    map[string]*rbacv1.ClusterRole
	roles           map[string]*rbacv1.Role // by NAMESPACE/NAME
	clusterBindings []*rbacv1.ClusterRoleBinding
	bindings        []*rbacv1.RoleBinding
}

func decode(objects []map[string]any) (roles, error) {
	in := roles{clusterRoles: map[string]*rbacv1.ClusterRole{}, roles: map[string]*rbacv1.Role{}}
	for _, o := range objects {
		version, _ := o["apiVersion"].(string)
		if group, _, _ := strings.Cut(version, "/"); group != rbacGroup {
			continue
		}
		var err error
		switch o["kind"] {
		case "ClusterRole":
			role, wrong := as[rbacv1.ClusterRole](o)
			in.clusterRoles[role.Name], err = role, wrong
		case "Role":
			role, wrong := as[rbacv1.Role](o)
			in.roles[role.Namespace+"/"+role.Name], err = role, wrong
		case "ClusterRoleBinding":
			b, wrong := as[rbacv1.ClusterRoleBinding](o)
			in.clusterBindings, err = append(in.clusterBindings, b), wrong
		case "RoleBinding":
			b, wrong := as[rbacv1.RoleBinding](o)
			in.bindings, err = append(in.bindings, b), wrong
		}
		if err != nil {
			return roles{}, err
		}
	}
	return in, nil
}

func as[T any](o map[string]any) (*T, error) {
	out := new(T)
	data, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return out, fmt.Errorf("reading permissions of %v: %w", o["kind"], err)
	}
	return out, nil
}

// rules returns the rules of a ClusterRole, with those that Kubernetes adds to it.
func (in roles) rules(role *rbacv1.ClusterRole) []rbacv1.PolicyRule {
	if role.AggregationRule == nil {
		return role.Rules
	}
	var out []rbacv1.PolicyRule // Kubernetes replaces those of the role
	for _, s := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&s)
		for _, other := range in.clusterRoles {
			if err == nil && other != role && other.AggregationRule == nil && selector.Matches(labels.Set(other.Labels)) {
				out = append(out, other.Rules...)
			}
		}
	}
	return out
}

func (in roles) bind(out set, ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) {
	for _, s := range subjects {
		account := accountOf(s, namespace)
		clusterRole, role := in.clusterRoles[ref.Name], in.roles[namespace+"/"+ref.Name]
		switch {
		case ref.Kind == "ClusterRole" && clusterRole != nil:
			out.add(account, namespace, in.rules(clusterRole))
		case ref.Kind == "Role" && role != nil:
			out.add(account, namespace, role.Rules)
		case ref.Kind == "ClusterRole" && ref.Name == "cluster-admin":
			out.add(account, namespace, []rbacv1.PolicyRule{
				{APIGroups: all(), Resources: all(), Verbs: all()}, {NonResourceURLs: all(), Verbs: all()},
			})
		default:
			out[right{account: account, namespace: namespace, role: ref.Kind + " " + ref.Name}] = true
		}
	}
}

const serviceAccountUser = "system:serviceaccount:"

// accountOf names a subject. A service account is also a user.
func accountOf(s rbacv1.Subject, namespace string) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return s.Kind + " " + cmp.Or(s.Namespace, namespace) + "/" + s.Name
	}
	if name, found := strings.CutPrefix(s.Name, serviceAccountUser); found && s.Kind == rbacv1.UserKind {
		return rbacv1.ServiceAccountKind + " " + strings.Replace(name, ":", "/", 1)
	}
	return s.Kind + " " + s.Name
}

// The groups of service accounts, and of everybody with a name.
const (
	serviceAccounts = "Group system:serviceaccounts"
	authenticated   = "Group system:authenticated"
)

// withGroups returns an account and the groups of every such account.
func withGroups(account string) []string {
	kind, name, _ := strings.Cut(account, " ")
	switch {
	case kind == rbacv1.ServiceAccountKind:
		namespace, _, _ := strings.Cut(name, "/")
		return []string{account, serviceAccounts + ":" + namespace, serviceAccounts, authenticated}
	case strings.HasPrefix(account, serviceAccounts+":"):
		return []string{account, serviceAccounts, authenticated}
	case account == serviceAccounts, kind == rbacv1.UserKind && name != "system:anonymous":
		return []string{account, authenticated}
	}
	return []string{account}
}

// add adds the rules of a role.
func (s set) add(account, namespace string, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				if namespace == "" { // a RoleBinding gives none
					s[right{account: account, verb: verb, url: url}] = true
				}
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range names {
						s[right{account: account, namespace: namespace, verb: verb, group: group, resource: resource, name: name}] = true
					}
				}
			}
		}
	}
}

// covers reports whether the set gives a right. A right with a wildcard is only given by
// one with a wildcard in the same place: no list names every verb, resource or object.
func (s set) covers(r right) bool {
	for _, account := range withGroups(r.account) {
		r.account = account
		if s.gives(r) {
			return true
		}
	}
	return false
}

// gives is covers, for the account itself.
func (s set) gives(r right) bool {
	if r.url != "" {
		return s.givesURL(r)
	}
	if s[r] {
		return true
	}
	resources := []string{r.resource, "*"}
	if _, sub, found := strings.Cut(r.resource, "/"); found {
		resources = append(resources, "*/"+sub)
	}
	one := r
	for _, one.namespace = range []string{r.namespace, ""} {
		if r.role != "" {
			if s[one] {
				return true
			}
			continue
		}
		for _, one.verb = range []string{r.verb, "*"} {
			for _, one.group = range []string{r.group, "*"} {
				for _, one.resource = range resources {
					for _, one.name = range []string{r.name, ""} {
						if s[one] {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// givesURL is gives, for URLs: "*" at the end stands for the rest.
func (s set) givesURL(r right) bool {
	for have := range s {
		if have.url == "" || have.account != r.account || have.verb != r.verb && have.verb != "*" {
			continue
		}
		prefix, found := strings.CutSuffix(have.url, "*")
		if have.url == r.url || found && strings.HasPrefix(r.url, prefix) {
			return true
		}
	}
	return false
}

// beyond returns the rights of a set that another does not give, without those that others
// of them include.
func (s set) beyond(other set) []right {
	missing := set{}
	for r := range s {
		if !other.covers(r) {
			missing[r] = true
		}
	}
	var out []right
	for r := range missing {
		delete(missing, r)
		if !missing.gives(r) {
			out = append(out, r)
		}
		missing[r] = true
	}
	return slices.Clip(out)
}
