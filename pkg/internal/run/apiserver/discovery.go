package apiserver

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// verbs are what clients can do with each resource.
var verbs = metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}

// shortNames of kinds of Kubernetes, for kubectl.
var shortNames = map[string][]string{
	"configmaps": {"cm"}, "cronjobs": {"cj"}, "customresourcedefinitions": {"crd", "crds"}, "daemonsets": {"ds"}, "deployments": {"deploy"},
	"events": {"ev"}, "horizontalpodautoscalers": {"hpa"}, "ingresses": {"ing"}, "namespaces": {"ns"}, "networkpolicies": {"netpol"},
	"nodes": {"no"}, "persistentvolumeclaims": {"pvc"}, "persistentvolumes": {"pv"}, "poddisruptionbudgets": {"pdb"}, "pods": {"po"},
	"replicasets": {"rs"}, "resourcequotas": {"quota"}, "serviceaccounts": {"sa"}, "services": {"svc"}, "statefulsets": {"sts"},
}

// all are the kinds of kubectl get all.
var all = []string{
	"pods", "services", "deployments", "daemonsets", "replicasets", "statefulsets", "jobs", "cronjobs", "horizontalpodautoscalers",
}

// discovery answers a request about the API itself.
func (s *Server) discovery(path string) (answer any, known bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case path == "/version":
		return version.Info{
			Major: "1", Minor: "33", GitVersion: serverVersion + "+argoperator", Platform: runtime.GOOS + "/" + runtime.GOARCH,
		}, true
	case path == "/readyz", path == "/livez", path == "/healthz":
		return "ok", true
	case parts[0] == "openapi":
		return s.schemas(parts[1:])
	case path == "/api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, true
	case path == "/apis":
		return s.groups(), true
	case parts[0] == "api" && len(parts) == 2:
		return s.resources(schema.GroupVersion{Version: parts[1]})
	case parts[0] == "apis" && len(parts) == 3:
		return s.resources(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	}
	return nil, false
}

// served is a resource as discovery tells it.
type served struct {
	schema.GroupVersion
	metav1.APIResource
	subresources []string
	schema       *apiextensionsv1.JSONSchemaProps
}

// served returns all resources, the preferred version of each first.
func (s *Server) served() []served {
	var out []served
	for _, b := range shapes.BuiltinKinds() {
		one := served{GroupVersion: schema.GroupVersion{Group: b.Group, Version: b.Version}, APIResource: metav1.APIResource{
			Name: b.Plural, SingularName: strings.ToLower(b.Kind), Namespaced: b.Namespaced(), Kind: b.Kind, Verbs: verbs,
			ShortNames: shortNames[b.Plural],
		}}
		if slices.Contains(all, b.Plural) {
			one.Categories = []string{"all"}
		}
		for _, name := range []string{"status", shapes.Approval} {
			if b.HasSubresource(name) {
				one.subresources = append(one.subresources, name)
			}
		}
		out = append(out, one)
	}
	for _, crd := range s.definitions() {
		for _, v := range crd.Spec.Versions {
			names := crd.Spec.Names
			one := served{GroupVersion: schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}, APIResource: metav1.APIResource{
				Name: names.Plural, SingularName: cmp.Or(names.Singular, strings.ToLower(names.Kind)),
				Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
				Kind:       names.Kind, Verbs: verbs, ShortNames: names.ShortNames, Categories: names.Categories,
			}}
			if v.Subresources != nil && v.Subresources.Status != nil {
				one.subresources = []string{"status"}
			}
			if v.Schema != nil {
				one.schema = v.Schema.OpenAPIV3Schema
			}
			out = append(out, one)
		}
	}
	return out
}

// versions returns the versions of a group, each once, and the groups in their order.
func versions(all []served) (groups []string, of map[string][]string) {
	of = map[string][]string{}
	for _, one := range all {
		if of[one.GroupVersion.Group] == nil {
			groups = append(groups, one.GroupVersion.Group)
		}
		if !slices.Contains(of[one.GroupVersion.Group], one.GroupVersion.Version) {
			of[one.GroupVersion.Group] = append(of[one.GroupVersion.Group], one.GroupVersion.Version)
		}
	}
	return groups, of
}

func (s *Server) groups() metav1.APIGroupList {
	out := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	groups, of := versions(s.served())
	for _, group := range groups {
		if group == "" {
			continue
		}
		one := metav1.APIGroup{Name: group}
		for _, v := range of[group] {
			one.Versions = append(one.Versions, metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + v, Version: v})
		}
		one.PreferredVersion = one.Versions[0]
		out.Groups = append(out.Groups, one)
	}
	return out
}

func (s *Server) resources(gv schema.GroupVersion) (metav1.APIResourceList, bool) {
	s.cluster.Mu.Lock()
	kinds := s.cluster.Kinds
	s.cluster.Mu.Unlock()
	out := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: gv.String()}
	for _, one := range s.served() {
		if one.GroupVersion != gv {
			continue
		}
		out.APIResources = append(out.APIResources, one.APIResource)
		if _, _, ok := kinds.At(gv, one.Name).Replicas(); ok {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: one.Name + "/scale", Namespaced: one.Namespaced, Group: autoscalingv1.GroupName, Version: "v1", Kind: "Scale",
				Verbs: metav1.Verbs{"get", "patch", "update"},
			})
		}
		for _, name := range one.subresources {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: one.Name + "/" + name, Namespaced: one.Namespaced, Kind: one.Kind, Verbs: metav1.Verbs{"get", "patch", "update"},
			})
		}
	}
	return out, len(out.APIResources) > 0
}

// schemas answers a request for the third version of OpenAPI, which tells kubectl that this
// server finds unknown fields, and clients the schemas of custom resources.
func (s *Server) schemas(parts []string) (any, bool) {
	all := s.served()
	switch {
	case len(parts) == 1 && parts[0] == "v3":
		paths := map[string]any{}
		for _, one := range all {
			at := rootOf(one.GroupVersion)
			paths[at] = map[string]any{"serverRelativeURL": "/openapi/v3/" + at}
		}
		return map[string]any{"paths": paths}, true
	case len(parts) > 1 && parts[0] == "v3":
		root := strings.Join(parts[1:], "/")
		all = slices.DeleteFunc(all, func(one served) bool { return rootOf(one.GroupVersion) != root })
		return document(all), len(all) > 0
	}
	return nil, false
}

// rootOf returns the path of a version, as the index of OpenAPI names it.
func rootOf(gv schema.GroupVersion) string { return strings.TrimPrefix(shapes.APIPath(gv), "/") }

// document describes the resources of a version.
func document(all []served) map[string]any {
	paths, schemas := map[string]any{}, map[string]any{}
	for _, one := range all {
		in := ""
		if one.Namespaced {
			in = "/namespaces/{namespace}"
		}
		about := map[string]any{"group": one.GroupVersion.Group, "version": one.GroupVersion.Version, "kind": one.Kind}
		paths["/"+rootOf(one.GroupVersion)+in+"/"+one.Name+"/{name}"] = map[string]any{"patch": map[string]any{
			"x-kubernetes-group-version-kind": about, "responses": map[string]any{},
			"parameters": []any{map[string]any{"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string"}}},
		}}
		name := strings.Join(append(reversed(one.GroupVersion.Group), one.GroupVersion.Version, one.Kind), ".")
		schemas[name] = described(one, about)
	}
	return map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "Kubernetes", "version": serverVersion}, "paths": paths,
		"components": map[string]any{"schemas": schemas},
	}
}

// described returns the schema of a resource: with all fields for a custom resource.
func described(one served, about map[string]any) map[string]any {
	out := map[string]any{"type": "object"}
	if one.schema != nil {
		if fields, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(one.schema); err == nil { // it was read from fields
			out = fields
		}
	}
	out["x-kubernetes-group-version-kind"] = []any{about}
	return out
}

// reversed returns the parts of a group, as names of schemas begin: com, example for example.com.
func reversed(group string) []string {
	parts := strings.Split(group, ".")
	slices.Reverse(parts)
	return parts
}

// serverVersion is the version of Kubernetes whose behaviour is served.
const serverVersion = "v1.33.1"
