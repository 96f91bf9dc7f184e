package argo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Pod is a template of a Workflow that runs as a pod.
type Pod struct {
	In        manifest.Object // the object with the template
	Path      *field.Path     // of the template in In
	Namespace string
	Spec      wfv1.WorkflowSpec // the effective spec
	Template  wfv1.Template
}

// Account returns the service account of the pod.
func (p Pod) Account() string {
	return cmp.Or(p.Template.ServiceAccountName, p.Spec.ServiceAccountName, "default")
}

// Executor returns the service account of Argo's own containers.
func (p Pod) Executor() string {
	for _, e := range []*wfv1.ExecutorConfig{p.Template.Executor, p.Spec.Executor} {
		if e != nil && e.ServiceAccountName != "" {
			return e.ServiceAccountName
		}
	}
	return p.Account()
}

// Volumes returns the volumes of the pod: the template's own, and those of the
// Workflow that a container mounts. Like Argo it ignores the mounts of containers
// in a set.
func (p Pod) Volumes() []corev1.Volume {
	out := slices.Clone(p.Template.Volumes)
	mounts := p.Template.GetVolumeMounts()
	init, sidecars := p.others()
	for _, c := range slices.Concat(init, sidecars) {
		mounts = append(slices.Clone(mounts), c.VolumeMounts...)
	}
	for _, v := range p.Spec.Volumes {
		mounted := slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		own := slices.ContainsFunc(out, func(o corev1.Volume) bool { return o.Name == v.Name })
		if mounted && !own {
			out = append(out, v)
		}
	}
	return out
}

// mains returns the main containers of the template.
func (p Pod) mains() []corev1.Container {
	var out []corev1.Container
	switch t := p.Template; {
	case t.Container != nil:
		out = append(out, named(*t.Container, common.MainContainerName))
	case t.ContainerSet != nil:
		for _, c := range t.ContainerSet.Containers {
			c.VolumeMounts = slices.Concat(c.VolumeMounts, t.ContainerSet.VolumeMounts)
			out = append(out, c.Container)
		}
	case t.Script != nil:
		out = append(out, named(t.Script.Container, common.MainContainerName))
	}
	return out
}

// others returns the init containers and sidecars.
func (p Pod) others() (init, sidecars []corev1.Container) {
	for _, c := range p.Template.InitContainers {
		init = append(init, c.Container)
	}
	for _, c := range p.Template.Sidecars {
		sidecars = append(sidecars, c.Container)
	}
	return init, sidecars
}

// Containers returns all containers of the template.
func (p Pod) Containers() []corev1.Container {
	init, sidecars := p.others()
	return slices.Concat(p.mains(), init, sidecars)
}

func named(c corev1.Container, name string) corev1.Container {
	c.Name = name
	return c
}

// PodSpec returns the pod that Argo's controller creates, as far as admission
// depends on it: an init container always, a wait container unless the executor is
// the main container, both without a security context unless the template is a
// resource; then the patches, the Workflow's before the template's.
func (p Pod) PodSpec() (*corev1.PodSpec, error) {
	init, sidecars := p.others()
	spec := corev1.PodSpec{
		RestartPolicy:      corev1.RestartPolicyNever,
		ServiceAccountName: p.Account(),
		SecurityContext:    p.Spec.SecurityContext,
		Volumes:            p.Volumes(),
		InitContainers:     append([]corev1.Container{p.executorContainer(common.InitContainerName)}, init...),
	}
	spec.NodeSelector, spec.Affinity = p.Spec.NodeSelector, p.Spec.Affinity
	if len(p.Template.NodeSelector) > 0 {
		spec.NodeSelector = p.Template.NodeSelector
	}
	if p.Template.Affinity != nil {
		spec.Affinity = p.Template.Affinity
	}
	spec.Tolerations = p.Spec.Tolerations
	if len(p.Template.Tolerations) > 0 {
		spec.Tolerations = p.Template.Tolerations
	}
	spec.ImagePullSecrets, spec.HostAliases = p.Spec.ImagePullSecrets, slices.Concat(p.Spec.HostAliases, p.Template.HostAliases)
	spec.DNSConfig, spec.PriorityClassName = p.Spec.DNSConfig, cmp.Or(p.Template.PriorityClassName, p.Spec.PodPriorityClassName)
	if p.Spec.DNSPolicy != nil {
		spec.DNSPolicy = *p.Spec.DNSPolicy
	}
	if p.Template.SecurityContext != nil {
		spec.SecurityContext = p.Template.SecurityContext
	}
	if p.Spec.HostNetwork != nil {
		spec.HostNetwork = *p.Spec.HostNetwork
	}
	if p.Template.Resource == nil && p.Template.Data == nil {
		spec.Containers = append(spec.Containers, p.executorContainer(common.WaitContainerName))
		spec.Containers = append(spec.Containers, p.mains()...)
	} else {
		spec.Containers = append(spec.Containers, p.executorContainer(common.MainContainerName))
	}
	spec.Containers = append(spec.Containers, sidecars...)
	return patched(spec, p.Spec.PodSpecPatch, p.Template.PodSpecPatch)
}

// executorContainer returns a container that Argo adds with its default configuration.
func (p Pod) executorContainer(name string) corev1.Container {
	c := corev1.Container{Name: name, Image: "argoexec"}
	if p.Template.Resource != nil {
		c.SecurityContext = common.MinimalCtrSC()
	}
	return c
}

func patched(spec corev1.PodSpec, patches ...string) (*corev1.PodSpec, error) {
	if strings.Join(patches, "") == "" {
		return spec.DeepCopy(), nil
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encoding a pod: %w", err)
	}
	for _, patch := range patches {
		if patch == "" {
			continue
		}
		text, err := yaml.YAMLToJSONStrict([]byte(patch))
		if err != nil {
			return nil, fmt.Errorf("reading podSpecPatch: %w", err)
		}
		if data, err = strategicpatch.StrategicMergePatch(data, text, corev1.PodSpec{}); err != nil {
			return nil, fmt.Errorf("applying podSpecPatch: %w", err)
		}
	}
	out := &corev1.PodSpec{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("applying podSpecPatch: %w", err)
	}
	return out, nil
}

// EventsPod returns the pod that Argo's controller creates for an EventSource or a
// Sensor.
func EventsPod(t *eventsv1.Template) *corev1.PodSpec {
	spec := &corev1.PodSpec{
		Volumes:    []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{Name: "main", Image: "argo-events"}},
	}
	if t == nil {
		return spec
	}
	t.Container.ApplyToContainer(&spec.Containers[0])
	spec.ServiceAccountName = t.ServiceAccountName
	spec.SecurityContext = t.SecurityContext
	spec.Volumes = append(spec.Volumes, t.Volumes...)
	return spec
}

// podsIn returns the pods of all Workflows, each template once for each launch.
func podsIn(o Objects) []Pod {
	var out []Pod
	for _, l := range o.Launches() {
		out = append(out, l.Pods()...)
	}
	return out
}
