package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// children checks the children of the custom resource that exist. Ready tells of those that do not.
func (d *diagnosis) children() {
	managers := map[string]string{} // by the resource of the children
	for _, e := range d.source.Spec.Resource {
		if resource := strings.Trim(e.Resource+"."+e.Group, "."); resource != "secrets" && managerIn(e) != "" {
			managers[resource] = managerIn(e)
		}
	}
	count, unread := 0, false
	for _, resource := range slices.Sorted(maps.Keys(managers)) {
		var found unstructured.UnstructuredList
		if said := d.get(&found, "get", resource, "-A", "-l", plan.ManagedBy+"="+managers[resource]); said != "" {
			d.add(Check{"Children " + resource, Warning, "cannot be read: " + said, ""})
			unread = true
			continue
		}
		for _, o := range found.Items {
			if d.owns(&o) {
				d.child(&o)
				count++
			}
		}
	}
	if count == 0 && !unread && len(managers) > 0 {
		d.add(Check{"Children", Warning, "none exists", ""})
	}
}

// managerIn returns the label by which an entry of an EventSource selects the children of an operator; "" if it watches others.
func managerIn(e eventsv1.ResourceEventSource) string {
	if e.Filter == nil {
		return ""
	}
	n := slices.IndexFunc(e.Filter.Labels, func(l eventsv1.Selector) bool { return l.Key == plan.ManagedBy })
	if n < 0 {
		return ""
	}
	return e.Filter.Labels[n].Value
}

// owns reports whether an object is a child of the custom resource.
func (d *diagnosis) owns(o *unstructured.Unstructured) bool {
	uid := d.object.GetUID()
	return o.GetLabels()[plan.OwnerUID] == string(uid) ||
		o.GetAnnotations()[plan.OwnerAnnotation] == d.object.GetNamespace()+"."+d.object.GetName() ||
		slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// failing are the types of conditions that mean the same for all kinds, with the status that says a failure. Others, such as
// Suspended of a Job, may have any.
var failing = map[string]string{
	"Available": "False", "Healthy": "False", "Progressing": "False", "Ready": "False", "Synced": "False",
	"Degraded": "True", "Failed": "True", "FailureTarget": "True", "ReplicaFailure": "True", "Stalled": "True",
}

// child checks a child: its deletion, its conditions and its pods.
func (d *diagnosis) child(o *unstructured.Unstructured) {
	name := o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/", "/") + o.GetName()
	describe := "kubectl describe " + strings.ToLower(o.GetKind()) + " " + o.GetName()
	if o.GetNamespace() != "" {
		describe += " -n " + o.GetNamespace()
	}
	if since := o.GetDeletionTimestamp(); since != nil {
		d.add(Check{name, Error, "its deletion began " + d.ago(since.Time) + "; it waits for the finalizers " +
			strings.Join(o.GetFinalizers(), ", "), describe})
		return
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var wrong []string
	for _, each := range conditions {
		c, _ := each.(map[string]any)
		kind, _ := c["type"].(string)
		if bad, known := failing[kind]; known && c["status"] == bad {
			wrong = append(wrong, fmt.Sprintf("%s is %v: %v", kind, c["status"], cmp.Or(c["message"], c["reason"])))
		}
	}
	if len(wrong) > 0 {
		d.add(Check{name, Error, strings.Join(wrong, "; "), describe})
	} else {
		d.add(replicas(name, o))
	}
	if selector := selectorOf(o); selector != "" {
		pods, _ := d.pods(o.GetNamespace(), selector) // it may need none
		if c := healthOf("Pods of "+name, o.GetNamespace(), pods); c.State == Error {
			d.add(c)
		}
	}
}

// replicas says how many replicas of a workload are ready.
func replicas(name string, o *unstructured.Unstructured) Check {
	wanted, scales, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !scales {
		return Check{name, OK, "exists", ""}
	}
	number := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(o.Object, "status", field)
		return n
	}
	ready := number("readyReplicas")
	c := Check{name, OK, fmt.Sprintf("%d of %d replicas are ready", ready, wanted), ""}
	if all := number("replicas"); o.GetKind() == "Deployment" && all > number("updatedReplicas") {
		c.State = Warning
		c.Message += fmt.Sprintf("; %d are of the version before", all-number("updatedReplicas"))
	}
	if ready < wanted {
		c.State = Warning
	}
	return c
}

// selectorOf returns the selector of a workload's pods.
func selectorOf(o *unstructured.Unstructured) string {
	labels, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
	if len(labels) == 0 {
		return ""
	}
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})
}

// pods returns the pods with a label that are not being deleted; said is the reason if there is no answer.
func (d *diagnosis) pods(namespace, selector string) (pods []corev1.Pod, said string) {
	var found corev1.PodList
	said = d.get(&found, "get", "pods", "-n", namespace, "-l", selector)
	return slices.DeleteFunc(found.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }), said
}

// running checks that the pods with a label run.
func (d *diagnosis) running(name, namespace, selector string) Check {
	pods, said := d.pods(namespace, selector)
	switch {
	case said != "":
		return Check{name, Warning, "its pods cannot be read: " + said, ""}
	case len(pods) == 0:
		return Check{name, Error, "no pod runs", "kubectl get events -n " + namespace + " --field-selector type=Warning"}
	}
	return healthOf(name, namespace, pods)
}

// healthOf checks pods: the first that does not run is an error.
func healthOf(name, namespace string, pods []corev1.Pod) Check {
	restarts := int32(0)
	for _, p := range pods {
		if wrong, container := trouble(p); wrong != "" {
			fix := "kubectl describe pod -n " + namespace + " " + p.Name
			if container != "" {
				fix = fmt.Sprintf("kubectl logs -n %s %s -c %s", namespace, p.Name, container)
			}
			return Check{name, Error, "pod " + p.Name + ": " + wrong, fix}
		}
		for _, s := range p.Status.ContainerStatuses {
			restarts += s.RestartCount
		}
	}
	message := fmt.Sprintf("%d of its pods run", len(pods))
	if len(pods) == 1 {
		message = "its pod runs"
	}
	if restarts > 0 {
		message += fmt.Sprintf(", with %d restarts", restarts)
	}
	return Check{name, OK, message, ""}
}

// trouble returns why a pod does not run, and the container whose log says more.
func trouble(p corev1.Pod) (wrong, container string) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Reason + ": " + c.Message, ""
		}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		last := s.LastTerminationState.Terminated
		switch {
		case last != nil && last.Reason == "OOMKilled" && !s.Ready:
			limit := limitOf(p, s.Name)
			return fmt.Sprintf("container %s was OOMKilled, %d times; its memory limit is %s", s.Name, s.RestartCount+1, limit), ""
		case s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff" && last != nil:
			return fmt.Sprintf("container %s failed, %d times: %s", s.Name, s.RestartCount+1, ended(last)), s.Name
		case s.State.Terminated != nil && s.State.Terminated.Reason == "OOMKilled":
			return fmt.Sprintf("container %s was OOMKilled; its memory limit is %s", s.Name, limitOf(p, s.Name)), ""
		case s.State.Waiting != nil && s.State.Waiting.Reason != "ContainerCreating" && s.State.Waiting.Reason != "PodInitializing":
			return fmt.Sprintf("container %s: %s: %s", s.Name, s.State.Waiting.Reason, s.State.Waiting.Message), ""
		case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
			return fmt.Sprintf("container %s: %s", s.Name, ended(s.State.Terminated)), s.Name
		}
	}
	if p.Status.Phase == corev1.PodFailed {
		return p.Status.Reason + ": " + p.Status.Message, ""
	}
	for _, s := range p.Status.ContainerStatuses {
		if !s.Ready && p.Status.Phase != corev1.PodSucceeded {
			return "container " + s.Name + " is not ready", s.Name
		}
	}
	if len(p.Status.ContainerStatuses) == 0 && p.Status.Phase == corev1.PodPending {
		return "is pending", ""
	}
	return "", ""
}

// limitOf returns the memory limit of a container.
func limitOf(p corev1.Pod, container string) string {
	for _, c := range p.Spec.Containers {
		if limit, has := c.Resources.Limits[corev1.ResourceMemory]; has && c.Name == container {
			return limit.String()
		}
	}
	return "that of its node"
}

func ended(t *corev1.ContainerStateTerminated) string {
	return fmt.Sprintf("exit code %d, %s", t.ExitCode, t.Reason) + strings.TrimRight(": "+strings.TrimSpace(t.Message), ": ")
}

// recent is the age of Events that may still matter.
const recent = 30 * time.Minute

// events returns the latest Warning about the custom resource or an object whose name begins with its name.
func (d *diagnosis) events() Check {
	var found corev1.EventList
	namespace := cmp.Or(d.object.GetNamespace(), "default")
	if said := d.get(&found, "get", "events", "-n", namespace, "--field-selector", "type=Warning"); said != "" {
		return Check{"Events", Warning, "cannot be read: " + said, ""}
	}
	var lines []string
	told := map[string]bool{}
	slices.SortFunc(found.Items, func(a, b corev1.Event) int { return seen(b).Compare(seen(a)) })
	for _, e := range found.Items {
		of := e.InvolvedObject
		if of.UID != d.object.GetUID() && of.Name != d.object.GetName() && !strings.HasPrefix(of.Name, d.object.GetName()+"-") ||
			d.now.Sub(seen(e)) > recent || of.UID == d.object.GetUID() && d.failure != "" || told[of.Name+e.Reason] {
			continue // Ready has the failure of the custom resource
		}
		told[of.Name+e.Reason] = true
		line := fmt.Sprintf("%s, %s %s, %s: %s", d.ago(seen(e)), of.Kind, of.Name, e.Reason, strings.TrimSpace(e.Message))
		if len(lines) < 5 {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return Check{}
	}
	return Check{"Warnings", Warning, strings.Join(lines, "\n"), ""}
}

// seen returns when an Event happened last.
func seen(e corev1.Event) time.Time {
	if e.Series != nil {
		return e.Series.LastObservedTime.Time
	}
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return e.CreationTimestamp.Time
}
