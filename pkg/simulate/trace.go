package simulate

// Trace is what happened, in order.
type Trace []Step

// Step is one thing that happened; one of its fields is set.
type Step struct {
	Event    *Event    // published by an EventSource
	Delivery *Delivery // of the last event to a trigger
	Workflow *Workflow // that a trigger created, run
}

// Delivery is one event on its way through one dependency of one trigger.
type Delivery struct {
	Sensor, Dependency, Trigger string
	// Transformed is the event after the dependency's transform.
	Transformed map[string]any
	// Stopped says why the event went no further; empty where it did.
	Stopped string
	// Attempts to carry out the trigger: one, those of the retry strategy, and
	// those of the dead-letter trigger.
	Attempts []Attempt
}

// Attempt is one execution of a trigger.
type Attempt struct {
	Trigger string
	Calls   []Call
	Failure string // empty where it went well
	Note    string // what is not simulated of it
}

// Call is one request to the API server. What a caller proves who it is with is
// left out.
type Call struct {
	Method, Path, ContentType string // Path with its query
	Body                      any
	Status                    int
	Answer                    any
}

// Workflow is one run of a Workflow.
type Workflow struct {
	Namespace, Name, Template string
	Containers                []Container
	Failure                   string // empty where it went well
}

// Container is one program that ran.
type Container struct {
	Template, Name string
	Command        []string
	Output         string // both streams
	ExitCode       int
	Calls          []Call
	Skipped        string   // why it did not run
	Missing        []string // variables whose Secret or ConfigMap is not there
}
