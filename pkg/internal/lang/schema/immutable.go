package schema

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Immutable is a field of a built-in kind that an update cannot change, or not in every
// way.
type Immutable struct {
	Path []string
	// Free are the mutable fields below Path; "*" is every item of a list.
	Free [][]string
	// While reports whether an update of an object must keep the field; nil: always. A
	// value with an expression counts as any value.
	While func(before, after map[string]any) bool
	// Allows reports whether the API server accepts a change of the field; nil: of none.
	Allows func(before, after any) bool
	// Usual reports whether the changes that Allows accepts are the usual ones, such as the
	// growth of a claim: then the field counts as mutable until a change is refused.
	Usual bool
	// Ignored reports whether the API server keeps the value instead of an error.
	Ignored bool
	// Reason is the API server's message, At the field in it; nil: Path. Forbidden is set if
	// the type of its error is Forbidden instead of Invalid.
	Reason    string
	At        []string
	Forbidden bool
}

// Fixed returns the field of an object without what may change in it.
func (f Immutable) Fixed(object map[string]any) any {
	return withoutFields(ValueAt(object, f.Path...), f.Free)
}

// ImmutableFields returns the immutable fields of a built-in kind. It returns none for
// other kinds. `make agreement` compares them with Kubernetes.
func ImmutableFields(group, kind string) []Immutable {
	switch group {
	case "":
		return coreFields(kind)
	case "apps", "batch":
		return workloadFields(kind)
	case "storage.k8s.io":
		return storageFields(kind)
	case "resource.k8s.io":
		return deviceFields(kind)
	}
	switch kind + "." + group {
	case "PriorityClass.scheduling.k8s.io":
		return append(
			fixed("preemptionPolicy"),
			Immutable{Path: []string{"value"}, Forbidden: true, Reason: "may not be changed in an update."},
		)
	case "RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		return []Immutable{{Path: []string{"roleRef"}, Reason: "cannot change roleRef"}}
	case "IngressClass.networking.k8s.io":
		return fixed("spec.controller")
	case "IPAddress.networking.k8s.io":
		return fixed("spec.parentRef")
	case "ServiceCIDR.networking.k8s.io":
		return []Immutable{{Path: path("spec.cidrs"), Allows: secondAdded, Reason: isImmutable}}
	case "EndpointSlice.discovery.k8s.io":
		return fixed("addressType")
	case "RuntimeClass.node.k8s.io":
		return fixed("handler")
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return fixed("spec.group", "spec.scope", "spec.names.kind", "spec.names.plural")
	case "CertificateSigningRequest.certificates.k8s.io":
		return []Immutable{{Path: path("spec"), Ignored: true}}
	case "ClusterTrustBundle.certificates.k8s.io":
		return fixed("spec.signerName")
	case "LeaseCandidate.coordination.k8s.io":
		return fixed("spec.leaseName")
	}
	return nil
}

func coreFields(kind string) []Immutable {
	switch kind {
	case "Pod":
		return podFields()
	case "PersistentVolumeClaim":
		return claimFields()
	case "PersistentVolume":
		return volumeFields()
	case "Service":
		return serviceFields()
	case "ConfigMap":
		return sealed("immutable", "data", "binaryData")
	case "Secret":
		return append(fixed("type"), sealed("immutable", "data", "stringData")...)
	case "Namespace":
		return []Immutable{{Path: path("spec.finalizers"), Ignored: true}}
	case "ResourceQuota":
		return []Immutable{{Path: path("spec.scopes"), Allows: sameSet, Reason: isImmutable}}
	case "Node":
		const reason = "node updates may not change it except from \"\" to valid"
		return []Immutable{
			{Path: path("spec.podCIDRs"), Allows: setFirst, Forbidden: true, Reason: reason},
			{Path: path("spec.providerID"), Allows: setFirst, Forbidden: true, Reason: reason},
		}
	}
	return nil
}

// podFields are the immutable fields of a Pod: all but a few. One with scheduling gates may
// be restricted to fewer nodes.
func podFields() []Immutable {
	const reason = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
		"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
	gated := func(before, _ map[string]any) bool { return ValueAt(before, "spec", "schedulingGates") != nil }
	free := []string{"containers.*.image", "initContainers.*.image", "activeDeadlineSeconds", "tolerations", "schedulingGates"}
	return []Immutable{
		{Path: path("spec"), While: not(gated), Free: paths(free...), Forbidden: true, Reason: reason},
		{
			Path: path("spec"), While: gated, Free: paths(append(free, "nodeSelector", "affinity.nodeAffinity")...),
			Forbidden: true, Reason: reason,
		},
		{
			Path: path("spec.nodeSelector"), While: gated, Allows: entriesAdded,
			Reason: "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
		},
		{Path: path("spec.activeDeadlineSeconds"), Allows: fallsFromNone, Reason: "must be less than or equal to previous value"},
		{
			Path: path("spec.tolerations"), Allows: tolerationsAdded, Forbidden: true,
			Reason: "existing toleration can not be modified except its tolerationSeconds",
		},
		{
			Path: path("spec.schedulingGates"), Allows: gatesRemoved, Usual: true, Forbidden: true,
			Reason: "only deletion is allowed, but found a new scheduling gate",
		},
	}
}

// claimFields are the immutable fields of a claim that is bound. The others, which no
// controller has bound yet, are treated alike.
func claimFields() []Immutable {
	const reason = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
	unbound := func(before, _ map[string]any) bool { return ValueAt(before, "status", "phase") != "Bound" }
	return []Immutable{
		{Path: path("spec.resources.requests.storage"), While: unbound, Usual: true, Forbidden: true, Reason: reason, At: path("spec")},
		{Path: path("spec.volumeAttributesClassName"), While: unbound, Usual: true, Forbidden: true, Reason: reason, At: path("spec")},
		{
			Path: path("spec"), Forbidden: true,
			Free:   paths("resources.requests.storage", "volumeAttributesClassName", "volumeName", "storageClassName"),
			Reason: reason,
		},
		{
			Path: path("spec.resources.requests.storage"), Allows: grows, Usual: true, Forbidden: true,
			Reason: "field can not be less than status.capacity",
		},
		{Path: path("spec.volumeName"), Allows: setFirst, Forbidden: true, Reason: reason, At: path("spec")},
		{Path: path("spec.storageClassName"), Allows: setFirst, Forbidden: true, Reason: reason, At: path("spec")},
		{
			Path: path("spec.volumeAttributesClassName"), Allows: staysSet, Usual: true, Forbidden: true,
			Reason: "update from non-nil value to nil is forbidden",
		},
	}
}

func volumeFields() []Immutable {
	const reason = "spec.persistentvolumesource is immutable after creation"
	return []Immutable{
		{Path: path("spec.volumeMode"), Reason: isImmutable, At: path("volumeMode")},
		{
			Path: []string{"spec"}, Forbidden: true, Reason: reason, At: path("spec.persistentvolumesource"),
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
				"csi.controllerExpandSecretRef",
			),
		},
		{
			Path: path("spec.nodeAffinity"), Allows: setFirst, At: path("nodeAffinity"),
			Reason: isImmutable + ", except for updating from beta label to GA",
		},
		{
			Path: path("spec.csi.controllerExpandSecretRef"), Allows: setFirst, Forbidden: true,
			Reason: reason, At: path("spec.persistentvolumesource"),
		},
		{
			Path: path("spec.volumeAttributesClassName"), Allows: staysSet, Usual: true, Forbidden: true,
			Reason: "update from non-nil value to nil is forbidden",
		},
	}
}

func serviceFields() []Immutable {
	const reason = "may not change once set"
	addressed := both(func(o map[string]any) bool { return text(o, "spec", "type") != "ExternalName" })
	balanced := func(o map[string]any) bool { return may(o, "LoadBalancer", "spec", "type") }
	local := func(o map[string]any) bool { return balanced(o) && may(o, "Local", "spec", "externalTrafficPolicy") }
	withAddress := func(before, after map[string]any) bool {
		headless := func(o map[string]any) bool { return text(o, "spec", "clusterIP") == "None" }
		return addressed(before, after) && !headless(before) && !headless(after)
	}
	return []Immutable{
		{Path: path("spec.clusterIP"), While: addressed, Reason: reason},
		{Path: path("spec.clusterIPs"), While: addressed, Allows: firstKept, Reason: reason},
		{Path: path("spec.ipFamilies"), While: withAddress, Allows: firstKept, Reason: reason},
		{Path: path("spec.loadBalancerClass"), While: both(balanced), Reason: reason},
		{Path: path("spec.healthCheckNodePort"), While: both(local), Forbidden: true, Reason: isImmutable},
	}
}

func workloadFields(kind string) []Immutable {
	switch kind {
	case "Job":
		return jobFields()
	case "Deployment", "DaemonSet", "ReplicaSet":
		return fixed("spec.selector")
	case "StatefulSet":
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
	case "ControllerRevision":
		return fixed("data")
	}
	return nil
}

// jobFields are the immutable fields of a Job. The scheduling fields of a suspended Job
// are mutable.
func jobFields() []Immutable {
	suspended := func(before, _ map[string]any) bool {
		return ValueAt(before, "spec", "suspend") == true && ValueAt(before, "status", "startTime") == nil
	}
	// The number of Pods of an indexed Job changes with its parallelism.
	elastic := func(_, after map[string]any) bool {
		return text(after, "spec", "completionMode") == "Indexed" &&
			reflect.DeepEqual(ValueAt(after, "spec", "completions"), ValueAt(after, "spec", "parallelism"))
	}
	out := fixed(
		"spec.selector",
		"spec.completionMode",
		"spec.podFailurePolicy",
		"spec.successPolicy",
		"spec.backoffLimitPerIndex",
		"spec.managedBy",
	)
	return append(out,
		Immutable{Path: path("spec.completions"), Reason: isImmutable, While: not(elastic)},
		Immutable{Path: path("spec.template"), Reason: isImmutable, While: not(suspended)},
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

func storageFields(kind string) []Immutable {
	switch kind {
	case "StorageClass":
		return append(fixed("volumeBindingMode"), updates("parameters", "provisioner", "reclaimPolicy")...)
	case "VolumeAttributesClass":
		return updates("driverName", "parameters")
	case "CSIDriver":
		return append(
			fixed("spec.volumeLifecycleModes"),
			Immutable{Path: path("spec.attachRequired"), Reason: isImmutable, At: path("spec.attachedRequired")},
		)
	case "CSIStorageCapacity":
		return fixed("nodeTopology", "storageClassName")
	case "VolumeAttachment":
		return fixed("spec")
	}
	return nil
}

func deviceFields(kind string) []Immutable {
	switch kind {
	case "ResourceClaim", "ResourceClaimTemplate":
		return fixed("spec")
	case "ResourceSlice":
		return fixed("spec.driver", "spec.pool.name", "spec.nodeName")
	}
	return nil
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
			While: func(before, _ map[string]any) bool { return before["immutable"] == true },
		})
	}
	return out
}

func both(is func(object map[string]any) bool) func(before, after map[string]any) bool {
	return func(before, after map[string]any) bool { return is(before) && is(after) }
}

func not(is func(before, after map[string]any) bool) func(before, after map[string]any) bool {
	return func(before, after map[string]any) bool { return !is(before, after) }
}

// may reports whether a field has a value, or may have it because it is computed.
func may(object map[string]any, value string, path ...string) bool {
	is := text(object, path...)
	return is == value || IsComputed(is)
}

// The changes that the API server accepts.

func setFirst(before, _ any) bool { return before == nil }

func staysSet(_, after any) bool { return after != nil && after != "" }

func grows(before, after any) bool {
	a, aIsText := before.(string)
	b, bIsText := after.(string)
	if !aIsText || !bIsText {
		return true // the checks of the object report it
	}
	was, err1 := resource.ParseQuantity(a)
	is, err2 := resource.ParseQuantity(b)
	return err1 != nil || err2 != nil || is.Cmp(was) >= 0
}

func fallsFromNone(before, after any) bool {
	was, isNumber := before.(int64)
	is, stays := after.(int64)
	return before == nil || isNumber && stays && is <= was
}

func firstKept(before, after any) bool {
	was, _ := before.([]any)
	is, _ := after.([]any)
	return len(was) == 0 || len(is) > 0 && was[0] == is[0]
}

func secondAdded(before, after any) bool {
	was, _ := before.([]any)
	is, _ := after.([]any)
	return len(was) == 1 && len(is) == 2 && was[0] == is[0]
}

func sameSet(before, after any) bool {
	was, _ := before.([]any)
	is, _ := after.([]any)
	return within(was, is) && within(is, was)
}

// within reports whether a list has all items of another one.
func within(items, list []any) bool {
	return !slices.ContainsFunc(items, func(item any) bool {
		return !slices.ContainsFunc(list, func(other any) bool { return reflect.DeepEqual(item, other) })
	})
}

func entriesAdded(before, after any) bool {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	for key, value := range was {
		if is[key] != value {
			return false
		}
	}
	return true
}

func tolerationsAdded(before, after any) bool {
	return within(withoutField(before, "tolerationSeconds"), withoutField(after, "tolerationSeconds"))
}

func withoutField(list any, name string) []any {
	items, _ := list.([]any)
	out := make([]any, 0, len(items))
	for _, item := range items {
		kept := map[string]any{}
		fields, _ := item.(map[string]any)
		for key, value := range fields {
			if key != name {
				kept[key] = value
			}
		}
		out = append(out, kept)
	}
	return out
}

func gatesRemoved(before, after any) bool {
	was, _ := before.([]any)
	is, _ := after.([]any)
	return within(is, was)
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

// Overlap reports whether one of two paths is the other, or above it.
func Overlap(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// ValueAt returns the value at a path of keys and indexes, or nil.
func ValueAt(value any, path ...string) any {
	for _, step := range path {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	return value
}

// FirstDifference returns the path of the first value of an object or a list that differs from an earlier one; empty if they differ
// as a whole.
func FirstDifference(from, to any) []string {
	switch to := to.(type) {
	case map[string]any:
		before, _ := from.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(to)) {
			if !reflect.DeepEqual(before[key], to[key]) {
				return append([]string{key}, FirstDifference(before[key], to[key])...)
			}
		}
	case []any:
		before, _ := from.([]any)
		for i := range to {
			if i >= len(before) {
				return nil
			}
			if !reflect.DeepEqual(before[i], to[i]) {
				return append([]string{strconv.Itoa(i)}, FirstDifference(before[i], to[i])...)
			}
		}
	}
	return nil
}

// IsComputed reports whether a value of a template has an expression.
func IsComputed(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "${")
	case map[string]any:
		for name, field := range v {
			if IsComputed(name) || IsComputed(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, IsComputed)
	}
	return false
}

// withoutFields returns a value without the fields at the paths. It treats an object
// without fields as absent.
func withoutFields(value any, paths [][]string) any {
	for _, path := range paths {
		value = pruned(value, path)
	}
	if fields, ok := value.(map[string]any); ok && len(fields) == 0 {
		return nil
	}
	return value
}

func pruned(value any, path []string) any {
	switch value := value.(type) {
	case map[string]any:
		old, there := value[path[0]]
		if !there {
			return value
		}
		out := maps.Clone(value)
		delete(out, path[0])
		if len(path) > 1 {
			if rest := withoutFields(old, [][]string{path[1:]}); rest != nil {
				out[path[0]] = rest
			}
		}
		return out
	case []any:
		if path[0] != "*" {
			return value
		}
		out := make([]any, len(value))
		for i, entry := range value {
			out[i] = pruned(entry, path[1:])
		}
		return out
	}
	return value
}
