package argo

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Worker is a Deployment whose pod reconciles.
type Worker struct {
	*appsv1.Deployment
	Pod Pod // in the form of a template
}

// workersIn returns the workers among the objects.
func workersIn(o Objects) []Worker {
	var out []Worker
	for _, d := range All[*appsv1.Deployment](o) {
		if !manifest.IsWorker(d) {
			continue
		}
		out = append(out, Worker{d, Pod{
			In: d, Path: field.NewPath("spec", "template", "spec"), Namespace: d.Namespace,
			Spec:     wfv1.WorkflowSpec{ServiceAccountName: d.Spec.Template.Spec.ServiceAccountName},
			Template: PodOf(d),
		}})
	}
	return out
}

// PodOf returns the pod of a Deployment in the form of a template.
func PodOf(d *appsv1.Deployment) wfv1.Template {
	set := &wfv1.ContainerSetTemplate{}
	for _, c := range d.Spec.Template.Spec.Containers {
		set.Containers = append(set.Containers, wfv1.ContainerNode{Container: c})
	}
	return wfv1.Template{Name: d.Name, Volumes: d.Spec.Template.Spec.Volumes, ContainerSet: set}
}

// script returns the program of the worker for the operator of a path; false if it does not
// run that operator.
func (w Worker) script(o Objects, path string) (Script, bool) {
	for _, s := range w.Pod.Scripts(o) {
		if s.Command == WorkerCommand && path == "/"+s.Config.Operator {
			return s, true
		}
	}
	return Script{}, false
}

// Texts returns the texts of the files in the worker's pod.
func (w Worker) Texts(o Objects) []string {
	var out []string
	for _, c := range w.Pod.Containers() {
		for _, files := range w.Pod.files(o, c) {
			out = slices.AppendSeq(out, maps.Values(files))
		}
	}
	return out
}

// Shown returns the specs of the Workflows in which the worker runs a reconcile to show it, by
// operator.
func (w Worker) Shown() map[string]wfv1.WorkflowSpec {
	out := map[string]wfv1.WorkflowSpec{}
	for _, c := range w.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == manifest.ShownVariable {
				_ = json.Unmarshal([]byte(e.Value), &out) // argoperator's own
			}
		}
	}
	return out
}

// HasPort reports whether a container of the worker has a port of that name.
func (w Worker) HasPort(name string) bool {
	return slices.ContainsFunc(w.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
	})
}

// PostsInCluster reports whether a trigger passes events on to a Service, instead of calling the
// API server.
func (t Trigger) PostsInCluster() bool {
	return t.Template.HTTP != nil && strings.HasPrefix(t.Template.HTTP.URL, "http://")
}

// Receiver returns the program that a trigger posts to, or why there is none among the objects:
// a Service selects the pods of a worker, which listens on that port and runs that operator.
func (o Objects) Receiver(t Trigger) (Script, string) {
	at, err := url.Parse(t.Template.HTTP.URL)
	if err != nil {
		return Script{}, err.Error()
	}
	host := strings.Split(at.Hostname(), ".")
	if len(host) != 3 || host[2] != "svc" {
		return Script{}, fmt.Sprintf("%q is no NAME.NAMESPACE.svc", at.Hostname())
	}
	service, ok := Find[*corev1.Service](o, host[1], host[0])
	if !ok {
		return Script{}, fmt.Sprintf("no Service %s in namespace %s", host[0], host[1])
	}
	for _, w := range o.Workers() {
		selects := labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(w.Spec.Template.Labels))
		if w.Namespace != service.Namespace || !selects || !w.listens(service, at.Port()) {
			continue
		}
		script, runs := w.script(o, at.Path)
		if !runs {
			return Script{}, fmt.Sprintf("Deployment %s does not run an operator %q", w.Name, strings.TrimPrefix(at.Path, "/"))
		}
		return script, ""
	}
	return Script{}, fmt.Sprintf("Service %s has no port %s of a worker", service.Name, at.Port())
}

// listens reports whether a port of a Service is a named one of the containers.
func (w Worker) listens(service *corev1.Service, port string) bool {
	return slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool {
		return fmt.Sprint(p.Port) == port && w.HasPort(p.TargetPort.StrVal)
	})
}
