package schema

import "cmp"

// ScaleTarget returns the kind and the name of the object of which another one sets the number
// of pods: a HorizontalPodAutoscaler, or a ScaledObject of KEDA, whose target is a Deployment
// by default. The name is nil if there is none.
func ScaleTarget(object map[string]any) (kind string, name any) {
	spec, _ := object["spec"].(map[string]any)
	target, _ := spec["scaleTargetRef"].(map[string]any)
	kind, _ = target["kind"].(string)
	return cmp.Or(kind, "Deployment"), target["name"]
}
