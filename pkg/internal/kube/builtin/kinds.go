package builtin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
	"k8s.io/utils/ptr"
)

func service(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	headless := o.ClusterIP == corev1.ClusterIPNone
	if o.Type != corev1.ServiceTypeExternalName {
		if len(o.Ports) == 0 && !headless {
			errs = append(errs, field.Required(at.Child("ports"), ""))
		}
		errs = append(errs, addresses(o, at)...)
	} else {
		errs = append(errs, externalName(o, at)...)
	}
	if headless && (o.Type == corev1.ServiceTypeLoadBalancer || o.Type == corev1.ServiceTypeNodePort) {
		errs = append(
			errs,
			field.Invalid(at.Child("clusterIPs").Index(0), o.ClusterIP, fmt.Sprintf("may not be set to 'None' for %s services", o.Type)),
		)
	}
	errs = append(errs, traffic(o, at)...)
	return append(errs, servicePorts(o, at.Child("ports"))...)
}

func externalName(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	errs := required(o.ExternalName, at.Child("externalName"))
	if name := strings.TrimSuffix(o.ExternalName, "."); name != "" || o.ExternalName != "" {
		errs = append(errs, invalid(o.ExternalName, subdomain(name), at.Child("externalName"))...)
	}
	for _, only := range []struct {
		name string
		set  bool
	}{
		{"clusterIPs", o.ClusterIP != "" || len(o.ClusterIPs) > 0},
		{"ipFamilies", len(o.IPFamilies) > 0},
		{"ipFamilyPolicy", o.IPFamilyPolicy != nil},
	} {
		if only.set {
			errs = append(errs, field.Forbidden(at.Child(only.name), "may not be set for ExternalName services"))
		}
	}
	return errs
}

// addresses validates the addresses that a Service has in the cluster.
func addresses(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	path, ips := at.Child("clusterIPs"), o.ClusterIPs
	switch {
	case len(ips) == 0 && o.ClusterIP != "":
		ips = []string{o.ClusterIP}
	case len(ips) > 0 && o.ClusterIP == "":
		errs = append(errs, field.Invalid(path, ips, "must be empty when `clusterIP` is not specified"))
	case len(ips) > 0 && ips[0] != o.ClusterIP:
		errs = append(errs, field.Invalid(path, ips, "first value must match `clusterIP`"))
	}
	for i, ip := range ips {
		if i == 0 && ip == corev1.ClusterIPNone {
			continue
		}
		errs = append(errs, invalid(ip, address(ip), path.Index(i))...)
		if i < len(o.IPFamilies) && len(address(ip)) == 0 && (o.IPFamilies[i] == corev1.IPv6Protocol) != netutils.IsIPv6String(ip) {
			errs = append(
				errs,
				field.Invalid(path.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", o.IPFamilies[i], i)),
			)
		}
	}
	if len(ips) > 2 || len(ips) == 2 && ips[0] == corev1.ClusterIPNone ||
		len(ips) == 2 && netutils.IsIPv6String(ips[0]) == netutils.IsIPv6String(ips[1]) {
		errs = append(errs, field.Invalid(path, ips, "may hold 'None', or one address of each family"))
	}
	errs = append(errs, every(among("IPv4", "IPv6"))(reflect.ValueOf(o.IPFamilies), at.Child("ipFamilies"))...)
	errs = append(errs, differ(reflect.ValueOf(o.IPFamilies), at.Child("ipFamilies"))...)
	return append(
		errs,
		among("PreferDualStack", "RequireDualStack", "SingleStack")(valueOf(o.IPFamilyPolicy), at.Child("ipFamilyPolicy"))...)
}

// traffic validates the fields that belong to a type of Service.
func traffic(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	balanced := o.Type == corev1.ServiceTypeLoadBalancer
	for _, only := range []struct {
		name string
		set  bool
	}{
		{"loadBalancerSourceRanges", len(o.LoadBalancerSourceRanges) > 0},
		{"allocateLoadBalancerNodePorts", o.AllocateLoadBalancerNodePorts != nil},
		{"loadBalancerClass", o.LoadBalancerClass != nil},
	} {
		if only.set && !balanced {
			errs = append(errs, field.Forbidden(at.Child(only.name), "may only be used when `type` is 'LoadBalancer'"))
		}
	}
	if o.LoadBalancerClass != nil && balanced {
		errs = append(
			errs,
			invalid(*o.LoadBalancerClass, validation.IsQualifiedName(*o.LoadBalancerClass), at.Child("loadBalancerClass"))...)
	}
	path := at.Child("externalTrafficPolicy")
	reachable := o.Type != corev1.ServiceTypeExternalName && len(o.ExternalIPs) > 0
	if balanced || o.Type == corev1.ServiceTypeNodePort || reachable {
		errs = append(
			errs,
			oneOf(o.ExternalTrafficPolicy, path, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	} else if o.ExternalTrafficPolicy != "" {
		errs = append(errs, field.Invalid(path, o.ExternalTrafficPolicy, "may only be set for externally-accessible services"))
	}
	path = at.Child("healthCheckNodePort")
	if !balanced || o.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		if o.HealthCheckNodePort != 0 {
			errs = append(
				errs,
				field.Invalid(
					path,
					o.HealthCheckNodePort,
					"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
				),
			)
		}
	} else if o.HealthCheckNodePort != 0 {
		errs = append(errs, invalid(o.HealthCheckNodePort, validation.IsValidPortNum(int(o.HealthCheckNodePort)), path)...)
	}
	return append(errs, affinity(o, at.Child("sessionAffinityConfig"))...)
}

func affinity(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	config := o.SessionAffinityConfig
	switch {
	case config == nil || o.SessionAffinity != corev1.ServiceAffinityClientIP:
		return nil // the API server drops it
	case config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil:
		return nil // the API server sets a default
	}
	return between(1, 86400)(valueOf(config.ClientIP.TimeoutSeconds), at.Child("clientIP", "timeoutSeconds"))
}

func servicePorts(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, nodePorts := map[string]bool{}, map[string]bool{}
	for i, p := range o.Ports {
		path := at.Index(i)
		if p.Name != "" {
			errs = append(errs, duplicate(p.Name, names, path.Child("name"))...)
		} else if len(o.Ports) > 1 {
			errs = append(errs, field.Required(path.Child("name"), ""))
		}
		if p.TargetPort != (intstr.IntOrString{}) && p.TargetPort != intstr.FromString("") {
			errs = append(errs, portOrName(reflect.ValueOf(p.TargetPort), path.Child("targetPort"))...)
		}
		if p.NodePort == 0 {
			continue
		}
		if o.Type == "" || o.Type == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(path.Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
		errs = append(errs, duplicate(fmt.Sprintf("%d/%s", p.NodePort, orTCP(p.Protocol)), nodePorts, path.Child("nodePort"))...)
	}
	return errs
}

//lint:ignore SA1019 the API server still accepts them
func endpoints(o *corev1.Endpoints) field.ErrorList {
	var errs field.ErrorList
	for i, s := range o.Subsets {
		path := field.NewPath("subsets").Index(i)
		if len(s.Addresses)+len(s.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(path, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j, p := range s.Ports {
			if p.Name == "" && len(s.Ports) > 1 {
				errs = append(errs, field.Required(path.Child("ports").Index(j).Child("name"), ""))
			}
		}
	}
	return errs
}

func endpointSlice(o *discoveryv1.EndpointSlice) field.ErrorList {
	var errs field.ErrorList
	for i, e := range o.Endpoints {
		for j, a := range e.Addresses {
			path := field.NewPath("endpoints").Index(i).Child("addresses").Index(j)
			switch v4 := o.AddressType == discoveryv1.AddressTypeIPv4; {
			case o.AddressType == discoveryv1.AddressTypeFQDN:
				errs = append(errs, validation.IsFullyQualifiedDomainName(path, a)...)
			case !v4 && o.AddressType != discoveryv1.AddressTypeIPv6:
			case len(endpoint(a)) > 0:
				errs = append(errs, invalid(a, endpoint(a), path)...)
			case v4 == netutils.IsIPv6String(a):
				errs = append(errs, field.Invalid(path, a, fmt.Sprintf("must be an %s address", o.AddressType)))
			}
		}
	}
	return errs
}

func configMap(o *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for key, value := range o.Data {
		path := field.NewPath("data").Key(key)
		size += len(value)
		errs = append(errs, invalid(key, validation.IsConfigMapKey(key), path)...)
		if _, twice := o.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(path, key, "duplicate of key present in binaryData"))
		}
	}
	for key, value := range o.BinaryData {
		size += len(value)
		errs = append(errs, invalid(key, validation.IsConfigMapKey(key), field.NewPath("binaryData").Key(key))...)
	}
	return append(errs, withinSize(size, field.NewPath("data"))...)
}

func withinSize(size int, at *field.Path) field.ErrorList {
	if size > corev1.MaxSecretSize {
		return field.ErrorList{field.TooLong(at, "", corev1.MaxSecretSize)}
	}
	return nil
}

// secretKeys are the required keys by type of Secret.
var secretKeys = map[corev1.SecretType][]string{
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
}

func secret(o *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	has, size := map[string]bool{}, 0
	for key, value := range o.Data {
		has[key], size = true, size+len(value)
		errs = append(errs, invalid(key, validation.IsConfigMapKey(key), field.NewPath("data").Key(key))...)
	}
	for key, value := range o.StringData {
		has[key], size = true, size+len(value)
		errs = append(errs, invalid(key, validation.IsConfigMapKey(key), field.NewPath("stringData").Key(key))...)
	}
	for _, key := range secretKeys[o.Type] {
		path, text := field.NewPath("data").Key(key), cmp.Or(o.StringData[key], string(o.Data[key]))
		if registries := map[string]any{}; has[key] && strings.HasPrefix(key, ".docker") &&
			json.Unmarshal([]byte(text), &registries) != nil {
			errs = append(errs, field.Invalid(path, "<secret contents redacted>", "must be a JSON object"))
		}
		if !has[key] {
			errs = append(errs, field.Required(field.NewPath("data").Key(key), ""))
		}
	}
	if o.Type == corev1.SecretTypeBasicAuth && !has[corev1.BasicAuthUsernameKey] && !has[corev1.BasicAuthPasswordKey] {
		errs = append(errs, field.Required(field.NewPath("data").Key(corev1.BasicAuthUsernameKey), ""))
	}
	return append(errs, withinSize(size, field.NewPath("data"))...)
}

func claim(o *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	path := at.Child("resources", "requests").Key("storage")
	if storage, ok := o.Resources.Requests[corev1.ResourceStorage]; !ok {
		errs = append(errs, field.Required(path, ""))
	} else if storage.Sign() <= 0 {
		errs = append(errs, field.Invalid(path, storage.String(), "must be greater than zero"))
	}
	return append(errs, dataSources(o, at)...)
}

func dataSources(o *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := o.DataSource; s != nil && known(s) {
		path := at.Child("dataSource")
		errs = append(errs, dataSource(s.APIGroup, s.Kind, s.Name, path)...)
	}
	if s := o.DataSourceRef; s != nil && ptr.Deref(s.Namespace, "") == "" {
		path := at.Child("dataSourceRef")
		errs = append(errs, dataSource(s.APIGroup, s.Kind, s.Name, path)...)
		if d := o.DataSource; d != nil && known(d) &&
			(d.Name != s.Name || d.Kind != s.Kind || ptr.Deref(d.APIGroup, "") != ptr.Deref(s.APIGroup, "")) {
			errs = append(errs, field.Invalid(at, "dataSource", "must match dataSourceRef"))
		}
	}
	return errs
}

func dataSource(group *string, kind, name string, at *field.Path) field.ErrorList {
	errs := append(required(name, at.Child("name")), required(kind, at.Child("kind"))...)
	if ptr.Deref(group, "") == "" && kind != "PersistentVolumeClaim" {
		return append(errs, field.Invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	return append(errs, ifNotEmpty(subdomain)(valueOf(group), at.Child("apiGroup"))...)
}

// known reports whether the API server does not drop a source of data.
func known(s *corev1.TypedLocalObjectReference) bool {
	return s.Kind == "PersistentVolumeClaim" && ptr.Deref(s.APIGroup, "") == "" ||
		s.Kind == "VolumeSnapshot" && ptr.Deref(s.APIGroup, "") == "snapshot.storage.k8s.io"
}

func volume(o *corev1.PersistentVolumeSpec, at *field.Path) field.ErrorList {
	source := o.PersistentVolumeSource
	if source.FlexVolume = nil; setFields(source) == 0 {
		source = o.PersistentVolumeSource // the API server accepts it beside another
	}
	errs := union(source, at, "must specify a volume type", "may not specify more than 1 volume type")
	path := at.Child("capacity")
	if storage, ok := o.Capacity[corev1.ResourceStorage]; !ok || len(o.Capacity) > 1 {
		errs = append(errs, field.NotSupported(path, "", []string{"storage"}))
	} else if storage.Sign() <= 0 {
		errs = append(errs, field.Invalid(path.Key("storage"), storage.String(), "must be greater than zero"))
	}
	if o.Local != nil && (o.NodeAffinity == nil || o.NodeAffinity.Required == nil) {
		errs = append(errs, field.Required(at.Child("nodeAffinity"), "Local volume requires node affinity"))
	}
	if o.NodeAffinity != nil {
		if o.NodeAffinity.Required == nil {
			return append(errs, field.Required(at.Child("nodeAffinity", "required"), "must specify required node constraints"))
		}
		errs = append(errs, requiredNodes(o.NodeAffinity.Required, at.Child("nodeAffinity", "required"))...)
	}
	return errs
}

func storageClass(o *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	if _, empty := o.Parameters[""]; empty {
		errs = append(errs, field.Invalid(field.NewPath("parameters"), "", "field can not be empty."))
	}
	seen := map[string]bool{}
	for i, t := range o.AllowedTopologies {
		keys := map[string]bool{}
		path := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions")
		for j, e := range t.MatchLabelExpressions {
			errs = append(errs, duplicate(e.Key, keys, path.Index(j).Child("key"))...)
		}
		errs = append(errs, duplicate(fmt.Sprint(t.MatchLabelExpressions), seen, path)...)
	}
	return errs
}

func priorityClass(o *schedulingv1.PriorityClass) field.ErrorList {
	var errs field.ErrorList
	system := o.Name == "system-cluster-critical" && o.Value == 2000000000 || o.Name == "system-node-critical" && o.Value == 2000001000
	if strings.HasPrefix(o.Name, "system-") && !system {
		errs = append(
			errs,
			field.Forbidden(
				field.NewPath("metadata", "name"),
				"priority class names with 'system-' prefix are reserved for system use only",
			),
		)
	}
	if o.Value > 1000000000 && !system {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "maximum allowed value of a user defined priority is 1000000000"))
	}
	return errs
}

func quota(o *corev1.ResourceQuotaSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, quantity := range o.Hard {
		path := at.Child("hard").Key(string(name))
		errs = append(errs, invalid(string(name), quotaResource(string(name)), path)...)
		errs = append(errs, quantityOf(name, quantity, path)...)
	}
	scopes := slices.Clone(o.Scopes)
	if o.ScopeSelector != nil {
		path := at.Child("scopeSelector", "matchExpressions")
		for i, e := range o.ScopeSelector.MatchExpressions {
			scopes = append(scopes, e.ScopeName)
			errs = append(errs, scopeExpression(&e, path.Index(i))...)
		}
	}
	for _, scope := range scopes {
		for name := range o.Hard {
			if slices.Contains(standardQuotas, string(name)) && !applies(scope, string(name)) {
				errs = append(errs, field.Invalid(at.Child("scopes"), scope, fmt.Sprintf("unsupported scope applied to resource %s", name)))
			}
		}
	}
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			errs = append(errs, field.Invalid(at.Child("scopes"), scopes, "conflicting scopes"))
		}
	}
	return errs
}

var standardQuotas = append([]string{"cpu", "memory", "ephemeral-storage"}, quotaResources...)

func quotaResource(s string) []string {
	if messages := resourceName(s); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(s, "/") && !slices.Contains(standardQuotas, s) && !strings.HasPrefix(s, "hugepages-") &&
		!strings.HasPrefix(s, "requests.hugepages-") {
		return []string{"must be a standard resource for quota"}
	}
	return nil
}

// applies reports whether a scope selects objects that use a resource.
func applies(scope corev1.ResourceQuotaScope, name string) bool {
	switch scope {
	case corev1.ResourceQuotaScopeBestEffort:
		return name == "pods"
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return slices.Contains([]string{"pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}, name)
	}
	return true
}

func scopeExpression(e *corev1.ScopedResourceSelectorRequirement, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if e.ScopeName != corev1.ResourceQuotaScopePriorityClass && slices.Contains(quotaScopes, string(e.ScopeName)) &&
		e.Operator != corev1.ScopeSelectorOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), e.Operator, fmt.Sprintf("must be 'Exists' when scope is %s", e.ScopeName)))
	}
	switch e.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(e.Values) == 0 {
			errs = append(
				errs,
				field.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
			)
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(e.Values) > 0 {
			errs = append(
				errs,
				field.Invalid(
					at.Child("values"),
					e.Values,
					"must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
				),
			)
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), e.Operator, "not a valid selector operator"))
	}
	return errs
}

// limits validates an entry of a LimitRange.
func limits(o *corev1.LimitRangeItem, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	lists := []struct {
		name  string
		items corev1.ResourceList
	}{
		{"min", o.Min},
		{"defaultRequest", o.DefaultRequest},
		{"default", o.Default},
		{"max", o.Max},
		{"maxLimitRequestRatio", o.MaxLimitRequestRatio},
	}
	names := resourceName
	if o.Type == corev1.LimitTypePod || o.Type == corev1.LimitTypeContainer {
		names = containerResource
	}
	for _, list := range lists {
		for name := range list.items {
			errs = append(errs, invalid(string(name), names(string(name)), at.Child(list.name).Key(string(name)))...)
		}
	}
	if o.Type == corev1.LimitTypePod && len(o.Default)+len(o.DefaultRequest) > 0 {
		errs = append(errs, field.Forbidden(at.Child("default"), "may not be specified when `type` is 'Pod'"))
	}
	_, least := o.Min[corev1.ResourceStorage]
	if _, most := o.Max[corev1.ResourceStorage]; o.Type == corev1.LimitTypePersistentVolumeClaim && !least && !most {
		errs = append(
			errs,
			field.Required(at.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"),
		)
	}
	for i, low := range lists[:4] {
		for _, high := range lists[i+1 : 4] {
			for name, a := range low.items {
				if b, ok := high.items[name]; ok && a.Cmp(b) > 0 {
					errs = append(
						errs,
						field.Invalid(
							at.Child(low.name).Key(string(name)),
							a.String(),
							fmt.Sprintf("is greater than the %s value %s", high.name, b.String()),
						),
					)
				}
			}
		}
	}
	return append(errs, ratios(o, at.Child("maxLimitRequestRatio"))...)
}

func ratios(o *corev1.LimitRangeItem, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, ratio := range o.MaxLimitRequestRatio {
		least, hasLeast := o.Min[name]
		most, hasMost := o.Max[name]
		switch value := ratio.AsApproximateFloat64(); {
		case value < 1:
			errs = append(errs, field.Invalid(at.Key(string(name)), ratio.String(), fmt.Sprintf("ratio %s is less than 1", ratio.String())))
		case hasLeast && hasMost && value > most.AsApproximateFloat64()/least.AsApproximateFloat64():
			errs = append(
				errs,
				field.Invalid(at.Key(string(name)), ratio.String(), fmt.Sprintf("ratio %s is greater than max/min", ratio.String())),
			)
		}
	}
	return errs
}

// ingressClasses validates that the annotation for the class, if there is one, agrees with the field.
func ingressClasses(o *networkingv1.Ingress) field.ErrorList {
	const key = "kubernetes.io/ingress.class"
	class, annotated := o.Annotations[key]
	if !annotated || o.Spec.IngressClassName == nil || *o.Spec.IngressClassName == class {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(key)
	return field.ErrorList{field.Invalid(at, class, "must match `ingressClassName` when both are specified")}
}

func ingress(o *networkingv1.IngressSpec, at *field.Path) field.ErrorList {
	if len(o.Rules) == 0 && o.DefaultBackend == nil {
		return field.ErrorList{field.Invalid(at, "", "either `defaultBackend` or `rules` must be specified")}
	}
	if o.DefaultBackend != nil {
		return ingressBackend(o.DefaultBackend, at.Child("defaultBackend"))
	}
	return nil
}

func ingressPath(o *networkingv1.HTTPIngressPath, at *field.Path) field.ErrorList {
	if o.PathType == nil {
		return nil // nothing more is validated
	}
	errs := ingressBackend(&o.Backend, at.Child("backend"))
	own, path := *o.PathType == networkingv1.PathTypeImplementationSpecific, at.Child("path")
	if (!own || o.Path != "") && !strings.HasPrefix(o.Path, "/") {
		errs = append(errs, field.Invalid(path, o.Path, "must be an absolute path"))
	}
	if own {
		return errs
	}
	for _, sequence := range []string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(o.Path, sequence) {
			errs = append(errs, field.Invalid(path, o.Path, fmt.Sprintf("must not contain '%s'", sequence)))
		}
	}
	for _, suffix := range []string{"/..", "/."} {
		if strings.HasSuffix(o.Path, suffix) {
			errs = append(errs, field.Invalid(path, o.Path, fmt.Sprintf("cannot end with '%s'", suffix)))
		}
	}
	return errs
}

func ingressBackend(o *networkingv1.IngressBackend, at *field.Path) field.ErrorList {
	switch {
	case o.Service == nil && o.Resource == nil:
		return field.ErrorList{field.Required(at, "must specify a backend: service or resource")}
	case o.Service != nil && o.Resource != nil:
		return field.ErrorList{field.Invalid(at, "", "cannot set both resource and service backends")}
	case o.Service == nil:
		return typedReference(o.Resource, at.Child("resource"))
	}
	switch p, path := o.Service.Port, at.Child("service", "port"); {
	case p.Name != "" && p.Number != 0:
		return field.ErrorList{field.Invalid(path, "", "cannot set both port name & port number")}
	case p.Name != "":
		return invalid(p.Name, validation.IsValidPortName(p.Name), path.Child("name"))
	case p.Number == 0:
		return field.ErrorList{field.Required(path, "port name or number is required")}
	default:
		return invalid(p.Number, validation.IsValidPortNum(int(p.Number)), path.Child("number"))
	}
}

func typedReference(o *corev1.TypedLocalObjectReference, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.APIGroup != nil {
		errs = invalid(*o.APIGroup, subdomain(*o.APIGroup), at.Child("apiGroup"))
	}
	for _, part := range []struct{ name, text string }{{"kind", o.Kind}, {"name", o.Name}} {
		path := at.Child(part.name)
		errs = append(errs, append(required(part.text, path), invalid(part.text, pathSegment(part.text), path)...)...)
	}
	return errs
}

func ingressClass(o *networkingv1.IngressClassSpec, at *field.Path) field.ErrorList {
	p, path := o.Parameters, at.Child("parameters")
	if p == nil {
		return nil
	}
	errs := typedReference(&corev1.TypedLocalObjectReference{APIGroup: p.APIGroup, Kind: p.Kind, Name: p.Name}, path)
	scope := "Cluster"
	if p.Scope != nil {
		scope = *p.Scope
		errs = append(errs, among("Cluster", "Namespace")(valueOf(p.Scope), path.Child("scope"))...)
	}
	switch namespace := path.Child("namespace"); {
	case scope == "Cluster" && p.Namespace != nil:
		errs = append(errs, field.Forbidden(namespace, "`parameters.scope` is set to 'Cluster'"))
	case scope == "Namespace" && p.Namespace == nil:
		errs = append(errs, field.Required(namespace, "`parameters.scope` is set to 'Namespace'"))
	case scope == "Namespace":
		errs = append(errs, invalid(*p.Namespace, label(*p.Namespace), namespace)...)
	}
	return errs
}

func policyPort(o *networkingv1.NetworkPolicyPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.Port != nil {
		errs = portOrName(reflect.ValueOf(*o.Port), at.Child("port"))
	}
	if o.EndPort == nil {
		return errs
	}
	path := at.Child("endPort")
	switch {
	case o.Port == nil:
		errs = append(errs, field.Invalid(path, *o.EndPort, "may not be specified when `port` is not specified"))
	case o.Port.Type == intstr.String:
		errs = append(errs, field.Invalid(path, *o.EndPort, "may not be specified when `port` is non-numeric"))
	default:
		if *o.EndPort < o.Port.IntVal {
			errs = append(errs, field.Invalid(path, *o.EndPort, "must be greater than or equal to `port`"))
		}
		errs = append(errs, invalid(*o.EndPort, validation.IsValidPortNum(int(*o.EndPort)), path)...)
	}
	return errs
}

func peer(o *networkingv1.NetworkPolicyPeer, at *field.Path) field.ErrorList {
	selects := o.PodSelector != nil || o.NamespaceSelector != nil
	switch {
	case o.IPBlock == nil && !selects:
		return field.ErrorList{field.Required(at, "must specify a peer")}
	case o.IPBlock != nil && selects:
		return field.ErrorList{field.Forbidden(at, "may not specify both ipBlock and another peer")}
	case o.IPBlock == nil:
		return nil
	}
	_, outer, err := netutils.ParseCIDRSloppy(o.IPBlock.CIDR)
	if err != nil {
		return nil
	}
	var errs field.ErrorList
	for i, except := range o.IPBlock.Except {
		_, inner, err := netutils.ParseCIDRSloppy(except)
		if err != nil {
			continue
		}
		outerSize, _ := outer.Mask.Size()
		innerSize, _ := inner.Mask.Size()
		if !outer.Contains(inner.IP) || outerSize >= innerSize {
			errs = append(errs, field.Invalid(at.Child("ipBlock", "except").Index(i), except, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}

func disruption(o *policyv1.PodDisruptionBudgetSpec, at *field.Path) field.ErrorList {
	if o.MinAvailable != nil && o.MaxUnavailable != nil {
		return field.ErrorList{field.Invalid(at, "", "minAvailable and maxUnavailable cannot be both set")}
	}
	return nil
}

func replicaRange(least *int32, most int32, at *field.Path) field.ErrorList {
	if least != nil && most > 0 && *least > most {
		return field.ErrorList{field.Invalid(at.Child("maxReplicas"), most, "must be greater than or equal to `minReplicas`")}
	}
	return nil
}

func metric(o *autoscalingv2.MetricSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	needs := func(name string, ok bool, message string) {
		if !ok {
			errs = append(errs, field.Required(at.Child(name, "target", "averageValue"), message))
		}
	}
	for _, source := range []struct {
		kind autoscalingv2.MetricSourceType
		name string
		set  bool
	}{
		{autoscalingv2.ObjectMetricSourceType, "object", o.Object != nil},
		{autoscalingv2.ExternalMetricSourceType, "external", o.External != nil},
		{autoscalingv2.PodsMetricSourceType, "pods", o.Pods != nil},
		{autoscalingv2.ResourceMetricSourceType, "resource", o.Resource != nil},
		{autoscalingv2.ContainerResourceMetricSourceType, "containerResource", o.ContainerResource != nil},
	} {
		switch {
		case o.Type == source.kind && !source.set:
			errs = append(errs, field.Required(at.Child(source.name), "must populate information for the given metric source"))
		case o.Type != source.kind && source.set && o.Type != "":
			errs = append(errs, field.Forbidden(at.Child(source.name), "must populate the given metric source only"))
		}
	}
	if s := o.Object; s != nil {
		needs("object", s.Target.Value != nil || s.Target.AverageValue != nil, "must set either a target value or averageValue")
	}
	if s := o.External; s != nil {
		needs(
			"external",
			s.Target.Value != nil || s.Target.AverageValue != nil,
			"must set either a target value for metric or a per-pod target",
		)
		if s.Target.Value != nil && s.Target.AverageValue != nil {
			errs = append(
				errs,
				field.Forbidden(at.Child("external", "target", "value"), "may not set both a target value for metric and a per-pod target"),
			)
		}
	}
	if s := o.Pods; s != nil {
		needs("pods", s.Target.AverageValue != nil, "must specify a positive target averageValue")
	}
	if s := o.Resource; s != nil {
		errs = append(errs, utilization(s.Target, at.Child("resource", "target"))...)
	}
	if s := o.ContainerResource; s != nil {
		errs = append(errs, utilization(s.Target, at.Child("containerResource", "target"))...)
	}
	return errs
}

func utilization(t autoscalingv2.MetricTarget, at *field.Path) field.ErrorList {
	switch {
	case t.AverageUtilization == nil && t.AverageValue == nil:
		return field.ErrorList{field.Required(at.Child("averageUtilization"), "must set either a target raw value or a target utilization")}
	case t.AverageUtilization != nil && t.AverageValue != nil:
		return field.ErrorList{field.Forbidden(at.Child("averageValue"), "may not set both a target raw value and a target utilization")}
	}
	return nil
}

func scaling(o *autoscalingv2.HPAScalingRules, at *field.Path) field.ErrorList {
	if o.Policies != nil && len(o.Policies) == 0 {
		return field.ErrorList{field.Required(at.Child("policies"), "must specify at least one Policy")}
	}
	return nil
}

func namespacedRules(o *rbacv1.Role) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range o.Rules {
		if len(rule.NonResourceURLs) > 0 {
			errs = append(
				errs,
				field.Invalid(
					field.NewPath("rules").Index(i).Child("nonResourceURLs"),
					rule.NonResourceURLs,
					"namespaced rules cannot apply to non-resource URLs",
				),
			)
		}
	}
	return errs
}

func policyRule(o *rbacv1.PolicyRule, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(o.Verbs) == 0 {
		errs = append(errs, field.Required(at.Child("verbs"), "verbs must contain at least one value"))
	}
	if len(o.NonResourceURLs) > 0 {
		if len(o.APIGroups)+len(o.Resources)+len(o.ResourceNames) > 0 {
			errs = append(
				errs,
				field.Invalid(
					at.Child("nonResourceURLs"),
					o.NonResourceURLs,
					"rules cannot apply to both regular resources and non-resource URLs",
				),
			)
		}
		return errs
	}
	if len(o.APIGroups) == 0 {
		errs = append(errs, field.Required(at.Child("apiGroups"), "resource rules must supply at least one api group"))
	}
	if len(o.Resources) == 0 {
		errs = append(errs, field.Required(at.Child("resources"), "resource rules must supply at least one resource"))
	}
	return errs
}

func roleRef(o *rbacv1.RoleRef, at *field.Path) field.ErrorList {
	return append(required(o.Kind, at.Child("kind")), oneOf(o.Kind, at.Child("kind"), "Role", "ClusterRole")...)
}

// subjects validates the subjects of a binding. The namespace of a service account
// is the binding's by default, if that has one.
func subjects(list []rbacv1.Subject, clusterWide bool) field.ErrorList {
	var errs field.ErrorList
	for i, s := range list {
		path, group := field.NewPath("subjects").Index(i), rbacv1.GroupName
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			group = ""
			errs = append(errs, ifNotEmpty(subdomain)(reflect.ValueOf(s.Name), path.Child("name"))...)
			if s.Namespace == "" && clusterWide {
				errs = append(errs, field.Required(path.Child("namespace"), ""))
			}
		case rbacv1.UserKind, rbacv1.GroupKind:
		default:
			errs = append(
				errs,
				field.NotSupported(path.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}),
			)
		}
		if s.APIGroup != "" && s.APIGroup != group {
			errs = append(errs, field.NotSupported(path.Child("apiGroup"), s.APIGroup, []string{group}))
		}
	}
	return errs
}
