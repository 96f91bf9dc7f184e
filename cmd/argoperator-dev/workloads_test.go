package main

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// workloads are tests of the controllers and the node, in a namespace of their own.
type workloads struct {
	kubernetes.Interface
	namespace string
}

func (w workloads) test(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if _, err := w.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace has its ServiceAccount", func(ctx context.Context) bool {
		_, err := w.CoreV1().ServiceAccounts(w.namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	t.Run("Pods of a DaemonSet become ready, even privileged ones", w.daemonSet)
	t.Run("Pods of a StatefulSet become ready and have volumes", w.statefulSet)
	t.Run("a volume grows, and is deleted with its claim", w.volumes)
	t.Run("a claim does not wait for a Pod, whatever the StorageClass says", w.waitingClass)
	t.Run("a Job completes", w.job)
	t.Run("a Service has a load balancer, and each Pod an address of its own", w.service)
	t.Run("an Ingress has an address", w.ingress)
	t.Run("a PodDisruptionBudget counts Pods", w.budget)
	t.Run("Pods whose image is tagged fail wait for it", w.failingImage)
	t.Run("a Pod that is annotated to fail waits", w.failingPod)
	t.Run("a Pod with a readiness gate waits for its condition", w.readinessGate)
	t.Run("a running Pod keeps the status that a user gives it", w.statusOfUser)
	t.Run("everything is gone with its namespace", w.deleteNamespace)
}

// labeled is the metadata of an object whose Pods have its name as their label.
func (w workloads) labeled(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: w.namespace, Labels: map[string]string{"app": name}}
}

func (w workloads) pod(name string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: w.labeled(name), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: name}}}}
}

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func create[T any](t *testing.T, create func(context.Context, T, metav1.CreateOptions) (T, error), object T) {
	t.Helper()
	if _, err := create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// becomes waits until an object meets a condition.
func becomes[T any](t *testing.T, get func(context.Context, string, metav1.GetOptions) (T, error), name, what string, met func(T) bool) {
	t.Helper()
	eventually(t, name+" "+what, func(ctx context.Context) bool {
		object, err := get(ctx, name, metav1.GetOptions{})
		return err == nil && met(object)
	})
}

func (w workloads) deploy(t *testing.T, name, image string, replicas int32) {
	t.Helper()
	template := w.pod(name)
	template.Spec.Containers[0].Image = image
	create(t, w.AppsV1().Deployments(w.namespace).Create, &appsv1.Deployment{
		ObjectMeta: w.labeled(name), Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(name), Template: template},
	})
}

func available(want int32) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool {
		return d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == want && d.Status.UpdatedReplicas == d.Status.Replicas
	}
}

func (w workloads) daemonSet(t *testing.T) {
	in := w.AppsV1().DaemonSets(w.namespace)
	template, privileged := w.pod("agent"), true
	template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &privileged}
	create(t, in.Create, &appsv1.DaemonSet{ObjectMeta: w.labeled("agent"), Spec: appsv1.DaemonSetSpec{Selector: selector("agent"), Template: template}})
	becomes(t, in.Get, "agent", "is ready", func(d *appsv1.DaemonSet) bool { return d.Status.NumberReady == 1 })
}

func (w workloads) claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func bound(claim *corev1.PersistentVolumeClaim) bool { return claim.Status.Phase == corev1.ClaimBound }

func (w workloads) statefulSet(t *testing.T) {
	in, replicas := w.AppsV1().StatefulSets(w.namespace), int32(2)
	create(t, in.Create, &appsv1.StatefulSet{ObjectMeta: w.labeled("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector("db"), Template: w.pod("db"), VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*w.claim("data")},
	}})
	becomes(t, in.Get, "db", "is ready", func(s *appsv1.StatefulSet) bool { return s.Status.ReadyReplicas == 2 })
	becomes(t, w.CoreV1().PersistentVolumeClaims(w.namespace).Get, "data-db-1", "is bound", bound)
}

func (w workloads) volumes(t *testing.T) {
	in := w.CoreV1().PersistentVolumeClaims(w.namespace)
	create(t, in.Create, w.claim("disk"))
	becomes(t, in.Get, "disk", "is bound", bound)
	patch := `{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}`
	claim, err := in.Patch(t.Context(), "disk", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	becomes(t, in.Get, "disk", "grows", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Status.Capacity.Storage().Cmp(resource.MustParse("2Gi")) == 0
	})
	if err := in.Delete(t.Context(), "disk", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume is deleted", func(ctx context.Context) bool {
		_, err := w.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func (w workloads) waitingClass(t *testing.T) {
	class, name := standardClass(), "waiting"
	class.ObjectMeta = metav1.ObjectMeta{Name: name}
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	class.VolumeBindingMode = &mode
	create(t, w.StorageV1().StorageClasses().Create, class)
	claim := w.claim(name)
	claim.Spec.StorageClassName = &name
	in := w.CoreV1().PersistentVolumeClaims(w.namespace)
	create(t, in.Create, claim)
	becomes(t, in.Get, name, "is bound", bound)
}

func (w workloads) job(t *testing.T) {
	in, template := w.BatchV1().Jobs(w.namespace), w.pod("backup")
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	create(t, in.Create, &batchv1.Job{ObjectMeta: w.labeled("backup"), Spec: batchv1.JobSpec{Template: template}})
	becomes(t, in.Get, "backup", "is complete", func(j *batchv1.Job) bool {
		return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
		})
	})
}

func (w workloads) service(t *testing.T) {
	w.deploy(t, "web", "web", 2)
	in := w.CoreV1().Services(w.namespace)
	create(t, in.Create, &corev1.Service{ObjectMeta: w.labeled("web"), Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}},
	}})
	becomes(t, in.Get, "web", "has a load balancer", func(s *corev1.Service) bool {
		return s.Spec.ClusterIP != "" && len(s.Status.LoadBalancer.Ingress) == 1 && s.Status.LoadBalancer.Ingress[0].IP == address
	})
	eventually(t, "the Service has two endpoints", func(ctx context.Context) bool {
		slices, err := w.DiscoveryV1().EndpointSlices(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web"})
		return err == nil && len(slices.Items) == 1 && len(slices.Items[0].Endpoints) == 2
	})
}

func (w workloads) ingress(t *testing.T) {
	in := w.NetworkingV1().Ingresses(w.namespace)
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	create(t, in.Create, &networkingv1.Ingress{ObjectMeta: w.labeled("web"), Spec: networkingv1.IngressSpec{DefaultBackend: backend}})
	becomes(t, in.Get, "web", "has an address", func(i *networkingv1.Ingress) bool { return len(i.Status.LoadBalancer.Ingress) == 1 })
}

func (w workloads) budget(t *testing.T) {
	in, one := w.PolicyV1().PodDisruptionBudgets(w.namespace), intstr.FromInt32(1)
	create(t, in.Create, &policyv1.PodDisruptionBudget{ObjectMeta: w.labeled("web"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: selector("web")}})
	becomes(t, in.Get, "web", "allows a disruption", func(b *policyv1.PodDisruptionBudget) bool {
		return b.Status.CurrentHealthy == 2 && b.Status.DisruptionsAllowed == 1
	})
}

func (w workloads) failingImage(t *testing.T) {
	in := w.AppsV1().Deployments(w.namespace)
	w.deploy(t, "broken", "broken:fail", 1)
	w.waits(t, "broken")
	patch := `{"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "broken:v2"}]}}}}`
	if _, err := in.Patch(t.Context(), "broken", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, in.Get, "broken", "is available with another image", available(1))
}

// waits waits until a Pod with a label waits for its image.
func (w workloads) waits(t *testing.T, label string) {
	t.Helper()
	eventually(t, label+" waits for its image", func(ctx context.Context) bool {
		pods, err := w.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + label})
		return err == nil && slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
			status := p.Status.ContainerStatuses
			return p.Status.Phase == corev1.PodPending && len(status) == 1 && status[0].State.Waiting != nil && status[0].State.Waiting.Reason == "ImagePullBackOff"
		})
	})
}

func (w workloads) failingPod(t *testing.T) {
	in, template := w.CoreV1().Pods(w.namespace), w.pod("annotated")
	template.Annotations = map[string]string{failAnnotation: "true"}
	create(t, in.Create, &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
	w.waits(t, "annotated")
	if _, err := in.Patch(t.Context(), "annotated", types.MergePatchType, []byte(`{"metadata": {"annotations": null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, in.Get, "annotated", "runs without the annotation", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

func ready(want corev1.ConditionStatus) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == want })
	}
}

func (w workloads) readinessGate(t *testing.T) {
	in, template := w.CoreV1().Pods(w.namespace), w.pod("gated")
	template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	create(t, in.Create, &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
	becomes(t, in.Get, "gated", "is not ready", ready(corev1.ConditionFalse))
	patch := `{"status": {"conditions": [{"type": "example.com/gate", "status": "True"}]}}`
	if _, err := in.Patch(t.Context(), "gated", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	becomes(t, in.Get, "gated", "is ready", ready(corev1.ConditionTrue))
}

func (w workloads) statusOfUser(t *testing.T) {
	pods, err := w.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	patch := `{"status": {"conditions": [{"type": "Ready", "status": "False"}]}}`
	if _, err := w.CoreV1().Pods(w.namespace).Patch(t.Context(), pods.Items[0].Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	becomes(t, w.AppsV1().Deployments(w.namespace).Get, "web", "has one Pod that is not ready", available(1))
}

func (w workloads) deleteNamespace(t *testing.T) {
	if err := w.CoreV1().Namespaces().Delete(t.Context(), w.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func(ctx context.Context) bool {
		_, err := w.CoreV1().Namespaces().Get(ctx, w.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	eventually(t, "its volumes are gone", func(ctx context.Context) bool {
		volumes, err := w.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		return err == nil && len(volumes.Items) == 0
	})
}
