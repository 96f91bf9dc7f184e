// Package plan takes every decision: which engine carries the definition, what
// everything is called, which events start a reconcile, what may be read and
// written and by whom.
//
// The rule of this room: a plan is plain data. It knows what Argo can do but no
// Kubernetes or Argo type; pkg/manifest fills those in and decides nothing.
package plan

import (
	"encoding/json"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// Plan is everything that was decided about one operator.
type Plan struct {
	Operator  Operator
	Names     v1alpha1.Names
	API       API
	Children  []Child
	Logic     Logic
	Reconcile Reconcile
	Install   Install
	Events    []Event // in the order of the Sensor's dependencies
	Grants    []Grant
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

// Child is a kind of object that the operator keeps.
type Child struct {
	Name   string
	Kind   Kind
	Orphan bool // it outlives its custom resource
}

// Logic is the user's program.
type Logic struct {
	Image      string
	Command    []string
	Env        []v1alpha1.EnvVar
	Resources  v1alpha1.Resources
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
	TimeoutSeconds int64
	Retries        int32
	Schedule       string // of the resync, in cron's five fields
	Finalizer      string // empty: none
	Mutexes        bool   // the target knows the list form of a mutex
	Schedules      bool   // the target knows the list form of a schedule
	Settle         bool   // the target can end a schedule, so the first minutes get one of their own
}

// Install is where the operator lives and what it sees.
type Install struct {
	Namespace       string
	WatchNamespaces []string // empty: the whole cluster
	Replicas        int32
	LeaderElection  bool
	EventBus        EventBus
	RuntimeImage    string
	UserRoles       bool
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

// Event is a kind of event that starts a reconcile: an entry of the EventSource
// and the dependency of the Sensor that reads it.
type Event struct {
	Name      string // of the entry and of the dependency
	Kind      Kind
	Namespace string // empty: all
	Types     []string
	Selector  map[string]string // labels of the objects; nil: every object
	JQ        string            // makes {go, key, name} of an event; go tells whether it starts a reconcile
}

// Account is a role that a service account plays.
type Account string

// The accounts, one a role.
const (
	Source     Account = "source"
	Sensor     Account = "sensor"
	Reconciler Account = "workflow"
	Resyncer   Account = "resync"
)

// Accounts in the order in which they are emitted.
var accounts = []Account{Source, Sensor, Reconciler, Resyncer}

// Accounts returns the accounts in the order in which they are emitted.
func Accounts() []Account { return append([]Account(nil), accounts...) }

// ServiceAccount returns the name of an account's ServiceAccount.
func (p *Plan) ServiceAccount(a Account) string {
	switch a {
	case Source:
		return p.Names.SourceServiceAccount
	case Sensor:
		return p.Names.SensorServiceAccount
	case Resyncer:
		return p.Names.ResyncServiceAccount
	default:
		return p.Names.WorkflowServiceAccount
	}
}

// Grant is one permission, with the reason it is there.
type Grant struct {
	Account  Account
	Group    string
	Resource string // with the subresource: memcacheds/status
	Verbs    []string
	Watched  bool // where custom resources live; otherwise in the operator's own namespace
	Why      string
}

// Runtime is the configuration of the operator's own steps, as they read it.
type Runtime struct {
	Operator         string          `json:"operator"`
	Engine           Engine          `json:"engine"`
	Namespace        string          `json:"namespace"`
	Digest           string          `json:"digest"`
	Parent           RuntimeKind     `json:"parent"`
	Children         []RuntimeKind   `json:"children"`
	WatchNamespaces  []string        `json:"watchNamespaces"`
	Finalizer        string          `json:"finalizer"`
	ForceConflicts   bool            `json:"forceConflicts"`
	Status           json.RawMessage `json:"status"`
	ResyncPolicy     string          `json:"resyncPolicy"`
	WorkflowTemplate string          `json:"workflowTemplate"`
	ArgoServerURL    string          `json:"argoServerURL"`
	Parameters       []string        `json:"parameters"`
	Templates        bool            `json:"templates,omitempty"` // children come from the Sensor
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

	Template  bool            `json:"template,omitempty"`  // it has a template; others are declared for the logic
	Each      bool            `json:"each,omitempty"`      // there may be any number of it
	ReadyWhen json.RawMessage `json:"readyWhen,omitempty"` // an expression tree as in status, over the live child
}
