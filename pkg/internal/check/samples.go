package check

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/itchyny/gojq"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/argo"
)

// sample is an event on which a program is tried, as an EventSource announces it.
type sample struct {
	name  string
	event map[string]any
}

// Text that has gone wrong somewhere: line ends of YAML, what is no character,
// quotes, braces, what has a meaning in URLs.
const (
	oddName = "odd\u0085\u2028\u2029\ufeff\uffff\"\\ /?#%&"
	oddText = oddName + "{{workflow.name}}{{=1}}\n"
)

// The marks by which programs know their objects.
const (
	childLabel      = "argoperator.dev/child"
	childAnnotation = ".argoperator.dev/child-" // behind the operator's name
	ownerAnnotation = "argoperator.dev/owner"
	ownerLabel      = "argoperator.dev/owner-uid"
)

// knowledge is what the programs themselves say about objects that they expect.
type knowledge struct {
	children []string          // names under childLabel
	owners   [][2]string       // apiVersion and kind in owner references
	kinds    map[string]string // of the custom resources, by plural.group
	cluster  map[string]bool   // plural.group without a namespace
}

func knowledgeOf(o argo.Objects) knowledge {
	k := knowledge{kinds: map[string]string{}, cluster: o.ClusterScoped()}
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o) {
		k.kinds[crd.Spec.Names.Plural+"."+crd.Spec.Group] = crd.Spec.Names.Kind
	}
	for _, s := range argo.All[*eventsv1.Sensor](o) {
		for _, d := range s.Spec.Dependencies {
			if program := o.ProgramOf(d); program != nil {
				argo.ObjectsIn(program.Query, k.learn)
			}
		}
	}
	return k
}

func (k *knowledge) learn(object *gojq.Object) bool {
	of, _ := argo.Keys(object)
	if name, ok := argo.Literal(of[childLabel]); ok && !slices.Contains(k.children, name) {
		k.children = append(k.children, name)
	}
	apiVersion, ok1 := argo.Literal(of["apiVersion"])
	kind, ok2 := argo.Literal(of["kind"])
	if owner := [2]string{apiVersion, kind}; ok1 && ok2 && of["uid"] != nil && !slices.Contains(k.owners, owner) {
		k.owners = append(k.owners, owner)
	}
	return true
}

// samples of what a dependency listens to: of an object that is new, strange,
// changed, changed by its children, and gone.
func samples(k knowledge, o argo.Objects, s *eventsv1.Sensor, d eventsv1.EventDependency) []sample {
	if argo.IsCalendar(o, s, d) {
		return []sample{{"a tick", map[string]any{"eventTime": "2026-01-01 00:00:00 +0000 UTC", "userPayload": nil}}}
	}
	e := argo.EntryOf(o, s, d)
	if e.Resource == "" {
		return nil // reported elsewhere
	}
	fresh, strange, braces := k.object(e, "sample", "text"), k.object(e, oddName, oddText), k.object(e, "sample", oddText)
	list := []sample{
		{"a new object", announced("ADD", fresh, nil)},
		{"a new object with braces in its texts", announced("ADD", braces, nil)},
		{"a new object of a strange name", announced("ADD", strange, nil)},
		{"a deleted object", announced("DELETE", fresh, nil)},
		{"a deletion that is reported late", announced("DELETE", map[string]any{"Key": "team-a/sample", "Obj": fresh}, nil)},
		{"a changed object", announced("UPDATE", fresh, k.older(fresh))},
	}
	for _, memory := range []map[string]any{
		{"ownerUID": "uid-sample", "uid": "uid", "generation": 2.0, "ready": true, "fields": []any{map[string]any{}}},
		{"ready": false, "message": oddText, "failed": map[string]any{"generation": 2.0, "attempts": 1.0}},
	} {
		list = append(list, sample{"a change of what is remembered", announced("UPDATE", k.remembering(s.Labels["app.kubernetes.io/name"], fresh, memory), fresh)})
	}
	for _, c := range []map[string]any{
		{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "all children are ready"},
		{"type": "Ready", "status": "False", "reason": "Failed", "message": strings.Repeat(oddText+"\U0001d11e", 30)},
	} {
		said := with(strange, "status", map[string]any{"conditions": []any{c}})
		list = append(list, sample{"a change of the condition Ready", announced("UPDATE", said, strange)})
	}
	for _, name := range k.children {
		if e.Filter != nil {
			child := with(fresh, "metadata", with(fresh["metadata"], "labels", with(fresh["metadata"].(map[string]any)["labels"], childLabel, name)))
			list = append(list, sample{"a new child", announced("ADD", child, nil)}, sample{"a deleted child", announced("DELETE", child, nil)})
		}
	}
	return list
}

func announced(kind string, body, old map[string]any) map[string]any {
	event := map[string]any{"type": kind, "body": body}
	if old != nil {
		event["oldBody"] = old
	}
	return event
}

// object is one of a kind; text stands wherever users write.
func (k knowledge) object(e eventsv1.ResourceEventSource, name, text string) map[string]any {
	uid := "uid-" + name
	labels, annotations := map[string]any{"note": text, ownerLabel: uid}, map[string]any{"note": text, ownerAnnotation: "team-a." + name}
	metadata := map[string]any{
		"name": name, "uid": uid, "generation": 2.0, "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z",
		"labels": labels, "annotations": annotations,
		"managedFields": []any{map[string]any{"manager": "kubectl", "operation": "Update", "time": "2026-01-01T00:00:00Z"}},
	}
	if e.Filter != nil {
		for _, l := range e.Filter.Labels {
			labels[l.Key] = l.Value
		}
		var owners []any
		for _, owner := range k.owners {
			owners = append(owners, map[string]any{"apiVersion": owner[0], "kind": owner[1], "name": name, "uid": "owner", "controller": true})
		}
		metadata["ownerReferences"] = owners
	}
	if key := e.Resource + "." + e.Group; !k.cluster[key] {
		metadata["namespace"] = "team-a"
		if e.Namespace != "" {
			metadata["namespace"] = e.Namespace
		}
	}
	return map[string]any{
		"apiVersion": schema.GroupVersion{Group: e.Group, Version: e.Version}.String(), "kind": k.kinds[e.Resource+"."+e.Group],
		"metadata": metadata, "spec": map[string]any{"note": text},
	}
}

// older is the object before its last change.
func (k knowledge) older(object map[string]any) map[string]any {
	return with(object, "metadata", with(object["metadata"], "generation", 1.0))
}

// remembering is the object with a memory of each child.
func (k knowledge) remembering(operator string, object, memory map[string]any) map[string]any {
	annotations, children := object["metadata"].(map[string]any)["annotations"], map[string]any{}
	for _, name := range k.children {
		children[name] = memory
		text, _ := gojq.Marshal(memory) // plain data
		annotations = with(annotations, operator+childAnnotation+name, string(text))
	}
	object = with(object, "metadata", with(object["metadata"], "annotations", annotations))
	return with(object, "status", map[string]any{"children": children})
}

// with is a copy of an object with one more field.
func with(object any, key string, value any) map[string]any {
	out := map[string]any{}
	if from, ok := object.(map[string]any); ok {
		maps.Copy(out, from)
	}
	out[key] = value
	return out
}
