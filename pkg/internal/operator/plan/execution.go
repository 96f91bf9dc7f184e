package plan

// Execution has everything that differs between the engines. Other code reads these
// fields instead of comparing the name of an engine.
type Execution struct {
	RunsPods         bool     // pods reconcile; otherwise the Sensors compute and write, with a token from a Secret
	Stays            bool     // the pod of a Deployment, the worker, runs every reconcile; otherwise each is a Workflow
	PodPerStep       bool     // every step is a pod, and values are parameters of the Workflow
	OneReconcilePod  bool     // one pod reads, computes and writes; it can read other objects
	ComputesStatus   bool     // jq in the Sensor computes the status
	ObservedOnParent bool     // the custom resource holds the observed state of the children, because a Sensor reads no objects
	Prunes           bool     // children that are no longer wanted are deleted
	Writer           Account  // writes the children
	ChildEvents      []string // the changes of a child for which the EventSource publishes an event
	Summary          string   // for users
}

// execution returns the execution of an engine.
func execution(e Engine) Execution {
	switch e {
	case Direct:
		return Execution{
			ComputesStatus: true, ObservedOnParent: true, Writer: SensorAccount, ChildEvents: []string{"ADD", "UPDATE", "DELETE"},
			Summary: "jq and http triggers in the Sensor; no pods",
		}
	case Worker:
		return Execution{
			RunsPods: true, Stays: true, OneReconcilePod: true, Prunes: true, Writer: WorkerAccount,
			ChildEvents: []string{"UPDATE", "DELETE"},
			Summary:     "one pod that stays; no Workflow for an event",
		}
	case Steps:
		return Execution{
			RunsPods: true, PodPerStep: true, Writer: ReconcileAccount, ChildEvents: []string{"UPDATE", "DELETE"},
			Summary: "one Workflow per event, one pod per step",
		}
	default:
		return Execution{
			RunsPods: true, OneReconcilePod: true, Prunes: true, Writer: ReconcileAccount, ChildEvents: []string{"UPDATE", "DELETE"},
			Summary: "one Workflow with one pod per event",
		}
	}
}

// writers returns the accounts that write for one of the engines. Policies exempt all of them, not
// just that of the engine: after a change of the engine, the policies of the old one stay until
// somebody deletes them. An account that the operator does not have is a name in its own namespace.
func writers() []Account { return []Account{SensorAccount, WorkerAccount, ReconcileAccount} }
