package selfcheck

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/itchyny/gojq"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// sample is an event for testing a program, in the form in which an EventSource
// publishes it.
type sample struct {
	name  string
	event map[string]any
}

// Text with characters that have caused defects: YAML line breaks, noncharacters,
// quotes, braces, and characters with a meaning in URLs.
const (
	oddName = "odd\u0085\u2028\u2029\ufeff\uffff\"\\ /?#%&"
	oddText = oddName + "{{workflow.name}}{{=1}}\n"
)

// The labels and annotations by which programs identify their objects.
const (
	childLabel      = "argoperator.dev/child"
	childAnnotation = ".argoperator.dev/child-" // follows the operator's name
	ownerAnnotation = "argoperator.dev/owner"
	ownerLabel      = "argoperator.dev/owner-uid"
)

// expectations describes the objects that the programs expect.
type expectations struct {
	children []string          // values of childLabel
	owners   [][2]string       // apiVersion and kind in owner references
	kinds    map[string]string // kinds of the custom resources, by plural.group
	cluster  map[string]bool   // cluster-scoped resources, as plural.group
}

func expectationsOf(o objects) expectations {
	k := expectations{kinds: map[string]string{}, cluster: o.clusterScoped()}
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o.Objects) {
		k.kinds[crd.Spec.Names.Plural+"."+crd.Spec.Group] = crd.Spec.Names.Kind
	}
	for _, s := range argo.All[*eventsv1.Sensor](o.Objects) {
		for _, d := range s.Spec.Dependencies {
			if program := o.programOf(d); program != nil {
				objectsIn(program.Query, k.add)
			}
		}
	}
	return k
}

func (k *expectations) add(object *gojq.Object) bool {
	of, _ := Keys(object)
	if name, ok := Literal(of[childLabel]); ok && !slices.Contains(k.children, name) {
		k.children = append(k.children, name)
	}
	apiVersion, ok1 := Literal(of["apiVersion"])
	kind, ok2 := Literal(of["kind"])
	if owner := [2]string{apiVersion, kind}; ok1 && ok2 && of["uid"] != nil && !slices.Contains(k.owners, owner) {
		k.owners = append(k.owners, owner)
	}
	return true
}

// samples returns events of a dependency: an object that is new, has unusual names,
// changes, has changed children, or is deleted.
func samples(k expectations, o objects, s *eventsv1.Sensor, d eventsv1.EventDependency) []sample {
	if isCalendar(o, s, d) {
		return []sample{{"a tick", map[string]any{"eventTime": "2026-01-01 00:00:00 +0000 UTC", "userPayload": nil}}}
	}
	e := entryOf(o, s, d)
	if e.Resource == "" {
		return nil // already reported
	}
	plain, odd, braced := k.object(e, "sample", "text"), k.object(e, oddName, oddText), k.object(e, "sample", oddText)
	list := []sample{
		{"a new object", resourceEvent("ADD", plain, nil)},
		{"a new object with braces in its texts", resourceEvent("ADD", braced, nil)},
		{"a new object of a strange name", resourceEvent("ADD", odd, nil)},
		{"a deleted object", resourceEvent("DELETE", plain, nil)},
		{"a deletion that is reported late", resourceEvent("DELETE", map[string]any{"Key": "team-a/sample", "Obj": plain}, nil)},
		{"a changed object", resourceEvent("UPDATE", plain, k.previous(plain))},
	}
	for _, observed := range []map[string]any{
		{"ownerUID": "uid-sample", "uid": "uid", "generation": 2.0, "ready": true, "fields": []any{map[string]any{}}},
		{"ready": false, "message": oddText, "failed": map[string]any{"generation": 2.0, "attempts": 1.0}},
	} {
		list = append(
			list,
			sample{
				"a change of what is remembered",
				resourceEvent("UPDATE", k.withObserved(s.Labels["app.kubernetes.io/name"], plain, observed), plain),
			},
		)
	}
	for _, c := range []map[string]any{
		{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "all children are ready"},
		{"type": "Ready", "status": "False", "reason": "Failed", "message": strings.Repeat(oddText+"\U0001d11e", 30)},
	} {
		changed := withField(odd, "status", map[string]any{"conditions": []any{c}})
		list = append(list, sample{"a change of the condition Ready", resourceEvent("UPDATE", changed, odd)})
	}
	for _, name := range k.children {
		if e.Filter != nil {
			child := withField(
				plain,
				"metadata",
				withField(plain["metadata"], "labels", withField(plain["metadata"].(map[string]any)["labels"], childLabel, name)),
			)
			list = append(
				list,
				sample{"a new child", resourceEvent("ADD", child, nil)},
				sample{"a deleted child", resourceEvent("DELETE", child, nil)},
			)
		}
	}
	return list
}

func resourceEvent(kind string, body, old map[string]any) map[string]any {
	event := map[string]any{"type": kind, "body": body}
	if old != nil {
		event["oldBody"] = old
	}
	return event
}

// object returns an object of the entry's kind, with text in every field that users
// can write.
func (k expectations) object(e eventsv1.ResourceEventSource, name, text string) map[string]any {
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
			owners = append(
				owners,
				map[string]any{"apiVersion": owner[0], "kind": owner[1], "name": name, "uid": "owner", "controller": true},
			)
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

// previous returns the object before its last change.
func (k expectations) previous(object map[string]any) map[string]any {
	return withField(object, "metadata", withField(object["metadata"], "generation", 1.0))
}

// withObserved returns the object with an observed state for each child.
func (k expectations) withObserved(operator string, object, observed map[string]any) map[string]any {
	annotations, children := object["metadata"].(map[string]any)["annotations"], map[string]any{}
	for _, name := range k.children {
		children[name] = observed
		text, _ := gojq.Marshal(observed) // plain data is always encodable
		annotations = withField(annotations, operator+childAnnotation+name, string(text))
	}
	object = withField(object, "metadata", withField(object["metadata"], "annotations", annotations))
	return withField(object, "status", map[string]any{"children": children})
}

// withField returns a copy of an object with one field set.
func withField(object any, key string, value any) map[string]any {
	out := map[string]any{}
	if from, ok := object.(map[string]any); ok {
		maps.Copy(out, from)
	}
	out[key] = value
	return out
}
