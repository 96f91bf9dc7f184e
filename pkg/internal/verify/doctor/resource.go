package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Diagnose says why a custom resource is not ready. It takes a name as kubectl get does, such as memcached/one,
// and needs no definition: the cluster has the operator's own objects. An empty namespace is that of the
// kubeconfig.
func Diagnose(ctx context.Context, ask Ask, name, namespace string, now time.Time) Report {
	d := &diagnosis{visit: &visit{ctx: ctx, ask: ask}, now: now}
	d.report.Resource = name
	if !d.find(name, namespace) {
		return d.report
	}
	d.plural = d.resourceOfKind()
	d.resource()
	if d.operator() {
		d.eventFlow()
		d.permissions()
		d.deployments()
		d.workflows()
		d.children()
	}
	d.add(d.events())
	d.conclude()
	return d.report
}

const (
	installFix = "install the operator: argoperator generate -f PATH | kubectl apply -f -"
	resyncPage = "https://github.com/argoperator/argoperator/blob/main/docs/how-to/restarts-and-outages.md#start-a-resync"
)

type diagnosis struct {
	*visit
	now    time.Time
	report Report

	object  *unstructured.Unstructured
	plural  string                // the resource of its kind
	source  *eventsv1.EventSource // that watches the custom resource
	failure string                // the message of Ready, if it is False
	waits   bool                  // Ready is False only because its children are not ready yet
}

// add adds a check, if it has a result.
func (d *diagnosis) add(checks ...Check) {
	for _, c := range checks {
		if c.Name != "" {
			d.report.Checks = append(d.report.Checks, c)
		}
	}
}

// find reads the custom resource.
func (d *diagnosis) find(name, namespace string) bool {
	arguments := []string{"get", name, "--show-managed-fields"}
	if namespace != "" {
		arguments = append(arguments, "-n", namespace)
	}
	d.object = &unstructured.Unstructured{}
	said := d.get(d.object, arguments...)
	if said == "" {
		if namespace = d.object.GetNamespace(); namespace != "" {
			namespace += "/"
		}
		d.report.Resource = d.object.GetKind() + " " + namespace + d.object.GetName()
		return true
	}
	fix := "check the kubeconfig and its context: kubectl cluster-info"
	switch kind, _, _ := strings.Cut(name, "/"); {
	case notFound(said):
		fix = "name its namespace with -n: kubectl get " + kind + " -A"
	case strings.Contains(said, "resource type"):
		fix = installFix
	}
	d.add(Check{"Resource", Error, said, fix})
	return false
}

// resource checks the custom resource itself.
func (d *diagnosis) resource() {
	o := d.object
	if since := o.GetDeletionTimestamp(); since != nil {
		d.add(d.deletion(since.Time))
		return
	}
	if o.GetAnnotations()[plan.PausedAnnotation] == "true" {
		d.add(Check{
			"Paused", Warning, "an annotation" + d.by("f:annotations", "f:"+plan.PausedAnnotation) +
				" stops the operator: it does not write to the custom resource or its children",
			"to resume: kubectl annotate " + d.asArgument() + " " + plan.PausedAnnotation + "-",
		})
		return
	}
	observed, counted, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	behind := o.GetGeneration() > 0 && (counted || o.Object["status"] == nil) && observed < o.GetGeneration()
	if behind {
		message := fmt.Sprintf("generation %d is not reconciled; the status is about generation %d", o.GetGeneration(), observed)
		if observed == 0 {
			message = "the operator has not written a status yet"
		}
		if changed := d.changed(); !changed.IsZero() {
			message += ", and the last change was " + d.ago(changed)
		}
		d.add(Check{"Status", Error, message, ""})
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, each := range conditions {
		c, _ := each.(map[string]any)
		if c["type"] != "Ready" {
			continue
		}
		message, _ := c["message"].(string)
		reason, _ := c["reason"].(string)
		if c["status"] == "True" && behind {
			d.add(Check{"Ready", Warning, fmt.Sprintf("was True for generation %d", observed), ""})
			return
		}
		if c["status"] == "True" {
			d.add(Check{"Ready", OK, message, ""})
			return
		}
		d.failure, d.waits = message, reason == "Progressing"
		if first, rest, _ := strings.Cut(message, "\n"); rest != "" {
			message = first + " …"
		}
		fix := fixes(message, reason)
		since, _ := c["lastTransitionTime"].(string)
		if at, err := time.Parse(time.RFC3339, since); err == nil {
			reason += ", " + d.ago(at)
		}
		d.add(Check{"Ready", Error, reason + ": " + message, fix})
	}
}

// by returns who wrote a field of the metadata last, and when.
func (d *diagnosis) by(path ...string) string {
	text := ""
	for _, m := range d.object.GetManagedFields() {
		var fields map[string]any
		if m.FieldsV1 == nil || m.Time == nil || json.Unmarshal(m.FieldsV1.Raw, &fields) != nil {
			continue
		}
		if _, has, _ := unstructured.NestedFieldNoCopy(fields, append([]string{"f:metadata"}, path...)...); has {
			text = " of " + m.Manager + ", " + d.ago(m.Time.Time) + ","
		}
	}
	return text
}

// roots are the beginnings of the names of checks, in the order in which an error of one causes those of others.
var roots = []string{"Operator", "EventBus", "Permissions", "EventSource", "Sensor", "Worker", "Workflow", "Deletion"}

// conclude puts the error that probably causes the others first.
func (d *diagnosis) conclude() {
	order := append(slices.Clone(roots), "Ready", "Pods", "Status")
	if d.waits {
		order = append(slices.Clone(roots), "Pods", "Ready", "Status")
	}
	for _, name := range order {
		n := slices.IndexFunc(d.report.Checks, func(c Check) bool { return c.State == Error && strings.HasPrefix(c.Name, name) })
		if n < 0 {
			continue
		}
		cause := d.report.Checks[n]
		d.report.Cause = cause.Name
		d.report.Checks = slices.Insert(slices.Delete(d.report.Checks, n, n+1), 0, cause)
		return
	}
}

// fixes returns what to do about the reason and message of Ready.
func fixes(message, reason string) string {
	for _, each := range []struct{ text, fix string }{
		{"exceeded quota", "raise the ResourceQuota, or delete what fills it; then start a resync: " + resyncPage},
		{"failed calling webhook", "repair the server of the webhook, or ask its owner; then start a resync: " + resyncPage},
		{"field is immutable", "change the custom resource back, or delete the child, which is an outage; in the definition: " +
			"update: Recreate"},
		{"is attempting to grant RBAC permissions", "grant the operator these permissions in install.rules of the definition"},
		{`" cannot `, "apply the manifests of the operator again, then start a resync: " + resyncPage}, // RBAC
		{" denied ", "ask the owner of the policy or the webhook that the message names"},
		{"logic: ", "correct the program or the custom resource; the message says where the program's log is"},
		{"does not belong to this", "delete or rename that object, or set adopt: true on the child"},
		{"waits for", "look at the object that it waits for"},
	} {
		if strings.Contains(message, each.text) {
			return each.fix
		}
	}
	if reason == "Failed" || reason == "StatusRejected" || reason == "ReconcileFailed" {
		return "correct the custom resource or the definition, as the message says"
	}
	return ""
}

// deletion says what a deletion waits for.
func (d *diagnosis) deletion(since time.Time) Check {
	var own, others []string
	for _, name := range d.object.GetFinalizers() {
		if strings.Contains(name, "argoperator.dev") {
			own = append(own, name)
		} else {
			others = append(others, name)
		}
	}
	message := "began " + d.ago(since)
	switch {
	case len(others) > 0:
		message += "; waits for the finalizer " + strings.Join(others, ", ") + d.by("f:finalizers", `v:"`+others[0]+`"`) +
			" which is not the operator's"
		return Check{"Deletion", Error, message, "ask who added it; a controller removes it when what it protects is safe"}
	case len(own) > 0:
		return Check{
			"Deletion", Error, message + "; the operator has not removed its finalizer " + own[0] + " yet",
			"the Events and the checks of the operator below say what it waits for",
		}
	}
	return Check{"Deletion", Warning, message, "wait"}
}

// changed returns when somebody last changed the spec or the metadata.
func (d *diagnosis) changed() time.Time {
	latest := d.object.GetCreationTimestamp().Time
	for _, m := range d.object.GetManagedFields() {
		if m.Subresource == "" && m.Time != nil && m.Time.After(latest) {
			latest = m.Time.Time
		}
	}
	return latest
}

func (d *diagnosis) ago(t time.Time) string {
	return d.now.Sub(t).Round(time.Second).String() + " ago"
}

// asArgument returns the custom resource as arguments of kubectl.
func (d *diagnosis) asArgument() string {
	text := strings.TrimSuffix(d.plural+"."+d.object.GroupVersionKind().Group, ".") + "/" + d.object.GetName()
	if namespace := d.object.GetNamespace(); namespace != "" {
		text = "-n " + namespace + " " + text
	}
	return text
}

// resourceOfKind returns the resource of the custom resource's kind.
func (d *diagnosis) resourceOfKind() string {
	out, _, err := d.ask(d.ctx, nil, "get", "--raw", schema.APIPath(d.object.GroupVersionKind().GroupVersion()))
	var found metav1.APIResourceList
	if err != nil || json.Unmarshal(out, &found) != nil {
		return ""
	}
	for _, r := range found.APIResources {
		if r.Kind == d.object.GetKind() && !strings.Contains(r.Name, "/") {
			return r.Name
		}
	}
	return ""
}

// operator finds the EventSource that watches the custom resource.
func (d *diagnosis) operator() bool {
	var found eventsv1.EventSourceList
	if said := d.get(&found, "get", "eventsources.argoproj.io", "-A", "-l", plan.ManagedBy+"=argoperator"); said != "" {
		d.add(Check{"Operator", Warning, "its EventSource cannot be read: " + said, "run doctor with permission to list eventsources"})
		return false
	}
	group, elsewhere := d.object.GroupVersionKind().Group, ""
	for _, s := range found.Items {
		for name, e := range s.Spec.Resource {
			if e.Group != group || e.Resource != d.plural || managerIn(e) != "" || strings.HasPrefix(name, "related-") {
				continue
			}
			if e.Namespace != "" && e.Namespace != d.object.GetNamespace() {
				elsewhere = s.Namespace + "/" + s.Name
				continue
			}
			d.source = &s
			d.report.Operator, d.report.Namespace = s.Labels["app.kubernetes.io/name"], s.Namespace
			return true
		}
	}
	if elsewhere != "" {
		d.add(Check{
			"Operator", Error, "EventSource " + elsewhere + " watches other namespaces only",
			"add the namespace to install.watchNamespaces of the definition",
		})
		return false
	}
	d.add(Check{"Operator", Error, "no EventSource of argoperator watches " + d.plural, installFix})
	return false
}

// stale is the time after which a heartbeat is late: the annotation has it to the minute.
const stale = plan.HeartbeatTimeoutSeconds * time.Second

// eventFlow checks the EventSource, the EventBus and the Sensors.
func (d *diagnosis) eventFlow() {
	home := d.source.Namespace
	d.add(d.deployed("EventSource", d.source.Name, d.source.Status.Conditions, "eventsource-name="+d.source.Name))
	var bus eventsv1.EventBus
	name := cmp.Or(d.source.Spec.EventBusName, "default")
	if said := d.get(&bus, "get", "eventbus.argoproj.io", "-n", home, name); said != "" {
		c := Check{"EventBus " + home + "/" + name, Error, "cannot be read: " + said, ""}
		if notFound(said) {
			c.Message = "does not exist, so no event arrives; each namespace with EventSources needs its own"
			c.Fix = "create it, or set install: {eventBus: {mode: managed}} in the definition"
		}
		d.add(c)
	} else {
		selector := "controller=eventbus-controller,eventbus-name=" + name
		if bus.Spec.JetStreamExotic != nil || bus.Spec.Kafka != nil {
			selector = "" // its servers are elsewhere
		}
		d.add(d.deployed("EventBus", name, bus.Status.Conditions, selector))
	}
	var sensors eventsv1.SensorList
	if said := d.get(&sensors, "get", "sensors.argoproj.io", "-n", home, "-l", plan.ManagedBy+"=argoperator"); said != "" {
		d.add(Check{"Sensors", Warning, "cannot be read: " + said, ""})
		return
	}
	for _, s := range sensors.Items {
		subscribed := slices.ContainsFunc(s.Spec.Dependencies, func(one eventsv1.EventDependency) bool {
			return one.EventSourceName == d.source.Name
		})
		if !subscribed {
			continue
		}
		c := d.deployed("Sensor", s.Name, s.Status.Conditions, "sensor-name="+s.Name)
		stays := slices.ContainsFunc(s.Spec.Triggers, func(t eventsv1.Trigger) bool { // the worker takes the heartbeats
			return t.Template != nil && t.Template.HTTP != nil && strings.HasPrefix(t.Template.HTTP.URL, "http://")
		})
		if last := d.source.Annotations[plan.LastReceivedAnnotation(s.Name)]; c.State == OK && !stays {
			at, err := time.Parse(time.RFC3339, last)
			switch {
			case last == "" || err != nil:
				c = Check{c.Name, Warning, "runs, and has not received a heartbeat of the EventSource yet", "wait a minute, and look again"}
			case d.now.Sub(at) > stale:
				c = Check{
					c.Name, Error, "runs, but its last heartbeat over the EventBus was " + d.ago(at),
					"start a resync, or restart its pods: kubectl delete pods -n " + home + " -l sensor-name=" + s.Name,
				}
			default:
				c.Message += "; the last heartbeat over the EventBus was " + d.ago(at)
			}
		}
		d.add(c, d.failures(s.Name))
	}
}

// failures returns what the triggers of a Sensor could not do lately.
func (d *diagnosis) failures(sensor string) Check {
	if d.failure != "" {
		return Check{} // Ready has the message
	}
	arguments := []string{"logs", "-n", d.source.Namespace, "-l", "sensor-name=" + sensor, "--tail=300", "--since=" + recent.String()}
	out, _, err := d.ask(d.ctx, nil, arguments...)
	if err != nil {
		return Check{} // it may be forbidden, or there is no pod
	}
	var lines []string
	count, last := map[string]int{}, map[string]time.Time{}
	for text := range strings.Lines(string(out)) {
		var line struct {
			Level, Error, TriggerName string
			TS                        time.Time
		}
		if json.Unmarshal([]byte(text), &line) != nil || line.Level != "error" || line.Error == "" || line.TriggerName == "" {
			continue
		}
		what := line.TriggerName + ": " + line.Error
		if count[what]++; !slices.Contains(lines, what) {
			lines = append(lines, what)
		}
		last[what] = line.TS
	}
	if len(lines) == 0 {
		return Check{}
	}
	for n, what := range lines {
		times := ""
		if count[what] > 1 {
			times = fmt.Sprintf("%d times, last ", count[what])
		}
		lines[n] = times + d.ago(last[what]) + ", trigger " + what
	}
	return Check{"Log of Sensor " + sensor, Warning, strings.Join(lines, "\n"), ""}
}

// permissions checks that the roles of the operator are bound.
func (d *diagnosis) permissions() {
	var found unstructured.UnstructuredList
	if d.get(&found, "get", "clusterroles,clusterrolebindings,roles,rolebindings", "-A",
		"-l", plan.ManagedBy+"=argoperator,app.kubernetes.io/name="+d.report.Operator) != "" {
		return // many may not read them
	}
	bound := map[string]bool{}
	for _, o := range found.Items {
		kind, _, _ := unstructured.NestedString(o.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
		bound[kind+" "+name] = true
	}
	for _, o := range found.Items {
		id := o.GetKind() + " " + o.GetName()
		ofUsers := strings.HasSuffix(o.GetName(), ":view") || strings.HasSuffix(o.GetName(), ":edit")
		if strings.HasSuffix(o.GetKind(), "Role") && !ofUsers && !bound[id] {
			d.add(Check{
				"Permissions", Error, "nothing binds the " + id + ", so the operator cannot do its work",
				"apply the manifests of the operator again, then start a resync: " + resyncPage,
			})
		}
	}
}

// deployed checks an object of Argo Events: its conditions and its pods.
func (d *diagnosis) deployed(kind, name string, conditions []eventsv1.Condition, selector string) Check {
	of := kind + " " + d.source.Namespace + "/" + name
	describe := fmt.Sprintf("kubectl describe %s -n %s %s", strings.ToLower(kind), d.source.Namespace, name)
	for _, state := range []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionUnknown} {
		for _, c := range conditions {
			if c.Status == state {
				why := cmp.Or(c.Message, c.Reason, "no reason given")
				return Check{of, Error, fmt.Sprintf("%s is %s: %s", c.Type, c.Status, why), describe}
			}
		}
	}
	if len(conditions) == 0 {
		return Check{
			of, Error, "has no conditions: no controller of Argo Events handles it",
			"check that Argo Events runs: argoperator doctor -f PATH",
		}
	}
	if selector == "" {
		return Check{of, OK, "is ready", ""}
	}
	return d.running(of, d.source.Namespace, selector)
}

// deployments checks the Deployments of the operator, which are those of workers.
func (d *diagnosis) deployments() {
	var found unstructured.UnstructuredList
	if said := d.get(&found, "get", "deployments", "-n", d.report.Namespace,
		"-l", plan.ManagedBy+"=argoperator,app.kubernetes.io/name="+d.report.Operator); said != "" {
		return
	}
	for _, o := range found.Items {
		if o.GetLabels()["owner-name"] != "" {
			continue // of Argo Events
		}
		d.add(d.running("Worker "+d.report.Namespace+"/"+o.GetName(), d.report.Namespace, selectorOf(&o)))
	}
}

// workflows checks the Workflows that reconcile the custom resource now.
func (d *diagnosis) workflows() {
	var found unstructured.UnstructuredList
	if d.get(&found, "get", "workflows.argoproj.io", "-n", d.report.Namespace, "-l", plan.ManagedBy+"="+d.report.Operator) != "" {
		return // Argo Workflows may be absent
	}
	key := d.object.GetNamespace() + "." + d.object.GetName()
	for _, o := range found.Items {
		parameters, _, _ := unstructured.NestedSlice(o.Object, "spec", "arguments", "parameters")
		of := slices.ContainsFunc(parameters, func(p any) bool { m, _ := p.(map[string]any); return m["value"] == key })
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		ended := phase == "Succeeded" || phase == "Failed" || phase == "Error" // Ready has the failure
		if age := d.now.Sub(o.GetCreationTimestamp().Time); !of || ended || age < 30*time.Second {
			continue
		}
		message, _, _ := unstructured.NestedString(o.Object, "status", "message")
		message, _, _ = strings.Cut(message, "\n")
		began := d.ago(o.GetCreationTimestamp().Time)
		c := Check{"Workflow " + o.GetNamespace() + "/" + o.GetName(), Warning, "is " + phase + ", and began " + began, ""}
		if phase == "" {
			c.State, c.Message, c.Fix = Error, "no controller has begun it", "check that Argo Workflows runs, and watches this namespace"
		}
		c.Message = strings.TrimSuffix(c.Message+": "+message, ": ")
		d.add(c)
	}
}
