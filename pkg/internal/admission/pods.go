package admission

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func podRules(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	volumes, errs := volumesOf(o, at.Child("volumes"))
	if len(o.Containers) == 0 {
		errs = append(errs, field.Required(at.Child("containers"), ""))
	}
	names := map[string]bool{}
	for i := range o.InitContainers {
		errs = append(errs, container(&o.InitContainers[i], names, volumes, at.Child("initContainers").Index(i))...)
	}
	for i := range o.Containers {
		errs = append(errs, container(&o.Containers[i], names, volumes, at.Child("containers").Index(i))...)
	}
	errs = append(errs, oneOf(o.RestartPolicy, at.Child("restartPolicy"), corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, oneOf(o.DNSPolicy, at.Child("dnsPolicy"), corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)...)
	errs = append(errs, metavalidation.ValidateLabels(o.NodeSelector, at.Child("nodeSelector"))...)
	if name := o.ServiceAccountName; name != "" {
		for _, message := range validation.IsDNS1123Subdomain(name) {
			errs = append(errs, field.Invalid(at.Child("serviceAccountName"), name, message))
		}
	}
	if s := o.TerminationGracePeriodSeconds; s != nil && *s < 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *s, "must be greater than or equal to 0"))
	}
	for i, s := range o.ImagePullSecrets {
		errs = append(errs, required(s.Name, at.Child("imagePullSecrets").Index(i).Child("name"))...)
	}
	return append(errs, placement(o, at)...)
}

func placement(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range o.Tolerations {
		path := at.Child("tolerations").Index(i)
		errs = append(errs, oneOf(t.Operator, path.Child("operator"), corev1.TolerationOpEqual, corev1.TolerationOpExists)...)
		errs = append(errs, oneOf(t.Effect, path.Child("effect"), corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(path.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
	}
	for i, c := range o.TopologySpreadConstraints {
		path := at.Child("topologySpreadConstraints").Index(i)
		errs = append(errs, required(c.TopologyKey, path.Child("topologyKey"))...)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(path.Child("maxSkew"), c.MaxSkew, "must be greater than zero"))
		}
		errs = append(errs, required(string(c.WhenUnsatisfiable), path.Child("whenUnsatisfiable"))...)
		errs = append(errs, oneOf(c.WhenUnsatisfiable, path.Child("whenUnsatisfiable"), corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
	}
	return errs
}

// volumesOf checks the volumes and returns their names.
func volumesOf(o *corev1.PodSpec, at *field.Path) (map[string]bool, field.ErrorList) {
	names := map[string]bool{}
	var errs field.ErrorList
	for i, v := range o.Volumes {
		path := at.Index(i)
		errs = append(errs, newName(v.Name, names, path.Child("name"))...)
		sources := reflect.ValueOf(v.VolumeSource)
		count := 0
		for j := range sources.NumField() {
			if !sources.Field(j).IsNil() {
				count++
			}
		}
		if count > 1 {
			errs = append(errs, field.Forbidden(path, "may not specify more than 1 volume type"))
		}
		switch {
		case v.ConfigMap != nil:
			errs = append(errs, required(v.ConfigMap.Name, path.Child("configMap", "name"))...)
		case v.Secret != nil:
			errs = append(errs, required(v.Secret.SecretName, path.Child("secret", "secretName"))...)
		case v.PersistentVolumeClaim != nil:
			errs = append(errs, required(v.PersistentVolumeClaim.ClaimName, path.Child("persistentVolumeClaim", "claimName"))...)
		case v.HostPath != nil:
			errs = append(errs, required(v.HostPath.Path, path.Child("hostPath", "path"))...)
		}
	}
	return names, errs
}

func container(c *corev1.Container, names, volumes map[string]bool, at *field.Path) field.ErrorList {
	errs := newName(c.Name, names, at.Child("name"))
	errs = append(errs, required(c.Image, at.Child("image"))...)
	errs = append(errs, oneOf(c.ImagePullPolicy, at.Child("imagePullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, containerPorts(c.Ports, at.Child("ports"))...)
	errs = append(errs, environment(c, at)...)
	errs = append(errs, volumeMounts(c, volumes, at.Child("volumeMounts"))...)
	errs = append(errs, resources(&c.Resources, at.Child("resources"))...)
	for name, p := range map[string]*corev1.Probe{"livenessProbe": c.LivenessProbe, "readinessProbe": c.ReadinessProbe, "startupProbe": c.StartupProbe} {
		if p != nil {
			errs = append(errs, probe(p, name != "readinessProbe", at.Child(name))...)
		}
	}
	if s := c.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged && s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		errs = append(errs, field.Invalid(at.Child("securityContext"), "privileged", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	return errs
}

func containerPorts(ports []corev1.ContainerPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, numbers := map[string]bool{}, map[string]bool{}
	for i, p := range ports {
		path := at.Index(i)
		if p.Name != "" {
			errs = append(errs, invalid(p.Name, validation.IsValidPortName(p.Name), path.Child("name"))...)
			errs = append(errs, duplicate(p.Name, names, path.Child("name"))...)
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(path.Child("containerPort"), ""))
		} else {
			errs = append(errs, invalid(p.ContainerPort, validation.IsValidPortNum(int(p.ContainerPort)), path.Child("containerPort"))...)
		}
		errs = append(errs, protocol(p.Protocol, path.Child("protocol"))...)
		// A create only warns, but server-side apply merges ports by both.
		errs = append(errs, duplicate(fmt.Sprintf("%d/%s", p.ContainerPort, orTCP(p.Protocol)), numbers, path)...)
	}
	return errs
}

func environment(c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, e := range c.Env {
		path := at.Child("env").Index(i)
		if e.Name == "" {
			errs = append(errs, field.Required(path.Child("name"), ""))
			continue
		}
		errs = append(errs, invalid(e.Name, validation.IsRelaxedEnvVarName(e.Name), path.Child("name"))...)
		// A create only warns, but server-side apply merges variables by name.
		errs = append(errs, duplicate(e.Name, names, path.Child("name"))...)
		if e.ValueFrom == nil {
			continue
		}
		if e.Value != "" {
			errs = append(errs, field.Invalid(path.Child("valueFrom"), "", "may not be specified when `value` is not empty"))
		}
		from := path.Child("valueFrom")
		if s := e.ValueFrom.SecretKeyRef; s != nil {
			errs = append(errs, append(required(s.Name, from.Child("secretKeyRef", "name")), required(s.Key, from.Child("secretKeyRef", "key"))...)...)
		}
		if m := e.ValueFrom.ConfigMapKeyRef; m != nil {
			errs = append(errs, append(required(m.Name, from.Child("configMapKeyRef", "name")), required(m.Key, from.Child("configMapKeyRef", "key"))...)...)
		}
		if f := e.ValueFrom.FieldRef; f != nil {
			errs = append(errs, required(f.FieldPath, from.Child("fieldRef", "fieldPath"))...)
		}
		if *e.ValueFrom == (corev1.EnvVarSource{}) {
			errs = append(errs, field.Invalid(from, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"))
		}
	}
	return errs
}

func volumeMounts(c *corev1.Container, volumes map[string]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	paths := map[string]bool{}
	for i, m := range c.VolumeMounts {
		path := at.Index(i)
		errs = append(errs, required(m.Name, path.Child("name"))...)
		if m.Name != "" && !volumes[m.Name] {
			errs = append(errs, field.NotFound(path.Child("name"), m.Name))
		}
		errs = append(errs, required(m.MountPath, path.Child("mountPath"))...)
		if paths[m.MountPath] {
			errs = append(errs, field.Invalid(path.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths[m.MountPath] = true
		if m.SubPath != "" && (strings.HasPrefix(m.SubPath, "/") || slices.Contains(strings.Split(m.SubPath, "/"), "..")) {
			errs = append(errs, field.Invalid(path.Child("subPath"), m.SubPath, "must be a relative path without '..'"))
		}
	}
	return errs
}

func resources(o *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		name  string
		items corev1.ResourceList
	}{{"limits", o.Limits}, {"requests", o.Requests}} {
		for name, quantity := range list.items {
			path := at.Child(list.name).Key(string(name))
			if quantity.Sign() < 0 {
				errs = append(errs, field.Invalid(path, quantity.String(), "must be greater than or equal to 0"))
			}
			if plain := string(name); !strings.Contains(plain, "/") && !strings.HasPrefix(plain, "hugepages-") && !slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, plain) {
				errs = append(errs, field.Invalid(path, plain, "must be a standard resource for containers"))
			}
		}
	}
	for name, request := range o.Requests {
		if limit, ok := o.Limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests"), request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}

// probe validates a probe; once means that its successThreshold must be 1.
func probe(p *corev1.Probe, once bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	handlers := 0
	if p.Exec != nil {
		handlers++
		if len(p.Exec.Command) == 0 {
			errs = append(errs, field.Required(at.Child("exec", "command"), ""))
		}
	}
	if p.HTTPGet != nil {
		handlers++
		errs = append(errs, port(p.HTTPGet.Port, at.Child("httpGet", "port"))...)
		errs = append(errs, oneOf(p.HTTPGet.Scheme, at.Child("httpGet", "scheme"), corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	}
	if p.TCPSocket != nil {
		handlers++
		errs = append(errs, port(p.TCPSocket.Port, at.Child("tcpSocket", "port"))...)
	}
	if p.GRPC != nil {
		handlers++
		errs = append(errs, port(intstr.FromInt32(p.GRPC.Port), at.Child("grpc", "port"))...)
	}
	switch {
	case handlers == 0:
		errs = append(errs, field.Required(at, "must specify a handler type"))
	case handlers > 1:
		errs = append(errs, field.Forbidden(at, "may not specify more than 1 handler type"))
	}
	for name, value := range map[string]int32{"initialDelaySeconds": p.InitialDelaySeconds, "timeoutSeconds": p.TimeoutSeconds, "periodSeconds": p.PeriodSeconds, "failureThreshold": p.FailureThreshold, "successThreshold": p.SuccessThreshold} {
		errs = append(errs, notNegative(&value, at.Child(name))...)
	}
	if once && p.SuccessThreshold > 1 {
		errs = append(errs, field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	return errs
}

func port(p intstr.IntOrString, at *field.Path) field.ErrorList {
	if p.Type == intstr.String {
		return invalid(p.StrVal, validation.IsValidPortName(p.StrVal), at)
	}
	return invalid(p.IntVal, validation.IsValidPortNum(int(p.IntVal)), at)
}

func protocol(p corev1.Protocol, at *field.Path) field.ErrorList {
	return oneOf(p, at, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
}

func orTCP(p corev1.Protocol) corev1.Protocol {
	if p == "" {
		return corev1.ProtocolTCP
	}
	return p
}

// newName validates a required DNS label that must be unique.
func newName(name string, seen map[string]bool, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return append(dnsLabel(name, at), duplicate(name, seen, at)...)
}

func dnsLabel(name string, at *field.Path) field.ErrorList {
	return invalid(name, validation.IsDNS1123Label(name), at)
}

func duplicate(key string, seen map[string]bool, at *field.Path) field.ErrorList {
	if seen[key] {
		return field.ErrorList{field.Duplicate(at, key)}
	}
	seen[key] = true
	return nil
}

func required(value string, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

func invalid(value any, messages []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(at, value, message))
	}
	return errs
}

// oneOf accepts an empty value, because the API server sets a default.
func oneOf[T ~string](value T, at *field.Path, allowed ...T) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, allowed)}
}

func notNegative(value *int32, at *field.Path) field.ErrorList {
	if value != nil && *value < 0 {
		return field.ErrorList{field.Invalid(at, *value, "must be greater than or equal to 0")}
	}
	return nil
}
