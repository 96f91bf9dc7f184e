package source

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// foreignKey is a key of another tool, or of another place, for which a definition has
// something else.
type foreignKey struct {
	in      string   // the type of the mapping, as pkg/apis/v1alpha1 names it
	keys    []string // as others call it
	ours    string   // the key of the same mapping that is meant; "" if it is elsewhere
	advice  string   // what to do; "" to write ours
	example string   // YAML for the same mapping, if examples has none; may be empty
	alike   bool     // the value has the form of ours
}

// foreignKeys has keys of kro, CustomResourceDefinitions, Metacontroller, Crossplane, kopf
// and the Operator SDK.
var foreignKeys = []foreignKey{
	// kro, Metacontroller and Crossplane: the definition.
	{
		"Spec",
		[]string{"resources", "childResources", "attachments", "templates", "manifests", "objects", "owns", "childs", "childrens", "child"},
		"children",
		"",
		"",
		true,
	},
	{"Spec", []string{"schema", "openAPIV3Schema"}, "api", "put the schema into a version of the API", "", false},
	{"Spec", []string{"parentResource", "compositeTypeRef", "crd", "resource", "customResource"}, "api", "", "", false},
	{
		"Spec",
		[]string{"group", "kind", "versions", "version", "scope", "plural", "singular", "shortNames", "names", "claimNames"},
		"api",
		"put it under api",
		"",
		false,
	},
	{
		"Spec",
		[]string{"pipeline", "hooks", "handlers", "functions", "steps", "playbook", "role", "chart", "image", "command"},
		"logic",
		"",
		"",
		false,
	},
	{
		"Spec",
		[]string{"watches", "watchDependentResources", "externalRefs", "dependencies", "secondaryResources"},
		"related",
		"list the objects of others that a custom resource refers to",
		"",
		false,
	},
	{"Spec", []string{"finalizers", "finalize", "onDelete"}, "finalizer", "", "", false},
	{
		"Spec",
		[]string{"resyncPeriodSeconds", "resyncPeriod", "reconcilePeriod", "interval", "requeueAfter", "timers"},
		"reconcile",
		"",
		"",
		false,
	},
	{"Spec", []string{"maxConcurrentReconciles", "workers", "concurrency"}, "reconcile", "", "reconcile: {concurrency: 8}", false},
	{"Spec", []string{"namespace", "installNamespace"}, "install", "", "", false},
	{"Spec", []string{"watchNamespace", "watchNamespaces", "namespaces"}, "install", "", "install: {watchNamespaces: [team-a]}", false},
	{"Spec", []string{"leaderElection", "replicas"}, "install", "", "install: {replicas: 2}", false},
	{
		"Spec",
		[]string{"rbac", "permissions", "rules", "clusterPermissions"},
		"",
		"remove it: argoperator derives the permissions from the children; install.permissions adds further ones",
		"",
		false,
	},
	{"Spec", []string{"labels", "annotations", "commonLabels", "commonAnnotations"}, "childMetadata", "for all children", "", false},
	{"Spec", []string{"types"}, "", "put types under spec.api", "", false},
	{"Spec", []string{"generateSelector", "generateName"}, "", "remove it: argoperator finds children by their owner", "", false},
	{
		"Spec",
		[]string{"conversion", "webhook", "webhooks"},
		"",
		"remove it: argoperator runs no webhooks, and a field keeps its type in all served versions",
		"",
		false,
	},
	{
		"Spec",
		[]string{"writeConnectionSecretsToNamespace", "connectionSecretKeys", "connectionDetails", "defaultCompositionRef"},
		"",
		"remove it: argoperator has no claims; to publish a Secret, add a child of kind Secret",
		"",
		false,
	},
	{
		"Spec",
		[]string{"schedule", "schedules", "cron", "crontab"},
		"related",
		"",
		"related: [{name: evening, schedule: \"0 20 * * *\"}]",
		false,
	},
	{"Spec", []string{"inputs", "params", "values", "globals", "environmentConfig"}, "parameters", "", "", true},
	{"Spec", []string{"let", "def", "define", "locals", "vars", "definitions"}, "variables", "", "", true},
	// The entries of children.
	{"Child", []string{"id", "resourceName"}, "name", "", "name: config", true},
	{
		"Child",
		[]string{"includeWhen", "condition", "conditions", "if", "enabled", "include", "onlyIf"},
		"when",
		"",
		"when: .spec.enabled",
		true,
	},
	{"Child", []string{"let", "def", "define", "locals", "vars", "definitions"}, "variables", "", "", true},
	{
		"Child",
		[]string{"loop", "for", "foreach", "range", "each", "items", "withItems", "withParam", "count"},
		"forEach",
		"",
		"forEach: .spec.items // []",
		true,
	},
	{
		"Child",
		[]string{"readinessChecks", "readyIf", "ready", "readiness", "healthCheck"},
		"readyWhen",
		"",
		`readyWhen: .status.phase == "Ready"`,
		false,
	},
	{"Child", []string{"depends", "dependencies", "needs", "after", "requires"}, "dependsOn", "", "dependsOn: [config]", true},
	{"Child", []string{"base", "manifest", "resource", "object", "definition", "yaml"}, "template", "", "", true},
	{
		"Child",
		[]string{"metadata", "spec", "data", "stringData", "rules", "type", "roleRef", "subjects"},
		"template",
		"put the whole object, with apiVersion and kind, under template",
		"",
		false,
	},
	{"Child", []string{"path", "templateFile", "source", "url"}, "file", "", "file: children/config.yaml", true},
	{"Child", []string{"updateStrategy", "updatePolicy", "strategy"}, "update", "", "update: Recreate", false},
	{"Child", []string{"deletionPolicy", "reclaimPolicy", "keep", "retain"}, "onDelete", "", "onDelete: Orphan", false},
	{"Child", []string{"group", "version"}, "", "write apiVersion in the template, such as apps/v1", "", false},
	{"Child", []string{"externalRef", "existing"}, "", "list objects of others under spec.related", "", false},
	{
		"Child",
		[]string{"patches", "transforms", "fromFieldPath", "toFieldPath", "connectionDetails"},
		"",
		"write expressions into the template, such as replicas: ${ .spec.size }",
		"",
		false,
	},
	{
		"Patch",
		[]string{"type", "fromFieldPath", "toFieldPath", "transforms", "combine", "policy", "patchSetName"},
		"",
		"spec.patches changes objects of others; for a child, write expressions into its template, such as replicas: ${ .spec.size }",
		"",
		false,
	},
	// CustomResourceDefinitions.
	{"API", []string{"names"}, "", "write kind, plural and shortNames under spec.api itself", "", false},
	{"API", []string{"version", "apiVersion"}, "versions", "", "", false},
	{"API", []string{"schema", "openAPIV3Schema", "spec", "fields", "validation"}, "versions", "put the schema into a version", "", false},
	{
		"API",
		[]string{
			"additionalPrinterColumns",
			"columns",
			"subresources",
			"scale",
			"served",
			"storage",
			"validations",
			"deprecated",
			"selectableFields",
		},
		"",
		"put it into an entry of spec.api.versions; printer columns are columns there, and subresources.scale is scale",
		"",
		false,
	},
	{
		"API",
		[]string{"conversion", "preserveUnknownFields"},
		"",
		"remove it: argoperator runs no webhooks, and a field keeps its type in all served versions",
		"",
		false,
	},
	{"API", []string{"namespaced"}, "scope", "", "scope: Cluster", false},
	{"Version", []string{"additionalPrinterColumns", "printerColumns"}, "columns", "", "", true},
	{
		"Version",
		[]string{"subresources"},
		"", "every kind has the status subresource; put scale beside schema",
		"scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.readyReplicas}", false,
	},
	{"Version", []string{"spec", "properties", "fields"}, "schema", "put the fields under schema", "", false},
	{"Version", []string{"x-kubernetes-validations", "validation", "rules"}, "validations", "", "", true},
	{
		"Schema",
		[]string{"openAPIV3Schema", "properties", "type", "required"},
		"",
		"put an OpenAPI schema under openAPIV3Schema, in place of schema",
		"",
		false,
	},
	{
		"Schema",
		[]string{"apiVersion", "kind", "group", "types", "additionalPrinterColumns", "validation"},
		"",
		"schema has spec and status only: put kind, group and types under spec.api, columns and validations beside schema",
		"",
		false,
	},
	{"Column", []string{"jsonPath", "fieldPath", "value"}, "path", "", "path: .spec.size", true},
	{"Scale", []string{"selectorPath", "labelSelector"}, "labelSelectorPath", "", "labelSelectorPath: .status.selector", true},
	// Programs, and how the operator runs.
	{"Logic", []string{"args", "entrypoint", "run"}, "command", "", "command: [python3, main.py]", true},
	{
		"Logic",
		[]string{"script", "inline", "code", "program", "main", "handler"},
		"files",
		"write the program into a file",
		"files: [logic/main.py]",
		false,
	},
	{
		"Logic",
		[]string{"sync", "webhook", "finalize", "customize", "url"},
		"",
		"write image, command and files: the program reads a request from a file and writes a response to another",
		"",
		false,
	},
	{
		"Logic",
		[]string{"volumes", "volumeMounts", "configMaps"},
		"",
		"list the program's files under files, and environment variables under env",
		"",
		false,
	},
	{"EnvVar", []string{"valueFrom", "secretKeyRef"}, "secret", "name the Secret and its key", "{secret: login, key: password}", false},
	{"Reconcile", []string{"interval", "period", "resyncPeriod", "requeueAfter", "resyncPeriodSeconds"}, "resync", "", "resync: 30m", true},
	{"Reconcile", []string{"maxConcurrentReconciles", "workers", "parallelism"}, "concurrency", "", "concurrency: 8", true},
	{"Reconcile", []string{"retry", "backoff", "maxRetries", "backoffLimit"}, "retries", "", "retries: 5", true},
	{"Install", []string{"image"}, "runtimeImage", "", "runtimeImage: python:3.13-slim", true},
	{"Install", []string{"resources"}, "runtimeResources", "", "runtimeResources: {limits: {memory: 128Mi}}", true},
	{"Install", []string{"rbac", "rules", "clusterRoles"}, "permissions", "", "", true},
	{"Install", []string{"serviceAccount", "serviceAccountName"}, "names", "", "names: {workflowServiceAccount: app-workflow}", false},
	{"Metadata", []string{"namespace"}, "", "put the operator's namespace under spec.install", "", false},
	{"Operator", []string{"name", "labels", "annotations"}, "metadata", "put it under metadata", "", false},
	// Tests.
	{"TestStep", []string{"update", "change", "modify", "patch"}, "edit", "", "edit: {spec: {size: 3}}", true},
	{"Expect", []string{"child", "childs", "childResources"}, "children", "", "children: [{kind: Deployment}]", true},
	{
		"Operator",
		[]string{"api", "children", "status", "install", "logic", "schema", "resources", "reconcile", "related", "patches"},
		"spec",
		"put it under spec",
		"",
		false,
	},
}

// foreign returns what to write for a key of another tool, and the key of the same mapping
// that is meant, if it is one, and whether the value has its form.
func foreign(in, key string) (hint, ours string, alike bool) {
	same := func(other string) bool { return diag.FoldKey(other) == diag.FoldKey(key) }
	for _, f := range foreignKeys {
		if f.in == in && slices.ContainsFunc(f.keys, same) {
			return f.hint(), f.ours, f.alike
		}
	}
	if strings.ToLower(key) == key { // a word that can mean anything elsewhere
		return "", "", false
	}
	for _, f := range foreignKeys {
		if place := places[f.in]; place != "" && f.ours != "" && slices.ContainsFunc(f.keys, same) {
			return f.hint() + "; " + f.ours + " is a key of " + place, "", false
		}
	}
	return "", "", false
}

func (f foreignKey) hint() string {
	f = f.withExample()
	switch {
	case f.advice == "" && f.example == "":
		return "did you mean " + f.ours + "?"
	case f.advice == "":
		return "did you mean " + f.ours + "? Such as " + f.example
	case f.example == "":
		return f.advice
	}
	return f.advice + ": " + f.example
}

func (f foreignKey) withExample() foreignKey {
	if f.example == "" {
		f.example = example(f.in, f.ours)
	}
	return f
}

// places of the types whose keys are often written elsewhere.
var places = map[string]string{
	"Spec":    "spec",
	"Child":   "spec.children[]",
	"Version": "spec.api.versions[]",
	"Column":  "spec.api.versions[].columns[]",
}
