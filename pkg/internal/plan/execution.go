package plan

// Execution is how the engine executes a reconcile. It has all that differs between
// the engines: other code reads these fields rather than compare an engine's name.
type Execution struct {
	RunsPods         bool     // a reconcile is a Workflow; otherwise the Sensors compute it and write to the API server
	PodPerStep       bool     // every step is a pod, and values are parameters of the Workflow
	OneReconcilePod  bool     // one pod reads, computes and writes; it can look at other objects
	HTTPTriggers     bool     // the Sensors send requests themselves, with a token from a Secret
	ComputesStatus   bool     // the status is jq in the Sensor
	ObservedOnParent bool     // the observed state of the children is kept on the custom resource: a Sensor reads no objects
	Prunes           bool     // children that are no longer wanted are found and deleted
	Writer           Account  // writes the children
	ChildEvents      []string // what has happened to a child when the EventSource publishes an event
	Summary          string   // for people
}

// execution is that of an engine.
func execution(e Engine, trigger string) Execution {
	switch e {
	case Direct:
		out := Execution{
			HTTPTriggers: true, ComputesStatus: true, ObservedOnParent: true, Writer: Actor, ChildEvents: []string{"ADD", "UPDATE", "DELETE"},
			Summary: "jq in the Sensor, written by its http trigger; no pod",
		}
		if trigger == "k8s" {
			out.HTTPTriggers, out.Summary = false, "jq in the Sensor, written by its k8s trigger; no pod"
		}
		return out
	case Steps:
		return Execution{
			RunsPods: true, PodPerStep: true, Writer: Reconciler, ChildEvents: []string{"UPDATE", "DELETE"},
			Summary: "a Workflow, each step a pod of its own",
		}
	default:
		return Execution{
			RunsPods: true, OneReconcilePod: true, Prunes: true, Writer: Reconciler, ChildEvents: []string{"UPDATE", "DELETE"},
			Summary: "a Workflow of one pod",
		}
	}
}
