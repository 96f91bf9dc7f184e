package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// kubelet does what a scheduler and a kubelet would do, without containers: a Pod that is
// to run forever is ready at once, and one that is to end has succeeded.
type kubelet struct {
	client kubernetes.Interface
	pods   cache.Store
	queue  workqueue.TypedRateLimitingInterface[string]
}

// nodeName is the name of the only node.
const nodeName = "dev"

func newKubelet(client kubernetes.Interface) *kubelet {
	return &kubelet{client: client, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
}

// run handles Pods until the context ends.
func (k *kubelet) run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(k.client, 0)
	informer := factory.Core().V1().Pods().Informer()
	k.pods = informer.GetStore()
	add := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			k.queue.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
	if _, err := informer.AddEventHandler(handler); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	context.AfterFunc(ctx, k.queue.ShutDown)
	k.work(ctx)
	factory.Shutdown()
	return nil
}

func register(ctx context.Context, client kubernetes.Interface) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	node, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}}
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func (k *kubelet) work(ctx context.Context) {
	for {
		key, stop := k.queue.Get()
		if stop {
			return
		}
		if err := k.handle(ctx, key); err != nil && ctx.Err() == nil {
			k.queue.AddRateLimited(key)
		} else {
			k.queue.Forget(key)
		}
		k.queue.Done(key)
	}
}

func (k *kubelet) handle(ctx context.Context, key string) error {
	object, ok, err := k.pods.GetByKey(key)
	if !ok || err != nil {
		return err
	}
	pod := object.(*corev1.Pod)
	pods := k.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		now := int64(0)
		err = pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	case pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0:
		err = pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: nodeName},
		}, metav1.CreateOptions{})
	case pod.Spec.NodeName == nodeName && pod.Status.Phase == corev1.PodPending:
		changed := pod.DeepCopy()
		changed.Status = statusOf(changed, metav1.NewTime(time.Now()))
		_, err = pods.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// statusOf returns the status of a Pod whose containers run, or have ended if they are
// not restarted.
func statusOf(pod *corev1.Pod, now metav1.Time) corev1.PodStatus {
	status := pod.Status
	ended := pod.Spec.RestartPolicy != corev1.RestartPolicyAlways
	status.Phase, status.PodIP, status.HostIP, status.StartTime = corev1.PodRunning, "10.0.0.1", "127.0.0.1", &now
	if ended {
		status.Phase = corev1.PodSucceeded
	}
	status.PodIPs, status.HostIPs = []corev1.PodIP{{IP: status.PodIP}}, []corev1.HostIP{{IP: status.HostIP}}
	status.InitContainerStatuses, status.ContainerStatuses = statuses(pod.Spec.InitContainers, true, now), statuses(pod.Spec.Containers, ended, now)
	status.Conditions = nil
	for _, condition := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		c := corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now}
		if ended && (condition == corev1.ContainersReady || condition == corev1.PodReady) {
			c.Status, c.Reason = corev1.ConditionFalse, "PodCompleted"
		}
		status.Conditions = append(status.Conditions, c)
	}
	return status
}

func statuses(containers []corev1.Container, ended bool, now metav1.Time) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: !ended, Started: new(bool)}
		*s.Started = !ended
		if ended {
			s.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
		} else {
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		}
		out = append(out, s)
	}
	return out
}
