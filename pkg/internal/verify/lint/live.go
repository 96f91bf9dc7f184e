package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// serverSet are the fields of metadata that only the API server writes.
var serverSet = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink",
	"uid",
}

// withoutServerFields returns an object's fields without those that controllers and the
// API server write. Newer versions of them write fields that the types here do not have.
func withoutServerFields(fields map[string]any) map[string]any {
	out := maps.Clone(fields)
	delete(out, "status")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, name := range serverSet {
			delete(metadata, name)
		}
		out["metadata"] = metadata
	}
	return out
}

// isLive reports whether an object was read from a cluster.
func isLive(o source.Object) bool { return o.Text("metadata", "uid") != "" }

// startedBySensor is the label of objects that a Sensor creates.
const startedBySensor = "events.argoproj.io/sensor"

// isGenerated reports whether a program wrote a live object: its owner, a Sensor, or the
// API server. Its user cannot change it, or must change the object that it is made from.
func isGenerated(o source.Object) bool {
	if !isLive(o) {
		return false
	}
	metadata, _ := o.Fields["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	controlled := slices.ContainsFunc(owners, func(owner any) bool {
		fields, _ := owner.(map[string]any)
		return fields["controller"] == true
	})
	return controlled || o.Text("metadata", "labels", startedBySensor) != "" ||
		o.Text("metadata", "labels", "kubernetes.io/bootstrapping") == "rbac-defaults" || o.Fields["aggregationRule"] != nil
}

// isAccepted reports whether the API server checked all fields of a live object. It does
// not check those of Argo's kinds.
func isAccepted(o source.Object) bool { return isLive(o) && o.Group() != argo.Group }

// nameOf names an object as kubectl does: sensor/orders in namespace shop.
func nameOf(o source.Object) string {
	name := o.Text("metadata", "name")
	if prefix := o.Text("metadata", "generateName"); name == "" && prefix != "" {
		name = prefix + "*"
	}
	out := strings.ToLower(o.Text("kind")) + "/" + name
	if namespace := o.Text("metadata", "namespace"); namespace != "" {
		out += " in namespace " + namespace
	}
	return out
}
