package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failAnnotation is the annotation, with the value "true", of a Pod that fails.
const failAnnotation = "argoperator.dev/fail"

// fails reports whether the images of a Pod cannot be pulled: those of a Pod with the
// annotation, and those of a Pod with an image that is tagged "fail".
func fails(pod *corev1.Pod) bool {
	tagged := func(c corev1.Container) bool { return strings.HasSuffix(c.Image, ":fail") }
	return pod.Annotations[failAnnotation] == "true" || slices.ContainsFunc(pod.Spec.InitContainers, tagged) ||
		slices.ContainsFunc(pod.Spec.Containers, tagged)
}

// handlePod binds a Pod to the node, whatever it asks for, runs it, and removes it as soon
// as it is deleted. The status of a Pod that runs is the user's until the Pod changes.
func (n *node) handlePod(ctx context.Context, pod *corev1.Pod) error {
	pods := n.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		if grace := pod.DeletionGracePeriodSeconds; grace != nil && *grace == 0 {
			return nil // it waits for its finalizers
		}
		now := int64(0)
		return pods.Delete(
			ctx,
			pod.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))},
		)
	case pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0:
		return pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{
				Name:      pod.Name,
				Namespace: pod.Namespace,
				UID:       pod.UID,
			}, Target: corev1.ObjectReference{Kind: "Node", Name: nodeName},
		}, metav1.CreateOptions{})
	case pod.Spec.NodeName == nodeName && stale(pod):
		changed := pod.DeepCopy()
		n.start(changed, metav1.Now())
		if equality.Semantic.DeepEqual(changed.Status, pod.Status) {
			return nil
		}
		_, err := pods.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
		return err
	}
	return nil
}

// stale reports whether the status of a Pod is the node's to change.
func stale(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodPending:
		return true
	case corev1.PodRunning:
		return pod.Status.ObservedGeneration != pod.Generation || len(pod.Spec.ReadinessGates) > 0
	}
	return false
}

// handleNamespace removes the Pods of a namespace that is being deleted. Otherwise the
// controller of namespaces waits half of the time that Pods have to end.
func (n *node) handleNamespace(ctx context.Context, namespace *corev1.Namespace) error {
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	now := int64(0)
	return n.client.CoreV1().
		Pods(namespace.Name).
		DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
}

// start sets the status of a Pod: its containers run, or have succeeded if they are not
// restarted, or wait for their images if it fails.
func (n *node) start(pod *corev1.Pod, now metav1.Time) {
	status := &pod.Status
	if status.StartTime == nil {
		status.StartTime, status.HostIP, status.PodIP = &now, address, n.podIP(pod)
		status.HostIPs, status.PodIPs = []corev1.HostIP{{IP: status.HostIP}}, []corev1.PodIP{{IP: status.PodIP}}
	}
	status.ObservedGeneration = pod.Generation
	init, running := ended, running
	switch {
	case fails(pod):
		init, running = waiting, waiting
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		status.Phase = corev1.PodRunning
	default:
		status.Phase, running = corev1.PodSucceeded, ended
	}
	status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, running(c, *status.StartTime))
	}
	status.InitContainerStatuses = nil
	for _, c := range pod.Spec.InitContainers {
		state := init
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			state = running // a sidecar
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, state(c, *status.StartTime))
	}
	setConditions(pod, now)
}

// podIP returns an address that no other Pod has, until there were 65,000.
func (n *node) podIP(pod *corev1.Pod) string {
	if pod.Spec.HostNetwork {
		return address
	}
	i := atomic.AddUint32(&n.started, 1)
	return fmt.Sprintf("10.244.%d.%d", i>>8&0xff, i&0xff)
}

// setConditions sets the conditions that a kubelet sets, and keeps the others.
func setConditions(pod *corev1.Pod, now metav1.Time) {
	status := &pod.Status
	initialized, containers, reason := corev1.ConditionTrue, corev1.ConditionTrue, ""
	switch {
	case status.Phase == corev1.PodSucceeded:
		containers, reason = corev1.ConditionFalse, "PodCompleted"
	case fails(pod):
		containers, reason = corev1.ConditionFalse, "ContainersNotReady"
		if len(pod.Spec.InitContainers) > 0 {
			initialized = corev1.ConditionFalse
		}
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: containers, Reason: reason}
	if containers == corev1.ConditionTrue && !passesGates(pod) {
		ready.Status, ready.Reason = corev1.ConditionFalse, "ReadinessGatesNotReady"
	}
	for _, c := range []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue},
		{Type: corev1.PodInitialized, Status: initialized},
		{Type: corev1.ContainersReady, Status: containers, Reason: reason},
		ready,
	} {
		c.ObservedGeneration, c.LastTransitionTime = pod.Generation, now
		i := slices.IndexFunc(status.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type })
		if i < 0 {
			status.Conditions = append(status.Conditions, c)
			continue
		}
		if status.Conditions[i].Status == c.Status {
			c.LastTransitionTime = status.Conditions[i].LastTransitionTime
		}
		status.Conditions[i] = c
	}
}

// passesGates reports whether all conditions are met that the Pod has as readiness gates.
func passesGates(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.ReadinessGates {
		met := func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		}
		if !slices.ContainsFunc(pod.Status.Conditions, met) {
			return false
		}
	}
	return true
}

func running(c corev1.Container, start metav1.Time) corev1.ContainerStatus {
	started := true
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: true, Started: &started,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}},
	}
}

func ended(c corev1.Container, start metav1.Time) corev1.ContainerStatus {
	started := false
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, Started: &started,
		State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: start, FinishedAt: start},
		},
	}
}

func waiting(c corev1.Container, _ metav1.Time) corev1.ContainerStatus {
	started := false
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Started: &started,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "ImagePullBackOff", Message: fmt.Sprintf("Back-off pulling image %q: the Pod has the annotation %s or an image with "+
				"the tag \"fail\"", c.Image, failAnnotation),
		}},
	}
}
