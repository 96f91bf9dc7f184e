package testsuite

// ReadyStatus returns the status of a ready object of a built-in kind; nil if the
// kind has no such status.
func ReadyStatus(o map[string]any) map[string]any {
	spec, _ := o["spec"].(map[string]any)
	replicas := orOne(spec["replicas"])
	generation := valueOf(o, "metadata", "generation")
	switch textOf(o, "apiVersion") + " " + kindOf(o) {
	case "apps/v1 Deployment":
		return map[string]any{
			"observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
			"readyReplicas": replicas, "availableReplicas": replicas, "unavailableReplicas": nil,
			"conditions": []any{
				condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable"),
			},
		}
	case "apps/v1 StatefulSet":
		return map[string]any{
			"observedGeneration": generation, "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
			"currentReplicas": replicas, "updatedReplicas": replicas,
			"currentRevision": nameOf(o) + "-1", "updateRevision": nameOf(o) + "-1",
		}
	case "apps/v1 DaemonSet":
		return map[string]any{
			"observedGeneration": generation, "desiredNumberScheduled": int64(1), "currentNumberScheduled": int64(1),
			"updatedNumberScheduled": int64(1), "numberAvailable": int64(1), "numberReady": int64(1), "numberMisscheduled": int64(0),
		}
	case "apps/v1 ReplicaSet":
		return map[string]any{
			"observedGeneration": generation, "replicas": replicas, "fullyLabeledReplicas": replicas,
			"readyReplicas": replicas, "availableReplicas": replicas,
		}
	case "batch/v1 Job":
		return map[string]any{
			"succeeded": orOne(spec["completions"]), "active": nil, "ready": int64(0),
			"conditions": []any{condition("SuccessCriteriaMet", "CompletionsReached"), condition("Complete", "CompletionsReached")},
		}
	}
	return readyCore(o, spec, generation)
}

// readyCore handles Pods and kinds without pods.
func readyCore(o, spec map[string]any, generation any) map[string]any {
	address := map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}}
	switch textOf(o, "apiVersion") + " " + kindOf(o) {
	case "v1 Pod":
		return map[string]any{
			"phase": "Running", "podIP": "192.0.2.2",
			"conditions": []any{
				condition("PodScheduled", ""),
				condition("Initialized", ""),
				condition("ContainersReady", ""),
				condition("Ready", ""),
			},
		}
	case "v1 PersistentVolumeClaim":
		return map[string]any{
			"phase": "Bound", "accessModes": spec["accessModes"],
			"capacity": map[string]any{"storage": valueOf(spec, "resources", "requests", "storage")},
		}
	case "v1 Namespace":
		return map[string]any{"phase": "Active"}
	case "v1 Service":
		if spec["type"] == "LoadBalancer" {
			return address
		}
	case "networking.k8s.io/v1 Ingress":
		return address
	case "policy/v1 PodDisruptionBudget":
		return map[string]any{
			"observedGeneration": generation, "disruptionsAllowed": int64(1), "currentHealthy": int64(1), "desiredHealthy": int64(0),
			"expectedPods": int64(1),
			"conditions":   []any{condition("DisruptionAllowed", "SufficientPods")},
		}
	case "apiextensions.k8s.io/v1 CustomResourceDefinition":
		return map[string]any{
			"conditions": []any{condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")},
		}
	}
	return nil
}

func condition(name, reason string) map[string]any {
	out := map[string]any{"type": name, "status": "True", "lastTransitionTime": "2000-01-01T00:00:00Z"}
	if reason != "" {
		out["reason"] = reason
	}
	return out
}

// orOne returns a number of replicas, by default 1.
func orOne(n any) any {
	if n == nil {
		return int64(1)
	}
	return n
}
