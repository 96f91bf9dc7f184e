// Package v1alpha1 has the types of the definition language, and the JSON Schema for
// editors.
//
// The types only describe the syntax. Defaults, checks and positions belong to
// pkg/internal/definition, decisions to pkg/internal/plan. The comment of a field is
// its description in the JSON Schema.
package v1alpha1

import "cmp"

const (
	// Group is the API group of a definition.
	Group = "argoperator.dev"
	// APIVersion is what `apiVersion` of a definition says.
	APIVersion = Group + "/v1alpha1"
	// Kind is what `kind` of a definition says.
	Kind = "Operator"
)

// Operator is a definition: everything argoperator needs to emit an operator.
type Operator struct {
	// APIVersion is argoperator.dev/v1alpha1.
	APIVersion string `json:"apiVersion" jsonschema:"enum=argoperator.dev/v1alpha1"`
	// Kind is Operator.
	Kind string `json:"kind" jsonschema:"enum=Operator"`
	// Metadata names the operator.
	Metadata Metadata `json:"metadata"`
	// Spec says what the operator watches and what it does.
	Spec Spec `json:"spec"`
}

// Metadata names the operator.
type Metadata struct {
	// Name of the operator: a DNS label (lower-case letters, digits, '-'). Every emitted object is named after it.
	Name string `json:"name"`
	// Labels are added to every emitted object.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are added to every emitted object.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Spec says what the operator watches and what it does.
type Spec struct {
	// API is the kind that the operator's users write. Exactly one form: group, kind and versions; or crd; or existing.
	API API `json:"api"`
	// Children are the objects that the operator keeps for each custom resource: from templates, or as logic makes them.
	Children []Child `json:"children,omitempty"`
	// ChildMetadata are labels and annotations that all children get, also those that logic makes.
	ChildMetadata *ChildMetadata `json:"childMetadata,omitempty"`
	// Patches are fields of objects of others that the operator sets while the custom resource exists.
	Patches []Patch `json:"patches,omitempty"`
	// Related are objects of others that a custom resource refers to. They are read for it ($related.NAME, and related in
	// the logic's request), and a change of one reconciles the custom resources that refer to it.
	Related []Related `json:"related,omitempty"`
	// Logic computes the children and the status, in any language, from a stock image. A definition needs logic, or a
	// child with a template.
	Logic *Logic `json:"logic,omitempty"`
	// Status computes fields of the custom resource's status. A value may hold ${ } expressions over the custom
	// resource (.), its live children ($children.NAME) and related objects ($related.NAME). What logic returns is laid
	// over it.
	Status map[string]any `json:"status,omitempty"`
	// Finalizer holds a custom resource back from deletion until its clean-up is done.
	Finalizer *Finalizer `json:"finalizer,omitempty"`
	// Reconcile says how a reconcile is carried.
	Reconcile Reconcile `json:"reconcile,omitempty"`
	// Install says where the operator is installed and what it may see.
	Install Install `json:"install,omitempty"`
	// Targets are the Argo versions that the output is made for.
	Targets Targets `json:"targets,omitempty"`
}

// API is the kind that the operator's users write.
type API struct {
	// Group of the API, such as cache.example.com.
	Group string `json:"group,omitempty"`
	// Kind in CamelCase, such as Memcached.
	Kind string `json:"kind,omitempty"`
	// Plural is the resource name in the URL. Default: derived from kind, as kubectl users expect it.
	Plural string `json:"plural,omitempty"`
	// Singular is an alias for kubectl. Default: kind in lower case.
	Singular string `json:"singular,omitempty"`
	// ListKind is the kind of a list. Default: kind followed by List.
	ListKind string `json:"listKind,omitempty"`
	// ShortNames are short aliases for kubectl.
	ShortNames []string `json:"shortNames,omitempty"`
	// Categories are groups such as "all" in `kubectl get all`.
	Categories []string `json:"categories,omitempty"`
	// Scope is Namespaced or Cluster. Default: Namespaced.
	Scope string `json:"scope,omitempty" jsonschema:"enum=Namespaced,enum=Cluster"`
	// Versions of the API, at least one.
	Versions []Version `json:"versions,omitempty"`
	// Types are named schemas in the short form that fields of a short schema may use.
	Types map[string]any `json:"types,omitempty"`
	// CRD takes an existing CustomResourceDefinition as it is.
	CRD *CRDFile `json:"crd,omitempty"`
	// Existing reacts to a kind that is already in the cluster; no CustomResourceDefinition is emitted.
	Existing *Existing `json:"existing,omitempty"`
}

// CRDFile points to a CustomResourceDefinition.
type CRDFile struct {
	// File is the path of the CustomResourceDefinition, relative to the definition.
	File string `json:"file"`
	// Version that the operator works with. Default: the storage version if it is served.
	Version string `json:"version,omitempty"`
}

// Existing names a kind that is already in the cluster.
type Existing struct {
	// Group of the kind; empty for the core group.
	Group string `json:"group,omitempty"`
	// Version of the kind, such as v1.
	Version string `json:"version"`
	// Kind in CamelCase, such as ConfigMap.
	Kind string `json:"kind"`
	// Plural is the resource name in the URL. Default: known for built-in kinds, derived for others.
	Plural string `json:"plural,omitempty"`
	// Scope is Namespaced or Cluster. Default: known for built-in kinds, Namespaced for others.
	Scope string `json:"scope,omitempty" jsonschema:"enum=Namespaced,enum=Cluster"`
	// Status says whether the kind has a status subresource that the operator may write. Default: false.
	Status bool `json:"status,omitempty"`
	// LabelSelector picks the objects that the operator is for, by their labels. What it has made for one goes when the
	// object is no longer picked. Default: all objects.
	LabelSelector *Selector `json:"labelSelector,omitempty"`
	// AnnotationSelector picks them by their annotations; with labelSelector, by both.
	AnnotationSelector *Selector `json:"annotationSelector,omitempty"`
	// Decorate lets the logic's response set labels and annotations of the object itself. Default: false.
	Decorate bool `json:"decorate,omitempty"`
}

// Selector is a label selector of Kubernetes; all of its requirements have to be met.
type Selector struct {
	// MatchLabels are keys with the value that each must have.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions are further requirements.
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
}

// Requirement is one requirement of a selector.
type Requirement struct {
	// Key that it is about.
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist.
	Operator string `json:"operator" jsonschema:"enum=In,enum=NotIn,enum=Exists,enum=DoesNotExist"`
	// Values for In and NotIn.
	Values []string `json:"values,omitempty"`
}

// Version is one version of the API.
type Version struct {
	// Name of the version, such as v1alpha1.
	Name string `json:"name"`
	// Served says whether the API server offers the version. Default: true.
	Served *bool `json:"served,omitempty"`
	// Storage marks the one version that is stored. Default: true when there is one version.
	Storage *bool `json:"storage,omitempty"`
	// Deprecated makes the API server warn whoever uses the version.
	Deprecated bool `json:"deprecated,omitempty"`
	// DeprecationWarning is the text of that warning. Default: the API server's own text.
	DeprecationWarning string `json:"deprecationWarning,omitempty"`
	// Schema in the short form. Exactly one of schema and openAPIV3Schema.
	Schema *Schema `json:"schema,omitempty"`
	// OpenAPIV3Schema is the full schema, as in a CustomResourceDefinition.
	OpenAPIV3Schema map[string]any `json:"openAPIV3Schema,omitempty"`
	// Columns are what `kubectl get` prints beside the name. Default: Ready and Age.
	Columns []Column `json:"columns,omitempty"`
	// Scale turns on `kubectl scale` and HorizontalPodAutoscalers.
	Scale *Scale `json:"scale,omitempty"`
	// Validations are CEL rules over the whole object (self).
	Validations []Validation `json:"validations,omitempty"`
	// SelectableFields may be used in field selectors (Kubernetes 1.30 and later).
	SelectableFields []string `json:"selectableFields,omitempty"`
}

// Schema is the short form: a field's name and its type, with markers behind a '|', as in types-and-markers.md.
type Schema struct {
	// Spec holds the fields that the operator's users write.
	Spec map[string]any `json:"spec,omitempty"`
	// Status holds the fields that the operator reports. conditions and observedGeneration are always there, and fields that
	// spec.status computes get the types of their expressions if they are not written here.
	Status map[string]any `json:"status,omitempty"`
}

// Column is one column of `kubectl get`.
type Column struct {
	// Name is the heading.
	Name string `json:"name"`
	// Path is a simple JSON path, such as .spec.size.
	Path string `json:"path"`
	// Type is string, integer, number, boolean or date. Default: taken from the schema.
	Type string `json:"type,omitempty" jsonschema:"enum=string,enum=integer,enum=number,enum=boolean,enum=date"`
	// Format refines the type, such as int32 or date-time.
	Format string `json:"format,omitempty"`
	// Description is shown by clients.
	Description string `json:"description,omitempty"`
	// Priority 0 is always shown, higher ones with -o wide. Default: 0.
	Priority int32 `json:"priority,omitempty"`
}

// Scale is the scale subresource.
type Scale struct {
	// SpecReplicasPath is the JSON path of the wanted replicas, such as .spec.size.
	SpecReplicasPath string `json:"specReplicasPath"`
	// StatusReplicasPath is the JSON path of the observed replicas, such as .status.readyReplicas.
	StatusReplicasPath string `json:"statusReplicasPath"`
	// LabelSelectorPath is the JSON path of a string with the Pods' label selector.
	LabelSelectorPath string `json:"labelSelectorPath,omitempty"`
}

// Validation is one CEL rule (x-kubernetes-validations).
type Validation struct {
	// Rule is the CEL expression; self is the object.
	Rule string `json:"rule"`
	// Message is what a refused user reads.
	Message string `json:"message,omitempty"`
	// MessageExpression is a CEL expression that computes the message.
	MessageExpression string `json:"messageExpression,omitempty"`
	// Reason is the machine-readable cause.
	Reason string `json:"reason,omitempty" jsonschema:"enum=FieldValueInvalid,enum=FieldValueForbidden,enum=FieldValueRequired,enum=FieldValueDuplicate"`
	// FieldPath is the field that the message is about, such as .spec.size.
	FieldPath string `json:"fieldPath,omitempty"`
}

// Child is an object, or a kind of object, that the operator keeps for each custom resource.
type Child struct {
	// Name of the child in expressions ($children.NAME) and messages.
	Name string `json:"name"`
	// Template of the child: an object whose values may hold ${ } expressions over the custom resource (.), its live
	// children ($children.NAME) and related objects ($related.NAME). A value that is one expression takes its result with its type; a key whose value comes
	// out null is left out. Without template and file, logic makes the child.
	Template map[string]any `json:"template,omitempty"`
	// File with the template, YAML or JSON, relative to the definition; instead of template.
	File string `json:"file,omitempty"`
	// When is a jq expression over the custom resource: the child exists while it is true. Default: always.
	When string `json:"when,omitempty"`
	// ForEach is a jq expression over the custom resource that yields a list: one child for each entry ($item, $index).
	ForEach string `json:"forEach,omitempty"`
	// ReadyWhen is a jq expression over the live child (.): it is ready while that is true.
	ReadyWhen string `json:"readyWhen,omitempty"`
	// DependsOn are children that have to be ready before this one is created, for order without data: a template that
	// reads $children.NAME waits for what it reads anyway.
	DependsOn []string `json:"dependsOn,omitempty"`
	// APIVersion of the child, such as apps/v1. A template has it itself.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the child, such as Deployment. A template has it itself.
	Kind string `json:"kind,omitempty"`
	// CRD is the CustomResourceDefinition of a kind that is not built into Kubernetes. It says plural, scope and schema.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Plural is the resource name in the URL. Default: known for built-in kinds and with crd; required for others.
	Plural string `json:"plural,omitempty"`
	// Scope is Namespaced or Cluster. Default: known for built-in kinds and with crd; required for others.
	Scope string `json:"scope,omitempty" jsonschema:"enum=Namespaced,enum=Cluster"`
	// OnDelete says what becomes of the child when the custom resource goes: Delete or Orphan. Default: Delete.
	OnDelete string `json:"onDelete,omitempty" jsonschema:"enum=Delete,enum=Orphan"`
	// Adopt lets the operator take over an existing object of the child's name that no other controller owns. Default:
	// false, and such an object is never changed.
	Adopt bool `json:"adopt,omitempty"`
	// Update says how an object that exists follows changes: InPlace changes it. Recreate changes it, too, but when a
	// field changes that the API server lets nobody change, deletes it with what it owns and creates it again. Never
	// leaves it as it was created. Default: InPlace.
	Update string `json:"update,omitempty" jsonschema:"enum=InPlace,enum=Recreate,enum=Never"`
}

// ChildMetadata are labels and annotations of all children. A child's own win.
type ChildMetadata struct {
	// Labels, whose values may hold ${ } expressions over the custom resource (.).
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations, whose values may hold ${ } expressions over the custom resource (.).
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ChildCRD points to the CustomResourceDefinition of a child's kind.
type ChildCRD struct {
	// File is the path of the CustomResourceDefinition, relative to the definition.
	File string `json:"file"`
}

// Patch is an object of others of which the operator sets some fields. It never creates or deletes the object, and takes no
// field that another field manager has set to another value. The fields are given up when the custom resource goes, or does
// not want them any more.
type Patch struct {
	// Name of the patch in messages: at most 38 characters.
	Name string `json:"name"`
	// Template of the patch: apiVersion, kind, metadata.name and the fields to set, whose values may hold ${ } expressions
	// over the custom resource (.), its live children ($children.NAME) and related objects ($related.NAME).
	Template map[string]any `json:"template"`
	// When is a jq expression over the custom resource: the fields are set while it is true. Default: always.
	When string `json:"when,omitempty"`
	// ForEach is a jq expression over the custom resource that yields a list: one object for each entry ($item, $index).
	ForEach string `json:"forEach,omitempty"`
	// CRD is the CustomResourceDefinition of a kind that is not built into Kubernetes. It says plural, scope and schema.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Plural is the resource name in the URL. Default: known for built-in kinds and with crd; required for others.
	Plural string `json:"plural,omitempty"`
	// Scope is Namespaced or Cluster. Default: known for built-in kinds and with crd; required for others.
	Scope string `json:"scope,omitempty" jsonschema:"enum=Namespaced,enum=Cluster"`
}

// Related is a kind of objects of others that a custom resource refers to, and which of them it means. One of names and
// labelSelector says which.
type Related struct {
	// Name of the entry in expressions ($related.NAME) and messages.
	Name string `json:"name"`
	// APIVersion of the objects, such as v1.
	APIVersion string `json:"apiVersion"`
	// Kind of the objects, such as ConfigMap.
	Kind string `json:"kind"`
	// CRD is the CustomResourceDefinition of a kind that is not built into Kubernetes. It says plural, scope and schema.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Plural is the resource name in the URL. Default: known for built-in kinds and with crd; required for others.
	Plural string `json:"plural,omitempty"`
	// Scope is Namespaced or Cluster. Default: known for built-in kinds and with crd; required for others.
	Scope string `json:"scope,omitempty" jsonschema:"enum=Namespaced,enum=Cluster"`
	// Names of the objects. They may hold ${ } expressions over the custom resource; null is no object. $related.NAME is
	// the one object, or null, where there is one name, else a list.
	Names []string `json:"names,omitempty"`
	// LabelSelector picks objects by their labels: matchLabels, matchExpressions, which may hold ${ } expressions over
	// the custom resource; null picks none. $related.NAME is a list.
	LabelSelector map[string]any `json:"labelSelector,omitempty"`
	// Namespace of the objects, which may hold ${ } expressions; '*' is every namespace that the operator sees. Default:
	// that of the custom resource; '*' for a cluster-scoped one.
	Namespace string `json:"namespace,omitempty"`
	// Watch says whether a change of one reconciles the custom resources that refer to it; otherwise the objects are only
	// read. Default: true.
	Watch *bool `json:"watch,omitempty"`
	// Delete lets the logic's response delete them (delete). Default: false.
	Delete bool `json:"delete,omitempty"`
}

// Logic computes the children and the status from a request file to a response file.
type Logic struct {
	// Image that runs the command: a stock image of the language. It must hold a POSIX sh.
	Image string `json:"image"`
	// Command with its arguments, run in the directory of the files.
	Command []string `json:"command"`
	// Files travel in a ConfigMap; paths are relative to the definition. Their common directory is cut off.
	Files []string `json:"files"`
	// Env is given to the command.
	Env []EnvVar `json:"env,omitempty"`
	// Parameters are files whose text the steps engine hands to the command as --NAME=TEXT.
	Parameters []Parameter `json:"parameters,omitempty"`
	// ResyncAfter lets the response ask for another reconcile after a time (resyncAfterSeconds). Default: false.
	ResyncAfter bool `json:"resyncAfter,omitempty"`
	// ChildChanges says which changes of children call the program. Needed are those that docs/how-to/logic.md lists; All are
	// also the creation of a child and every change of its status, except during a rollout. Each costs a pod. Default:
	// Needed.
	ChildChanges string `json:"childChanges,omitempty" jsonschema:"enum=Needed,enum=All"`
	// Resources are the requests and limits of the container. Default: 10m CPU and 64Mi memory requested, 256Mi memory at most.
	Resources *Resources `json:"resources,omitempty"`
}

// EnvVar is an environment variable: a value, or a key of a Secret.
type EnvVar struct {
	// Name of the variable.
	Name string `json:"name"`
	// Value of the variable.
	Value string `json:"value,omitempty"`
	// Secret is the name of a Secret in the operator's namespace.
	Secret string `json:"secret,omitempty"`
	// Key in the Secret.
	Key string `json:"key,omitempty"`
}

// Parameter is a file handed to the command of the steps engine.
type Parameter struct {
	// Name of the flag, without the dashes.
	Name string `json:"name"`
	// File is its path, relative to the definition.
	File string `json:"file"`
}

// Resources are the requests and limits of a container.
type Resources struct {
	// Requests by resource name, such as cpu: 10m.
	Requests map[string]string `json:"requests,omitempty"`
	// Limits by resource name, such as memory: 256Mi.
	Limits map[string]string `json:"limits,omitempty"`
}

// DefaultFinalizer returns the name of an operator's finalizer if the definition gives
// none. group is that of the API.
func DefaultFinalizer(group, operator string) string {
	return cmp.Or(group, Group) + "/" + operator + "-cleanup"
}

// Finalizer holds a custom resource back from deletion until its clean-up is done.
type Finalizer struct {
	// Name of the finalizer. Default: GROUP/OPERATOR-cleanup with the API's group.
	Name string `json:"name,omitempty"`
}

// Reconcile says how a reconcile is carried.
type Reconcile struct {
	// Engine is auto, direct, workflow or steps. Default: auto, which takes the cheapest engine that can carry the definition.
	Engine string `json:"engine,omitempty" jsonschema:"enum=auto,enum=direct,enum=workflow,enum=steps"`
	// Trigger is how the direct engine writes: http writes by server-side apply with a token Secret; k8s needs no Secret,
	// is throttled to 2.5 writes a second and cannot write status. Default: http.
	Trigger string `json:"trigger,omitempty" jsonschema:"enum=http,enum=k8s"`
	// Shards are Sensors that share the custom resources of the direct engine between them: 1 to 16. Default: 1.
	Shards *int32 `json:"shards,omitempty" jsonschema:"minimum=1,maximum=16"`
	// Resync is how often everything is looked at again: whole minutes that divide an hour or whole hours that divide a day. Default: 30m.
	Resync string `json:"resync,omitempty"`
	// ResyncPolicy is Changed (reconcile what is not as it was left) or Always (reconcile everything). Default: Changed.
	ResyncPolicy string `json:"resyncPolicy,omitempty" jsonschema:"enum=Changed,enum=Always"`
	// Timeout ends one reconcile, with all its retries. Default: 5m.
	Timeout string `json:"timeout,omitempty"`
	// Retries of a failed reconcile, with growing pauses. Default: 5.
	Retries *int32 `json:"retries,omitempty"`
	// ForceConflicts takes over fields of a child that another field manager has set. Default: true.
	ForceConflicts *bool `json:"forceConflicts,omitempty"`
	// Diagnose starts a pod when the API server keeps rejecting a request of the direct engine. The pod sends the request once more and
	// reports the API server's message in the condition Ready; without it, the condition only says that the request was rejected. The
	// other engines always report the message. Default: true.
	Diagnose *bool `json:"diagnose,omitempty"`
}

// Permission is a rule of a Role.
type Permission struct {
	// APIGroups of the resources; "" is the core group.
	APIGroups []string `json:"apiGroups"`
	// Resources such as configmaps, or with a subresource pods/log.
	Resources []string `json:"resources"`
	// ResourceNames are the only objects that the rule is for. Default: empty, all.
	ResourceNames []string `json:"resourceNames,omitempty"`
	// Verbs such as get, list, bind, escalate.
	Verbs []string `json:"verbs"`
	// Reason is shown by argoperator explain.
	Reason string `json:"reason,omitempty"`
}

// Install says where the operator is installed and what it may see.
type Install struct {
	// Namespace of the operator's own objects. Default: argo-events.
	Namespace string `json:"namespace,omitempty"`
	// Group is the name of a group of operators on the direct engine. Those of one group and namespace share an EventSource, Sensors, a
	// resync and service accounts, and so their rights. Generate all of them together: a command that is given only some leaves the
	// others without events. Default: none, the operator has its own.
	Group string `json:"group,omitempty"`
	// EventBus that carries the events.
	EventBus EventBus `json:"eventBus,omitempty"`
	// WatchNamespaces are the only namespaces that the operator sees. Default: empty, the whole cluster.
	WatchNamespaces []string `json:"watchNamespaces,omitempty"`
	// AllowedNamespaces are those that custom resources may choose for children and related objects, beside their own: names in
	// which * stands for any letters, such as tenant-*. Default: empty, all that the operator sees.
	AllowedNamespaces []string `json:"allowedNamespaces,omitempty"`
	// Permissions are further rights of the service account that writes the children, in the namespaces that the operator
	// sees: what the API server demands of it before it may write Roles and bindings whose rules or roles the custom
	// resource chooses.
	Permissions []Permission `json:"permissions,omitempty"`
	// Replicas of the EventSource and the Sensor: 1, or 2 with a leader elected through a Lease. Default: 1.
	Replicas *int32 `json:"replicas,omitempty"`
	// Names overrides the names of emitted objects.
	Names Names `json:"names,omitempty"`
	// RuntimeImage runs the operator's own steps: Python 3.9 or later. Default: the logic's image if its command is Python, else python:3.13-slim.
	RuntimeImage string `json:"runtimeImage,omitempty"`
	// ImagesLock is a file with the digests of the images, relative to the definition, such as images.lock.yaml. argoperator lock
	// writes it. Default: none, images are used as they are written.
	ImagesLock string `json:"imagesLock,omitempty"`
	// RuntimeResources of the operator's own steps. A resync holds a page of what it looks through, 4 MiB or a single object, and a digest
	// of each related object. Default: 10m CPU and 32Mi memory requested, 128Mi memory at most.
	RuntimeResources *Resources `json:"runtimeResources,omitempty"`
	// ArgoServerURL is the address of the Argo user interface, for links in the status, such as https://argo.example.com.
	ArgoServerURL string `json:"argoServerURL,omitempty"`
	// UserRoles emits ClusterRoles that add the kind to the cluster's view and edit roles. Default: true for a cluster-wide operator of its own API.
	UserRoles *bool `json:"userRoles,omitempty"`
	// AdmissionPolicies emits ValidatingAdmissionPolicies (Kubernetes 1.30 and later): they keep users from writing what the
	// operator relies on, and the operator's own accounts from writing more than annotations of its EventSource and Sensors.
	// Default: true.
	AdmissionPolicies *bool `json:"admissionPolicies,omitempty"`
	// NetworkPolicies emits them: for the operator's pods, which nobody needs to reach but for metrics, and for the EventBus, which
	// the pods of Argo Events in the namespace may reach. They need a network that enforces them. Default: false.
	NetworkPolicies bool `json:"networkPolicies,omitempty"`
	// TokenRotation is how often the direct engine's token is replaced: whole hours from 1h to 720h. Each is requested for three
	// times as long; the API server must grant at least twice. A pod runs for it each time. Needs Argo Workflows 3.6. Default: none,
	// the token does not expire.
	TokenRotation string `json:"tokenRotation,omitempty"`
	// Monitoring emits objects of the Prometheus Operator. Default: none.
	Monitoring *Monitoring `json:"monitoring,omitempty"`
}

// Monitoring has Prometheus watch the operator. The Prometheus Operator's
// CustomResourceDefinitions must be in the cluster.
type Monitoring struct {
	// PodMonitor emits one: Prometheus reads the metrics of the EventSource and the Sensors. Default: false.
	PodMonitor bool `json:"podMonitor,omitempty"`
	// PrometheusRule emits one with the alerts of docs/how-to/operate.md. Default: false.
	PrometheusRule bool `json:"prometheusRule,omitempty"`
	// Labels of both objects, by which a Prometheus finds them, such as release: prometheus.
	Labels map[string]string `json:"labels,omitempty"`
	// Interval between two readings of the metrics, in whole seconds, such as 30s. Default: the Prometheus's own.
	Interval string `json:"interval,omitempty"`
	// AlertLabels are added to every alert, for its way to the right people, such as team: platform.
	AlertLabels map[string]string `json:"alertLabels,omitempty"`
}

// EventBus carries the events from the EventSource to the Sensor.
type EventBus struct {
	// Mode is existing (an EventBus is already in the namespace) or managed (emit one). Default: existing.
	Mode string `json:"mode,omitempty" jsonschema:"enum=existing,enum=managed"`
	// Name of the EventBus. Default: default.
	Name string `json:"name,omitempty"`
	// Replicas of a managed EventBus: 1, or 3 and more. Default: 3.
	Replicas *int32 `json:"replicas,omitempty"`
	// Version of NATS JetStream of a managed EventBus, as the Argo Events controller knows it. Default: latest.
	Version string `json:"version,omitempty"`
	// StorageClass of a managed EventBus. Default: the cluster's.
	StorageClass string `json:"storageClass,omitempty"`
	// Storage of each replica of a managed EventBus. Default: 1Gi.
	Storage string `json:"storage,omitempty"`
}

// Names overrides the names of emitted objects. Each default is derived from the operator's name.
type Names struct {
	// EventSource. Default: NAME.
	EventSource string `json:"eventSource,omitempty"`
	// Sensor. Default: NAME.
	Sensor string `json:"sensor,omitempty"`
	// WorkflowTemplate. Default: NAME-reconcile.
	WorkflowTemplate string `json:"workflowTemplate,omitempty"`
	// CronWorkflow. Default: NAME-resync.
	CronWorkflow string `json:"cronWorkflow,omitempty"`
	// ConfigMap with the logic. Default: NAME-logic.
	ConfigMap string `json:"configMap,omitempty"`
	// RuntimeConfigMap with the operator's own steps. Default: NAME-runtime.
	RuntimeConfigMap string `json:"runtimeConfigMap,omitempty"`
	// SourceServiceAccount of the EventSource. Default: NAME-source.
	SourceServiceAccount string `json:"sourceServiceAccount,omitempty"`
	// SensorServiceAccount of the Sensor. Default: NAME-sensor.
	SensorServiceAccount string `json:"sensorServiceAccount,omitempty"`
	// WorkflowServiceAccount of a reconcile. Default: NAME-workflow.
	WorkflowServiceAccount string `json:"workflowServiceAccount,omitempty"`
	// ResyncServiceAccount of the resync. Default: NAME-resync.
	ResyncServiceAccount string `json:"resyncServiceAccount,omitempty"`
	// TokenSecret of the direct engine. Default: NAME-sensor-token, or NAME-rotated-token with tokenRotation: of two types, as a
	// Secret cannot change its own.
	TokenSecret string `json:"tokenSecret,omitempty"`
}

// Targets are the Argo versions that the output is made for.
type Targets struct {
	// ArgoEvents is 1.9. Default: 1.9.
	ArgoEvents string `json:"argoEvents,omitempty" jsonschema:"enum=1.9"`
	// ArgoWorkflows is 3.5, 3.6, 3.7 or 4.0. Default: 3.7.
	ArgoWorkflows string `json:"argoWorkflows,omitempty" jsonschema:"enum=3.5,enum=3.6,enum=3.7,enum=4.0"`
}
