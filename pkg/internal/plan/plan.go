// Package plan takes every decision: which engine carries the definition, what
// everything is called, which events start a reconcile, what may be read and
// written and by whom.
//
// The rule of this package: a plan is plain data. It knows what Argo can do but no
// Kubernetes or Argo type; pkg/manifest fills those in and decides nothing.
package plan

import (
	"encoding/json"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/expression"
)

// Plan is everything that was decided about one operator.
type Plan struct {
	Operator  Operator
	Names     v1alpha1.Names
	API       API
	Children  []Child
	Related   []Related
	Logic     Logic
	Status    Status
	Reconcile Reconcile
	Install   Install
	Events    []Event  // in the order in which they are announced
	Sensors   []Sensor // the main one first
	Grants    []Grant
	Policies  []Policy
	Runtime   Runtime
}

// Operator is what every emitted object carries.
type Operator struct {
	Name        string
	Digest      string // of the definition and its files: changes when a reconcile could come out otherwise
	Labels      map[string]string
	Annotations map[string]string
}

// Engine carries a reconcile.
type Engine string

// The engines of this version.
const (
	Direct   Engine = "direct"
	Workflow Engine = "workflow"
	Steps    Engine = "steps"
)

// API is the kind that is reconciled.
type API struct {
	Kind       Kind
	Singular   string
	ListKind   string
	ShortNames []string
	Categories []string
	Versions   []Version       // empty unless a CustomResourceDefinition is built
	CRD        json.RawMessage // a CustomResourceDefinition taken as it is
	Generation bool            // its objects count the changes of their spec
	Conditions bool            // the status has conditions
	Observed   bool            // the status has observedGeneration
	Existing   bool            // the kind is that of others
	Selected   string          // jq of whether the operator is for an object; empty: for every one
	Decorate   bool            // the logic may set labels and annotations of the object
}

// Kind is a kind with all that is needed to address its objects.
type Kind struct {
	Group      string // empty for the core group
	Version    string
	Kind       string
	Plural     string
	Namespaced bool
	Status     bool // it has a status subresource
}

// APIVersion is group/version as an object states it.
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
	Schema             json.RawMessage // an openAPIV3Schema
	Columns            []v1alpha1.Column
	Scale              *v1alpha1.Scale
	SelectableFields   []string
}

// Child is an object that the operator keeps, or a kind of objects that its
// logic may make. The programs are nil where the definition has none; Object,
// with all that follows it, is nil for a child of the logic.
type Child struct {
	Name   string
	Kind   Kind
	Orphan bool // it outlives its custom resource
	Adopt  bool // it takes over an existing object of its name

	Object    *expression.Program // the object as its template has it
	Named     *expression.Program // its name
	Namespace *expression.Program // its namespace; nil where the template says none
	Beside    bool                // it lives in the namespace of its custom resource
	When      *expression.Program
	Each      *expression.Program
	Ready     *expression.Program // over the live child
	Inexact   [][]string          // what it is computed from that a Sensor may not read exactly
	DependsOn []string            // children that have to be ready before it is made
	Reports   bool                // its schema says that its controller reports in the status

	needs    []need
	inPod    podChild
	notInPod []Reason // what of its template the pod cannot evaluate
	unready  []Reason // what of its readiness
}

// podChild is the programs of a child for the pod; nil where there is none.
type podChild struct {
	object, when, each, place json.RawMessage
}

// Status is what the definition computes for the status.
type Status struct {
	Fields   []StatusField
	Shown    map[string][][]string // the paths below each child that Fields read
	Node     json.RawMessage       // Fields for the pod; nil where the pod cannot evaluate them
	NotInPod []Reason              // why Node is nil
}

// StatusField is one field right below status.
type StatusField struct {
	Name    string
	Value   *expression.Program
	Inexact [][]string // as of Child
}

// Logic is the user's program.
type Logic struct {
	Image      string
	Command    []string
	Env        []v1alpha1.EnvVar
	Resources  v1alpha1.Resources
	Later      bool // it may ask to be run again after a time
	Files      []File
	Parameters []File
}

// File is a file in a ConfigMap.
type File struct {
	Key     string // in the ConfigMap
	Path    string // where the program sees it
	Content string
}

// Reconcile is how one reconcile is carried.
type Reconcile struct {
	Engine         Engine
	Execution      Execution // of the engine
	TimeoutSeconds int64
	Retries        int32
	Schedule       string   // of the resync, in cron's five fields
	Finalizer      string   // empty: none
	Why            []Reason // what kept the cheapest engine from carrying the definition
	Trigger        string   // of the direct engine: http or k8s
	Shards         int      // Sensors between which the direct engine divides the custom resources
	Memory         Memory   // of the direct engine
	Force          bool     // take over fields that another field manager has set
	Mutexes        bool     // the target knows the list form of a mutex
	Schedules      bool     // the target knows the list form of a schedule
}

// Memory is where the direct engine remembers what it has seen of the children:
// on the custom resource itself, because a Sensor has no memory.
type Memory string

// The places of the memory.
const (
	InStatus      Memory = "status"      // .status.children.NAME
	InAnnotations Memory = "annotations" // OPERATOR.argoperator.dev/child-NAME, in JSON
)

// Install is where the operator lives and what it sees.
type Install struct {
	AdmissionPolicies bool

	Namespace       string
	WatchNamespaces []string // empty: the whole cluster
	Replicas        int32
	LeaderElection  bool
	EventBus        EventBus
	RuntimeImage    string
	Resources       v1alpha1.Resources // of the operator's own steps
	SourcePod       PodSize            // of the EventSource
	UserRoles       bool
	Monitoring      Monitoring

	NetworkPolicies   bool
	TokenHours        int    // between two tokens; 0: one that does not expire
	AllowedNamespaces string // a regular expression of those that custom resources may choose; empty: any
}

// EventBus carries the events.
type EventBus struct {
	Name         string
	Managed      bool
	Replicas     int32
	Version      string
	StorageClass string
	Storage      string
}

// Event is a kind of event that the EventSource announces: what happens to
// objects of a kind, or that time passes.
type Event struct {
	Name      string // of the entry
	Every     string // a duration: it comes by itself; empty: when objects change
	Kind      Kind
	Namespace string // empty: all
	Types     []string
	Selector  map[string]string // labels of the objects; nil: every object
	Related   bool              // the objects are related ones
}

// Sensor listens to events and acts on them.
type Sensor struct {
	Name         string
	Patient      bool // in a burst it may trail behind the others
	Pod          PodSize
	Dependencies []Dependency
	Triggers     []Trigger
}

// Dependency is an event with the jq that makes of it what a trigger needs. Its
// go tells whether the trigger acts; for a Call, call and failed are requests
// (method, path, type, body); for a Workflow, key, name and desired its arguments.
type Dependency struct {
	Name  string
	Event string
	JQ    string
}

// Trigger is what a Sensor does when one of its dependencies lets an event pass.
type Trigger struct {
	Name    string
	On      []string // dependencies
	Call    *Call    // a request to the API server; nil: a Workflow
	Enqueue bool     // the Workflow that finds the custom resources that refer to a changed object
}

// Call is a request that a dependency computes.
type Call struct {
	Allow    []int32 // the answers that are taken for success
	Fallback []int32 // those of the request under failed, which is made when the first stays without success; nil: there is none
	K8s      bool    // by a k8s trigger: operation and manifest instead of a request
}

// Account is a role that a service account plays.
type Account string

// The accounts, one a role.
const (
	Source     Account = "source"
	Actor      Account = "sensor" // the Sensors
	Reconciler Account = "workflow"
	Resyncer   Account = "resync"
	Rotator    Account = "token" // who replaces the token of the Sensors
)

// Accounts returns the accounts in the order in which they are emitted.
func (p *Plan) Accounts() []Account {
	switch {
	case p.Rotates():
		return []Account{Source, Actor, Resyncer, Rotator}
	case !p.Reconcile.Execution.RunsPods:
		return []Account{Source, Actor, Resyncer}
	}
	return []Account{Source, Actor, Reconciler, Resyncer}
}

// ServiceAccount returns the name of an account's ServiceAccount.
func (p *Plan) ServiceAccount(a Account) string {
	switch a {
	case Source:
		return p.Names.SourceServiceAccount
	case Actor:
		return p.Names.SensorServiceAccount
	case Resyncer:
		return p.Names.ResyncServiceAccount
	case Rotator:
		return p.Rotation()
	default:
		return p.Names.WorkflowServiceAccount
	}
}

// Grant is one permission, with the reason it is there.
type Grant struct {
	Account   Account
	Group     string
	Resource  string   // with the subresource: memcacheds/status
	Names     []string // of the objects; empty: all
	Verbs     []string
	Watched   bool   // where custom resources live; otherwise in the operator's own namespace
	Namespace string // in this one and nowhere else; empty: as Watched says
	Why       string
}

// Runtime is the configuration of the operator's own steps, as they read it.
type Runtime struct {
	Operator         string           `json:"operator"`
	Engine           Engine           `json:"engine"`
	Namespace        string           `json:"namespace"`
	Digest           string           `json:"digest"`
	Parent           RuntimeKind      `json:"parent"`
	Children         []RuntimeKind    `json:"children"`
	WatchNamespaces  []string         `json:"watchNamespaces"`
	Allowed          string           `json:"allowedNamespaces,omitempty"` // a regular expression
	Finalizer        string           `json:"finalizer"`
	ForceConflicts   bool             `json:"forceConflicts"`
	Status           json.RawMessage  `json:"status"`
	ResyncPolicy     string           `json:"resyncPolicy"`
	WorkflowTemplate string           `json:"workflowTemplate"`
	ArgoServerURL    string           `json:"argoServerURL"`
	Parameters       []string         `json:"parameters"`
	Templates        bool             `json:"templates,omitempty"` // children come from the Sensor
	Related          []RuntimeRelated `json:"related,omitempty"`
	Interdependent   bool             `json:"interdependent,omitempty"` // children are made with regard to others
	Existing         bool             `json:"existing,omitempty"`       // the parent is of a kind of others
	Decorate         bool             `json:"decorate,omitempty"`       // the logic may label and annotate it
	Timer            string           `json:"timer,omitempty"`          // the WorkflowTemplate of runs that the logic asks for after a time
	EventSource      string           `json:"eventSource"`
	Sensors          []string         `json:"sensors"`
	EmitEvents       bool             `json:"emitEvents,omitempty"` // changes of Ready are reported by Events
	Token            *RuntimeToken    `json:"token,omitempty"`      // the one that is replaced from time to time
}

// RuntimeToken is the token of the Sensors as the operator's own steps know it.
type RuntimeToken struct {
	ServiceAccount string `json:"serviceAccount"`
	Secret         string `json:"secret"`
	Key            string `json:"key"`
	Seconds        int64  `json:"seconds"` // how long it is valid
}

// RuntimeKind is a kind as the operator's own steps know it.
type RuntimeKind struct {
	Name       string `json:"name,omitempty"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Plural     string `json:"plural"`
	Namespaced bool   `json:"namespaced"`
	Status     bool   `json:"status"`
	OnDelete   string `json:"onDelete,omitempty"`

	Template  bool            `json:"template,omitempty"` // it has a template; others are declared for the logic
	Each      bool            `json:"each,omitempty"`     // there may be any number of it
	Unready   json.RawMessage `json:"unready,omitempty"`  // an expression tree as in status, over the live child: why it is not ready, or ""
	Object    json.RawMessage `json:"object,omitempty"`   // the template, where the pod evaluates it; so When and ForEach
	When      json.RawMessage `json:"when,omitempty"`
	ForEach   json.RawMessage `json:"forEach,omitempty"`
	DependsOn []string        `json:"dependsOn,omitempty"`
	Needs     []RuntimeNeed   `json:"needs,omitempty"`
	Adopt     bool            `json:"adopt,omitempty"`
	Unowned   bool            `json:"unowned,omitempty"`   // it cannot be owned, or must not
	Place     json.RawMessage `json:"place,omitempty"`     // of a template: name and namespace of its objects
	PlaceEach json.RawMessage `json:"placeEach,omitempty"` // and its forEach
	Selected  json.RawMessage `json:"selected,omitempty"`  // of the parent: whether the operator is for it
}

// RuntimeNeed is an expression of a template that may come out null because a
// field of another child has no value.
type RuntimeNeed struct {
	Expr  json.RawMessage `json:"expr"`
	Paths []RuntimePath   `json:"paths"`
}

// RuntimePath is a field below $children: the name of the child and the keys.
type RuntimePath struct {
	Keys []string `json:"keys"`
	Text string   `json:"text"` // as an expression names it
}

// RuntimeRelated is a kind of related objects as the operator's own steps know it.
type RuntimeRelated struct {
	RuntimeKind
	Rule    json.RawMessage `json:"rule"`
	Several bool            `json:"several"`
	Watch   bool            `json:"watch"`
	Delete  bool            `json:"delete,omitempty"`
}
