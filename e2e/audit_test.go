//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// audit reads the API server's audit log from where it stood at the beginning
// of a scenario: what an operator's service accounts really did.
type audit struct {
	path       string // empty: the cluster gives none away
	start, end int64
	lenient    bool   // rights are taken away on purpose
	pardoned   []span // when the API server started: before it has read the roles, nobody may do anything
}

// span is a time between two moments.
type span struct{ from, to time.Time }

func (a *audit) pardons(e auditEvent) bool {
	return slices.ContainsFunc(a.pardoned, func(s span) bool { return e.Received.After(s.from) && e.Received.Time.Before(s.to) })
}

// close lets denials pass that come after: an operator that is being taken away
// loses its rights before its pods. Once closed it stays so.
func (a *audit) close() {
	if info, err := os.Stat(a.path); err == nil && a.end == 0 {
		a.end = info.Size()
	}
}

func openAudit(t *testing.T) *audit {
	t.Helper()
	path := os.Getenv("LAB_AUDIT_LOG")
	if path == "" {
		return &audit{}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return &audit{path: path, start: info.Size()}
}

type auditEvent struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	Object *struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Response *struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Annotations map[string]string `json:"annotations"`
	Received    metav1.MicroTime  `json:"requestReceivedTimestamp"`
	late        bool              // logged after close, as the end of a watch is
}

// right is a verb on a resource, such as "patch apps/deployments".
func (e auditEvent) right() string {
	resource := e.Object.Resource
	if e.Object.Subresource != "" {
		resource += "/" + e.Object.Subresource
	}
	return right(e.Verb, e.Object.Group, resource)
}

func right(verb, group, resource string) string {
	if group != "" {
		resource = group + "/" + resource
	}
	return verb + " " + resource
}

// checkRequests fails the test for every request that was denied, and prints the permissions
// next to the requests.
func (a *audit) checkRequests(t *testing.T, o *operator) {
	if a.path == "" {
		t.Log("no audit log ($LAB_AUDIT_LOG): permissions are not checked")
		return
	}
	granted := o.granted(t)
	used := map[string]map[string]int{}
	for _, event := range a.read(t, slices.Collect(maps.Keys(granted))...) {
		account := strings.TrimPrefix(event.User.Username, accounts)
		if event.Object == nil {
			continue
		}
		if event.Annotations["authorization.k8s.io/decision"] == "forbid" && !event.late && !a.lenient && !a.pardons(event) {
			t.Errorf("denied: %s may not %s (%s)", account, event.right(), event.RequestURI)
		}
		if used[account] == nil {
			used[account] = map[string]int{}
		}
		used[account][event.right()]++
	}
	for _, account := range slices.Sorted(maps.Keys(granted)) {
		for _, r := range slices.Sorted(maps.Keys(granted[account])) {
			fmt.Printf("e2e: %s: %-24s %-52s %s\n", o.name, account, r, usage(used[account], r))
		}
	}
}

// usage says how often a right was used. Server-side apply needs the right to
// create, which the log does not show: it is a patch there.
func usage(used map[string]int, r string) string {
	n := used[r]
	resource, creates := strings.CutPrefix(r, "create ")
	if applied := used["patch "+resource]; n == 0 && creates && applied > 0 {
		return fmt.Sprintf("used by server-side apply (%d patches)", applied)
	}
	return fmt.Sprintf("used %d times", n)
}

// accounts is how the names of service accounts of operators begin.
const accounts = "system:serviceaccount:" + operators + ":"

// read returns what service accounts of operators did; all of them where none is
// named. The log is long: only their lines are decoded.
func (a *audit) read(t *testing.T, names ...string) []auditEvent {
	t.Helper()
	users := [][]byte{}
	if len(names) == 0 {
		users = append(users, fmt.Appendf(nil, "%q:\"%s", "username", accounts))
	}
	for _, name := range names {
		users = append(users, fmt.Appendf(nil, "%q:%q", "username", accounts+name))
	}
	file, err := os.Open(a.path)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	defer file.Close()
	if _, err := file.Seek(a.start, io.SeekStart); err != nil {
		t.Fatalf("audit log: %v", err)
	}
	var events []auditEvent
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for at := a.start; lines.Scan(); at += int64(len(lines.Bytes())) + 1 {
		if !slices.ContainsFunc(users, func(user []byte) bool { return bytes.Contains(lines.Bytes(), user) }) {
			continue
		}
		e := auditEvent{late: at >= a.end}
		if json.Unmarshal(lines.Bytes(), &e) == nil { // the last line may be half written
			events = append(events, e)
		}
	}
	return events
}

// granted are the rights of each service account of the operator, as its own
// roles and bindings give them.
func (o *operator) granted(t *testing.T) map[string]map[string]bool {
	t.Helper()
	rules := map[string][]rbacv1.PolicyRule{}
	for _, object := range o.objects {
		if kind := object.GetKind(); kind == "Role" || kind == "ClusterRole" {
			var role rbacv1.ClusterRole
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
				t.Fatal(err)
			}
			rules[kind+"/"+object.GetNamespace()+"/"+object.GetName()] = role.Rules
		}
	}
	granted := map[string]map[string]bool{}
	for _, object := range o.objects {
		if object.GetKind() == "ServiceAccount" {
			granted[object.GetName()] = map[string]bool{}
		}
	}
	for _, object := range o.objects {
		if kind := object.GetKind(); kind != "RoleBinding" && kind != "ClusterRoleBinding" {
			continue
		}
		var binding rbacv1.RoleBinding
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &binding); err != nil {
			t.Fatal(err)
		}
		namespace := object.GetNamespace()
		if binding.RoleRef.Kind == "ClusterRole" {
			namespace = ""
		}
		for _, subject := range binding.Subjects {
			for _, rule := range rules[binding.RoleRef.Kind+"/"+namespace+"/"+binding.RoleRef.Name] {
				for _, r := range rightsOf(rule) {
					granted[subject.Name][r] = true
				}
			}
		}
	}
	return granted
}

func rightsOf(rule rbacv1.PolicyRule) []string {
	var rights []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, right(verb, group, resource))
			}
		}
	}
	return rights
}
