package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/jsonpath"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// ObjectState is what a tree shows of an object.
type ObjectState struct {
	UID        string      `json:"uid"`
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Namespace  string      `json:"namespace"`
	Name       string      `json:"name"`
	Owners     []string    `json:"owners"` // uids
	Primary    bool        `json:"primary"`
	Operator   string      `json:"operator"` // of a custom resource
	Created    time.Time   `json:"created"`
	Deleting   bool        `json:"deleting"`
	Generation int64       `json:"generation"`
	Observed   int64       `json:"observed"` // generation that the status is of; 0: the status does not tell
	Ready      string      `json:"ready"`    // True, False or Unknown; empty: the kind is never ready
	Summary    string      `json:"summary"`
	Columns    []Column    `json:"columns"`
	Conditions []Condition `json:"conditions"`
	Managed    bool        `json:"managed"` // an operator wrote it
}

// Column is a printer column of a custom resource.
type Column struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Condition is a condition of a status.
type Condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	LastTransitionTime string `json:"lastTransitionTime"`
}

// objects follows the custom resources, their children, and what those own.
type objects struct {
	client dynamic.Interface
	tell   func(Message)

	mu        sync.Mutex
	all       map[string]*unstructured.Unstructured // by uid
	owned     map[string]map[string]bool            // uids by the uid of their owner
	shown     map[string]bool                       // uids
	watched   map[schema.GroupVersionResource]context.CancelFunc
	operators map[schema.GroupKind]primary
	names     map[string]bool // of operators
	watchers  []func(cluster.Change)
}

// primary is the kind of an operator's custom resources.
type primary struct {
	operator string
	columns  map[string][]apiextensionsv1.CustomResourceColumnDefinition // by version
}

func newObjects(client dynamic.Interface, tell func(Message)) *objects {
	return &objects{
		client: client, tell: tell, all: map[string]*unstructured.Unstructured{}, owned: map[string]map[string]bool{},
		shown:   map[string]bool{},
		watched: map[schema.GroupVersionResource]context.CancelFunc{},
	}
}

// workloads are kinds that controllers of Kubernetes create for children.
var workloads = []schema.GroupVersionResource{
	{
		Group:    "apps",
		Version:  "v1",
		Resource: "replicasets",
	}, {Version: "v1", Resource: "pods"}, {Group: "batch", Version: "v1", Resource: "jobs"},
}

// load follows the objects of other operators.
func (s *objects) load(ctx context.Context, result argoperator.Result) {
	s.mu.Lock()
	s.operators, s.names = map[schema.GroupKind]primary{}, map[string]bool{}
	for _, o := range result.Operators {
		s.names[o.Name] = true
		kind := o.Kind()
		s.operators[kind.GroupKind()] = primary{operator: o.Name, columns: columnsOf(o, kind)}
	}
	s.mu.Unlock()
	wanted := slices.Concat(cluster.Watched(result.Objects()), workloads)
	for _, r := range wanted {
		s.observe(ctx, r)
	}
}

func columnsOf(o argoperator.Operator, kind schema.GroupVersionKind) map[string][]apiextensionsv1.CustomResourceColumnDefinition {
	out := map[string][]apiextensionsv1.CustomResourceColumnDefinition{}
	for _, object := range o.Objects {
		if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok && crd.Spec.Group == kind.Group &&
			crd.Spec.Names.Kind == kind.Kind {
			for _, v := range crd.Spec.Versions {
				out[v.Name] = v.AdditionalPrinterColumns
			}
		}
	}
	return out
}

// observeWritten follows the kinds of objects that an operator wrote.
func (s *objects) observeWritten(ctx context.Context, calls []cluster.Call, sim *simulate.Simulation) {
	for _, c := range calls {
		if c.Method == http.MethodGet || c.Status >= http.StatusMultipleChoices {
			continue
		}
		t := sim.Target(c.Path)
		if t.Resource != "" && t.Group != workflowsResource.Group && t.Resource != "events" {
			s.observe(ctx, schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource})
		}
	}
}

// observe follows the objects of a resource, once.
func (s *objects) observe(ctx context.Context, r schema.GroupVersionResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[r] != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.watched[r] = cancel
	if _, err := newInformer(ctx, source{client: s.client, resource: r}, s.changed, func(error) {}); err != nil {
		cancel()
		delete(s.watched, r)
	}
}

// follow calls a function for every change, one after the other for each resource.
func (s *objects) follow(f func(cluster.Change)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
}

func (s *objects) changed(c cluster.Change) {
	s.mu.Lock()
	watchers := s.watchers
	s.mu.Unlock()
	for _, f := range watchers { // which see the state before
		f(c)
	}
	var news []Message
	s.mu.Lock()
	if c.New == nil {
		news = s.remove(c.Old)
	} else {
		news = s.put(c.New)
	}
	s.mu.Unlock()
	for _, m := range news {
		s.tell(m)
	}
}

func (s *objects) remove(o *unstructured.Unstructured) []Message {
	uid := string(o.GetUID())
	for _, owner := range o.GetOwnerReferences() {
		delete(s.owned[string(owner.UID)], uid)
	}
	delete(s.all, uid)
	if !s.shown[uid] {
		return nil
	}
	delete(s.shown, uid)
	return []Message{{Gone: uid}}
}

func (s *objects) put(o *unstructured.Unstructured) []Message {
	uid := string(o.GetUID())
	s.all[uid] = o
	for _, owner := range o.GetOwnerReferences() {
		id := string(owner.UID)
		if s.owned[id] == nil {
			s.owned[id] = map[string]bool{}
		}
		s.owned[id][uid] = true
	}
	return s.show(uid)
}

// show tells an object that belongs to an operator, and what it owns if it is new.
func (s *objects) show(uid string) []Message {
	o := s.all[uid]
	if o == nil || !s.belongs(o) {
		return nil
	}
	state := s.state(o)
	out := []Message{{Object: &state}}
	if !s.shown[uid] {
		s.shown[uid] = true
		for below := range s.owned[uid] {
			out = append(out, s.show(below)...)
		}
	}
	return out
}

// belongs reports whether an object is a custom resource, was written by an operator, or
// has an owner that is shown.
func (s *objects) belongs(o *unstructured.Unstructured) bool {
	if _, ok := s.operators[groupKindOf(o)]; ok || s.managed(o) {
		return true
	}
	for _, owner := range o.GetOwnerReferences() {
		if s.shown[string(owner.UID)] {
			return true
		}
	}
	return false
}

// managed reports whether an operator wrote an object as a child.
func (s *objects) managed(o *unstructured.Unstructured) bool {
	labels := o.GetLabels()
	return labels[plan.OwnerUID] != "" && s.names[labels[plan.ManagedBy]]
}

// operatorOf returns the operator of a custom resource or a child, or "".
func (s *objects) operatorOf(o *unstructured.Unstructured) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind, ok := s.operators[groupKindOf(o)]; ok {
		return kind.operator
	}
	if name := o.GetLabels()[plan.ManagedBy]; s.names[name] {
		return name
	}
	return ""
}

func (s *objects) states() []ObjectState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []ObjectState
	for uid := range s.shown {
		out = append(out, s.state(s.all[uid]))
	}
	slices.SortFunc(out, func(a, b ObjectState) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Namespace+"/"+a.Name+"/"+a.Kind, b.Namespace+"/"+b.Name+"/"+b.Kind)
	})
	return out
}

func (s *objects) state(o *unstructured.Unstructured) ObjectState {
	out := ObjectState{
		UID: string(
			o.GetUID(),
		), APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Owners: []string{},
		Created: o.GetCreationTimestamp().Time, Deleting: o.GetDeletionTimestamp() != nil, Generation: o.GetGeneration(),
		Conditions: conditionsOf(o), Columns: []Column{}, Managed: s.managed(o),
	}
	for _, owner := range o.GetOwnerReferences() {
		out.Owners = append(out.Owners, string(owner.UID))
	}
	if label := o.GetLabels()[plan.OwnerUID]; label != "" && len(out.Owners) == 0 { // in another namespace
		out.Owners = append(out.Owners, label)
	}
	if kind, ok := s.operators[groupKindOf(o)]; ok {
		out.Primary, out.Operator = true, kind.operator
		out.Columns = columnValues(kind.columns[o.GroupVersionKind().Version], o)
	}
	out.Observed, _, _ = unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	out.Ready, out.Summary = readiness(o, out.Conditions)
	return out
}

func conditionsOf(o *unstructured.Unstructured) []Condition {
	out := []Condition{}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range list {
		c, ok := one.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { value, _ := c[key].(string); return value }
		out = append(out, Condition{text("type"), text("status"), text("reason"), text("message"), text("lastTransitionTime")})
	}
	return out
}

// columnValues returns the printer columns that kubectl get shows.
func columnValues(columns []apiextensionsv1.CustomResourceColumnDefinition, o *unstructured.Unstructured) []Column {
	out := []Column{}
	for _, c := range columns {
		if c.Priority > 0 || c.Type == "date" {
			continue
		}
		path := jsonpath.New(c.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + c.JSONPath + "}"); err != nil {
			continue // the API server does not accept such a column
		}
		var value strings.Builder
		if err := path.Execute(&value, o.Object); err == nil {
			out = append(out, Column{c.Name, value.String()})
		}
	}
	return out
}

// isPrimary reports whether an object is a custom resource of an operator.
func (s *objects) isPrimary(o *unstructured.Unstructured) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.operators[groupKindOf(o)]
	return ok
}

// childrenOf returns the objects that an operator wrote for a custom resource, sorted.
func (s *objects) childrenOf(uid string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*unstructured.Unstructured
	for _, o := range s.all {
		if ownedBy(o, uid) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(a.GetKind()+"/"+a.GetNamespace()+"/"+a.GetName(), b.GetKind()+"/"+b.GetNamespace()+"/"+b.GetName())
	})
	return out
}

// get returns an object by its uid, or nil.
func (s *objects) get(uid string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[uid]
}

// readiness returns whether an object is ready, and a short summary.
func readiness(o *unstructured.Unstructured, conditions []Condition) (ready, summary string) {
	number := func(fields ...string) int64 { n, _, _ := unstructured.NestedInt64(o.Object, fields...); return n }
	text := func(fields ...string) string { t, _, _ := unstructured.NestedString(o.Object, fields...); return t }
	yes := func(is bool) string {
		if is {
			return "True"
		}
		return "False"
	}
	switch groupKindOf(o) {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"},
		schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}:
		want, have := number("spec", "replicas"), number("status", "readyReplicas")
		return yes(have >= want && number("status", "observedGeneration") >= o.GetGeneration()), fmt.Sprintf("%d of %d ready", have, want)
	case schema.GroupKind{Group: "apps", Kind: "DaemonSet"}:
		want, have := number("status", "desiredNumberScheduled"), number("status", "numberReady")
		return yes(have >= want && number("status", "observedGeneration") >= o.GetGeneration()), fmt.Sprintf("%d of %d ready", have, want)
	case schema.GroupKind{Kind: "Pod"}:
		phase := text("status", "phase")
		return yes(conditionIs(conditions, "Ready") == "True" || phase == "Succeeded"), phase
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return yes(conditionIs(conditions, "Complete") == "True"), fmt.Sprintf("%d succeeded", number("status", "succeeded"))
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		phase := text("status", "phase")
		return yes(phase == "Bound"), phase
	case schema.GroupKind{Kind: "Service"}:
		return "", text("spec", "clusterIP")
	case schema.GroupKind{Kind: "Namespace"}:
		return "", text("status", "phase")
	}
	for _, c := range conditions {
		if c.Type == "Ready" {
			return c.Status, c.Reason
		}
	}
	return "", ""
}

// conditionIs returns the status of a condition, or "".
func conditionIs(conditions []Condition, name string) string {
	for _, c := range conditions {
		if c.Type == name {
			return c.Status
		}
	}
	return ""
}
