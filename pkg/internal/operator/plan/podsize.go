package plan

// PodSize is the CPU and memory of a pod of Argo Events.
type PodSize struct {
	CPU, CPULimit       string // with a limit, because a Sensor that lost its connection to the bus runs in a busy loop
	Memory, MemoryLimit string
	HeapLimit           string // GOMEMLIMIT: below MemoryLimit, so that the garbage collector runs first
}

// sizePods sets the sizes. The EventSource caches every watched object: 1Gi suffices
// for about 35,000, and with a smaller heap it spends its time on garbage collection.
// If the Sensors compute and write, a burst of custom resources needs CPU; if Workflows
// do, the Sensors only submit those.
func sizePods(p *Plan) {
	size := PodSize{CPU: "50m", CPULimit: "2", Memory: "64Mi", MemoryLimit: "256Mi", HeapLimit: "200MiB"}
	if p.Reconcile.Execution.RunsPods {
		size.CPU, size.CPULimit = "10m", "500m"
	}
	for i := range p.Sensors {
		p.Sensors[i].Pod = size
	}
	p.SourcePod = size
	p.SourcePod.MemoryLimit, p.SourcePod.HeapLimit = "1Gi", "900MiB"
}
