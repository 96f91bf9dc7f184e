package schema

import "strings"

// Immutable is an immutable field of a built-in kind.
type Immutable struct {
	Path []string
	// Free are the mutable fields below Path; "*" is every item of a list.
	Free [][]string
	// While reports whether the field of an object is immutable; nil: always.
	While func(object map[string]any) bool
	// Kept reports whether the API server keeps the value if an update omits it.
	Kept bool
	// Grows reports whether the field is a quantity that may increase.
	Grows bool
	// Reason is the API server's message; Forbidden is set if the type of its error is
	// Forbidden instead of Invalid.
	Reason    string
	Forbidden bool
}

// ImmutableFields returns the immutable fields of a built-in kind, without those that
// depend on its name or status. It returns none for other kinds.
func ImmutableFields(group, kind string) []Immutable {
	switch kind + "." + group {
	case "Job.batch":
		return jobFields()
	case "Deployment.apps", "DaemonSet.apps", "ReplicaSet.apps":
		return fixed("spec.selector")
	case "StatefulSet.apps":
		return []Immutable{{
			Path: []string{"spec"}, Forbidden: true,
			Free: paths(
				"replicas",
				"ordinals",
				"template",
				"updateStrategy",
				"revisionHistoryLimit",
				"persistentVolumeClaimRetentionPolicy",
				"minReadySeconds",
			),
			Reason: "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
				"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
		}}
	case "ControllerRevision.apps":
		return fixed("data")
	case "StorageClass.storage.k8s.io":
		return append(fixed("volumeBindingMode"), updates("parameters", "provisioner", "reclaimPolicy")...)
	case "VolumeAttributesClass.storage.k8s.io":
		return updates("driverName", "parameters")
	case "CSIDriver.storage.k8s.io":
		return fixed("spec.attachRequired", "spec.volumeLifecycleModes")
	case "PriorityClass.scheduling.k8s.io":
		return append(
			fixed("preemptionPolicy"),
			Immutable{Path: []string{"value"}, Forbidden: true, Reason: "may not be changed in an update."},
		)
	case "RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		return []Immutable{{Path: []string{"roleRef"}, Reason: "cannot change roleRef"}}
	case "IngressClass.networking.k8s.io":
		return fixed("spec.controller")
	case "EndpointSlice.discovery.k8s.io":
		return fixed("addressType")
	case "RuntimeClass.node.k8s.io":
		return fixed("handler")
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return fixed("spec.group", "spec.scope", "spec.names.kind", "spec.names.plural")
	case "ResourceClaim.resource.k8s.io", "ResourceClaimTemplate.resource.k8s.io":
		return fixed("spec")
	}
	if group == "" {
		return coreFields(kind)
	}
	return nil
}

func coreFields(kind string) []Immutable {
	switch kind {
	case "Pod":
		return []Immutable{{
			Path: []string{"spec"}, Forbidden: true,
			Free: paths(
				"containers.*.image",
				"initContainers.*.image",
				"activeDeadlineSeconds",
				"tolerations",
				"terminationGracePeriodSeconds",
			),
			Reason: "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
				"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
				"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
		}}
	case "PersistentVolumeClaim":
		return []Immutable{
			{
				Path: []string{"spec"}, Free: paths("resources.requests", "volumeAttributesClassName"), Forbidden: true,
				Reason: "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
			},
			{
				Path: path("spec.resources.requests.storage"), Grows: true, Forbidden: true,
				Reason: "field can not be less than status.capacity",
			},
		}
	case "PersistentVolume":
		return append(fixed("spec.volumeMode"), Immutable{
			Path: []string{"spec"}, Forbidden: true, Reason: "spec.persistentvolumesource is immutable after creation",
			Free: paths(
				"capacity",
				"accessModes",
				"persistentVolumeReclaimPolicy",
				"storageClassName",
				"mountOptions",
				"volumeMode",
				"nodeAffinity",
				"claimRef",
				"volumeAttributesClassName",
			),
		})
	case "Service":
		addressed := func(o map[string]any) bool { return text(o, "spec", "type") != "ExternalName" }
		return []Immutable{{Path: path("spec.clusterIP"), While: addressed, Kept: true, Reason: "may not change once set"}}
	case "ConfigMap":
		return sealed("immutable", "data", "binaryData")
	case "Secret":
		return append(fixed("type"), sealed("immutable", "data", "stringData")...)
	case "ResourceQuota":
		return fixed("spec.scopes")
	}
	return nil
}

// jobFields are the immutable fields of a Job. The scheduling fields of a suspended Job
// are mutable.
func jobFields() []Immutable {
	suspended := func(o map[string]any) bool { return ValueAt(o, "spec", "suspend") == true }
	out := fixed(
		"spec.selector",
		"spec.completionMode",
		"spec.podFailurePolicy",
		"spec.successPolicy",
		"spec.backoffLimitPerIndex",
		"spec.managedBy",
	)
	return append(out,
		Immutable{
			Path: path("spec.completions"), Reason: isImmutable,
			While: func(o map[string]any) bool { return text(o, "spec", "completionMode") != "Indexed" },
		},
		Immutable{
			Path: path("spec.template"), Reason: isImmutable,
			While: func(o map[string]any) bool { return !suspended(o) },
		},
		Immutable{
			Path: path("spec.template"), Reason: isImmutable, While: suspended,
			Free: paths(
				"metadata.labels",
				"metadata.annotations",
				"spec.nodeSelector",
				"spec.tolerations",
				"spec.affinity.nodeAffinity",
				"spec.schedulingGates",
			),
		})
}

const isImmutable = "field is immutable"

func fixed(fields ...string) []Immutable {
	var out []Immutable
	for _, f := range fields {
		out = append(out, Immutable{Path: path(f), Reason: isImmutable})
	}
	return out
}

// updates returns fields whose updates the API server forbids by name.
func updates(fields ...string) []Immutable {
	var out []Immutable
	for _, f := range fields {
		out = append(out, Immutable{Path: path(f), Forbidden: true, Reason: "updates to " + f + " are forbidden."})
	}
	return out
}

// sealed returns fields that are immutable once `immutable` is true.
func sealed(fields ...string) []Immutable {
	var out []Immutable
	for _, f := range fields {
		out = append(out, Immutable{
			Path: path(f), Forbidden: true, Reason: "field is immutable when `immutable` is set",
			While: func(o map[string]any) bool { return o["immutable"] == true },
		})
	}
	return out
}

func path(dotted string) []string { return strings.Split(dotted, ".") }

func paths(dotted ...string) [][]string {
	var out [][]string
	for _, one := range dotted {
		out = append(out, path(one))
	}
	return out
}

func text(object map[string]any, path ...string) string {
	s, _ := ValueAt(object, path...).(string)
	return s
}

// ValueAt returns the value at a path of keys, or nil.
func ValueAt(value any, path ...string) any {
	for _, step := range path {
		fields, _ := value.(map[string]any)
		value = fields[step]
	}
	return value
}
