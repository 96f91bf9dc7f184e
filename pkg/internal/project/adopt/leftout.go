package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// leftOut returns why an object does not become a child; empty if it does.
func leftOut(o source.Object) (why, hint string) {
	kind, name := o.Text("kind"), o.Text("metadata", "name")
	apiVersion := o.Text("apiVersion")
	builtin, known := schema.FindBuiltin(apiVersion, kind)
	metadata, _ := o.Fields["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	switch {
	case kind == "Namespace" && apiVersion == "v1":
		return "children are in the namespace of their custom resource", ""
	case kind == "CustomResourceDefinition":
		return "it is cluster-scoped, and all custom resources share it", "apply it once, before the operator"
	case known && !builtin.Namespaced():
		return "it is cluster-scoped, and all custom resources share it", "apply it once, next to the operator" + bindings(kind)
	case strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/"):
		return "it is the input of kustomize, not an object", "run kustomize build DIR | argoperator init … --from-manifest -"
	case len(owners) > 0:
		return fmt.Sprintf("%s creates it", owner(owners)), ""
	case slices.Contains([]string{"Event", "Endpoints", "EndpointSlice", "ControllerRevision", "Lease"}, kind):
		return "Kubernetes creates it", ""
	case kind == "ConfigMap" && name == "kube-root-ca.crt", kind == "ServiceAccount" && name == "default",
		kind == "Service" && name == "kubernetes" && Mapping(metadata, "labels")["component"] == "apiserver":
		return "Kubernetes creates one in every namespace", ""
	case name == "":
		return "it has no metadata.name", ""
	}
	return "", ""
}

func bindings(kind string) string {
	if kind == "ClusterRoleBinding" {
		return "; a RoleBinding among the children can refer to a ClusterRole"
	}
	return ""
}

func owner(owners []any) string {
	first, _ := owners[0].(map[string]any)
	kind, _ := first["kind"].(string)
	name, _ := first["name"].(string)
	return called(kind, name)
}

// dropNodePorts removes node ports, which two custom resources could not both use.
func (m *Manifest) dropNodePorts(p *piece) {
	if p.kind != "Service" {
		return
	}
	for i, port := range List(p.Fields, "spec", "ports") {
		port, _ := port.(map[string]any)
		if _, there := port["nodePort"]; there {
			delete(port, "nodePort")
			m.warn(
				p.Position(fmt.Sprintf("spec.ports[%d].nodePort", i)),
				diag.NotImported,
				"nodePort is left out: a node port is unique in the cluster, and Kubernetes assigns one to each Service",
				"",
			)
		}
	}
}

// removeServerMetadata removes fields that a cluster has set.
func removeServerMetadata(fields map[string]any) {
	metadata := Mapping(fields, "metadata")
	live := metadata["uid"] != nil || metadata["resourceVersion"] != nil
	delete(fields, "status")
	for _, key := range []string{
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generateName", "generation",
		"managedFields", "namespace", "ownerReferences", "resourceVersion", "selfLink", "uid",
	} {
		delete(metadata, key)
	}
	ForEachMap(fields, func(key string, m map[string]any) {
		switch key {
		case "annotations":
			without(
				m,
				"kubectl.kubernetes.io/",
				"deployment.kubernetes.io/",
				"deprecated.daemonset.template.generation",
				"pv.kubernetes.io/",
				"volume.beta.kubernetes.io/storage-provisioner",
				"volume.kubernetes.io/",
				"control-plane.alpha.kubernetes.io/",
				"batch.kubernetes.io/job-tracking",
			)
		case "labels", "matchLabels":
			without(
				m,
				"pod-template-hash",
				"controller-uid",
				"batch.kubernetes.io/controller-uid",
				"batch.kubernetes.io/job-name",
				"controller-revision-hash",
			)
		case "metadata":
			delete(m, "creationTimestamp")
		}
	})
	withoutEmpty(metadata, "annotations")
	withoutFinalizers(metadata)
	removeDefaults(fields, live)
}

// withoutFinalizers removes the finalizers that Kubernetes adds.
func withoutFinalizers(metadata map[string]any) {
	var keep []any
	for _, finalizer := range List(metadata, "finalizers") {
		if text, _ := finalizer.(string); !strings.HasPrefix(text, "kubernetes.io/") && text != "foregroundDeletion" && text != "orphan" {
			keep = append(keep, finalizer)
		}
	}
	if delete(metadata, "finalizers"); len(keep) > 0 {
		metadata["finalizers"] = keep
	}
}

// removeDefaults removes the fields that the API server sets for some kinds.
func removeDefaults(fields map[string]any, live bool) {
	spec := Mapping(fields, "spec")
	switch kind, _ := fields["kind"].(string); kind {
	case "Service":
		if ip, _ := spec["clusterIP"].(string); ip != "None" {
			delete(spec, "clusterIP")
			delete(spec, "clusterIPs")
		}
		delete(spec, "healthCheckNodePort")
	case "PersistentVolumeClaim":
		if live {
			delete(spec, "volumeName")
		}
	case "Job":
		if manual, _ := spec["manualSelector"].(bool); !manual {
			delete(spec, "selector")
		}
		if live {
			without(Mapping(spec, "template", "metadata", "labels"), "job-name")
			without(Mapping(fields, "metadata", "labels"), "job-name")
		}
	case "Pod":
		if live {
			delete(spec, "nodeName")
		}
	case "ServiceAccount":
		if live {
			delete(fields, "secrets")
		}
	}
	for _, claim := range List(spec, "volumeClaimTemplates") {
		if claim, ok := claim.(map[string]any); ok {
			delete(claim, "status")
		}
	}
}

// without deletes the keys with one of the prefixes.
func without(m map[string]any, prefixes ...string) {
	for key := range m {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			delete(m, key)
		}
	}
}

func withoutEmpty(m map[string]any, key string) {
	if inner, ok := m[key].(map[string]any); ok && len(inner) == 0 {
		delete(m, key)
	}
}

// Mapping returns the object at a path; nil if there is none, which is safe to read
// and delete from.
func Mapping(fields map[string]any, path ...string) map[string]any {
	for _, key := range path {
		fields, _ = fields[key].(map[string]any)
	}
	return fields
}

// List returns the list at a path.
func List(fields map[string]any, path ...string) []any {
	last := len(path) - 1
	out, _ := Mapping(fields, path[:last]...)[path[last]].([]any)
	return out
}

// ForEachMap visits the objects inside a value from the outside in, each with its
// key or that of its list.
func ForEachMap(value any, visit func(key string, m map[string]any)) { eachMap("", value, visit) }

func eachMap(key string, value any, visit func(key string, m map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(key, v)
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			eachMap(inner, v[inner], visit)
		}
	case []any:
		for _, value := range v {
			eachMap(key, value, visit)
		}
	}
}
