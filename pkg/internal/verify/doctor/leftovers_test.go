package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestLeftovers(t *testing.T) {
	object := func(apiVersion, kind, namespace, name, more string) string {
		return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{"namespace":"` + namespace + `","name":"` + name + `"` + more + `}}`
	}
	const (
		written  = `,"managedFields":[{"manager":"carts","operation":"Apply","fieldsV1":{"f:metadata":{"f:labels":{"f:argoperator.dev/owner-uid":{}}}}}]`
		byOthers = `,"managedFields":[{"manager":"kubectl-label","operation":"Update","fieldsV1":{"f:metadata":{"f:labels":{"f:argoperator.dev/owner-uid":{}}}}}]`
		labels   = `,"labels":{"argoperator.dev/child":"old","argoperator.dev/owner-uid":"u1"}`
		unowned  = labels + `,"annotations":{"argoperator.dev/owner":"shop.one"}`
		ofCart   = unowned + `,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Cart","uid":"u1"}]`
		ofOther  = unowned + `,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Other","uid":"u1"}]`
		copied   = labels + `,"ownerReferences":[{"apiVersion":"v1","kind":"Service"}]`
	)
	another := func(text string) string { return strings.NewReplacer(`"u1"}`, `"u2"}`).Replace(text) }
	elsewhere := strings.Replace(unowned, `"u1"`, `"u1","argoperator.dev/operator-namespace":"theirs"`, 1)
	needs := Requirements{
		Operator: "page", Namespace: "ours", ManagedBy: "carts", Children: []string{"map", "service"}, Group: "example.com", Kind: "Cart", Plural: "carts",
		Objects: []Identity{
			{schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Sensor"}, "ours", "page"},
			{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "ours", "page-crew"},
		},
	}
	own := func(list ...string) cluster {
		return cluster{
			{"api-resources", "configmaps\nsecrets\nsensors.argoproj.io\nleases.coordination.k8s.io\nclusterroles.rbac.authorization.k8s.io\n"},
			{"get configmaps,secrets,clusterroles.rbac.authorization.k8s.io,leases.coordination.k8s.io,sensors.argoproj.io --all-namespaces --selector app.kubernetes.io/managed-by=argoperator,app.kubernetes.io/name=page ", items(list...)},
			{"argoperator.dev/child notin (map,service)", items()},
			{"get carts.example.com --all-namespaces", items(object("example.com/v1", "Cart", "shop", "one", `,"uid":"u1"`))},
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
		{"no objects at all", "then kubectl prints nothing", own().with("argoperator.dev/child notin (map,service) --output=json --show-managed-fields --ignore-not-found", ""), ""},
		{"what it makes", "it is not left over, whatever version kubectl reads", own(object("argoproj.io/v1", "Sensor", "ours", "page", "")), ""},
		{"a Sensor", "no definition makes it", own(object("argoproj.io/v1alpha1", "Sensor", "ours", "page-status", "")), "ours/Sensor/page-status"},
		{"the Lease of its worker", "the worker makes it", own(object("coordination.k8s.io/v1", "Lease", "ours", "page-crew", "")), ""},
		{"the Lease of an earlier worker", "nothing renews it", own(object("coordination.k8s.io/v1", "Lease", "ours", "page-worker", "")), "ours/Lease/page-worker"},
		{"an installation elsewhere", "the namespace distinguishes operators of the same name", own(object("argoproj.io/v1alpha1", "Sensor", "theirs", "page-status", "")), ""},
		{"a ClusterRole", "its name begins with the namespace", own(object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "ours:page-old", "")), "ClusterRole/ours:page-old"},
		{"a ClusterRole of another installation", "it belongs to an operator in another namespace", own(object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "theirs:page-old", "")), ""},
		{"a Deployment of a Sensor", "Argo Events makes it with the labels of the Sensor", own(object("apps/v1", "Deployment", "ours", "page-sensor-x7k2d", `,"ownerReferences":[{"kind":"Sensor","name":"page","controller":true}]`)), ""},
		{"a Deployment", "nothing made it but argoperator", own(object("apps/v1", "Deployment", "ours", "page-worker", "")), "ours/Deployment/page-worker"},
		{"a Secret", "its name is one that argoperator gives", own(object("v1", "Secret", "ours", "page-sensor-token", "")), "ours/Secret/page-sensor-token"},
		{"a labelled Secret", "others have Secrets in the namespace, too", own(object("v1", "Secret", "ours", "prod-tls", "")), "?ours/Secret/prod-tls"},
		{"a labelled Secret of a similar name", "the operator has no such Secret", own(object("v1", "Secret", "ours", "page-tls", "")), "?ours/Secret/page-tls"},
		{"a Service of a shard", "its name is one that argoperator gives", own(object("v1", "Service", "ours", "page-worker-2", "")), "ours/Service/page-worker-2"},
		{"a labelled Service", "no shard has such a name", own(object("v1", "Service", "ours", "page-worker-x", "")), "?ours/Service/page-worker-x"},
		{"a labelled Sensor", "the operator has no Sensor of this name", own(object("argoproj.io/v1alpha1", "Sensor", "ours", "of-others", "")), "?ours/Sensor/of-others"},
		{"a child", "the definition no longer has it", children(object("v1", "Secret", "shop", "one", ofCart+written)), "shop/Secret/one"},
		{"a child that nothing owns", "the annotation names its custom resource", children(object("v1", "ConfigMap", "shared", "one", unowned+written)), "shared/ConfigMap/one"},
		{"a Namespace", "everything in it would go", children(object("v1", "Namespace", "", "one", unowned+written)), "?Namespace/one"},
		{"a PersistentVolume", "its data would go", children(object("v1", "PersistentVolume", "", "one", unowned+written)), "?PersistentVolume/one"},
		{"a CustomResourceDefinition", "all of its objects would go", children(object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "one", unowned+written)), "?CustomResourceDefinition/one"},
		{"labels that others wrote", "whoever may label an object may not have it deleted", children(object("v1", "Secret", "shop", "one", unowned+byOthers)), "?shop/Secret/one"},
		{"labels on an owned object", "the same", children(object("v1", "Secret", "shop", "one", ofCart+byOthers)), "?shop/Secret/one"},
		{"no custom resource of this uid", "an earlier one of the name is gone", children(object("v1", "Secret", "shop", "one", another(unowned)+written)), "?shop/Secret/one"},
		{"no uid", "an annotation alone is not the operator's", children(object("v1", "Secret", "shop", "one", `,"annotations":{"argoperator.dev/owner":"shop.one"}`+written)), "?shop/Secret/one"},
		{"an operator of this name in another namespace", "it is its child", children(object("v1", "Secret", "shop", "one", elsewhere+written)), ""},
		{"a child of another kind", "another operator made it", children(object("v1", "Secret", "shop", "one", ofOther+written)), ""},
		{"a copy of its labels", "controllers copy labels to what they make of a child", children(object("v1", "Endpoints", "shop", "one", copied)), ""},
		{"no rights", "what cannot be listed is not known", own().with("notin", "!Error from server (Forbidden): no"), "Error from server (Forbidden): no"},
		{"no answer", "the kinds are not known", cluster{{"api-resources", "!The connection was refused"}}, "The connection was refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := Leftovers(context.Background(), tt.cluster.ask, needs)
			var got []string
			for _, o := range found {
				doubt := ""
				if o.Doubt != "" {
					doubt = "?"
				}
				got = append(got, doubt+strings.TrimPrefix(o.Namespace+"/", "/")+o.Kind+"/"+o.Name)
			}
			if err != nil {
				got = append(got, err.Error())
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, text, tt.want)
			}
		})
	}
	group := Requirements{Operator: "page", Namespace: "ours"}
	for name, doubtful := range map[string]bool{"page-worker-x": false, "page-operators-x": false, "page-logic-x": false, "page-token-x": true} {
		identity := Identity{schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "ours", name}
		if doubt := group.doubtName(identity); (doubt != "") != doubtful {
			t.Errorf("of an operator of a group, %s: %q", name, doubt)
		}
	}
	for name, vanish := range map[string]bool{"a kind that went": true, "a kind that stayed": false} {
		kinds := []string{"configmaps", "gone.example.com"}
		_, err := Leftovers(context.Background(), func(_ context.Context, _ []byte, arguments ...string) ([]byte, string, error) {
			switch {
			case arguments[0] == "api-resources":
				return []byte(strings.Join(kinds, "\n")), "", nil
			case strings.Contains(arguments[1], "gone"):
				if vanish {
					kinds = kinds[:1]
				}
				return nil, `error: the server doesn't have a resource type "gone"`, errors.New("exit status 1")
			}
			return []byte(items()), "", nil
		}, needs)
		if (err == nil) != vanish {
			t.Errorf("%s: %v", name, err)
		}
	}
	check := leftovers(&visit{ctx: context.Background(), ask: own(object("argoproj.io/v1alpha1", "Sensor", "ours", "page-status", "")).
		with("notin", items(object("v1", "Secret", "shop", "one", ofCart+written), object("v1", "Secret", "shop", "two", ofCart+written),
			object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "n", unowned+written), object("v1", "Namespace", "", "n", unowned+written))).ask, needs: needs})
	const want = "kubectl delete clusterrole.rbac.authorization.k8s.io/n; kubectl delete -n ours sensor.argoproj.io/page-status; kubectl delete -n shop secret/one secret/two"
	if check.State != Warning || check.Fix != want {
		t.Errorf("%+v, want %s", check, want)
	}
	check = leftovers(&visit{ctx: context.Background(), ask: own().with("notin", items(object("v1", "Namespace", "", "n", unowned+written))).ask, needs: needs})
	if check.State != Warning || !strings.Contains(check.Fix, "--uninstall=leftovers") {
		t.Errorf("%+v for an object in doubt", check)
	}
}
