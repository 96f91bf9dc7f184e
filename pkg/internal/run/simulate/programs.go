package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Code is a program that a definition brings.
type Code struct {
	Name   string // as users know it: the command line, or with a Runner that uses images the image and the command line
	Digest string // of everything that the definition decides about it
}

// UserPrograms returns the programs that a runner runs and that definitions bring, sorted.
// argoperator's own programs are not among them.
func UserPrograms(objects []manifest.Object, runner Runner) []Code {
	configMaps := map[string]*corev1.ConfigMap{}
	for _, o := range objects {
		if c, ok := o.(*corev1.ConfigMap); ok {
			configMaps[c.Namespace+"/"+c.Name] = c
		}
	}
	var out []Code
	for _, o := range objects {
		var t wfv1.WorkflowTemplate
		switch o := o.(type) {
		case *wfv1.WorkflowTemplate:
			t = *o
		case *appsv1.Deployment:
			if !manifest.IsWorker(o) {
				continue
			}
			t.Namespace, t.Spec.Templates = o.Namespace, []wfv1.Template{argo.PodOf(o)}
		default:
			continue
		}
		for _, template := range t.Spec.Templates {
			code := coder{namespace: t.Namespace, spec: t.Spec, template: template, configMaps: configMaps, images: runner.Isolated()}
			for _, c := range allContainersOf(template) {
				if one := code.of(c); one.Digest != "" {
					out = append(out, one)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Code) int { return strings.Compare(a.Name+a.Digest, b.Name+b.Digest) })
	return slices.Compact(out)
}

// allContainersOf returns the containers of a template, also those that prepare others.
func allContainersOf(t wfv1.Template) []corev1.Container {
	out := containersOf(t)
	for _, c := range t.InitContainers {
		out = append(out, c.Container)
	}
	return out
}

// coder finds what a definition decides about the programs of a template.
type coder struct {
	namespace  string
	spec       wfv1.WorkflowSpec
	template   wfv1.Template
	configMaps map[string]*corev1.ConfigMap
	images     bool // the program that an image contains is the one that runs
}

// of returns the program of a container, as the template has it before values replace the
// parameters. It has no digest if it is argoperator's own.
func (c coder) of(container corev1.Container) Code {
	if c.own(container) && (!c.images || container.Image == definition.RuntimeImage) {
		return Code{}
	}
	files := map[string]map[string]string{}
	for _, m := range container.VolumeMounts {
		if data := c.files(m); data != nil {
			files[m.MountPath] = data
		}
	}
	command := slices.Concat(container.Command, container.Args)
	brought := []any{command, container.WorkingDir, container.Env, container.VolumeMounts, files}
	name := strings.Join(own(command), " ")
	if c.images {
		brought, name = append(brought, container.Image), container.Image+": "+name
	}
	data, err := json.Marshal(brought)
	if err != nil {
		panic(fmt.Sprintf("simulate: plain data does not encode: %v", err)) // unreachable
	}
	return Code{name, fmt.Sprintf("%x", sha256.Sum256(data))}
}

// files returns the files of a ConfigMap that a container mounts; nil: it is none.
func (c coder) files(m corev1.VolumeMount) map[string]string {
	for _, v := range slices.Concat(c.template.Volumes, c.spec.Volumes) {
		if v.Name != m.Name || v.ConfigMap == nil {
			continue
		}
		found := c.configMaps[c.namespace+"/"+v.ConfigMap.Name]
		if found == nil {
			return nil
		}
		data := map[string]string{}
		for _, item := range items(v.ConfigMap, found) {
			data[item.Path] = found.Data[item.Key]
		}
		return data
	}
	return nil
}

// own reports whether a container runs argoperator's own program.
func (c coder) own(container corev1.Container) bool {
	programs := map[string]string{}
	for _, m := range container.VolumeMounts {
		if m.MountPath == manifest.RuntimeDir || m.MountPath == manifest.WorkerDir {
			maps.Copy(programs, c.files(m))
		}
	}
	return len(programs) > 0 && c.hasToken(container) && manifest.RunsOnly(container, programs)
}

// own returns the user's part of a command that waits for other containers before.
func own(command []string) []string {
	if len(command) > 4 && command[0] == "sh" && command[3] == "logic" {
		return command[4:]
	}
	return command
}

// hasToken reports whether a container has the token of the pod's service account, which
// programs of users do not get: their containers mount another volume in its place. The
// pods of a worker mount it where it is needed only.
func (c coder) hasToken(container corev1.Container) bool {
	i := slices.IndexFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == credentials })
	if slices.ContainsFunc(c.template.Volumes, func(v corev1.Volume) bool { return v.Projected != nil }) {
		return i >= 0
	}
	return i < 0
}
