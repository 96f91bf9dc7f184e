package explain

import (
	"io"
	"strconv"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// StandingPods are pods that run all the time.
type StandingPods struct {
	Kind     string `json:"kind"` // of the object that they belong to
	Name     string `json:"name"`
	Replicas int    `json:"replicas"`
	Memory   int64  `json:"requestedMemory"` // of each, in bytes
}

// standingPods returns the pods of the objects.
func standingPods(objects []manifest.Object) []StandingPods {
	out := []StandingPods{}
	add := func(o manifest.Object, replicas *int32, resources ...corev1.ResourceRequirements) {
		one := StandingPods{Kind: o.GetObjectKind().GroupVersionKind().Kind, Name: o.GetName(), Replicas: 1}
		if replicas != nil {
			one.Replicas = int(*replicas)
		}
		for _, r := range resources {
			one.Memory += r.Requests.Memory().Value()
		}
		out = append(out, one)
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *eventsv1.EventSource:
			add(o, o.Spec.Replicas, resourcesOf(o.Spec.Template))
		case *eventsv1.Sensor:
			add(o, o.Spec.Replicas, resourcesOf(o.Spec.Template))
		case *appsv1.Deployment:
			var resources []corev1.ResourceRequirements
			for _, c := range o.Spec.Template.Spec.Containers {
				resources = append(resources, c.Resources)
			}
			add(o, o.Spec.Replicas, resources...)
		}
	}
	return out
}

func resourcesOf(t *eventsv1.Template) corev1.ResourceRequirements {
	if t == nil || t.Container == nil {
		return corev1.ResourceRequirements{}
	}
	return t.Container.Resources
}

func (p Printer) standing(w io.Writer, list []StandingPods) {
	if len(list) == 0 {
		return // a member of a group
	}
	p.heading(w, "PODS")
	pods, memory := 0, int64(0)
	var rows [][]string
	for _, one := range list {
		pods += one.Replicas
		memory += int64(one.Replicas) * one.Memory
		rows = append(rows, []string{one.Kind + " " + one.Name, strconv.Itoa(one.Replicas), mebibytes(one.Memory), ""})
	}
	terminal.Fprintf(w, "  %d that run all the time, with a memory request of %s\n", pods, mebibytes(memory))
	p.table(w, rows, 1, 2)
}

func mebibytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }
