// Package v1alpha1 has the types of the definition language, and the JSON Schema for
// editors.
//
// The types only describe the syntax. Defaults, checks and positions belong to
// pkg/internal/lang/definition, decisions to pkg/internal/operator/plan. The comment of a field is
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

// Operator is the definition of an operator. argoperator generates all of its manifests from it.
type Operator struct {
	// Version of the definition language.
	APIVersion string `json:"apiVersion" jsonschema:"enum=argoperator.dev/v1alpha1"`
	// Kind of the document.
	Kind string `json:"kind"       jsonschema:"enum=Operator"`
	// Name of the operator, and labels and annotations of the generated objects.
	Metadata Metadata `json:"metadata"`
	// API of the operator, its children and its behavior.
	Spec Spec `json:"spec"`
}

// Metadata is the name of the operator, with labels and annotations of the generated objects.
type Metadata struct {
	// Name of the operator: lower-case letters, digits and `-`. The names of the generated objects derive from it, which
	// limits it to 40 characters unless `install.names` overrides them.
	Name string `json:"name"`
	// Labels of every generated object.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of every generated object.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Spec is the API of the operator, its children and its behavior. It needs `logic`, `patches`, or a child with a template.
type Spec struct {
	// API that the operator serves. Write `group`, `kind` and `versions` for a new kind, `crd` for a
	// CustomResourceDefinition that you have, or `existing` for a kind that the cluster has.
	API API `json:"api"`
	// Values of the installation, each a type with markers, such as `region: string | default=eu-west-1`. Expressions read them
	// as `$parameters.NAME`. The flags `--set` and `--values`, and values of the Helm chart, replace the defaults. A name has
	// letters, digits and `_`.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Values that expressions read as `$variables.NAME`: texts, numbers, lists and mappings, which may contain `${ }`
	// expressions over the custom resource (`.`), its live children, related objects and other variables. A name has
	// letters, digits and `_`.
	Variables map[string]any `json:"variables,omitempty"`
	// Objects that the operator creates for each custom resource, keeps in the desired state and deletes with it.
	Children []Child `json:"children,omitempty"`
	// Labels and annotations of all children.
	ChildMetadata *ChildMetadata `json:"childMetadata,omitempty"`
	// Fields that the operator sets on objects that it does not own.
	Patches []Patch `json:"patches,omitempty"`
	// Objects that a custom resource refers to. The operator reads them.
	Related []Related `json:"related,omitempty"`
	// Program that computes children and status, in any language.
	Logic *Logic `json:"logic,omitempty"`
	// Fields of the custom resource's status. Values may contain `${ }` expressions over the custom resource (`.`), its
	// live children (`$children.NAME`) and related objects (`$related.NAME`). A status that logic returns takes precedence.
	Status map[string]any `json:"status,omitempty"`
	// jq expression over the custom resource that returns a number of seconds. The operator deletes the custom resource so long
	// after its creation; null keeps it. Only a worker keeps such times.
	// +defaultText=never
	DeleteAfter string `json:"deleteAfter,omitempty"`
	// Finalizer of each custom resource. The custom resource stays until its cleanup is done.
	Finalizer *Finalizer `json:"finalizer,omitempty"`
	// Engine, resync, retries and timeout of a reconcile.
	Reconcile Reconcile `json:"reconcile,omitempty"`
	// Namespace, permissions and runtime settings of the operator.
	Install Install `json:"install,omitempty"`
}

// API is the kind that the operator serves.
type API struct {
	// API group: a DNS name of yours with a dot, such as `cache.example.com`.
	Group string `json:"group,omitempty"`
	// Kind in CamelCase, such as `Memcached`.
	Kind string `json:"kind,omitempty"`
	// Resource name in the URL.
	// +defaultText=the English plural of `kind`, in lower case
	Plural string `json:"plural,omitempty"`
	// Short names for kubectl.
	ShortNames []string `json:"shortNames,omitempty"`
	// Groups of resources for kubectl, such as `all` in `kubectl get all`.
	Categories []string `json:"categories,omitempty"`
	// Whether custom resources are in a namespace.
	// +default=Namespaced
	Scope string `json:"scope,omitempty"      jsonschema:"enum=Namespaced,enum=Cluster"`
	// Versions of the API, at least one.
	Versions []Version `json:"versions,omitempty"`
	// Named types that the fields of a `schema` can use.
	Types map[string]any `json:"types,omitempty"`
	// CustomResourceDefinition to use unchanged, in place of `group`, `kind` and `versions`.
	CRD *CRDFile `json:"crd,omitempty"`
	// Kind that the cluster already has. argoperator then generates no CustomResourceDefinition.
	Existing *Existing `json:"existing,omitempty"`
}

// CRDFile is a CustomResourceDefinition in a file, used unchanged.
type CRDFile struct {
	// Path of the file with the CustomResourceDefinition, relative to the definition.
	File string `json:"file"`
	// Version that the operator reads and writes.
	// +defaultText=the storage version, if it is served; otherwise required
	Version string `json:"version,omitempty"`
}

// Existing is a kind that the cluster already has.
type Existing struct {
	// API group of the kind, empty for the core group.
	// +default=""
	Group string `json:"group,omitempty"`
	// Version of the kind, such as `v1`.
	Version string `json:"version"`
	// Kind, such as `ConfigMap`.
	Kind string `json:"kind"`
	// CustomResourceDefinition of a kind that is not built into Kubernetes, for `plural`, `scope` and the types of expressions.
	// argoperator does not generate it.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Resource name in the URL.
	// +defaultText=of a built-in kind or of `crd`, else the English plural of `kind`
	Plural string `json:"plural,omitempty"`
	// Whether objects of the kind are in a namespace.
	// +defaultText=of a built-in kind or of `crd`, else `Namespaced`
	Scope string `json:"scope,omitempty"              jsonschema:"enum=Namespaced,enum=Cluster"`
	// Whether the kind has a status subresource that the operator may write.
	// +default=false
	Status bool `json:"status,omitempty"`
	// Labels of the objects that the operator handles. The operator deletes the children of an object that no longer
	// matches.
	// +defaultText=all objects
	LabelSelector *Selector `json:"labelSelector,omitempty"`
	// Annotations of the objects that the operator handles. With `labelSelector`, an object must match both.
	// What only the operator has set, by a patch or with `decorate`, does not count.
	// +defaultText=all objects
	AnnotationSelector *Selector `json:"annotationSelector,omitempty"`
	// Whether the response of the logic may set labels and annotations of the object itself.
	// +default=false
	Decorate bool `json:"decorate,omitempty"`
}

// Selector is a label selector as in Kubernetes. An object must match all of its requirements.
type Selector struct {
	// Keys, each with the value that it must have.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// Further requirements.
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
}

// Requirement is one requirement of a selector.
type Requirement struct {
	// Key of the label or annotation.
	Key string `json:"key"`
	// Relation between the key and the values.
	Operator string `json:"operator"         jsonschema:"enum=In,enum=NotIn,enum=Exists,enum=DoesNotExist"`
	// Values for `In` and `NotIn`.
	Values []string `json:"values,omitempty"`
}

// Version is one version of the API.
type Version struct {
	// Name of the version, such as `v1` or `v1alpha1`.
	Name string `json:"name"`
	// Whether the API server serves the version.
	// +default=true
	Served *bool `json:"served,omitempty"`
	// Whether the API server stores objects in this version. Exactly one version is stored.
	// +defaultText=true for a single version, else false
	Storage *bool `json:"storage,omitempty"`
	// Whether the API server warns clients that use the version.
	// +default=false
	Deprecated bool `json:"deprecated,omitempty"`
	// Text of that warning, at most 256 bytes.
	// +defaultText=the API server's own text
	DeprecationWarning string `json:"deprecationWarning,omitempty"`
	// Schema of the custom resource in [types and markers](types-and-markers.md). Write `schema` or `openAPIV3Schema`.
	Schema *Schema `json:"schema,omitempty"`
	// Schema of the custom resource in OpenAPI, as in a CustomResourceDefinition.
	OpenAPIV3Schema map[string]any `json:"openAPIV3Schema,omitempty"`
	// Columns of `kubectl get`, after the name.
	// +defaultText=Ready and Age
	Columns []Column `json:"columns,omitempty"`
	// Scale subresource, for `kubectl scale` and HorizontalPodAutoscalers.
	Scale *Scale `json:"scale,omitempty"`
	// CEL rules over the whole object.
	Validations []Validation `json:"validations,omitempty"`
	// Fields for field selectors, such as `.spec.color`: at most 8 strings, integers or booleans outside of lists. Needs
	// Kubernetes 1.30.
	SelectableFields []string `json:"selectableFields,omitempty"`
}

// Schema is the schema of a custom resource: each field with its [type and markers](types-and-markers.md).
type Schema struct {
	// Fields that users write.
	Spec map[string]any `json:"spec,omitempty"`
	// Fields that the operator writes. `conditions` and `observedGeneration` are added. A field that `spec.status` computes
	// can be omitted: its expression decides the type.
	Status map[string]any `json:"status,omitempty"`
}

// Column is one column of `kubectl get`.
type Column struct {
	// Heading of the column.
	Name string `json:"name"`
	// JSON path of the value, such as `.spec.size`.
	Path string `json:"path"`
	// Type of the value.
	// +defaultText=the type in the schema
	Type string `json:"type,omitempty"        jsonschema:"enum=string,enum=integer,enum=number,enum=boolean,enum=date"`
	// 0 to show the column always, a higher number to show it with `-o wide`.
	// +default=0
	Priority int32 `json:"priority,omitempty"`
}

// Scale is the scale subresource.
type Scale struct {
	// JSON path of the desired number of replicas, an integer, such as `.spec.size`.
	SpecReplicasPath string `json:"specReplicasPath"`
	// JSON path of the observed number of replicas, an integer, such as `.status.readyReplicas`.
	StatusReplicasPath string `json:"statusReplicasPath"`
	// JSON path of the label selector of the Pods, a string. A HorizontalPodAutoscaler needs it.
	LabelSelectorPath string `json:"labelSelectorPath,omitempty"`
}

// Validation is a CEL rule, as in `x-kubernetes-validations`.
type Validation struct {
	// CEL expression that must be true. `self` is the custom resource, `oldSelf` the one before an update.
	Rule string `json:"rule"`
	// Message of the rejection, one line.
	// +defaultText=the rule
	Message string `json:"message,omitempty"`
	// CEL expression that computes the message.
	MessageExpression string `json:"messageExpression,omitempty"`
	// Field that the message is about, such as `.spec.size`.
	// +defaultText=the whole object
	FieldPath string `json:"fieldPath,omitempty"`
}

// Child is an object, or a list of objects, that the operator creates for each custom resource. Its content comes from
// `template`, `file` or logic.
type Child struct {
	// Name of the child in expressions (`$children.NAME`) and messages: letters, digits and `_`.
	Name string `json:"name"`
	// Object to create. Values may contain `${ }` expressions over the custom resource (`.`), its live children
	// (`$children.NAME`) and related objects (`$related.NAME`). A value that is one expression keeps the type of its
	// result; a key whose value is `null` is omitted.
	Template map[string]any `json:"template,omitempty"`
	// Path of a YAML or JSON file with the template, relative to the definition.
	File string `json:"file,omitempty"`
	// Further values that only this template reads as `$variables.NAME`. They may also read `$item` and `$index`.
	Variables map[string]any `json:"variables,omitempty"`
	// Random values of a Secret, by key of `data`: they are made when the Secret is created, and kept from then on. No event,
	// status or log has them. The operator does not watch such a Secret; it repairs it when it reconciles the custom resource.
	Generate map[string]Generated `json:"generate,omitempty"`
	// jq expression over the custom resource. The child exists while it is true.
	// +defaultText=always
	When string `json:"when,omitempty"`
	// jq expression over the custom resource that returns a list. Each item makes one object; the template reads it as
	// `$item`, and its position as `$index`.
	ForEach string `json:"forEach,omitempty"`
	// jq expression over the live child (`.`). The child is ready while it is true.
	// +defaultText=a [rule for its kind](expressions.md#readiness)
	ReadyWhen string `json:"readyWhen,omitempty"`
	// Names of children that must be ready before this one is created. Without this key, a template that reads
	// `$children.NAME` waits for NAME, and an object in the namespace of a `Namespace` child waits for that child.
	DependsOn []string `json:"dependsOn,omitempty"`
	// API version of a child that logic makes, such as `apps/v1`.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of a child that logic makes, such as `Deployment`.
	Kind string `json:"kind,omitempty"`
	// CustomResourceDefinition of a kind that is not built into Kubernetes. It supplies `plural`, `scope` and the schema.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Resource name in the URL. Required unless the kind is built into Kubernetes, or described by `crd` or another definition.
	// +defaultText=of the kind, if it is known
	Plural string `json:"plural,omitempty"`
	// Whether objects of the kind are in a namespace. Required unless the kind is built into Kubernetes, or described by `crd`
	// or another definition.
	// +defaultText=of the kind, if it is known
	Scope string `json:"scope,omitempty"      jsonschema:"enum=Namespaced,enum=Cluster"`
	// What happens to the child when its custom resource is deleted: `Delete` deletes it, `Orphan` keeps it. An `${ }` expression
	// over the custom resource chooses one of them; it needs a template, and a pod.
	// +default=Delete
	OnDelete string `json:"onDelete,omitempty"`
	// Whether the operator takes over an existing object of the same name that no other controller and no other custom
	// resource owns. Otherwise it leaves such an object unchanged and reports it.
	// +default=false
	Adopt bool `json:"adopt,omitempty"`
	// How the operator updates an existing object: `InPlace` changes it, `Recreate` also deletes and creates it again if an
	// immutable field changes, `Never` keeps it as created.
	// +default=InPlace
	Update string `json:"update,omitempty"     jsonschema:"enum=InPlace,enum=Recreate,enum=Never"`
}

// ChildMetadata is the metadata of all children, including those that logic makes. A label or annotation of the child
// itself takes precedence.
type ChildMetadata struct {
	// Labels: a mapping whose values may contain `${ }` expressions over the custom resource (`.`), or one expression that
	// returns the mapping.
	Labels any `json:"labels,omitempty" jsonschema:"oneof_type=object;string"`
	// Annotations, likewise.
	Annotations any `json:"annotations,omitempty" jsonschema:"oneof_type=object;string"`
}

// Generated is a random value of a Secret: a text, or bytes.
type Generated struct {
	// Number of characters of a text.
	// +default=32
	Length *int32 `json:"length,omitempty" jsonschema:"minimum=1,maximum=4096"`
	// Characters that the text consists of.
	// +defaultText=letters and digits
	Characters string `json:"characters,omitempty"`
	// Number of bytes, in place of a text: for keys.
	Bytes int32 `json:"bytes,omitempty" jsonschema:"minimum=1,maximum=4096"`
}

// ChildCRD is a CustomResourceDefinition in a file.
type ChildCRD struct {
	// Path of the file with the CustomResourceDefinition, relative to the definition.
	File string `json:"file"`
}

// Patch is a set of fields on an object that the operator does not own. The operator never creates or deletes the object,
// and does not take a field that another field manager has set to another value. When the custom resource is deleted or
// no longer sets a field, the operator removes the field, unless another field manager also sets it.
type Patch struct {
	// Name of the patch in messages: at most 38 lower-case letters, digits and `-`.
	Name string `json:"name"`
	// `apiVersion`, `kind` and `metadata.name` of the object, and the fields to set. Values may contain `${ }` expressions
	// over the custom resource (`.`), its live children (`$children.NAME`) and related objects (`$related.NAME`).
	Template map[string]any `json:"template"`
	// Subresource that has the fields: `status`, or `approval` of a CertificateSigningRequest. The template then sets `status`
	// and nothing else.
	// +defaultText=none: the template sets other fields
	Subresource string `json:"subresource,omitempty" jsonschema:"enum=status,enum=approval"`
	// jq expression over the custom resource. The fields are set while it is true.
	// +defaultText=always
	When string `json:"when,omitempty"`
	// jq expression over the custom resource that returns a list. Each item patches one object; the template reads it as
	// `$item`, and its position as `$index`.
	ForEach string `json:"forEach,omitempty"`
	// CustomResourceDefinition of a kind that is not built into Kubernetes. It supplies `plural`, `scope` and the schema.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Resource name in the URL. Required unless the kind is built into Kubernetes, or described by `crd` or another definition.
	// +defaultText=of the kind, if it is known
	Plural string `json:"plural,omitempty"`
	// Whether objects of the kind are in a namespace. Required unless the kind is built into Kubernetes, or described by `crd`
	// or another definition.
	// +defaultText=of the kind, if it is known
	Scope string `json:"scope,omitempty"   jsonschema:"enum=Namespaced,enum=Cluster"`
}

// Related is a kind of objects that a custom resource refers to, by `names` or `labelSelector`. The operator reads them,
// as `$related.NAME` in expressions and `related` in the request of the logic. With `schedule` it is times in place of objects.
type Related struct {
	// Name of the entry in expressions (`$related.NAME`) and messages: letters, digits and `_`.
	Name string `json:"name"`
	// API version of the objects, such as `v1`.
	// +defaultText=required without `schedule`
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the objects, such as `ConfigMap`.
	// +defaultText=required without `schedule`
	Kind string `json:"kind,omitempty"`
	// CustomResourceDefinition of a kind that is not built into Kubernetes. It supplies `plural`, `scope` and the schema.
	CRD *ChildCRD `json:"crd,omitempty"`
	// Resource name in the URL. Required unless the kind is built into Kubernetes, or described by `crd` or another definition.
	// +defaultText=of the kind, if it is known
	Plural string `json:"plural,omitempty"`
	// Whether objects of the kind are in a namespace. Required unless the kind is built into Kubernetes, or described by `crd`
	// or another definition.
	// +defaultText=of the kind, if it is known
	Scope string `json:"scope,omitempty"         jsonschema:"enum=Namespaced,enum=Cluster"`
	// Names of the objects. They may contain `${ }` expressions over the custom resource (`.`); `null` stands for no
	// object. With one name, `$related.NAME` is the object or `null`, otherwise a list.
	Names []string `json:"names,omitempty"`
	// Labels of the objects: `matchLabels` and `matchExpressions`, which may contain `${ }` expressions over the custom
	// resource (`.`); `null` selects none. `$related.NAME` is a list.
	LabelSelector map[string]any `json:"labelSelector,omitempty"`
	// Namespace of the objects, which may contain `${ }` expressions. `*` stands for every namespace that the operator
	// watches.
	// +defaultText=that of the custom resource; `*` for a cluster-scoped one
	Namespace string `json:"namespace,omitempty"`
	// Whether a change of an object reconciles the custom resources that refer to it; otherwise the next resync does.
	// +default=true
	Watch *bool `json:"watch,omitempty"`
	// Whether the response of the logic may delete the objects, in `delete`.
	// +default=false
	Delete bool `json:"delete,omitempty"`
	// Times in place of objects, in the form of a CronJob: `0 20 * * 1-5`, `@hourly`. `$related.NAME.lastScheduleTime` is the
	// last one, such as `2026-01-31T19:00:00Z`, and each one reconciles the custom resources. It may contain `${ }` expressions
	// over the custom resource (`.`); with `null`, `$related.NAME` is `null`. Only a worker keeps such times.
	Schedule string `json:"schedule,omitempty"`
	// Time zone of `schedule`, such as `Europe/Berlin`. It may contain `${ }` expressions over the custom resource (`.`).
	// +defaultText=UTC
	TimeZone string `json:"timeZone,omitempty"`
}

// Logic is a program that computes children and status. It reads a request from a file and writes a response to a file; see
// [logic](../how-to/logic.md).
type Logic struct {
	// Path of a Helm chart, in place of `command` and `files`: a directory, or a `.tgz` file. The spec of the custom
	// resource are the values; see [Helm charts](../how-to/charts.md).
	Chart string `json:"chart,omitempty"`
	// Image that runs the command. It must contain a POSIX `sh`, and for a chart `helm`.
	// +defaultText=required; with `chart`, `alpine/helm:3.17.3`
	Image string `json:"image,omitempty"`
	// Command and its arguments. The working directory has the files.
	// +defaultText=required without `chart`
	Command []string `json:"command,omitempty"`
	// Paths of the files that the command needs, relative to the definition, at most 900 KiB together. The directory that
	// they have in common is omitted.
	// +defaultText=required without `chart`
	Files []string `json:"files,omitempty"`
	// A server that the command starts. With it, each request is an HTTP request, and no program is started for it.
	Hook *Hook `json:"hook,omitempty"`
	// Environment variables of the command.
	Env []EnvVar `json:"env,omitempty"`
	// Files that the `steps` engine passes to the command as `--NAME=TEXT`.
	Parameters []Parameter `json:"parameters,omitempty"`
	// Whether the response may ask for another reconcile after some time, in `resyncAfterSeconds`.
	// +default=false
	ResyncAfter bool `json:"resyncAfter,omitempty"`
	// Which changes of children call the program: `Needed` for the [changes that can
	// matter](../how-to/logic.md#when-the-program-is-called), `All` also for their creation, the operator's own changes of
	// them, and every change of their status, except during a rollout. Each call costs a pod.
	// +default=Needed
	ChildChanges string `json:"childChanges,omitempty" jsonschema:"enum=Needed,enum=All"`
	// Requests and limits of the container.
	// +default={requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 256Mi}}
	Resources *Resources `json:"resources,omitempty"`
}

// Ports of a pod that the definition's own programs cannot have.
const (
	EventsPort  = 7778 // of a worker, for the events of the Sensor; hooks often use 8080
	MetricsPort = 7777 // as in the pods of Argo Events
)

// Hook is a server that answers like the hooks of Metacontroller: see [servers](../how-to/logic.md#a-server).
type Hook struct {
	// Port on which the server listens.
	Port int32 `json:"port" jsonschema:"minimum=1,maximum=65535"`
	// Path of the requests.
	// +default=/sync
	Path string `json:"path,omitempty"`
	// Path of the requests with `finalizing: true`, if it is another one. It needs `finalizer`.
	// +defaultText=`path`
	FinalizePath string `json:"finalizePath,omitempty"`
	// Keys of objects in the request, as in Metacontroller: with `v1` the name of an object in the namespace of the custom
	// resource, with `v2` always `NAMESPACE/NAME`. The key of a cluster-scoped object is its name.
	// +default=v1
	Version string `json:"version,omitempty" jsonschema:"enum=v1,enum=v2"`
}

// EnvVar is an environment variable: a value, or a key of a Secret.
type EnvVar struct {
	// Name of the variable. Names that begin with `ARGOPERATOR_` are reserved.
	Name string `json:"name"`
	// Value of the variable.
	Value string `json:"value,omitempty"`
	// Name of a Secret in the operator's namespace, in place of `value`.
	Secret string `json:"secret,omitempty"`
	// Key in the Secret.
	Key string `json:"key,omitempty"`
}

// Parameter is a file that the `steps` engine passes to the command.
type Parameter struct {
	// Name of the flag, without the dashes.
	Name string `json:"name"`
	// Path of the file, relative to the definition.
	File string `json:"file"`
}

// Resources are the requests and limits of a container.
type Resources struct {
	// Requests by resource, such as `cpu: 10m`.
	Requests map[string]string `json:"requests,omitempty"`
	// Limits by resource, such as `memory: 256Mi`.
	Limits map[string]string `json:"limits,omitempty"`
}

// DefaultFinalizer returns the name of an operator's finalizer if the definition gives none. group is that of the API.
func DefaultFinalizer(group, operator string) string {
	return cmp.Or(group, Group) + "/" + operator + "-cleanup"
}

// Finalizer is the finalizer of each custom resource; see [finalizers](../how-to/finalizer.md).
type Finalizer struct {
	// Name of the finalizer.
	// +defaultText=`GROUP/OPERATOR-cleanup`, with the group of the API
	Name string `json:"name,omitempty"`
	// In which order children are deleted with their custom resource: `Parallel` all at once, `Reverse` in the reverse of the
	// order in which they are made, and each only when the one before is gone, with what it owns. Not with logic, which decides
	// itself.
	// +default=Parallel
	DeletionOrder string `json:"deletionOrder,omitempty" jsonschema:"enum=Parallel,enum=Reverse"`
}

// Reconcile is the engine of the operator, with its resync, retries and timeout.
type Reconcile struct {
	// Engine that runs a reconcile. `auto` selects the first of `direct`, `worker` and `workflow` that supports the definition. See
	// [engines](../explanation/engines.md).
	// +default=auto
	Engine string `json:"engine,omitempty"         jsonschema:"enum=auto,enum=direct,enum=worker,enum=workflow,enum=steps"`
	// Number of custom resources that the `worker` engine reconciles at a time, 1 to 16.
	// +default=4
	Concurrency *int32 `json:"concurrency,omitempty"    jsonschema:"minimum=1,maximum=16"`
	// Number of pods of the `worker` engine that share the custom resources, 1 to 16.
	// +default=1
	Shards *int32 `json:"shards,omitempty"         jsonschema:"minimum=1,maximum=16"`
	// Interval at which the operator checks everything again: whole minutes that divide an hour, or whole hours that divide
	// a day.
	// +default=30m
	Resync string `json:"resync,omitempty"`
	// What a resync reconciles: `Changed` only what differs from its last reconcile, `Always` everything.
	// +default=Changed
	ResyncPolicy string `json:"resyncPolicy,omitempty"   jsonschema:"enum=Changed,enum=Always"`
	// Time limit of one reconcile with all its retries, `10s` or more.
	// +default=5m
	Timeout string `json:"timeout,omitempty"`
	// Number of retries of a failed reconcile, 0 to 20, with growing pauses. A worker tries until it succeeds.
	// +default=5
	Retries *int32 `json:"retries,omitempty"`
	// Whether the operator overwrites fields of a child that another field manager has set.
	// +default=true
	ForceConflicts *bool `json:"forceConflicts,omitempty"`
	// Whether Workflows show failures. With `direct`, a pod finds out why the API server keeps rejecting a request, and writes
	// the API server's message to the condition `Ready`; the other engines always report it. A `worker` runs a custom resource
	// whose reconcile failed for good, or that has the annotation `argoperator.dev/show`, once as a Workflow, if Argo Workflows
	// is installed.
	// +default=true
	Diagnose *bool `json:"diagnose,omitempty"`
}

// Permission is a rule of a Role, for the service account that writes the children.
type Permission struct {
	// API groups of the resources; `""` is the core group.
	APIGroups []string `json:"apiGroups"`
	// Resources such as `configmaps`, or with a subresource `pods/log`.
	Resources []string `json:"resources"`
	// Names of the objects that the rule allows.
	// +defaultText=all objects
	ResourceNames []string `json:"resourceNames,omitempty"`
	// Verbs such as `get`, `list`, `bind`, `escalate`.
	Verbs []string `json:"verbs"`
	// Reason that `argoperator explain` shows.
	Reason string `json:"reason,omitempty"`
}

// Install is the namespace, the permissions and the runtime settings of the operator.
type Install struct {
	// Namespace of the operator's own objects.
	// +default=argo-events
	Namespace string `json:"namespace,omitempty"`
	// [Group of operators](../how-to/scale.md#run-many-operators) on the `worker` engine that share an EventSource, a Sensor, a
	// worker and service accounts, and with them all rights. Generate all operators of a group with one command.
	// +defaultText=none, the operator has its own objects
	Group string `json:"group,omitempty"`
	// Whether the operator has a worker for itself in its group, with a service account that has its rights alone.
	// +default=false
	DedicatedWorker bool `json:"dedicatedWorker,omitempty"`
	// EventBus between the EventSource and the Sensors.
	EventBus EventBus `json:"eventBus,omitempty"`
	// Namespaces that the operator watches.
	// +defaultText=all namespaces
	WatchNamespaces []string `json:"watchNamespaces,omitempty"`
	// Namespaces that a custom resource may choose for its children and related objects, next to its own. `*` stands for
	// any letters, as in `tenant-*`. The names of Namespaces that a template computes must be among them, too.
	// +defaultText=all that the operator watches, except kube-*, argo, argo-events, argo-workflows and install.namespace
	AllowedNamespaces []string `json:"allowedNamespaces,omitempty"`
	// Further permissions of the service account that writes the children, in the namespaces that the operator watches; see
	// [grant rights](../how-to/grant-rights.md).
	Permissions []Permission `json:"permissions,omitempty"`
	// Number of pods of the EventSource and of each Sensor: 1, or 2 with leader election.
	// +default=1
	Replicas *int32 `json:"replicas,omitempty"`
	// Names of generated objects.
	Names Names `json:"names,omitempty"`
	// Image of the operator's own steps, with Python 3.9 or later.
	// +defaultText=`python:3.13-slim`; the image of the logic if its command is Python
	RuntimeImage string `json:"runtimeImage,omitempty"`
	// Path of a file with the digests of all images, relative to the definition. `argoperator lock` writes it.
	// +defaultText=none, images are used as written
	ImagesLock string `json:"imagesLock,omitempty"`
	// Requests and limits of the operator's own steps. A resync keeps up to 4 MiB of objects, or one larger object, in
	// memory, and a digest of each related object.
	// +defaultText=`{requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}`; of a worker `64Mi` and `256Mi`
	RuntimeResources *Resources `json:"runtimeResources,omitempty"`
	// What every pod of the operator has in addition, such as in a cluster with tainted nodes or a private registry.
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`
	// URL of the Argo Workflows user interface, for links to Workflows in the status, such as `https://argo.example.com`.
	ArgoServerURL string `json:"argoServerURL,omitempty"`
	// Whether to generate ClusterRoles that add the API to the cluster roles `view`, `edit` and `admin`.
	// +defaultText=true, but false with `api.existing` or `watchNamespaces`
	UserRoles *bool `json:"userRoles,omitempty"`
	// Whether to generate ValidatingAdmissionPolicies, which [protect what the operator relies
	// on](../explanation/security-model.md#the-policies). They need Kubernetes 1.30.
	// +default=true
	AdmissionPolicies *bool `json:"admissionPolicies,omitempty"`
	// Whether to generate NetworkPolicies. They admit only metrics to the operator's pods, and only pods of Argo Events to
	// the EventBus. The cluster's network must enforce them.
	// +default=false
	NetworkPolicies bool `json:"networkPolicies,omitempty"`
	// Interval at which the token of the `direct` engine is [replaced](../how-to/rotate-token.md): whole hours from `1h` to
	// `720h`. A token is requested for three times as long; the API server must grant at least twice. Each rotation runs a
	// pod.
	// +defaultText=none, the token does not expire
	TokenRotation string `json:"tokenRotation,omitempty"`
	// Objects for the Prometheus Operator.
	// +defaultText=none
	Monitoring *Monitoring `json:"monitoring,omitempty"`
}

// PodTemplate is what the pods of the EventSource, the Sensor, the workers, the Workflows and a managed EventBus have in addition. Its
// fields are those of a pod.
type PodTemplate struct {
	// Further labels and annotations of the pods.
	Metadata PodMetadata `json:"metadata,omitempty"`
	// Labels of the nodes that the pods may run on, such as `kubernetes.io/os: linux`.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Taints of nodes that the pods tolerate, such as `{key: dedicated, operator: Exists}`.
	Tolerations []map[string]any `json:"tolerations,omitempty"`
	// `nodeAffinity`, `podAffinity` and `podAntiAffinity` of the pods.
	Affinity map[string]any `json:"affinity,omitempty"`
	// Secrets in `install.namespace` with the credentials of registries, such as `{name: registry}`.
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`
	// Name of a PriorityClass.
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// PodMetadata is the labels and annotations of pods.
type PodMetadata struct {
	// Labels.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// SecretReference is a reference to a Secret.
type SecretReference struct {
	// Name of the Secret.
	Name string `json:"name"`
}

// Monitoring is a set of objects for the Prometheus Operator. Its CustomResourceDefinitions must be in the cluster.
type Monitoring struct {
	// Whether to generate PodMonitors for the metrics of the EventSource, the Sensors and a worker.
	// +default=false
	PodMonitor bool `json:"podMonitor,omitempty"`
	// Whether to generate a PrometheusRule with the [alerts](../how-to/monitor.md#alerts) and the
	// [series that all engines share](../how-to/monitor.md#metrics).
	// +default=false
	PrometheusRule bool `json:"prometheusRule,omitempty"`
	// Whether to generate a [dashboard](../how-to/monitor.md#dashboard) for Grafana, as a ConfigMap. It needs `prometheusRule: true`.
	// +default=false
	Dashboard bool `json:"dashboard,omitempty"`
	// Labels of these objects, by which a Prometheus selects them, such as `release: prometheus`.
	Labels map[string]string `json:"labels,omitempty"`
	// Scrape interval of the PodMonitors, in whole seconds, such as `30s`.
	// +defaultText=that of Prometheus
	Interval string `json:"interval,omitempty"`
	// Labels of every alert, for routing, such as `team: platform`.
	AlertLabels map[string]string `json:"alertLabels,omitempty"`
}

// EventBus is the EventBus between the EventSource and the Sensors.
type EventBus struct {
	// `existing` to use an EventBus of the namespace, `managed` to generate one.
	// +default=existing
	Mode string `json:"mode,omitempty"         jsonschema:"enum=existing,enum=managed"`
	// Name of the EventBus.
	// +default=default
	Name string `json:"name,omitempty"`
	// Number of servers of a managed EventBus: 1, or 3 and more.
	// +defaultText=`3`
	Replicas *int32 `json:"replicas,omitempty"`
	// StorageClass of a managed EventBus.
	// +defaultText=that of the cluster
	StorageClass string `json:"storageClass,omitempty"`
	// Storage of each server of a managed EventBus.
	// +defaultText=`1Gi`
	Storage string `json:"storage,omitempty"`
}

// Names are names of generated objects.
type Names struct {
	// EventSource, at most 40 characters.
	// +defaultText=`NAME`
	EventSource string `json:"eventSource,omitempty"`
	// Sensor, at most 40 characters.
	// +defaultText=`NAME`
	Sensor string `json:"sensor,omitempty"`
	// WorkflowTemplate.
	// +defaultText=`NAME-reconcile`
	WorkflowTemplate string `json:"workflowTemplate,omitempty"`
	// CronWorkflow, at most 52 characters.
	// +defaultText=`NAME-resync`
	CronWorkflow string `json:"cronWorkflow,omitempty"`
	// ConfigMap with the files of the logic.
	// +defaultText=`NAME-logic`
	ConfigMap string `json:"configMap,omitempty"`
	// ConfigMap with the operator's own steps.
	// +defaultText=`NAME-runtime`
	RuntimeConfigMap string `json:"runtimeConfigMap,omitempty"`
	// ServiceAccount of the EventSource.
	// +defaultText=`NAME-source`
	SourceServiceAccount string `json:"sourceServiceAccount,omitempty"`
	// ServiceAccount of the Sensors.
	// +defaultText=`NAME-sensor`
	SensorServiceAccount string `json:"sensorServiceAccount,omitempty"`
	// ServiceAccount of the Workflow of a reconcile.
	// +defaultText=`NAME-workflow`
	WorkflowServiceAccount string `json:"workflowServiceAccount,omitempty"`
	// Deployment of the `worker` engine, its Service, Lease, ServiceAccount and the ConfigMap with its programs.
	// +defaultText=`NAME-worker`
	Worker string `json:"worker,omitempty"`
	// ServiceAccount of the resync.
	// +defaultText=`NAME-resync`
	ResyncServiceAccount string `json:"resyncServiceAccount,omitempty"`
	// Secret with the token of the `direct` engine.
	// +defaultText=`NAME-sensor-token`; `NAME-rotated-token` with `tokenRotation`
	TokenSecret string `json:"tokenSecret,omitempty"`
}
