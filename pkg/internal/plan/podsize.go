package plan

// PodSize is the CPU and memory of a pod of Argo Events.
type PodSize struct {
	CPU, CPULimit       string // with a limit, because a Sensor that has lost its bus spins
	Memory, MemoryLimit string
	HeapLimit           string // for Go: below MemoryLimit, so that garbage is collected first
}

// sizePods decides the sizes. The EventSource holds every object that it watches:
// 1Gi is enough for some 35,000, and with a heap too small for them it does little
// but collect garbage. Where the Sensors compute and write, a burst of custom
// resources needs CPU; where Workflows do, the Sensors only create these.
func sizePods(p *Plan) {
	size := PodSize{CPU: "50m", CPULimit: "2", Memory: "64Mi", MemoryLimit: "256Mi", HeapLimit: "200MiB"}
	if p.Reconcile.Execution.RunsPods {
		size.CPU, size.CPULimit = "10m", "500m"
	}
	for i := range p.Sensors {
		p.Sensors[i].Pod = size
		if p.Sensors[i].Patient && !p.Reconcile.Execution.RunsPods {
			p.Sensors[i].Pod.CPU, p.Sensors[i].Pod.CPULimit = "10m", "1"
		}
	}
	p.Install.SourcePod = size
	p.Install.SourcePod.MemoryLimit, p.Install.SourcePod.HeapLimit = "1Gi", "900MiB"
}
