// Package plan decides everything about an operator: which engine runs it, the names of
// its objects, the events that start a reconcile, and the permissions of each account.
//
// A plan is plain data. This package knows what Argo supports but imports no Kubernetes
// or Argo type; pkg/manifest fills in those types and decides nothing.
package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// Plan describes one operator.
type Plan struct {
	configured

	Sensors    []Sensor // the main one first
	Grants     []Grant
	Policies   []Policy
	Monitoring monitoring.Monitoring
	Members    []*Plan // of the plan of a group: the operators, whichever worker runs them
}

// Operator identifies the operator on every emitted object.
type Operator struct {
	Name        string
	Labels      map[string]string
	Annotations map[string]string
}

// Engine selects how reconciles run.
type Engine string

// The engines.
const (
	Direct   Engine = "direct"
	Worker   Engine = "worker"
	Workflow Engine = "workflow"
	Steps    Engine = "steps"
)

// API describes the reconciled kind.
type API struct {
	Kind                  Kind
	Singular              string
	ListKind              string
	ShortNames            []string
	Categories            []string
	Versions              []Version       // empty unless argoperator generates the CustomResourceDefinition
	CRD                   json.RawMessage // an existing CustomResourceDefinition, unchanged
	HasGeneration         bool            // its objects have metadata.generation
	HasConditions         bool            // the status has conditions
	HasObservedGeneration bool            // the status has observedGeneration
	NumbersConditions     bool            // its conditions have observedGeneration
	Existing              bool            // another operator, or Kubernetes, owns the kind
	SelectorJQ            string          // jq that tells whether the operator manages an object; empty: it manages all
	Decorate              bool            // the logic may set labels and annotations on the object
}

// Kind identifies a kind and its REST resource.
type Kind struct {
	Group             string // empty for the core group
	Version           string
	Kind              string
	Plural            string
	Namespaced        bool
	StatusSubresource bool // has a status subresource
}

// APIVersion returns group/version, as in an object's apiVersion.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Version is one version of the API in its CustomResourceDefinition.
type Version struct {
	Name               string
	Served             bool
	Storage            bool
	Deprecated         bool
	DeprecationWarning string
	Schema             json.RawMessage // the openAPIV3Schema
	Columns            []v1alpha1.Column
	Scale              *v1alpha1.Scale
	SelectableFields   []string
}

// Child is an object that the operator manages, or a kind of objects that its logic may
// create. A program is nil where the definition has none. Object and all fields after
// it are nil for a child that the logic creates.
type Child struct {
	Name   string
	Kind   Kind
	Orphan bool // not deleted with its custom resource, or only if Policy says so
	Adopt  bool // take over an existing object with the same name
	Update Update

	Object        *expression.Program // the object, as its template describes it
	ObjectName    *expression.Program // metadata.name
	Namespace     *expression.Program // metadata.namespace; nil if the template has none
	SameNamespace bool                // it is in the namespace of its custom resource
	When          *expression.Program
	ForEach       *expression.Program
	Ready         *expression.Program // evaluated on the live child
	InexactPaths  [][]string          // the fields it is computed from that a Sensor may not read exactly
	DependsOn     []string            // children that must be ready before it is created
	Deciders      []string            // children that decide what it is: they must exist before it is created, if they are wanted
	Alternatives  []string            // children that are the same object under another condition
	Replaced      *expression.Program // evaluated on the object: a fingerprint whose change replaces it; nil: it is never replaced
	Sealed        bool                // it can become immutable, which does not replace it
	HasTexts      bool                // it is a Secret with stringData, which is sent as data
	Subresource   string              // of a patch: where its fields are; empty: in the object
	ReportsStatus bool                // according to its schema, its controller reports conditions or a phase in the status

	Policy *expression.Program // yields what happens when its custom resource is deleted: Delete or Orphan; nil: it is always the same

	Generate map[string]v1alpha1.Generated // the random values of a Secret, by key; only a pod makes them

	// Guessed are the paths of values in the template that have errors, in a draft; nil if
	// the child is understood.
	Guessed [][]string

	chosen        bool // users decide about the namespace
	needs         []need
	podPrograms   podPrograms
	notInPod      []Reason // the parts of its template that a pod cannot evaluate
	readyNotInPod []Reason // the parts of its readyWhen that a pod cannot evaluate
}

// podPrograms are the programs of a child for the pod, nil where there is none.
type podPrograms struct {
	object, when, forEach, identity, fixed, policy json.RawMessage
}

// Status is the computed part of the status.
type Status struct {
	Fields     []StatusField
	ChildPaths map[string][][]string // the paths that Fields read, by child
	PodFields  json.RawMessage       // Fields for the pod; nil if the pod cannot evaluate them
	NotInPod   []Reason              // why PodFields is nil
}

// StatusField is one field of the status.
type StatusField struct {
	Name         string
	Value        *expression.Program
	InexactPaths [][]string // see Child
}

// Logic is the user's program.
type Logic struct {
	Image       string
	Command     []string
	Hook        *v1alpha1.Hook `json:",omitempty"` // nil: the command is started for each call
	Env         []v1alpha1.EnvVar
	Resources   v1alpha1.Resources
	ResyncAfter bool // it may request another run after a delay
	EveryChange bool // the creation of a child, its change by the operator and every change of its status run it
	Chart       bool `json:",omitempty"` // it renders a Helm chart
	Files       []File
	Parameters  []File
}

// File is a file in a ConfigMap.
type File struct {
	Key     string // of the ConfigMap
	Path    string // in the program's file system
	Content string
}

// Reconcile configures reconciles.
type Reconcile struct {
	Engine          Engine
	Execution       Execution           // of the engine
	Finalizer       string              // empty: none
	FinalizerForced bool                // the definition asks for it
	Against         map[Engine][]Reason // what the engines with templates do not support
	Shards          int                 // workers that share the custom resources
	StateLocation   StateLocation       // of the direct engine
	ForceConflicts  bool                // take over fields that another field manager owns
	Diagnoses       bool                // a pod asks the API server why it rejects a request of a Sensor
	Concurrency     int                 // custom resources that the worker reconciles at a time
	Workers         []GroupWorker       // of a group; the first one watches its Sensors
	Shows           bool                // a worker runs a failed or annotated custom resource once as a Workflow
}

// GroupWorker is a worker of a group.
type GroupWorker struct {
	Name      string
	Operators []string // that it runs
}

// StateLocation is where the direct engine stores the observed state of the children.
// It is stored on the custom resource, because a Sensor is stateless.
type StateLocation string

// The locations of the observed state.
const (
	InStatus      StateLocation = "status"      // .status.children.NAME
	InAnnotations StateLocation = "annotations" // OPERATOR.argoperator.dev/child-NAME, in JSON
)

// Install configures the installation of an operator, apart from what is Shared.
type Install struct {
	UserRoles         bool
	TokenHours        int    // between two rotations of the token; 0: it does not expire
	AllowedNamespaces string // a regular expression of the namespaces that a custom resource may choose; empty: any
}

// Event is an entry of the EventSource: a watch of a kind, or a timer.
type Event struct {
	Name      string // of the entry
	Interval  string // of a timer, a duration; empty: a watch
	Kind      Kind
	Namespace string // empty: all
	Types     []string
	Selector  map[string]string // labels of the objects; nil: every object
	Without   []string          // the children whose objects are left out
	Related   bool              // it watches related objects
}

// Sensor subscribes to events and acts on them.
type Sensor struct {
	Name         string
	Pod          PodSize
	Dependencies []Dependency
	Triggers     []Trigger
}

// Dependency is an event with the jq that computes the trigger's input from it. Its
// field go tells whether the trigger acts. For a Call, its fields call and failed are
// requests (method, path, type, body). For a Workflow, key, name and desired are
// arguments.
type Dependency struct {
	Name  string
	Event string
	JQ    string
	Made  Origin `json:"-"` // no digest depends on it
}

// Origin tells what a program was made of.
type Origin struct {
	File  string // in direct, without .jq
	Child string // empty: it is for no single child
}

// Trigger is the action of a Sensor when one of its dependencies passes an event.
type Trigger struct {
	Name    string
	On      []string // dependencies
	Call    *Call    // a request to the API server; nil: submit a Workflow
	Worker  string   // that the event is sent to; empty: none
	For     string   // the operator that the worker runs for the event
	Enqueue bool     // submit the Workflow that finds the custom resources which refer to a changed object
}

// Call is a request that a dependency computes.
type Call struct {
	Allow    []int32 // status codes that count as success
	Fallback []int32 // the same for the request in failed, which is sent when the first does not succeed; nil: none is sent
	Asks     bool    // the request in failed may create a Workflow that asks why the first one failed
	K8s      bool    // sent by a k8s trigger: operation and manifest instead of a request
}

// Account is a role, with a service account of its own.
type Account string

// The accounts.
const (
	SourceAccount    Account = "source"
	SensorAccount    Account = "sensor" // runs the Sensors
	ReconcileAccount Account = "workflow"
	ResyncAccount    Account = "resync"
	TokenAccount     Account = "token" // rotates the token of the Sensors
	WorkerAccount    Account = "worker"
)

// dedicatedAccount is the prefix of the account of the worker that an operator of a group has
// for itself. No name of an operator contains a dot.
const dedicatedAccount = WorkerAccount + "."

// Kind returns the account that others of its kind have, too: that of a dedicated worker is of
// the kind of a worker.
func (a Account) Kind() Account {
	kind, _, _ := strings.Cut(string(a), ".")
	return Account(kind)
}

// Accounts returns the accounts in the order in which they are emitted.
func (p *decided) Accounts() []Account {
	switch {
	case p.Reconcile.Execution.Stays:
		return append([]Account{SourceAccount, SensorAccount}, p.workerAccounts()...)
	case p.RotatesToken():
		return []Account{SourceAccount, SensorAccount, ResyncAccount, TokenAccount}
	case !p.Reconcile.Execution.RunsPods:
		return []Account{SourceAccount, SensorAccount, ResyncAccount}
	}
	return []Account{SourceAccount, SensorAccount, ReconcileAccount, ResyncAccount}
}

// workerAccounts returns the accounts of the workers. Shards have one in common.
func (p *decided) workerAccounts() []Account {
	var out []Account
	for _, name := range p.Workers() {
		if a := p.AccountOf(name); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// AccountOf returns the account of a worker.
func (p *declared) AccountOf(worker string) Account {
	name, dedicated := strings.CutPrefix(worker, p.dedicatedWorkers())
	if p.Shared.Group == "" || !dedicated {
		return WorkerAccount
	}
	return dedicatedAccount + Account(name)
}

// dedicatedWorkers is the prefix of the names of the workers that operators of a group have
// for themselves.
func (p *declared) dedicatedWorkers() string { return definition.WorkerName(p.Shared.Group) + "-" }

// Workers returns the names of the workers: of their Deployments, Services and Leases.
func (p *decided) Workers() []string {
	if !p.Reconcile.Execution.Stays {
		return nil
	}
	var names []string
	for _, w := range p.Reconcile.Workers {
		names = append(names, w.Name)
	}
	if names != nil {
		return names
	}
	names = []string{p.Names.Worker}
	for n := range p.Reconcile.Shards - 1 {
		names = append(names, fmt.Sprintf("%s-%d", p.Names.Worker, n+2))
	}
	return names
}

// ServiceAccount returns the name of an account's ServiceAccount.
func (p *declared) ServiceAccount(a Account) string {
	if name, dedicated := strings.CutPrefix(string(a), string(dedicatedAccount)); dedicated {
		return p.dedicatedWorkers() + name
	}
	switch a {
	case SourceAccount:
		return p.Names.SourceServiceAccount
	case SensorAccount:
		return p.Names.SensorServiceAccount
	case ResyncAccount:
		return p.Names.ResyncServiceAccount
	case TokenAccount:
		return p.TokenRotationName()
	case WorkerAccount:
		return p.Names.Worker
	default:
		return p.Names.WorkflowServiceAccount
	}
}

// Grant is one permission and the reason for it.
type Grant struct {
	Account             Account
	Group               string
	Resource            string   // may include a subresource: memcacheds/status
	Names               []string // of the objects; empty: all
	Verbs               []string
	InWatchedNamespaces bool   // in the watched namespaces; otherwise in the operator's own
	Namespace           string // only in this namespace; empty: see InWatchedNamespaces
	Held                bool   // no request needs it, but the account holds it: to grant it, or by install.permissions
	Reason              string
}

// Searches reports whether a pod evaluates regular expressions.
func (p *Plan) Searches() bool { return expression.Searches(encode(p.Runtime)) }

// Runtime configures argoperator's own steps, which read it as JSON.
type Runtime struct {
	Operator          string            `json:"operator"`
	Engine            Engine            `json:"engine"`
	Namespace         string            `json:"namespace"`
	Digest            string            `json:"digest"` // changes whenever a reconcile could have another result
	Parent            RuntimeKind       `json:"parent"`
	Children          []RuntimeKind     `json:"children"`
	WatchNamespaces   []string          `json:"watchNamespaces"`
	AllowedNamespaces string            `json:"allowedNamespaces,omitempty"` // a regular expression
	SystemNamespaces  string            `json:"systemNamespaces,omitempty"`  // one of those that are not allowed, without AllowedNamespaces
	Finalizer         string            `json:"finalizer"`
	FinalizerForced   bool              `json:"finalizerForced,omitempty"` // it is added at once, not before something needs it
	ForceConflicts    bool              `json:"forceConflicts"`
	Status            json.RawMessage   `json:"status"`
	StatusReadsStatus bool              `json:"statusReadsStatus,omitempty"` // fields of the status are computed from others of it
	SecretStatus      []string          `json:"secretStatus,omitempty"`      // the fields of the status that are computed from a Secret
	ResyncPolicy      string            `json:"resyncPolicy"`
	WorkflowTemplate  string            `json:"workflowTemplate,omitempty"`
	ArgoServerURL     string            `json:"argoServerURL"`
	Parameters        []string          `json:"parameters"`
	SensorTemplates   bool              `json:"sensorTemplates,omitempty"` // the Sensor computes the children
	Related           []RuntimeRelated  `json:"related,omitempty"`
	Schedules         []RuntimeSchedule `json:"schedules,omitempty"`
	ReadsObjects      bool              `json:"readsObjects,omitempty"`     // children are computed from other objects
	Existing          bool              `json:"existing,omitempty"`         // another operator, or Kubernetes, owns the parent's kind
	Decorate          bool              `json:"decorate,omitempty"`         // the logic may set labels and annotations on the parent
	Patches           []RuntimeKind     `json:"patches,omitempty"`          // objects of others of which fields are set
	DeletesInReverse  bool              `json:"deletesInReverse,omitempty"` // children are deleted one after the other
	DeleteAfter       json.RawMessage   `json:"deleteAfter,omitempty"`      // the seconds from its creation to its deletion
	ChildMetadata     json.RawMessage   `json:"childMetadata,omitempty"`    // labels and annotations of the children that the logic makes
	Inputs            json.RawMessage   `json:"inputs,omitempty"`           // the parameters of the installation, for the logic
	Timer             string            `json:"timer,omitempty"`            // the WorkflowTemplate of delayed runs that the logic requests
	Enqueue           *Enqueue          `json:"enqueue,omitempty"`          // the Workflows for changes of related objects, if any
	EventSource       string            `json:"eventSource"`
	Sensors           []string          `json:"sensors"`
	EmitsEvents       bool              `json:"emitsEvents,omitempty"` // an Event reports each change of the condition Ready
	Chart             bool              `json:"chart,omitempty"`       // the logic reads the spec alone, as the values of a chart
	Token             *RuntimeToken     `json:"token,omitempty"`       // the rotated token
	Group             string            `json:"group,omitempty"`       // whose objects the operator shares
	Worker            string            `json:"worker,omitempty"`      // its Deployment, Service and Lease; empty: Workflows reconcile
	First             string            `json:"first,omitempty"`       // the worker that watches the group's Sensors; empty: this one
	Workers           []string          `json:"workers,omitempty"`     // those that share the custom resources; empty: there is one
	Concurrency       int               `json:"concurrency,omitempty"` // custom resources that the worker reconciles at a time
	ResyncSeconds     int               `json:"resyncSeconds,omitempty"`
	Logic             *RuntimeLogic     `json:"logic,omitempty"` // what the worker calls
}

// RuntimeLogic configures how a worker calls the logic.
type RuntimeLogic struct {
	Seconds      int64  `json:"seconds"`        // the time limit of a call
	Port         int32  `json:"port,omitempty"` // of the hook; 0: the command is started for each call
	Path         string `json:"path,omitempty"`
	FinalizePath string `json:"finalizePath,omitempty"`
	Version      string `json:"version,omitempty"`   // of the keys in the request
	Workspace    string `json:"workspace,omitempty"` // its directory, if other operators have theirs
}

// Enqueue is how the Workflows for changes of related objects are named: Prefix and the
// number of the window, whose length Window is in seconds.
type Enqueue struct {
	Prefix string `json:"prefix"`
	Window int    `json:"window"`
}

// RuntimeToken configures the rotation of the Sensors' token.
type RuntimeToken struct {
	ServiceAccount string `json:"serviceAccount"`
	Secret         string `json:"secret"`
	Key            string `json:"key"`
	Seconds        int64  `json:"seconds"` // its lifetime
}

// RuntimeKind is a kind, as argoperator's own steps need it.
type RuntimeKind struct {
	Name       string   `json:"name,omitempty"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	Namespaced bool     `json:"namespaced"`
	Status     bool     `json:"status"`
	Lacks      []string `json:"lacks,omitempty"` // of what the operator would write to the status
	OnDelete   string   `json:"onDelete,omitempty"`
	Stays      bool     `json:"stays,omitempty"` // an orphan that nothing may delete; a patch that is not given up

	Policy json.RawMessage `json:"policy,omitempty"` // of an orphan: evaluated on the custom resource, whether it is deleted with it

	Template  bool            `json:"template,omitempty"` // it has a template; the logic creates the others
	Each      bool            `json:"each,omitempty"`     // there may be any number of objects
	Unready   json.RawMessage `json:"unready,omitempty"`  // an expression tree as in status, on the live child: the reason, or ""
	Object    json.RawMessage `json:"object,omitempty"`   // the template, if the pod evaluates it
	When      json.RawMessage `json:"when,omitempty"`
	ForEach   json.RawMessage `json:"forEach,omitempty"`
	DependsOn []string        `json:"dependsOn,omitempty"`
	Deciders  []string        `json:"deciders,omitempty"`
	Needs     []RuntimeNeed   `json:"needs,omitempty"`
	DecidedBy []string        `json:"decidedBy,omitempty"` // the children that decide which of its objects are wanted
	Adopt     bool            `json:"adopt,omitempty"`
	Chosen    bool            `json:"chosen,omitempty"`   // the custom resource, or the logic, decides about the namespace
	Beside    bool            `json:"beside,omitempty"`   // of a patch: its objects are in the custom resource's namespace
	Part      string          `json:"part,omitempty"`     // of a patch: the subresource that has its fields
	Never     bool            `json:"never,omitempty"`    // it is not updated once it exists
	Fixed     json.RawMessage `json:"fixed,omitempty"`    // evaluated on the object: a fingerprint whose change replaces it
	Unowned   bool            `json:"unowned,omitempty"`  // it cannot, or must not, have an owner reference
	Held      bool            `json:"held,omitempty"`     // only the operator deletes it, so the custom resource needs a finalizer
	Self      bool            `json:"self,omitempty"`     // of a patch: it is for the custom resource itself
	Identity  json.RawMessage `json:"identity,omitempty"` // of a template: name and namespace of its objects
	Selected  json.RawMessage `json:"selected,omitempty"` // of the parent: whether the operator manages it
	MaxDepth  int             `json:"maxDepth,omitempty"` // of a kind that another operator may serve
	TooDeep   string          `json:"tooDeep,omitempty"`  // the message that reports it
	Secret    bool            `json:"secret,omitempty"`   // it is computed from a Secret, which messages about it may quote

	Generate map[string]v1alpha1.Generated `json:"generate,omitempty"`
}

// RuntimeNeed is a value that a template waits for, and the children that it is computed
// from.
type RuntimeNeed struct {
	Expr     json.RawMessage `json:"expr"`
	Text     string          `json:"text"`
	Children []string        `json:"children,omitempty"`
	List     string          `json:"list,omitempty"` // the child of which all objects have to be there
	Damage   bool            `json:"damage,omitempty"`
}

// RuntimeSchedule is a related entry with times in place of objects.
type RuntimeSchedule struct {
	Name    string          `json:"name"`
	Rule    json.RawMessage `json:"rule"`
	Longest int             `json:"longest"` // number of characters of a schedule
}

// RuntimeRelated is a kind of related objects, as argoperator's own steps need it.
type RuntimeRelated struct {
	RuntimeKind
	Rule           json.RawMessage `json:"rule"`
	FixedNamespace string          `json:"fixedNamespace,omitempty"` // of all its objects
	Multiple       bool            `json:"multiple"`
	Watch          bool            `json:"watch"`
	Delete         bool            `json:"delete,omitempty"`
}
