package v1alpha1

// TestKind is what `kind` of a test says.
const TestKind = "OperatorTest"

// OperatorTest is a test of an operator without a cluster: what happens to one custom resource, step by step, and what
// is to come of it.
type OperatorTest struct {
	// APIVersion is argoperator.dev/v1alpha1.
	APIVersion string `json:"apiVersion" jsonschema:"enum=argoperator.dev/v1alpha1"`
	// Kind is OperatorTest.
	Kind string `json:"kind" jsonschema:"enum=OperatorTest"`
	// Metadata names the test.
	Metadata TestMetadata `json:"metadata"`
	// Spec says what happens and what is expected.
	Spec TestSpec `json:"spec"`
}

// TestMetadata names a test.
type TestMetadata struct {
	// Name of the test: lower-case letters, digits and '-'. It is what `argoperator test NAME` and --run choose by.
	Name string `json:"name"`
}

// TestSpec says what happens and what is expected.
type TestSpec struct {
	// Operator is the name of the operator under test. Default: all operators in the nearest directory above that holds one.
	Operator string `json:"operator,omitempty"`
	// Resource is the custom resource that the steps are about. It is not there before a step creates it.
	Resource Given `json:"resource"`
	// Objects are in the cluster before the first step: what others have made, with their status. A file may hold several.
	Objects []Given `json:"objects,omitempty"`
	// NotIdempotent is the reason why none of the steps is delivered a second time. Default: empty, each is.
	NotIdempotent string `json:"notIdempotent,omitempty"`
	// Steps happen one after the other; the first that fails ends the test.
	Steps []TestStep `json:"steps"`
}

// Given is an object, written here or in a file.
type Given struct {
	// File with the object, relative to the test.
	File string `json:"file,omitempty"`
	// Object as it is.
	Object map[string]any `json:"object,omitempty"`
}

// TestStep is one thing that happens, and what is to come of it once the operator has come to rest.
type TestStep struct {
	// Name of the step, in reports.
	Name string `json:"name"`
	// Create creates the custom resource, with this merge patch applied to it; {} as it is.
	Create map[string]any `json:"create,omitempty"`
	// Edit changes the custom resource by a merge patch: null takes a field away.
	Edit map[string]any `json:"edit,omitempty"`
	// Delete deletes the custom resource.
	Delete *Nothing `json:"delete,omitempty"`
	// Ready lets the controllers of the named child do their work, of all children with {}: its status becomes that of
	// an object that is up and running.
	Ready *Reference `json:"ready,omitempty"`
	// ChildStatus lets the controller of a child write its status.
	ChildStatus *ChildStatus `json:"childStatus,omitempty"`
	// ChildEdit changes a child by hand: drift.
	ChildEdit *ChildEdit `json:"childEdit,omitempty"`
	// ChildDelete deletes a child by hand.
	ChildDelete *Reference `json:"childDelete,omitempty"`
	// ObjectStatus lets the controller of another object write its status.
	ObjectStatus *ObjectStatus `json:"objectStatus,omitempty"`
	// Apply writes another object, with its status.
	Apply *Given `json:"apply,omitempty"`
	// Remove deletes another object.
	Remove *Reference `json:"remove,omitempty"`
	// Resync lets the operator look at everything again, as it does from time to time.
	Resync *Nothing `json:"resync,omitempty"`
	// Timer lets the timer expire that the logic set by resyncAfterSeconds.
	Timer *Nothing `json:"timer,omitempty"`
	// Replay delivers all events of the test so far once more, in order, and then lets the operator look at everything
	// again: until then what came late may show.
	Replay *Nothing `json:"replay,omitempty"`
	// Refuse makes the API server refuse what the operator writes during this step.
	Refuse []Refuse `json:"refuse,omitempty"`
	// NotIdempotent is the reason why this step is not delivered a second time. Default: empty, it is: a second delivery
	// of everything must not write anything.
	NotIdempotent string `json:"notIdempotent,omitempty"`
	// Expect is what is to come of the step.
	Expect Expect `json:"expect,omitempty"`
}

// Nothing is an empty mapping.
type Nothing struct{}

// Reference names an object.
type Reference struct {
	// APIVersion of the object. Default: that of the object in the cluster which has the kind and the name.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the object.
	Kind string `json:"kind,omitempty"`
	// Name of the object. Default: the only one of its kind.
	Name string `json:"name,omitempty"`
	// Namespace of the object. Default: that of the custom resource.
	Namespace string `json:"namespace,omitempty"`
}

// ChildStatus is a status that a controller writes.
type ChildStatus struct {
	Reference
	// Status is a merge patch for the child's status.
	Status map[string]any `json:"status"`
}

// ObjectStatus is a status that the controller of an object of others writes.
type ObjectStatus struct {
	Reference
	// Status is a merge patch for the object's status.
	Status map[string]any `json:"status"`
}

// ChildEdit is a change by hand.
type ChildEdit struct {
	Reference
	// Patch is a merge patch for the child.
	Patch map[string]any `json:"patch"`
}

// Refuse makes the API server refuse the operator's writes.
type Refuse struct {
	// Kind of the objects that are not to be written.
	Kind string `json:"kind"`
	// Name of the object. Default: all of the kind.
	Name string `json:"name,omitempty"`
	// Status refuses writes of the status instead of those of the object. Default: false.
	Status bool `json:"status,omitempty"`
	// Times is how many writes are refused. Default: all of the step.
	Times *int32 `json:"times,omitempty" jsonschema:"minimum=1"`
	// Code is the HTTP status of the refusal. Default: 403, as of a quota or a webhook.
	Code int32 `json:"code,omitempty" jsonschema:"minimum=400,maximum=599"`
	// Message of the refusal.
	Message string `json:"message,omitempty"`
}

// Expect is what is to come of a step. Objects are partial: what is not written may be anything; null means absent.
// The entries of a list that have a name (or a type) are looked up by it; any other list is as long as the expected
// one. A text ${ … } is a jq expression over the actual value and must be true.
type Expect struct {
	// Children are partial objects, each of which a child of the custom resource must match, by kind and name.
	Children []map[string]any `json:"children,omitempty"`
	// Exactly means that there are no other children. Default: false.
	Exactly bool `json:"exactly,omitempty"`
	// Absent are objects that are not there.
	Absent []Reference `json:"absent,omitempty"`
	// Objects are partial objects that are there, whoever made them.
	Objects []map[string]any `json:"objects,omitempty"`
	// Resource is the custom resource, partially.
	Resource map[string]any `json:"resource,omitempty"`
	// Status is the status of the custom resource, partially.
	Status map[string]any `json:"status,omitempty"`
	// Gone says whether the custom resource is gone: false while a finalizer holds it.
	Gone *bool `json:"gone,omitempty"`
	// Golden is a file with all children and the custom resource, relative to the test; `argoperator test --update` writes it.
	Golden string `json:"golden,omitempty"`
	// Refused is a part of the message with which the API server refuses the step itself.
	Refused string `json:"refused,omitempty"`
	// Events are told of the custom resource in this step, as kubectl describe shows them; [] means none.
	Events []ToldEvent `json:"events,omitempty"`
	// Failures are parts of the messages of what fails on the way; without it nothing may, unless the step refuses writes
	// or replays events.
	Failures []string `json:"failures,omitempty"`
	// Unchanged means that the operator writes nothing in this step.
	Unchanged bool `json:"unchanged,omitempty"`
	// Trace is how the operator went about it.
	Trace *ExpectTrace `json:"trace,omitempty"`
}

// ToldEvent is a Kubernetes Event.
type ToldEvent struct {
	// Type is Normal or Warning.
	Type string `json:"type,omitempty" jsonschema:"enum=Normal,enum=Warning"`
	// Reason in CamelCase.
	Reason string `json:"reason"`
	// Message is a part of the text.
	Message string `json:"message,omitempty"`
}

// ExpectTrace is how the operator went about a step.
type ExpectTrace struct {
	// Triggers that fire, by name, each once and in any order; [] means none.
	Triggers []string `json:"triggers,omitempty"`
	// Requests to the API server, of triggers and of pods.
	Requests *int32 `json:"requests,omitempty" jsonschema:"minimum=0"`
	// Workflows that run.
	Workflows *int32 `json:"workflows,omitempty" jsonschema:"minimum=0"`
}
