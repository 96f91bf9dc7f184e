package builtin

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func podRules(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	volumes, errs := volumesOf(o, at.Child("volumes"))
	names := map[string]bool{}
	for i := range o.Containers {
		c, path := &o.Containers[i], at.Child("containers").Index(i)
		errs = append(errs, container(c, names, volumes, path)...)
		if c.RestartPolicy != nil {
			errs = append(errs, newer(path.Child("restartPolicy"), "1.35", "ContainerRestartRules"))
		}
		errs = append(errs, probes(c, path)...)
		errs = append(errs, sleeps(c, o.TerminationGracePeriodSeconds, path.Child("lifecycle"))...)
	}
	for i := range o.InitContainers {
		errs = append(errs, initContainer(&o.InitContainers[i], names, volumes, at.Child("initContainers").Index(i))...)
	}
	if len(o.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	errs = append(errs, hostPorts(o, at)...)
	errs = append(errs, tolerations(o.Tolerations, at.Child("tolerations"))...)
	if o.DNSPolicy == corev1.DNSNone && (o.DNSConfig == nil || len(o.DNSConfig.Nameservers) == 0) {
		errs = append(
			errs,
			field.Required(at.Child("dnsConfig", "nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None"),
		)
	}
	if o.ServiceAccountName == "" {
		errs = append(errs, ifNotEmpty(subdomain)(reflect.ValueOf(o.DeprecatedServiceAccount), at.Child("serviceAccount"))...)
	}
	errs = append(errs, hostNamespaces(o, at)...)
	errs = append(errs, hostSysctls(o, at.Child("securityContext", "sysctls"))...)
	errs = append(errs, otherSystem(o, at)...)
	return append(errs, resourceValues("limits", o.Overhead, at.Child("overhead"))...)
}

// hostNamespaces validates what a pod shares with its node.
func hostNamespaces(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.ShareProcessNamespace != nil && *o.ShareProcessNamespace && o.HostPID {
		errs = append(
			errs,
			field.Invalid(at.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"),
		)
	}
	if o.HostUsers != nil && !*o.HostUsers && (o.HostNetwork || o.HostPID || o.HostIPC) {
		errs = append(errs, field.Forbidden(at.Child("hostUsers"), "may not be false for a pod in a namespace of the host"))
	}
	hosted := func(w *corev1.WindowsSecurityContextOptions) bool {
		return w != nil && w.HostProcess != nil && *w.HostProcess
	}
	inContainer := slices.ContainsFunc(slices.Concat(o.InitContainers, o.Containers), func(c corev1.Container) bool {
		return c.SecurityContext != nil && hosted(c.SecurityContext.WindowsOptions)
	})
	if !o.HostNetwork && (inContainer || o.SecurityContext != nil && hosted(o.SecurityContext.WindowsOptions)) {
		errs = append(
			errs,
			field.Invalid(at.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"),
		)
	}
	return errs
}

// hostSysctls validates the parameters of namespaces that the pod shares with its node.
func hostSysctls(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	if o.SecurityContext == nil {
		return nil
	}
	ofIPC := []string{
		"kernel.sem", "kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
		"kernel.msg", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni",
	}
	var errs field.ErrorList
	for i, s := range o.SecurityContext.Sysctls {
		name := strings.ReplaceAll(s.Name, "/", ".")
		switch path := at.Index(i).Child("name"); {
		case o.HostNetwork && strings.HasPrefix(name, "net."):
			errs = append(errs, field.Invalid(path, s.Name, "may not be specified when 'hostNetwork' is true"))
		case o.HostIPC && (slices.Contains(ofIPC, name) || strings.HasPrefix(name, "fs.mqueue.")):
			errs = append(errs, field.Invalid(path, s.Name, "may not be specified when 'hostIPC' is true"))
		}
	}
	return errs
}

// otherSystem validates that a pod for Linux has no options of Windows.
func otherSystem(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	if o.OS == nil || o.OS.Name != corev1.Linux {
		return nil
	}
	const message = "windows options cannot be set for a " + string(corev1.Linux) + " pod"
	var errs field.ErrorList
	if s := o.SecurityContext; s != nil && s.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), message))
	}
	for name, containers := range map[string][]corev1.Container{"initContainers": o.InitContainers, "containers": o.Containers} {
		for i, c := range containers {
			if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
				errs = append(errs, field.Forbidden(at.Child(name).Index(i).Child("securityContext", "windowsOptions"), message))
			}
		}
	}
	return errs
}

func initContainer(c *corev1.Container, names map[string]bool, volumes map[string]corev1.Volume, at *field.Path) field.ErrorList {
	errs := container(c, names, volumes, at)
	if c.RestartPolicy != nil {
		errs = append(errs, among("Always")(valueOf(c.RestartPolicy), at.Child("restartPolicy"))...)
	}
	if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
		return append(errs, probes(c, at)...)
	}
	for _, only := range []struct {
		name string
		set  bool
	}{
		{"lifecycle", c.Lifecycle != nil && c.Lifecycle.StopSignal == nil},
		{"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil},
		{"startupProbe", c.StartupProbe != nil},
	} {
		if only.set {
			errs = append(errs, field.Forbidden(at.Child(only.name), "may not be set for init containers without restartPolicy=Always"))
		}
	}
	return errs
}

// hostPorts validates the ports of the node that a pod uses.
func hostPorts(o *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, c := range o.Containers {
		for j, p := range c.Ports {
			path := at.Child("containers").Index(i).Child("ports").Index(j).Child("hostPort")
			switch {
			case p.HostPort == 0:
				continue
			case o.HostNetwork && p.HostPort != p.ContainerPort:
				errs = append(errs, field.Invalid(path, p.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
			errs = append(errs, duplicate(fmt.Sprintf("%s/%s/%d", orTCP(p.Protocol), p.HostIP, p.HostPort), seen, path)...)
		}
	}
	return errs
}

func tolerations(list []corev1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range list {
		path := at.Index(i)
		operator := path.Child("operator")
		errs = append(errs, oneOf(t.Operator, operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)...)
		errs = append(
			errs,
			oneOf(
				t.Effect,
				path.Child("effect"),
				corev1.TaintEffectNoSchedule,
				corev1.TaintEffectPreferNoSchedule,
				corev1.TaintEffectNoExecute,
			)...)
		if t.Key != "" {
			errs = append(errs, invalid(t.Key, labelKey(t.Key), path.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(operator, t.Operator, "operator must be Exists when `key` is empty, which means \"match "+
				"all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(path.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case "", corev1.TolerationOpEqual:
			errs = append(errs, invalid(t.Value, validation.IsValidLabelValue(t.Value), operator)...)
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(operator, t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		}
	}
	return errs
}

// volumesOf checks the volumes and returns them by their names.
func volumesOf(o *corev1.PodSpec, at *field.Path) (volumes map[string]corev1.Volume, errs field.ErrorList) {
	names := map[string]bool{}
	volumes = map[string]corev1.Volume{}
	for i, v := range o.Volumes {
		path := at.Index(i)
		volumes[v.Name] = v
		if v.Name != "" {
			errs = append(errs, duplicate(v.Name, names, path.Child("name"))...)
		}
		if v.Image != nil {
			errs = append(errs, newer(path.Child("image"), "1.35", "ImageVolume"))
		}
		errs = append(errs, union(v.VolumeSource, path, "", "may not specify more than 1 volume type")...)
		if v.Projected != nil {
			errs = append(errs, projections(v.Projected, path.Child("projected"))...)
		}
	}
	return volumes, errs
}

func projections(o *corev1.ProjectedVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	paths := map[string]bool{}
	for i, source := range o.Sources {
		errs = append(errs, union(source, at.Child("sources").Index(i), "", "may not specify more than 1 volume type per source")...)
		var items []string
		if source.Secret != nil {
			items = pathsOf(source.Secret.Items)
		}
		if source.ConfigMap != nil {
			items = append(items, pathsOf(source.ConfigMap.Items)...)
		}
		if source.DownwardAPI != nil {
			for _, item := range source.DownwardAPI.Items {
				items = append(items, item.Path)
			}
		}
		for _, item := range items {
			if paths[item] && item != "" {
				errs = append(errs, field.Invalid(at, item, "conflicting duplicate paths"))
			}
			paths[item] = true
		}
	}
	return errs
}

func pathsOf(items []corev1.KeyToPath) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.Path)
	}
	return out
}

// container validates what containers and init containers have in common.
func container(c *corev1.Container, names map[string]bool, volumes map[string]corev1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Name != "" {
		errs = duplicate(c.Name, names, at.Child("name"))
	}
	errs = append(errs, containerPorts(c.Ports, at.Child("ports"))...)
	errs = append(errs, environment(c, at)...)
	errs = append(errs, volumeMounts(c, volumes, at)...)
	errs = append(errs, resources(&c.Resources, at.Child("resources"))...)
	errs = append(errs, privileges(c, at.Child("securityContext"))...)
	for name, handler := range hooks(c) {
		errs = append(
			errs,
			union(*handler, at.Child("lifecycle", name), "must specify a handler type", "may not specify more than 1 handler type")...)
	}
	return errs
}

// hooks yields the handlers of a container's lifecycle by their names.
func hooks(c *corev1.Container) iter.Seq2[string, *corev1.LifecycleHandler] {
	return func(yield func(string, *corev1.LifecycleHandler) bool) {
		if c.Lifecycle == nil || c.Lifecycle.PostStart != nil && !yield("postStart", c.Lifecycle.PostStart) {
			return
		}
		if c.Lifecycle.PreStop != nil {
			yield("preStop", c.Lifecycle.PreStop)
		}
	}
}

// sleeps validates that a container sleeps no longer than it has to stop.
func sleeps(c *corev1.Container, grace *int64, at *field.Path) field.ErrorList {
	limit := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if grace != nil {
		limit = *grace
	}
	var errs field.ErrorList
	for name, handler := range hooks(c) {
		if handler.Sleep != nil && handler.Sleep.Seconds > limit {
			errs = append(
				errs,
				field.Invalid(
					at.Child(name, "sleep"),
					handler.Sleep.Seconds,
					fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", limit),
				),
			)
		}
	}
	return errs
}

func privileges(c *corev1.Container, at *field.Path) field.ErrorList {
	s := c.SecurityContext
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		if s.Privileged != nil && *s.Privileged {
			errs = append(errs, field.Invalid(at, "privileged", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		if s.Capabilities != nil &&
			slices.ContainsFunc(s.Capabilities.Add, func(c corev1.Capability) bool { return c == "CAP_SYS_ADMIN" }) {
			errs = append(
				errs,
				field.Invalid(at, "CAP_SYS_ADMIN", "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"),
			)
		}
	}
	return errs
}

func probes(c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, p := range []struct {
		name  string
		probe *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if p.probe == nil {
			continue
		}
		path := at.Child(p.name)
		errs = append(errs, union(p.probe.ProbeHandler, path, "must specify a handler type", "may not specify more than 1 handler type")...)
		readiness := p.name == "readinessProbe"
		if !readiness && p.probe.SuccessThreshold > 1 {
			errs = append(errs, field.Invalid(path.Child("successThreshold"), p.probe.SuccessThreshold, "must be 1"))
		}
		if readiness && p.probe.TerminationGracePeriodSeconds != nil {
			errs = append(
				errs,
				field.Invalid(
					path.Child("terminationGracePeriodSeconds"),
					*p.probe.TerminationGracePeriodSeconds,
					"must not be set for readinessProbes",
				),
			)
		}
	}
	return errs
}

func containerPorts(ports []corev1.ContainerPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, numbers := map[string]bool{}, map[string]bool{}
	for i, p := range ports {
		path := at.Index(i)
		if p.Name != "" {
			errs = append(errs, duplicate(p.Name, names, path.Child("name"))...)
		}
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
		if e.Name != "" { // a create only warns, but server-side apply merges variables by name
			errs = append(errs, duplicate(e.Name, names, path.Child("name"))...)
		}
		if e.ValueFrom == nil {
			continue
		}
		from := path.Child("valueFrom")
		switch set := setFields(*e.ValueFrom); {
		case set == 0:
			errs = append(
				errs,
				field.Invalid(from, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"),
			)
		case e.Value != "":
			errs = append(errs, field.Invalid(from, "", "may not be specified when `value` is not empty"))
		case set > 1:
			errs = append(errs, field.Invalid(from, "", "may not have more than one field specified at a time"))
		}
		errs = append(errs, podField(e.ValueFrom.FieldRef, envFields, from.Child("fieldRef"))...)
		errs = append(errs, resourceField(e.ValueFrom.ResourceFieldRef, false, from.Child("resourceFieldRef"))...)
	}
	for i, e := range c.EnvFrom {
		path := at.Child("envFrom").Index(i)
		switch setFields(e) {
		case 0:
			errs = append(errs, field.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
		case 2:
			errs = append(errs, field.Invalid(path, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

// The fields of a pod that variables and files may read.
var (
	envFields = []string{
		"metadata.name",
		"metadata.namespace",
		"metadata.uid",
		"spec.nodeName",
		"spec.serviceAccountName",
		"status.hostIP",
		"status.hostIPs",
		"status.podIP",
		"status.podIPs",
	}
	fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
)

func podField(o *corev1.ObjectFieldSelector, fields []string, at *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	if o.APIVersion != "" && o.APIVersion != "v1" {
		return field.ErrorList{field.Invalid(at.Child("fieldPath"), o.FieldPath, fmt.Sprintf("unsupported pod version: %s", o.APIVersion))}
	}
	path := at.Child("fieldPath")
	name, subscripted := strings.CutSuffix(o.FieldPath, "']")
	name, key, _ := strings.Cut(name, "['")
	switch {
	case o.FieldPath == "":
		return field.ErrorList{field.Required(path, "")}
	case subscripted && name == "metadata.labels":
		return invalid(key, validation.IsQualifiedName(key), path)
	case subscripted && name == "metadata.annotations":
		return invalid(key, validation.IsQualifiedName(strings.ToLower(key)), path)
	case o.FieldPath == "spec.host": // the former name of spec.nodeName
	case !slices.Contains(fields, o.FieldPath):
		return field.ErrorList{field.NotSupported(path, o.FieldPath, fields)}
	}
	return nil
}

var resourceFields = []string{
	"limits.cpu",
	"limits.ephemeral-storage",
	"limits.memory",
	"requests.cpu",
	"requests.ephemeral-storage",
	"requests.memory",
}

func resourceField(o *corev1.ResourceFieldSelector, file bool, at *field.Path) field.ErrorList {
	switch {
	case o == nil:
		return nil
	case file && o.ContainerName == "":
		return field.ErrorList{field.Required(at.Child("containerName"), "")}
	case o.Resource == "":
		return field.ErrorList{field.Required(at.Child("resource"), "")}
	}
	_, name, _ := strings.Cut(o.Resource, ".")
	if !slices.Contains(resourceFields, o.Resource) && !strings.HasPrefix(name, "hugepages-") {
		return field.ErrorList{field.NotSupported(at.Child("resource"), o.Resource, resourceFields)}
	}
	divisors := []string{"0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	if name == "cpu" {
		divisors = []string{"0", "1m", "1"}
	}
	if !slices.Contains(divisors, o.Divisor.String()) {
		return field.ErrorList{
			field.Invalid(at.Child("divisor"), o.Divisor.String(), "only "+strings.Join(divisors[1:], ", ")+" are supported with "+name),
		}
	}
	return nil
}

func downwardFile(o *corev1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	errs := podField(o.FieldRef, fileFields, at.Child("fieldRef"))
	errs = append(errs, resourceField(o.ResourceFieldRef, true, at.Child("resourceFieldRef"))...)
	switch {
	case o.FieldRef == nil && o.ResourceFieldRef == nil:
		errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
	case o.FieldRef != nil && o.ResourceFieldRef != nil:
		errs = append(errs, field.Invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
	}
	return errs
}

func volumeMounts(c *corev1.Container, volumes map[string]corev1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	privileged := c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	paths := map[string]bool{}
	for i, m := range c.VolumeMounts {
		path := at.Child("volumeMounts").Index(i)
		errs = append(errs, declared(m.Name, volumes, path)...)
		if paths[m.MountPath] {
			errs = append(errs, field.Invalid(path.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths[m.MountPath] = true
		if m.SubPath != "" && m.SubPathExpr != "" {
			errs = append(errs, field.Invalid(path.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
		}
		if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationBidirectional && !privileged {
			errs = append(
				errs,
				field.Forbidden(
					path.Child("mountPropagation"),
					"Bidirectional mount propagation is available only to privileged containers",
				),
			)
		}
		errs = append(errs, recursiveReadOnly(&m, path.Child("recursiveReadOnly"))...)
	}
	for i, d := range c.VolumeDevices {
		path := at.Child("volumeDevices").Index(i)
		errs = append(errs, declared(d.Name, volumes, path)...)
		if v, known := volumes[d.Name]; known && v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			message := "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
			errs = append(errs, field.Invalid(path.Child("name"), d.Name, message))
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }) {
			errs = append(errs, field.Invalid(path.Child("name"), d.Name, "must not already exist in volumeMounts"))
		}
		if paths[d.DevicePath] {
			errs = append(errs, field.Invalid(path.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
	}
	return errs
}

// declared validates the name of a volume that a container uses.
func declared(name string, volumes map[string]corev1.Volume, at *field.Path) field.ErrorList {
	if _, known := volumes[name]; name != "" && !known {
		return field.ErrorList{field.NotFound(at.Child("name"), name)}
	}
	return nil
}

func recursiveReadOnly(m *corev1.VolumeMount, at *field.Path) field.ErrorList {
	if m.RecursiveReadOnly == nil {
		return nil
	}
	errs := among("Disabled", "Enabled", "IfPossible")(valueOf(m.RecursiveReadOnly), at)
	if *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return errs
	}
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

func resources(o *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	errs := append(resourceValues("limits", o.Limits, at), resourceValues("requests", o.Requests, at)...)
	for name, request := range o.Requests {
		limit, ok := o.Limits[name]
		switch {
		case !ok && !overcommits(name):
			errs = append(errs, field.Required(at.Child("limits"), "Limit must be set for non overcommitable resources"))
		case ok && !overcommits(name) && request.Cmp(limit) != 0:
			errs = append(
				errs,
				field.Invalid(at.Child("requests"), request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())),
			)
		case ok && request.Cmp(limit) > 0:
			errs = append(
				errs,
				field.Invalid(
					at.Child("requests"),
					request.String(),
					fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()),
				),
			)
		}
	}
	return append(errs, hugePages(o, at)...)
}

// hugePages validates that a container with huge pages has other resources.
func hugePages(o *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	huge, other := false, false
	for _, list := range []corev1.ResourceList{o.Limits, o.Requests} {
		for name := range list {
			huge = huge || strings.HasPrefix(string(name), "hugepages-")
			other = other || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	if huge && !other {
		return field.ErrorList{field.Forbidden(at, "HugePages require cpu or memory")}
	}
	return nil
}

// resourceValues validates the names and quantities of resources of a container.
func resourceValues(list string, items corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, quantity := range items {
		path := at.Child(list).Key(string(name))
		errs = append(errs, invalid(string(name), containerResource(string(name)), path)...)
		errs = append(errs, quantityOf(name, quantity, path)...)
	}
	return errs
}

func quantityOf(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	switch {
	case q.Sign() < 0:
		return field.ErrorList{field.Invalid(at, q.String(), "must be greater than or equal to 0")}
	case whole(name) && q.MilliValue()%1000 != 0:
		return field.ErrorList{field.Invalid(at, q.String(), "must be an integer")}
	}
	return nil
}

func orTCP(p corev1.Protocol) corev1.Protocol {
	if p == "" {
		return corev1.ProtocolTCP
	}
	return p
}

func seccomp(o *corev1.SeccompProfile, at *field.Path) field.ErrorList {
	path := at.Child("localhostProfile")
	switch local := o.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && o.LocalhostProfile == nil:
		return field.ErrorList{field.Required(path, "must be set when seccomp type is Localhost")}
	case local:
		return invalid(*o.LocalhostProfile, relative(*o.LocalhostProfile), path)
	case o.LocalhostProfile != nil:
		return field.ErrorList{field.Invalid(path, *o.LocalhostProfile, "can only be set when seccomp type is Localhost")}
	}
	return nil
}

func appArmor(o *corev1.AppArmorProfile, at *field.Path) field.ErrorList {
	path := at.Child("localhostProfile")
	switch local := o.Type == corev1.AppArmorProfileTypeLocalhost; {
	case local && (o.LocalhostProfile == nil || *o.LocalhostProfile == ""):
		return field.ErrorList{field.Required(path, "must be set when AppArmor type is Localhost")}
	case local && strings.TrimSpace(*o.LocalhostProfile) != *o.LocalhostProfile:
		return field.ErrorList{field.Invalid(path, *o.LocalhostProfile, "must not be padded with whitespace")}
	case !local && o.Type != "" && o.LocalhostProfile != nil:
		return field.ErrorList{field.Invalid(path, *o.LocalhostProfile, "can only be set when AppArmor type is Localhost")}
	}
	return nil
}

func nodeRequirement(o *corev1.NodeSelectorRequirement, at *field.Path) field.ErrorList {
	path := at.Child("values")
	switch o.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(o.Values) == 0 {
			return field.ErrorList{field.Required(path, "must be specified when `operator` is 'In' or 'NotIn'")}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(o.Values) > 0 {
			return field.ErrorList{field.Forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")}
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(o.Values) != 1 {
			return field.ErrorList{field.Required(path, "must be specified single value when `operator` is 'Lt' or 'Gt'")}
		}
	default:
		return field.ErrorList{field.Invalid(at.Child("operator"), o.Operator, "not a valid selector operator")}
	}
	return nil
}

// nodeFields validates that only the name of a node is selected by a field.
func nodeFields(o *corev1.NodeSelectorTerm, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, requirement := range o.MatchFields {
		if requirement.Key != metav1.ObjectNameField {
			path := at.Child("matchFields").Index(i).Child("key")
			errs = append(errs, field.Invalid(path, requirement.Key, "not a valid field selector key"))
		}
	}
	return errs
}

// requiredNodes validates the values of labels, which the API server only does for
// required terms.
func requiredNodes(o *corev1.NodeSelector, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, term := range o.NodeSelectorTerms {
		for j, requirement := range term.MatchExpressions {
			for k, value := range requirement.Values {
				path := at.Child("nodeSelectorTerms").Index(i).Child("matchExpressions").Index(j).Child("values").Index(k)
				errs = append(errs, invalid(value, validation.IsValidLabelValue(value), path)...)
			}
		}
	}
	return errs
}

func spread(o *corev1.TopologySpreadConstraint, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.MinDomains != nil && o.WhenUnsatisfiable != corev1.DoNotSchedule {
		errs = append(
			errs,
			field.Invalid(at.Child("minDomains"), *o.MinDomains, "can only use minDomains if whenUnsatisfiable=DoNotSchedule"),
		)
	}
	return append(errs, matchKeys(o.MatchLabelKeys, o.LabelSelector, at.Child("matchLabelKeys"))...)
}

func affinityTerm(o *corev1.PodAffinityTerm, at *field.Path) field.ErrorList {
	errs := matchKeys(o.MatchLabelKeys, o.LabelSelector, at.Child("matchLabelKeys"))
	return append(errs, matchKeys(o.MismatchLabelKeys, o.LabelSelector, at.Child("mismatchLabelKeys"))...)
}

func matchKeys(keys []string, selector *metav1.LabelSelector, at *field.Path) field.ErrorList {
	if len(keys) > 0 && selector == nil {
		return field.ErrorList{field.Forbidden(at, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, invalid(key, labelKey(key), at.Index(i))...)
	}
	return errs
}
