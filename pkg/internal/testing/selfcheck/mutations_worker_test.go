package selfcheck

import (
	"slices"
	"strings"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

const (
	workerDeployment = "Deployment/web-worker"
	workerMonitored  = "  reconcile: {engine: worker}\n  install: {monitoring: {podMonitor: true, prometheusRule: true}}\n"
)

// workerMutations introduce errors into a valid operator of the worker engine.
func workerMutations() []directMutation {
	return slices.Concat(postMutations(), workerPodMutations(), shownMutations(), workerMonitoringMutations())
}

func postMutations() []directMutation {
	return []directMutation{
		{name: "Service without pods", reason: "no worker gets events", worker: true, mutate: func(d *direct) {
			only[*corev1.Service](d).Spec.Selector = map[string]string{"app": "other"}
		}, code: codeRequest, object: webSensor, path: webHTTP + ".url"},
		{name: "Service of another port", reason: "nothing answers", worker: true, mutate: func(d *direct) {
			only[*corev1.Service](d).Spec.Ports[0].TargetPort = intstr.FromString("web")
		}, code: codeRequest, object: webSensor, path: webHTTP + ".url"},
		{name: "missing Service", reason: "its name does not resolve", worker: true, mutate: func(d *direct) {
			d.remove(func(o manifest.Object) bool { _, is := o.(*corev1.Service); return is })
		}, code: codeRequest, object: webSensor, path: webHTTP + ".url"},
		{name: "another operator", reason: "the worker ignores its events", worker: true, mutate: func(d *direct) {
			d.http().URL += "s"
		}, code: codeRequest, object: webSensor, path: webHTTP + ".url"},
		{name: "missing event", reason: "the worker gets nothing", worker: true, mutate: func(d *direct) {
			d.http().Payload = d.http().Payload[1:]
		}, code: codeRequest, object: webSensor, path: webHTTP + ".payload"},
		{name: "token for the worker", reason: "it needs none, and it would travel in the open", worker: true, mutate: func(d *direct) {
			d.http().Headers = map[string]string{"Authorization": "x"}
		}, code: codeRequest, object: webSensor, path: webHTTP},
		{name: "patient Sensor", reason: "a worker that is gone would hold up the events", worker: true, mutate: func(d *direct) {
			d.http().Timeout = 60
		}, code: codeTimeout, object: webSensor, path: webHTTP + ".timeout"},
		{name: "event that the worker does not know", reason: "the worker ignores it", worker: true, mutate: func(d *direct) {
			d.replaceJQ("event: {$key", "event: {name: $key")
		}, code: codeRequest, object: webSensor, path: webJQ},
		{name: "worker without a resync", reason: "what the bus has lost stays lost", worker: true, mutate: func(d *direct) {
			d.configure(`"resyncSeconds": 1800`, `"resyncSeconds": 0`)
		}, code: codeResync, object: webSensor},
		{name: "worker of other Sensors", reason: "nobody replaces the pods of this one", worker: true, mutate: func(d *direct) {
			d.configure(`"sensors": ["web"]`, `"sensors": ["other"]`)
		}, code: codeResync, object: webSensor},
		{name: "worker of another EventSource", reason: "nobody replaces its pods", worker: true, mutate: func(d *direct) {
			d.configure(`"eventSource": "web"`, `"eventSource": "other"`)
		}, code: codeResync, object: webSensor},
	}
}

func workerPodMutations() []directMutation {
	pod := func(d *direct) *corev1.PodSpec { return &only[*appsv1.Deployment](d).Spec.Template.Spec }
	return []directMutation{
		{name: "worker of an unknown account", reason: "its pod would not be created", worker: true, mutate: func(d *direct) {
			pod(d).ServiceAccountName = "other"
		}, code: codeServiceAccount, object: workerDeployment, path: "spec.template.spec.serviceAccountName"},
		{name: "worker with the account of the Sensor", reason: "each would have the rights of both", worker: true, mutate: func(d *direct) {
			pod(d).ServiceAccountName = "web-sensor"
		}, code: codeSharedServiceAccount, object: workerDeployment, path: "spec.template.spec.serviceAccountName"},
		{name: "privileged worker", reason: "the restricted Pod Security Standard refuses it", worker: true, mutate: func(d *direct) {
			pod(d).Containers[0].SecurityContext = nil
		}, code: codePodSecurity, object: workerDeployment, path: "spec.template.spec"},
		{name: "worker without its program", reason: "the pod would wait for the ConfigMap", worker: true, mutate: func(d *direct) {
			pod(d).Volumes[0].ConfigMap.Name = "other"
		}, code: codeConfigMap, object: workerDeployment, path: "spec.template.spec"},
		{name: "worker that mounts an unknown volume", reason: "the API server refuses it", worker: true, mutate: func(d *direct) {
			pod(d).Volumes = pod(d).Volumes[1:]
		}, code: codeVolume, object: workerDeployment, path: "spec.template.spec"},
		{name: "name that is no host", reason: "the API server refuses the Service", worker: true, mutate: func(d *direct) {
			only[*corev1.Service](d).Name = "1web"
		}, code: codeName, object: "Service/1web", path: "metadata.name"},
	}
}

// shownMutations change the Workflow in which the worker runs a reconcile to show it.
func shownMutations() []directMutation {
	const template = "ARGOPERATOR_SHOWS[web].templates[0]"
	return []directMutation{
		{name: "Workflow of the worker with another account", reason: "it has not the rights, or more", worker: true, mutate: func(d *direct) {
			d.show(`"serviceAccountName":"web-worker"`, `"serviceAccountName":"web-sensor"`)
		}, code: codeSharedServiceAccount, object: workerDeployment, path: template},
		{name: "Workflow of the worker with an unknown account", reason: "its pod would not be created", worker: true, mutate: func(d *direct) {
			d.show(`"serviceAccountName":"web-worker"`, `"serviceAccountName":"other"`)
		}, code: codeServiceAccount, object: workerDeployment, path: template},
		{name: "Workflow of the worker without its program", reason: "its pod would wait for the ConfigMap", worker: true, mutate: func(d *direct) {
			d.show(`"name":"web-runtime"`, `"name":"other"`)
		}, code: codeConfigMap, object: workerDeployment, path: template},
		{name: "privileged Workflow of the worker", reason: "the restricted Pod Security Standard refuses it", worker: true, mutate: func(d *direct) {
			d.show(`"allowPrivilegeEscalation":false,"capabilities"`, `"capabilities"`)
		}, code: codePodSecurity, object: workerDeployment, path: template},
	}
}

func workerMonitoringMutations() []directMutation {
	return []directMutation{
		{name: "worker that nobody scrapes", reason: "its alerts would be about nothing", worker: true, mutate: func(d *direct) {
			d.remove(func(o manifest.Object) bool {
				_, is := o.(*monitoringv1.PodMonitor)
				return is && o.GetName() == "web-worker"
			})
		}, code: codePodMonitor, object: "PodMonitor/web", path: "spec.selector"},
		{name: "unknown metrics port of a worker", reason: "Prometheus would scrape nothing", worker: true, mutate: func(d *direct) {
			only[*appsv1.Deployment](d).Spec.Template.Spec.Containers[0].Ports[1].Name = "other"
		}, code: codePodMonitor, object: "PodMonitor/web-worker", path: "spec.podMetricsEndpoints[0].port"},
		{name: "alert on an unknown metric of a worker", reason: "it would never fire", worker: true, mutate: func(d *direct) {
			rules := only[*monitoringv1.PrometheusRule](d).Spec.Groups[0].Rules
			for i := range rules {
				rules[i].Expr.StrVal = strings.Replace(rules[i].Expr.StrVal, "argoperator_working", "argoperator_works", 1)
			}
		}, code: codeAlert, object: "PrometheusRule/web", path: "spec.groups"},
		{name: "alert on an unknown label of a worker", reason: "it would never fire", worker: true, mutate: func(d *direct) {
			rules := only[*monitoringv1.PrometheusRule](d).Spec.Groups[0].Rules
			for i := range rules {
				rules[i].Expr.StrVal = strings.Replace(rules[i].Expr.StrVal, "result=", "outcome=", 1)
			}
		}, code: codeAlert, object: "PrometheusRule/web", path: "spec.groups"},
	}
}

// only returns the first object of a type.
func only[T manifest.Object](d *direct) T { return argo.All[T](argo.NewObjects(d.objects))[0] }

func (d *direct) remove(which func(manifest.Object) bool) {
	d.objects = slices.DeleteFunc(d.objects, which)
}

// show changes the spec of the Workflow that shows a reconcile.
func (d *direct) show(old, with string) {
	env := only[*appsv1.Deployment](d).Spec.Template.Spec.Containers[0].Env
	for i := range env {
		if env[i].Name == manifest.ShownVariable {
			env[i].Value = replaced(env[i].Value, old, with)
		}
	}
}

// configure changes the configuration of the program in pods.
func (d *direct) configure(old, with string) {
	data := only[*corev1.ConfigMap](d).Data
	data[argo.ConfigFile] = replaced(data[argo.ConfigFile], old, with)
}
