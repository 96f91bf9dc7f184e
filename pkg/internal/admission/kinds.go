package admission

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func service(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	errs := oneOf(o.Type, at.Child("type"), corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)
	errs = append(errs, oneOf(o.SessionAffinity, at.Child("sessionAffinity"), corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	errs = append(errs, metavalidation.ValidateLabels(o.Selector, at.Child("selector"))...)
	headless, external := o.ClusterIP == corev1.ClusterIPNone, o.Type == corev1.ServiceTypeExternalName
	switch {
	case external:
		errs = append(errs, required(o.ExternalName, at.Child("externalName"))...)
	case len(o.Ports) == 0 && !headless:
		errs = append(errs, field.Required(at.Child("ports"), ""))
	}
	if headless && (o.Type == corev1.ServiceTypeLoadBalancer || o.Type == corev1.ServiceTypeNodePort) {
		errs = append(errs, field.Invalid(at.Child("clusterIPs").Index(0), o.ClusterIP, fmt.Sprintf("may not be set to 'None' for %s services", o.Type)))
	}
	return append(errs, servicePorts(o, at.Child("ports"))...)
}

func servicePorts(o *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, numbers := map[string]bool{}, map[string]bool{}
	for i, p := range o.Ports {
		path := at.Index(i)
		if p.Name != "" || len(o.Ports) > 1 {
			errs = append(errs, newName(p.Name, names, path.Child("name"))...)
		}
		errs = append(errs, invalid(p.Port, validation.IsValidPortNum(int(p.Port)), path.Child("port"))...)
		errs = append(errs, protocol(p.Protocol, path.Child("protocol"))...)
		if p.TargetPort != (intstr.IntOrString{}) {
			errs = append(errs, port(p.TargetPort, path.Child("targetPort"))...)
		}
		if p.NodePort != 0 && (o.Type == "" || o.Type == corev1.ServiceTypeClusterIP) {
			errs = append(errs, field.Forbidden(path.Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
		errs = append(errs, duplicate(fmt.Sprintf("%d/%s", p.Port, orTCP(p.Protocol)), numbers, path)...)
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
	if len(o.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	for i, mode := range o.AccessModes {
		errs = append(errs, oneOf(mode, at.Child("accessModes").Index(i), corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)...)
	}
	path := at.Child("resources", "requests").Key("storage")
	if storage, ok := o.Resources.Requests[corev1.ResourceStorage]; !ok {
		errs = append(errs, field.Required(path, ""))
	} else if storage.Sign() <= 0 {
		errs = append(errs, field.Invalid(path, storage.String(), "must be greater than zero"))
	}
	return errs
}

func ingress(o *networkingv1.IngressSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(o.Rules) == 0 && o.DefaultBackend == nil {
		errs = append(errs, field.Invalid(at, "", "either `defaultBackend` or `rules` must be specified"))
	}
	if o.DefaultBackend != nil {
		errs = append(errs, ingressBackend(o.DefaultBackend, at.Child("defaultBackend"))...)
	}
	for i, rule := range o.Rules {
		path := at.Child("rules").Index(i)
		switch {
		case strings.HasPrefix(rule.Host, "*"):
			errs = append(errs, invalid(rule.Host, validation.IsWildcardDNS1123Subdomain(rule.Host), path.Child("host"))...)
		case rule.Host != "":
			errs = append(errs, invalid(rule.Host, validation.IsDNS1123Subdomain(rule.Host), path.Child("host"))...)
		}
		if rule.HTTP != nil && len(rule.HTTP.Paths) == 0 {
			errs = append(errs, field.Required(path.Child("http", "paths"), ""))
		}
	}
	return errs
}

func ingressPath(o *networkingv1.HTTPIngressPath, at *field.Path) field.ErrorList {
	errs := ingressBackend(&o.Backend, at.Child("backend"))
	if o.PathType == nil {
		return append(errs, field.Required(at.Child("pathType"), "pathType must be specified"))
	}
	errs = append(errs, oneOf(*o.PathType, at.Child("pathType"), networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific)...)
	if needs := *o.PathType != networkingv1.PathTypeImplementationSpecific || o.Path != ""; needs && !strings.HasPrefix(o.Path, "/") {
		errs = append(errs, field.Invalid(at.Child("path"), o.Path, "must be an absolute path"))
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
		return nil
	}
	errs := required(o.Service.Name, at.Child("service", "name"))
	switch p, path := o.Service.Port, at.Child("service", "port"); {
	case p.Name != "" && p.Number != 0:
		errs = append(errs, field.Invalid(path, "", "cannot set both port name & port number"))
	case p.Name != "":
		errs = append(errs, invalid(p.Name, validation.IsValidPortName(p.Name), path.Child("name"))...)
	case p.Number == 0:
		errs = append(errs, field.Required(path, "port name or number is required"))
	default:
		errs = append(errs, invalid(p.Number, validation.IsValidPortNum(int(p.Number)), path.Child("number"))...)
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
	}
	return nil
}

func disruption(o *policyv1.PodDisruptionBudgetSpec, at *field.Path) field.ErrorList {
	if o.MinAvailable != nil && o.MaxUnavailable != nil {
		return field.ErrorList{field.Invalid(at, "", "minAvailable and maxUnavailable cannot be both set")}
	}
	return nil
}

func autoscaler(o *autoscalingv2.HorizontalPodAutoscalerSpec, at *field.Path) field.ErrorList {
	errs := required(o.ScaleTargetRef.Kind, at.Child("scaleTargetRef", "kind"))
	errs = append(errs, required(o.ScaleTargetRef.Name, at.Child("scaleTargetRef", "name"))...)
	switch path := at.Child("maxReplicas"); {
	case o.MaxReplicas < 1:
		errs = append(errs, field.Invalid(path, o.MaxReplicas, "must be greater than 0"))
	case o.MinReplicas != nil && *o.MinReplicas > o.MaxReplicas:
		errs = append(errs, field.Invalid(path, o.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	if o.MinReplicas != nil {
		errs = append(errs, notNegative(o.MinReplicas, at.Child("minReplicas"))...)
	}
	return errs
}

func policyRule(o *rbacv1.PolicyRule, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(o.Verbs) == 0 {
		errs = append(errs, field.Required(at.Child("verbs"), "verbs must contain at least one value"))
	}
	if len(o.NonResourceURLs) > 0 {
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
	errs := required(o.Name, at.Child("name"))
	errs = append(errs, required(o.Kind, at.Child("kind"))...)
	errs = append(errs, oneOf(o.Kind, at.Child("kind"), "Role", "ClusterRole")...)
	return append(errs, oneOf(o.APIGroup, at.Child("apiGroup"), rbacv1.GroupName)...)
}

func subject(o *rbacv1.Subject, at *field.Path) field.ErrorList {
	errs := required(o.Name, at.Child("name"))
	errs = append(errs, required(o.Kind, at.Child("kind"))...)
	errs = append(errs, oneOf(o.Kind, at.Child("kind"), rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)...)
	if o.Kind == rbacv1.ServiceAccountKind {
		errs = append(errs, required(o.Namespace, at.Child("namespace"))...)
	}
	return errs
}
