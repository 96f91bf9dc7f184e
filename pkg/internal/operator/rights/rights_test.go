package rights

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// question is what an authorizer answers.
type question struct{ account, verb, group, resource, name, namespace, url string }

// The words of drawn objects. Questions add a word that no rule has.
var (
	verbs      = []string{"get", "create", "delete", "bind", "*"}
	groups     = []string{"", "apps", "rbac.authorization.k8s.io", "*"}
	resources  = []string{"pods", "pods/exec", "secrets", "roles", "*", "*/exec"}
	objects    = []string{"a", "b"}
	namespaces = []string{"one", "two"}
	urls       = []string{"/healthz", "/healthz/*", "/heal*", "*"}
	subjects   = []rbacv1.Subject{
		{Kind: "ServiceAccount", Namespace: "one", Name: "x"},
		{Kind: "ServiceAccount", Namespace: "two", Name: "x"},
		{Kind: "User", Name: "system:serviceaccount:one:x"},
		{Kind: "User", Name: "jo"},
		{Kind: "Group", Name: "system:serviceaccounts"},
		{Kind: "Group", Name: "system:serviceaccounts:one"},
		{Kind: "Group", Name: "system:authenticated"},
	}
	// asked are accounts with the names of their subjects, as a token has them.
	asked = map[string][]string{
		"one/x":                      token("one", "x"),
		"two/x":                      token("two", "x"),
		"jo":                         {"jo", "system:authenticated"},
		"one/other":                  token("one", "other"),
		"three/other":                token("three", "other"),
		"another":                    {"another", "system:authenticated"},
		"system:authenticated alone": {"system:authenticated"},
	}
)

// token returns the names in a token of a service account.
func token(namespace, name string) []string {
	return []string{
		"system:serviceaccount:" + namespace + ":" + name, "system:serviceaccounts", "system:serviceaccounts:" + namespace,
		"system:authenticated",
	}
}

func some[T any](r *rand.Rand, list []T, most int) []T {
	var out []T
	for range 1 + r.IntN(most) {
		out = append(out, list[r.IntN(len(list))])
	}
	return out
}

func drawRules(r *rand.Rand) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for range r.IntN(3) {
		if r.IntN(6) == 0 {
			out = append(out, rbacv1.PolicyRule{Verbs: some(r, verbs, 2), NonResourceURLs: some(r, urls, 2)})
			continue
		}
		rule := rbacv1.PolicyRule{Verbs: some(r, verbs, 3), APIGroups: some(r, groups, 2), Resources: some(r, resources, 3)}
		if r.IntN(3) == 0 {
			rule.ResourceNames = some(r, objects, 2)
		}
		out = append(out, rule)
	}
	return out
}

// drawn are the objects of one version.
type drawn struct {
	clusterRoles    []*rbacv1.ClusterRole
	roles           []*rbacv1.Role
	clusterBindings []*rbacv1.ClusterRoleBinding
	bindings        []*rbacv1.RoleBinding
}

func draw(r *rand.Rand) drawn {
	var d drawn
	for i := range 3 {
		meta := metav1.ObjectMeta{Name: "r" + strconv.Itoa(i)}
		c := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: drawRules(r)}
		if i == 0 {
			c.Labels = map[string]string{"part": "yes"}
		}
		if i == 2 && r.IntN(2) == 0 {
			c.AggregationRule = &rbacv1.AggregationRule{
				ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"part": "yes"}}},
			}
		}
		d.clusterRoles = append(d.clusterRoles, c)
		for _, namespace := range namespaces {
			meta.Namespace = namespace
			d.roles = append(d.roles, &rbacv1.Role{ObjectMeta: meta, Rules: drawRules(r)})
		}
	}
	for range r.IntN(4) {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "r" + strconv.Itoa(r.IntN(3))}
		if r.IntN(12) == 0 {
			ref.Name = "cluster-admin"
		}
		if r.IntN(3) == 0 {
			d.clusterBindings = append(d.clusterBindings, &rbacv1.ClusterRoleBinding{RoleRef: ref, Subjects: some(r, subjects, 2)})
			continue
		}
		if r.IntN(2) == 0 {
			ref.Kind, ref.Name = "Role", "r"+strconv.Itoa(r.IntN(3))
		}
		d.bindings = append(d.bindings, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaces[r.IntN(2)]}, RoleRef: ref, Subjects: some(r, subjects, 2),
		})
	}
	return d
}

// change returns a version that is written otherwise and, most times, differs in one place.
func (d drawn) change(r *rand.Rand) drawn {
	var out drawn
	for _, c := range d.clusterRoles {
		c = c.DeepCopy()
		c.Rules = rewritten(r, c.Rules)
		out.clusterRoles = append(out.clusterRoles, c)
	}
	for _, c := range d.roles {
		c = c.DeepCopy()
		c.Rules = rewritten(r, c.Rules)
		out.roles = append(out.roles, c)
	}
	for _, b := range d.bindings {
		out.bindings = append(out.bindings, b.DeepCopy())
	}
	for _, b := range d.clusterBindings {
		out.clusterBindings = append(out.clusterBindings, b.DeepCopy())
	}
	switch r.IntN(4) {
	case 0:
		out.changeRule(r)
	case 1, 2:
		out.changeBinding(r)
	}
	return out
}

// rewritten splits and shuffles rules.
func rewritten(r *rand.Rand, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var list []rbacv1.PolicyRule
	for _, rule := range rules {
		if r.IntN(2) == 0 {
			list = append(list, rule)
			continue
		}
		for _, verb := range rule.Verbs {
			one := *rule.DeepCopy()
			one.Verbs = []string{verb}
			list = append(list, one)
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func (d drawn) changeRule(r *rand.Rand) {
	role := d.clusterRoles[r.IntN(len(d.clusterRoles))]
	if len(role.Rules) == 0 {
		return
	}
	rule := &role.Rules[r.IntN(len(role.Rules))]
	switch r.IntN(5) {
	case 0:
		rule.ResourceNames = nil
	case 1:
		rule.ResourceNames = some(r, objects, 1)
	case 2:
		rule.Verbs = some(r, verbs, 2)
	case 3:
		rule.Resources = some(r, resources, 2)
	case 4:
		rule.NonResourceURLs = some(r, urls, 1)
	}
}

func (d *drawn) changeBinding(r *rand.Rand) {
	if len(d.clusterBindings) > 0 && r.IntN(2) == 0 {
		b := d.clusterBindings[0]
		if r.IntN(2) == 0 {
			b.Subjects[0] = subjects[r.IntN(len(subjects))]
			return
		}
		d.clusterBindings = d.clusterBindings[1:]
		d.bindings = append(d.bindings, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaces[0]}, RoleRef: b.RoleRef, Subjects: b.Subjects,
		})
		return
	}
	for i, b := range d.bindings {
		switch {
		case r.IntN(2) == 0:
			b.Subjects[0] = subjects[r.IntN(len(subjects))]
			return
		case b.RoleRef.Kind == "ClusterRole":
			d.bindings = slices.Delete(d.bindings, i, i+1)
			d.clusterBindings = append(d.clusterBindings, &rbacv1.ClusterRoleBinding{RoleRef: b.RoleRef, Subjects: b.Subjects})
			return
		}
	}
}

func fields(t *testing.T, kind string, o any) map[string]any {
	t.Helper()
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	out["apiVersion"], out["kind"] = "rbac.authorization.k8s.io/v1", kind
	return out
}

func (d drawn) objects(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, o := range d.clusterRoles {
		out = append(out, fields(t, "ClusterRole", o))
	}
	for _, o := range d.roles {
		out = append(out, fields(t, "Role", o))
	}
	for _, o := range d.clusterBindings {
		out = append(out, fields(t, "ClusterRoleBinding", o))
	}
	for _, o := range d.bindings {
		out = append(out, fields(t, "RoleBinding", o))
	}
	return out
}

// allows answers one question in the most naive way.
func (d drawn) allows(q question) bool {
	for _, b := range d.clusterBindings {
		if q.of(b.Subjects) && q.in(d.rules(b.RoleRef, ""), true) {
			return true
		}
	}
	for _, b := range d.bindings {
		if b.Namespace == q.namespace && q.of(b.Subjects) && q.in(d.rules(b.RoleRef, b.Namespace), false) {
			return true
		}
	}
	return false
}

func (q question) of(subjects []rbacv1.Subject) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		name := s.Name
		if s.Kind == "ServiceAccount" {
			name = "system:serviceaccount:" + s.Namespace + ":" + s.Name
		}
		return slices.Contains(asked[q.account], name)
	})
}

func (q question) in(rules []rbacv1.PolicyRule, cluster bool) bool {
	match := func(list []string, word string) bool {
		return slices.Contains(list, word) || slices.Contains(list, "*")
	}
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		if q.url != "" {
			return cluster && match(rule.Verbs, q.verb) && slices.ContainsFunc(rule.NonResourceURLs, func(u string) bool {
				return u == q.url || strings.HasSuffix(u, "*") && strings.HasPrefix(q.url, strings.TrimSuffix(u, "*"))
			})
		}
		_, sub, found := strings.Cut(q.resource, "/")
		return match(rule.Verbs, q.verb) && match(rule.APIGroups, q.group) &&
			(match(rule.Resources, q.resource) || found && slices.Contains(rule.Resources, "*/"+sub)) &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, q.name))
	})
}

func (d drawn) rules(ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	if ref.Name == "cluster-admin" {
		every := []string{"*"}
		return []rbacv1.PolicyRule{{Verbs: every, APIGroups: every, Resources: every}, {Verbs: every, NonResourceURLs: every}}
	}
	if ref.Kind == "Role" {
		i := slices.IndexFunc(d.roles, func(r *rbacv1.Role) bool { return r.Namespace == namespace && r.Name == ref.Name })
		return d.roles[i].Rules
	}
	i := slices.IndexFunc(d.clusterRoles, func(r *rbacv1.ClusterRole) bool { return r.Name == ref.Name })
	if d.clusterRoles[i].AggregationRule != nil {
		return d.clusterRoles[0].Rules // the only one with the label
	}
	return d.clusterRoles[i].Rules
}

// questions are all that two versions can answer differently: each word, and one that no
// rule has.
func questions() []question {
	var out []question
	for account := range asked {
		for _, verb := range []string{"get", "create", "delete", "bind", "other"} {
			for _, url := range []string{"/healthz", "/healthz/x", "/healx", "/other"} {
				out = append(out, question{account: account, verb: verb, url: url})
			}
			for _, group := range []string{"", "apps", "rbac.authorization.k8s.io", "other"} {
				for _, resource := range []string{"pods", "pods/exec", "secrets", "roles", "other", "other/exec", "other/other"} {
					for _, name := range []string{"", "a", "b", "other"} {
						for _, namespace := range []string{"", "one", "two", "other"} {
							out = append(out, question{account, verb, group, resource, name, namespace, ""})
						}
					}
				}
			}
		}
	}
	return out
}

// TestCompareAgreesWithQuestions requires that a permission is added if and only if the
// answer to some question turns from no to yes, and removed if one turns from yes to no.
func TestCompareAgreesWithQuestions(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	runs, err := strconv.Atoi(os.Getenv("RUNS"))
	if err != nil {
		runs = 400
	}
	all := questions()
	counts := map[string]int{}
	for i := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		old := draw(r)
		now := old.change(r)
		if r.IntN(8) == 0 {
			now = draw(r)
		}
		list, err := Compare(old.objects(t), now.objects(t))
		if err != nil {
			t.Fatal(err)
		}
		want := map[Action]bool{}
		for _, q := range all {
			before, after := old.allows(q), now.allows(q)
			want[Added] = want[Added] || !before && after
			want[Removed] = want[Removed] || before && !after
		}
		got := map[Action]bool{Added: More(list), Removed: slices.ContainsFunc(list, func(c Change) bool { return c.Action == Removed })}
		counts[fmt.Sprint(want[Added], want[Removed])]++
		if got[Added] != want[Added] || got[Removed] != want[Removed] {
			t.Errorf("SEED=%d, run %d: got %v, questions say %v\n%v\n%s\n%s", seed, i, got, want,
				list, text(t, old.objects(t)), text(t, now.objects(t)))
		}
		if same, err := Compare(now.objects(t), now.objects(t)); err != nil || len(same) > 0 {
			t.Errorf("SEED=%d, run %d: a version differs from itself: %v %v", seed, i, same, err)
		}
	}
	t.Log("added, removed:", counts)
	if len(counts) != 4 {
		t.Errorf("the draws do not have every answer: %v", counts)
	}
}

func text(t *testing.T, o any) string {
	t.Helper()
	data, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// account returns the objects that give rules to one account, in a namespace if it is not
// empty.
func account(t *testing.T, namespace, rules string) []map[string]any {
	t.Helper()
	kind, meta := "ClusterRole", "{name: r}"
	if namespace != "" {
		kind, meta = "Role", "{name: r, namespace: "+namespace+"}"
	}
	var out []map[string]any
	for _, object := range []string{
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: " + meta + ", rules: [" + rules + "]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + "Binding, metadata: " + meta + ", roleRef: {kind: " + kind +
			", name: r}, subjects: [{kind: ServiceAccount, namespace: team, name: x}]}",
	} {
		o := map[string]any{}
		if err := yaml.Unmarshal([]byte(object), &o); err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func lines(list []Change) []string {
	var out []string
	for _, c := range list {
		out = append(out, strings.Replace(c.String(), "ServiceAccount team/x: ", "", 1))
	}
	return out
}

func TestCompare(t *testing.T) {
	const pods = "{apiGroups: ['', apps], resources: [pods, deployments], verbs: [get, list]}"
	for _, tt := range []struct {
		reason   string
		old, now []map[string]any
		want     []string
	}{
		{
			"the most dangerous first", nil,
			append(account(t, "", "{apiGroups: [''], resources: [configmaps], verbs: [watch, list, get]}, "+
				"{apiGroups: [''], resources: [secrets], verbs: [delete]}, "+
				"{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [cluster-admin], verbs: [bind]}"),
				account(t, "team", "{apiGroups: [''], resources: [pods/exec], verbs: [create]}, "+
					"{apiGroups: [''], resources: [pods], verbs: [delete, create]}")...),
			[]string{
				"new: bind clusterroles.rbac.authorization.k8s.io cluster-admin in the whole cluster; can give itself every permission",
				"new: create pods/exec in namespace team; can run commands in pods, with their permissions",
				"new: create pods in namespace team; " + workloads,
				"new: delete secrets in the whole cluster; can change or delete credentials of others",
				"new: delete pods in namespace team",
				"new: get, list, watch configmaps in the whole cluster",
			},
		},
		{
			"split, reordered and repeated", account(t, "", pods),
			account(t, "", "{apiGroups: [apps], resources: [deployments, pods], verbs: [list]}, "+
				"{apiGroups: [''], resources: [pods], verbs: [list, get]}, {apiGroups: [apps, ''], resources: [deployments], verbs: [get, list]}, "+
				"{apiGroups: [apps, ''], resources: [pods], verbs: [get]}"),
			nil,
		},
		{
			"a namespace instead of the cluster", account(t, "", pods), account(t, "team", pods),
			[]string{"removed: get, list deployments, deployments.apps, pods, pods.apps in the whole cluster"},
		},
		{
			"the other way", account(t, "team", pods), account(t, "", pods),
			[]string{"new: get, list deployments, deployments.apps, pods, pods.apps in the whole cluster"},
		},
		{
			"names", account(t, "team", "{apiGroups: [''], resources: [secrets], resourceNames: [a], verbs: [get]}"),
			account(t, "team", "{apiGroups: [''], resources: [secrets], resourceNames: [c, a, b], verbs: [get]}"),
			[]string{"new: get secrets b, c in namespace team; can read the credentials in this Secret"},
		},
		{
			"a subresource of everything", account(t, "team", "{apiGroups: [''], resources: [pods/log], verbs: [get]}"),
			account(t, "team", "{apiGroups: [''], resources: ['*/log'], verbs: [get]}"),
			[]string{"new: get */log in namespace team"},
		},
		{
			"URLs", account(t, "", "{nonResourceURLs: [/metrics], verbs: [get]}"),
			account(t, "", "{nonResourceURLs: [/metrics, /logs/*], verbs: [get]}"),
			[]string{"new: get /logs/* in the whole cluster"},
		},
		{
			"a role of the cluster", nil, account(t, "", "")[1:],
			[]string{"new: ClusterRole r in the whole cluster; has the permissions of a role that is not among the objects"},
		},
	} {
		list, err := Compare(tt.old, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, lines(list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// TestDangers requires that each danger is met by what it names, and not hidden by one above.
func TestDangers(t *testing.T) {
	for i, d := range dangers {
		rule := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{"example.com"}, Resources: []string{"things"}}
		if d.verbs != nil {
			rule.Verbs = d.verbs[:1]
		}
		if d.groups != nil {
			rule.APIGroups, rule.Resources = d.groups, d.resources[:1]
		}
		if got, _ := Danger(rule); got != i && dangers[got].names == anyNames {
			t.Errorf("danger %d (%s) is hidden by %d (%s)", i, d.effect, got, dangers[got].effect)
		}
		rule.ResourceNames = []string{"x"}
		if got, _ := Danger(rule); got != i && d.names == anyNames {
			t.Errorf("danger %d (%s) of named objects is hidden by %d (%s)", i, d.effect, got, dangers[got].effect)
		}
	}
}
