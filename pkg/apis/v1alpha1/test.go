package v1alpha1

// TestKind is what `kind` of a test says.
const TestKind = "OperatorTest"

// OperatorTest is a test of an operator without a cluster.
type OperatorTest struct {
	// Version of the definition language.
	APIVersion string `json:"apiVersion" jsonschema:"enum=argoperator.dev/v1alpha1"`
	// Kind of the document.
	Kind string `json:"kind"       jsonschema:"enum=OperatorTest"`
	// Name of the test.
	Metadata TestMetadata `json:"metadata"`
	// Custom resource of the test, and what happens to it.
	Spec TestSpec `json:"spec"`
}

// TestMetadata is the name of the test.
type TestMetadata struct {
	// Name of the test: lower-case letters, digits and `-`. `argoperator test --run` selects tests by it.
	Name string `json:"name"`
}

// TestSpec is the custom resource of the test, and what happens to it.
type TestSpec struct {
	// Name of the operator to test.
	// +defaultText=all operators of the nearest directory above that has one
	Operator string `json:"operator,omitempty"`
	// Custom resource of the test. A step creates it.
	Resource Given `json:"resource"`
	// Objects that exist before the first step, with their status. A file may contain several.
	Objects []Given `json:"objects,omitempty"`
	// Reason for not delivering the events of any step a second time.
	// +defaultText=none, the events of every step are delivered twice
	NotIdempotent string `json:"notIdempotent,omitempty"`
	// Steps of the test, in order. The first failure ends the test.
	Steps []TestStep `json:"steps"`
}

// Given is an object, in a file or inline. Write `file` or `object`.
type Given struct {
	// Path of the file with the object, relative to the test.
	File string `json:"file,omitempty"`
	// The object itself.
	Object map[string]any `json:"object,omitempty"`
}

// DefinitionFile is another definition of the operator.
type DefinitionFile struct {
	// Path of the definition, relative to the test. Put it into a directory of its own, below that of the first definition: files beside
	// the definition or the tests are read with them. Its own files are relative to it.
	File string `json:"file"`
}

// TestStep is one action, and the expected result after the operator has finished its work. A step has exactly one action.
type TestStep struct {
	// Name of the step in reports, unique in the test.
	Name string `json:"name"`
	// Action: create the custom resource, with this merge patch applied; `{}` for none.
	Create map[string]any `json:"create,omitempty"`
	// Action: change the custom resource by a merge patch; `null` removes a field.
	Edit map[string]any `json:"edit,omitempty"`
	// Action: delete the custom resource.
	Delete *Nothing `json:"delete,omitempty"`
	// Action: set the status of a child to that of a ready object; `{}` for all children.
	Ready *Reference `json:"ready,omitempty"`
	// Action: write the status of a child, as its controller would.
	ChildStatus *ChildStatus `json:"childStatus,omitempty"`
	// Action: change a child by hand.
	ChildEdit *ChildEdit `json:"childEdit,omitempty"`
	// Action: delete a child by hand.
	ChildDelete *Reference `json:"childDelete,omitempty"`
	// Action: write the status of another object, as its controller would.
	ObjectStatus *ObjectStatus `json:"objectStatus,omitempty"`
	// Action: create or change another object, with its status.
	Apply *Given `json:"apply,omitempty"`
	// Action: delete another object.
	Remove *Reference `json:"remove,omitempty"`
	// Action: apply the manifests of another definition, which replace those with the same names. The rest of the operator, custom
	// resources and children stay.
	Definition *DefinitionFile `json:"definition,omitempty"`
	// Action: resync, as the operator does at its interval.
	Resync *Nothing `json:"resync,omitempty"`
	// Action: let the time of `resyncAfterSeconds`, `deleteAfter` or a `schedule` pass.
	Timer *Nothing `json:"timer,omitempty"`
	// Action: deliver all earlier events of the test again, in order, and then resync.
	Replay *Nothing `json:"replay,omitempty"`
	// Writes of the operator that the API server rejects during this step.
	Refuse []Refuse `json:"refuse,omitempty"`
	// Reason for not delivering the events of this step a second time.
	// +defaultText=none, the events are delivered twice, and the second time must not cause a write
	NotIdempotent string `json:"notIdempotent,omitempty"`
	// Expected result of the step.
	Expect Expect `json:"expect,omitempty"`
}

// Nothing is an empty mapping.
type Nothing struct{}

// Reference is the name of an object.
type Reference struct {
	// API version of the object.
	// +defaultText=that of the object with this kind and name
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the object.
	Kind string `json:"kind,omitempty"`
	// Name of the object.
	// +defaultText=the only object of the kind
	Name string `json:"name,omitempty"`
	// Namespace of the object.
	// +defaultText=that of the custom resource
	Namespace string `json:"namespace,omitempty"`
}

// ChildStatus is the status that a controller writes to a child.
type ChildStatus struct {
	Reference
	// Merge patch for the status of the child.
	Status map[string]any `json:"status"`
}

// ObjectStatus is the status that a controller writes to an object.
type ObjectStatus struct {
	Reference
	// Merge patch for the status of the object.
	Status map[string]any `json:"status"`
}

// ChildEdit is a change of a child by hand.
type ChildEdit struct {
	Reference
	// Merge patch for the child.
	Patch map[string]any `json:"patch"`
}

// Refuse is a set of writes that the API server rejects.
type Refuse struct {
	// Kind of the objects.
	Kind string `json:"kind"`
	// Name of the object.
	// +defaultText=all objects of the kind
	Name string `json:"name,omitempty"`
	// Whether to reject writes of the status, and not those of the object.
	// +default=false
	Status bool `json:"status,omitempty"`
	// Number of writes to reject, 1 or more.
	// +defaultText=all writes of the step
	Times *int32 `json:"times,omitempty"   jsonschema:"minimum=1"`
	// HTTP status code of the rejection, 400 to 599.
	// +default=403
	Code int32 `json:"code,omitempty"    jsonschema:"minimum=400,maximum=599"`
	// Message of the rejection.
	// +defaultText=a message of the test runner
	Message string `json:"message,omitempty"`
}

// Expect is the expected result of a step. Objects are partial: fields that are not listed may have any value, and `null`
// means that the field is absent. The items of a list that all have a `name`, or all a `type`, are looked up by it. Any
// other list must have the same length. A string `${ }` is a jq expression over the actual value and must be true.
type Expect struct {
	// Objects that are children of the custom resource, each with its kind, and its name where there are several.
	Children []map[string]any `json:"children,omitempty"`
	// Whether the custom resource has no other children.
	// +default=false
	Exactly bool `json:"exactly,omitempty"`
	// Objects that do not exist. Without `name`: no object of the kind. Without `namespace`: in no namespace.
	Absent []Reference `json:"absent,omitempty"`
	// Objects that exist, whether or not the operator made them.
	Objects []map[string]any `json:"objects,omitempty"`
	// Fields of the custom resource.
	Resource map[string]any `json:"resource,omitempty"`
	// Fields of the status of the custom resource.
	Status map[string]any `json:"status,omitempty"`
	// Whether the custom resource is gone; `false` while a finalizer keeps it.
	Gone *bool `json:"gone,omitempty"`
	// Path of a YAML file with all children and the custom resource, relative to the test. `argoperator test --update`
	// writes it.
	Golden string `json:"golden,omitempty"`
	// Part of the message with which the API server rejects the action of the step.
	Refused string `json:"refused,omitempty"`
	// Events of the custom resource in this step; `[]` for none.
	Events []ToldEvent `json:"events,omitempty"`
	// Parts of the messages of requests and programs that fail.
	// +defaultText=none may fail, unless the step has `refuse` or `replay`
	Failures []string `json:"failures,omitempty"`
	// Whether the operator writes nothing in this step.
	// +default=false
	Unchanged bool `json:"unchanged,omitempty"`
	// Triggers, requests, Workflows and reconciles of the step.
	Trace *ExpectTrace `json:"trace,omitempty"`
}

// ToldEvent is an Event, as `kubectl describe` shows it.
type ToldEvent struct {
	// Type of the Event.
	// +defaultText=any
	Type string `json:"type,omitempty"    jsonschema:"enum=Normal,enum=Warning"`
	// Reason in CamelCase.
	Reason string `json:"reason"`
	// Part of the message.
	Message string `json:"message,omitempty"`
}

// ExpectTrace is the work of the operator in a step.
type ExpectTrace struct {
	// Names of the triggers that run, each once and in any order; `[]` for none.
	Triggers []string `json:"triggers,omitempty"`
	// Number of requests to the API server, from triggers and pods.
	Requests *int32 `json:"requests,omitempty"  jsonschema:"minimum=0"`
	// Number of Workflows that run.
	Workflows *int32 `json:"workflows,omitempty" jsonschema:"minimum=0"`
	// Number of reconciles that the pod of the `worker` engine runs.
	Reconciles *int32 `json:"reconciles,omitempty" jsonschema:"minimum=0"`
}
