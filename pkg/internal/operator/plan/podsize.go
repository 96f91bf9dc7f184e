package plan

import "github.com/argoperator/argoperator/pkg/apis/v1alpha1"

// PodSize is the CPU and memory of a pod of Argo Events.
type PodSize struct {
	CPU, CPULimit       string // with a limit, because a Sensor that lost its connection to the bus runs in a busy loop
	Memory, MemoryLimit string
	HeapLimit           string // GOMEMLIMIT: below MemoryLimit, so that the garbage collector runs first
}

// SensorPod returns the size of a Sensor's pod. If the Sensors compute and write, a burst
// of custom resources needs CPU; if Workflows do, the Sensors only submit those.
func (e Execution) SensorPod() PodSize {
	size := PodSize{CPU: "50m", CPULimit: "2", Memory: "64Mi", MemoryLimit: "256Mi", HeapLimit: "200MiB"}
	if e.RunsPods {
		size.CPU, size.CPULimit = "10m", "500m"
	}
	return size
}

// runtimeResources returns the size of the containers with argoperator's own program. A worker
// keeps what it knows, which takes 60 to 80 MiB.
func runtimeResources(in v1alpha1.Install, e Execution) v1alpha1.Resources {
	if in.RuntimeResources != nil {
		return *in.RuntimeResources
	}
	memory, most := "32Mi", "128Mi"
	if e.Stays {
		memory, most = "64Mi", "256Mi"
	}
	return v1alpha1.Resources{Requests: map[string]string{"cpu": "10m", "memory": memory}, Limits: map[string]string{"memory": most}}
}

// SourcePod returns the size of the EventSource's pod. It caches every watched object: 1Gi
// suffices for about 35,000, and with a smaller heap it spends its time on garbage
// collection.
func (e Execution) SourcePod() PodSize {
	size := e.SensorPod()
	size.MemoryLimit, size.HeapLimit = "1Gi", "900MiB"
	return size
}
