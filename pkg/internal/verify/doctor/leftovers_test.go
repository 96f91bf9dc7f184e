package doctor

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestLeftovers(t *testing.T) {
	object := func(apiVersion, kind, namespace, name, more string) string {
		return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{"namespace":"` + namespace + `","name":"` + name + `"` + more + `}}`
	}
	const (
		ofCart  = `,"annotations":{"argoperator.dev/owner":"shop.one"},"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Cart"}]`
		ofOther = `,"annotations":{"argoperator.dev/owner":"shop.one"},"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Other"}]`
		unowned = `,"annotations":{"argoperator.dev/owner":"shop.one"}`
		copied  = `,"ownerReferences":[{"apiVersion":"v1","kind":"Service"}]`
	)
	needs := Requirements{
		Operator: "page", Namespace: "ours", ManagedBy: "carts", Children: []string{"map", "service"}, Group: "example.com", Kind: "Cart",
		Objects: []Identity{{schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Sensor"}, "ours", "page"}},
	}
	own := func(list ...string) cluster {
		return cluster{
			{"api-resources", "configmaps\nsecrets\nsensors.argoproj.io\nclusterroles.rbac.authorization.k8s.io\n"},
			{"get configmaps,secrets,clusterroles.rbac.authorization.k8s.io,sensors.argoproj.io --all-namespaces --selector app.kubernetes.io/managed-by=argoperator,app.kubernetes.io/name=page ", items(list...)},
			{"argoperator.dev/child notin (map,service)", items()},
		}
	}
	children := func(list ...string) cluster {
		return own().with("argoperator.dev/child notin (map,service)", items(list...))
	}
	for _, tt := range []struct {
		name, reason string
		cluster      cluster
		want         string
	}{
		{"nothing", "there is nothing with its labels", own(), ""},
		{"what it makes", "it is not left over, whatever version kubectl reads", own(object("argoproj.io/v1", "Sensor", "ours", "page", "")), ""},
		{"a Sensor", "no definition makes it", own(object("argoproj.io/v1alpha1", "Sensor", "ours", "page-status", "")), "ours/Sensor/page-status"},
		{"an installation elsewhere", "the namespace distinguishes operators of the same name", own(object("argoproj.io/v1alpha1", "Sensor", "theirs", "page-status", "")), ""},
		{"a ClusterRole", "its name begins with the namespace", own(object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "ours:page-old", "")), "ClusterRole/ours:page-old"},
		{"a ClusterRole of another installation", "it belongs to an operator in another namespace", own(object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "theirs:page-old", "")), ""},
		{"a child", "the definition no longer has it", children(object("v1", "Secret", "shop", "one", ofCart)), "shop/Secret/one"},
		{"a child that nothing owns", "the annotation names its custom resource", children(object("v1", "Namespace", "", "one", unowned)), "Namespace/one"},
		{"a child of another kind", "another operator made it", children(object("v1", "Secret", "shop", "one", ofOther)), ""},
		{"a copy of its labels", "controllers copy labels to what they make of a child", children(object("v1", "Endpoints", "shop", "one", copied)), ""},
		{"no rights", "what cannot be listed is not known", own().with("notin", "!Error from server (Forbidden): no"), "Error from server (Forbidden): no"},
		{"no answer", "the kinds are not known", cluster{{"api-resources", "!The connection was refused"}}, "The connection was refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := Leftovers(context.Background(), tt.cluster.ask, needs)
			var got []string
			for _, o := range found {
				got = append(got, strings.TrimPrefix(o.Namespace+"/", "/")+o.Kind+"/"+o.Name)
			}
			if err != nil {
				got = append(got, err.Error())
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, text, tt.want)
			}
		})
	}
	check := leftovers(&visit{ctx: context.Background(), ask: own(object("argoproj.io/v1alpha1", "Sensor", "ours", "page-status", "")).
		with("notin", items(object("v1", "Secret", "shop", "one", ofCart), object("v1", "Secret", "shop", "two", ofCart), object("v1", "Namespace", "", "n", unowned))).ask, needs: needs})
	const want = "kubectl delete namespace/n; kubectl delete -n ours sensor.argoproj.io/page-status; kubectl delete -n shop secret/one secret/two"
	if check.State != Warning || check.Fix != want {
		t.Errorf("%+v, want %s", check, want)
	}
}
