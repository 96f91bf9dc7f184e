package plan

import (
	"encoding/json"
	"fmt"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
)

// unreadyJQ returns the jq of the reason why an object is not ready, "" if it is, by
// the rules of kstatus. Sensors run it, and pods evaluate the result of unreadyInPod.
// It must not fail: the Sensor would drop the event.
func unreadyJQ(c Child) string {
	rule := unreadyRule(c)
	if c.Ready != nil {
		rule = fmt.Sprintf(`if (try %s catch false) == true then "" else "readyWhen is not met" end`, c.Ready.Source())
	}
	return fmt.Sprintf(
		`try (if .metadata.deletionTimestamp != null then "is being deleted" elif (.status.observedGeneration? // .metadata.generation // 0) < (.metadata.generation // 0) then "its latest change is not yet observed" else %s end) catch "its status cannot be read"`,
		rule,
	)
}

// unreadyInPod compiles unreadyJQ for the pod; nil if the pod cannot evaluate the
// child's readyWhen.
func unreadyInPod(c Child) json.RawMessage {
	node, problems := expression.BareForPod(unreadyJQ(c))
	if len(problems) > 0 {
		return nil
	}
	return encode(node)
}

// below yields the first counter of the status that is smaller than a number.
const below = `def below($names; $of): first($names[] as $name | select((.status[$name] // 0) < $of) | "\($name) is \(.status[$name] // 0) of \($of)"); `

func unreadyRule(c Child) string {
	k := c.Kind
	switch k.Group + "/" + k.Kind {
	case "apps/Deployment":
		return `(` + below + `(.spec.replicas // 1) as $n | first((select(any(.status.conditions[]?; .type == "Progressing" and .reason == "ProgressDeadlineExceeded")) | "its progress deadline is exceeded"), below(["updatedReplicas", "availableReplicas", "readyReplicas"]; $n), (((.status.replicas // 0) - $n) as $surplus | select($surplus > 0) | "\($surplus) old replicas are still there"), ""))`
	case "apps/StatefulSet":
		return `(` + below + `(.spec.replicas // 1) as $n | (.spec.updateStrategy.rollingUpdate.partition // 0) as $partition | if .spec.updateStrategy.type == "OnDelete" then "" else first(below(["replicas", "readyReplicas"]; $n), below(["updatedReplicas"]; [$n - $partition, 0] | max), (select($partition == 0 and .status.currentRevision != .status.updateRevision) | "its revision is being rolled out"), "") end)`
	case "apps/DaemonSet":
		return `(` + below + `if .status.observedGeneration == null then "is not yet observed" else first(below(["updatedNumberScheduled", "numberAvailable", "numberReady"]; .status.desiredNumberScheduled // 0), "") end)`
	case "apps/ReplicaSet":
		return `(` + below + `first(below(["replicas", "readyReplicas", "availableReplicas"]; .spec.replicas // 1), ""))`
	case "batch/Job":
		return `if any(.status.conditions[]?; .type == "Failed" and .status == "True") then "has failed" elif .status.startTime != null or .spec.suspend == true or any(.status.conditions[]?; .type == "Complete" and .status == "True") then "" else "has not started" end`
	case "/Pod":
		return `if .status.phase == "Succeeded" or (.status.phase == "Running" and any(.status.conditions[]?; .type == "Ready" and .status == "True")) then "" else "is \(.status.phase // "Pending") and not ready" end`
	case "/PersistentVolumeClaim":
		return `if .status.phase == "Bound" then "" else "is not bound" end`
	case "/Service":
		return `if .spec.type == "LoadBalancer" and (.status.loadBalancer.ingress // [] | length) == 0 then "has no load balancer yet" else "" end`
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return `if any(.status.conditions[]?; .type == "Established" and .status == "True") then "" else "is not established" end`
	case "policy/PodDisruptionBudget", "autoscaling/HorizontalPodAutoscaler":
		return `""`
	}
	rule := `([.status.conditions[]? | objects] | first((.[] | select(.type == "Ready" and .status != "True") | (.message | strings | select(. != "")) // "is not ready"), (.[] | select((.type == "Stalled" or .type == "Reconciling") and .status == "True") | "is \(.type | ascii_downcase)"), ""))`
	if !c.ReportsStatus {
		return rule
	}
	return fmt.Sprintf(`if (.status // {}) == {} then "its controller has not reported a status yet" else %s end`, rule)
}
