// Command reference is the operator of examples/memcached written in Go with
// controller-runtime, for comparison in `make bench-cluster`. It uses the current
// kubeconfig and runs until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var memcached = schema.GroupVersionKind{Group: "cache.example.com", Version: "v1alpha1", Kind: "Memcached"}

func main() {
	workers := flag.Int("workers", 1, "custom resources that are reconciled at a time; 1 is controller-runtime's default")
	flag.Parse()
	if err := serve(*workers); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func serve(workers int) error {
	ctrl.SetLogger(zap.New())
	config, err := ctrl.GetConfig() // without a rate limit by default
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}, Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(newMemcached()).
		Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{manager.GetClient(), manager.GetScheme()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func newMemcached() *unstructured.Unstructured {
	cr := &unstructured.Unstructured{}
	cr.SetGroupVersionKind(memcached)
	return cr
}

type reconciler struct {
	client.Client
	scheme *runtime.Scheme
}

// Reconcile creates the Deployment for a custom resource and writes the status.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cr := newMemcached()
	if err := r.Get(ctx, request.NamespacedName, cr); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cr.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: cr.GetName(), Namespace: cr.GetNamespace()}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		fill(deployment, cr)
		return controllerutil.SetControllerReference(cr, deployment, r.scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, cr, deployment)
}

// fill sets the fields that depend on the custom resource.
func fill(d *appsv1.Deployment, cr *unstructured.Unstructured) {
	size, _, _ := unstructured.NestedInt64(cr.Object, "spec", "size")
	memory, _, _ := unstructured.NestedInt64(cr.Object, "spec", "memory")
	if d.CreationTimestamp.IsZero() {
		d.Spec = deployment(cr.GetName())
	}
	replicas := int32(size)
	d.Spec.Replicas = &replicas
	d.Spec.Template.Spec.Containers[0].Command = []string{"memcached", "-m", strconv.FormatInt(memory, 10)}
}

func deployment(name string) appsv1.DeploymentSpec {
	yes, no, user := true, false, int64(11211)
	own := map[string]string{"app.kubernetes.io/instance": name}
	return appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: own},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": name}},
			Spec: corev1.PodSpec{
				SecurityContext: &corev1.PodSecurityContext{
					RunAsNonRoot: &yes, RunAsUser: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
				Containers: []corev1.Container{{
					Name:  "memcached",
					Image: "docker.io/library/memcached:1.6-alpine",
					Ports: []corev1.ContainerPort{{Name: "memcached", ContainerPort: 11211}},
					ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
						TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("memcached")},
					}},
					SecurityContext: &corev1.SecurityContext{
						AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
						Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
					},
				}},
			},
		},
	}
}

// report writes the status if it differs.
func (r *reconciler) report(ctx context.Context, cr *unstructured.Unstructured, d *appsv1.Deployment) error {
	before := cr.DeepCopy()
	var conditions []metav1.Condition
	if list, found, _ := unstructured.NestedSlice(cr.Object, "status", "conditions"); found {
		of := struct{ Conditions []metav1.Condition }{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"conditions": list}, &of); err != nil {
			return err
		}
		conditions = of.Conditions
	}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", Message: "all replicas are ready", ObservedGeneration: cr.GetGeneration()}
	if d.Status.ObservedGeneration < d.Generation || d.Status.ReadyReplicas < *d.Spec.Replicas {
		ready.Status, ready.Reason = metav1.ConditionFalse, "Progressing"
		ready.Message = fmt.Sprintf("%d of %d replicas are ready", d.Status.ReadyReplicas, *d.Spec.Replicas)
	}
	meta.SetStatusCondition(&conditions, ready)
	list := make([]any, len(conditions))
	for i := range conditions {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			return err
		}
		list[i] = fields
	}
	status := map[string]any{"observedGeneration": cr.GetGeneration(), "readyReplicas": int64(d.Status.ReadyReplicas), "conditions": list}
	cr.Object["status"] = status
	if equality.Semantic.DeepEqual(before.Object, cr.Object) {
		return nil
	}
	return r.Status().Update(ctx, cr)
}
