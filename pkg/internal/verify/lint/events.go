package lint

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// eventRules check what the pod of an EventSource needs to start its sources.
func eventRules() []Rule {
	return []Rule{
		{
			Code:    "unknown-resource",
			Summary: "An EventSource watches a resource that Kubernetes does not have.",
			Why:     "The path of the watch does not exist in the API. The pod tries again forever, and no event arrives.",
			Fix:     "write the plural in lower case, with its API group and version",
			check:   on(unknownResources),
		},
		{
			Code:    "unsupported-field-selector",
			Summary: "A filter selects by a field by which the API server does not select.",
			Why:     "The API server rejects the watch, and no event arrives.",
			Fix:     "select by metadata.name, metadata.namespace or labels, and filter other fields in the Sensor",
			check:   on(unsupportedSelectors),
		},
		{
			Code:    "incomplete-event-source",
			Summary: "An event of an EventSource lacks a field that its type needs, or two fields exclude each other.",
			Why:     "Argo Events rejects the EventSource after kubectl has applied it: the error is only in its status.",
			Fix:     "add the field",
			check:   on(incompleteSources),
		},
		{
			Code:    "unknown-event-name",
			Warning: true,
			Summary: "A service sends no events of this name.",
			Why:     "The service rejects the name, or no event arrives.",
			Fix:     "correct the name",
			check:   on(unknownEventNames),
		},
		{
			Code:    "shared-endpoint",
			Summary: "Two events of an EventSource have one port and endpoint.",
			Why:     "The server takes one of them, and the other never gets an event.",
			Fix:     "write another endpoint",
			check:   on(sharedEndpoints),
		},
	}
}

// coreGroups are the API groups of Kubernetes of which the kinds are known.
func builtinResources() (byGroup map[string][]schema.BuiltinKind) {
	byGroup = map[string][]schema.BuiltinKind{}
	for _, k := range schema.BuiltinKinds() {
		byGroup[k.Group] = append(byGroup[k.Group], k)
	}
	return byGroup
}

func unknownResources(i *inspection, s *eventsv1.EventSource) {
	known := builtinResources()
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e, at := s.Spec.Resource[name], field.NewPath("spec", "resource").Key(name)
		group, kinds := e.Group, known[e.Group]
		switch {
		case e.Resource == "" || strings.Contains(e.Resource+e.Group+e.Version, "{{"):
		case group == "core" || group == "v1":
			i.reportHint(at.Child("group"), `write group: ""`, "the core API group has no name")
		case strings.Contains(e.Version, "/"):
			i.reportHint(at.Child("version"), "write the group and the version separately", "the version %s has a group", e.Version)
		case e.Resource != strings.ToLower(e.Resource) || kinds != nil && !slices.ContainsFunc(kinds, func(k schema.BuiltinKind) bool {
			return k.Plural == e.Resource
		}):
			var plurals []string
			hint := ""
			for _, k := range kinds {
				plurals = append(plurals, k.Plural)
				if strings.EqualFold(k.Kind, e.Resource) {
					hint = "write " + k.Plural
				}
			}
			if hint == "" {
				hint = diag.DidYouMean(e.Resource, plurals, strings.ToLower)
			}
			if hint == "" {
				hint = i.groupOf(known, e.Resource)
			}
			i.reportHint(at.Child("resource"), hint, "there is no resource %s", argo.Qualified(group, e.Resource))
		}
	}
}

// groupOf names the API group of a resource of Kubernetes.
func (i *inspection) groupOf(known map[string][]schema.BuiltinKind, plural string) string {
	for _, group := range slices.Sorted(maps.Keys(known)) {
		for _, k := range known[group] {
			if k.Plural == plural {
				return fmt.Sprintf("it is in the group %q", group)
			}
		}
	}
	return i.rule.Fix
}

// selectable are the fields by which the API server selects objects of a built-in kind, beside
// metadata.name and metadata.namespace.
var selectable = map[string][]string{
	"pods": {
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
		"status.podIP", "status.podIPs", "status.nominatedNodeName",
	},
	"nodes":                  {"spec.unschedulable"},
	"namespaces":             {"status.phase"},
	"secrets":                {"type"},
	"services":               {"spec.clusterIP", "spec.type"},
	"replicationcontrollers": {"status.replicas"},
	"events": {
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
		"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type",
	},
	"events.events.k8s.io": {
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
		"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "reportingController", "source",
		"type", "regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
		"regarding.resourceVersion", "regarding.fieldPath",
	},
	"replicasets.apps": {"status.replicas"},
	"jobs.batch":       {"status.successful"},
	"certificatesigningrequests.certificates.k8s.io": {"spec.signerName"},
}

func unsupportedSelectors(i *inspection, s *eventsv1.EventSource) {
	known := builtinResources()
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		_, builtin := known[e.Group]
		crd := i.customResource(e.Group, e.Resource)
		if e.Filter == nil || !builtin && crd == nil {
			continue
		}
		fields := append([]string{"metadata.name", "metadata.namespace"}, selectable[argo.Qualified(e.Group, e.Resource)]...)
		if crd != nil {
			for _, v := range crd.Spec.Versions {
				for _, f := range v.SelectableFields {
					fields = append(fields, strings.TrimPrefix(f.JSONPath, "."))
				}
			}
		}
		for n, f := range e.Filter.Fields {
			if !slices.Contains(fields, f.Key) {
				i.report(field.NewPath("spec", "resource").Key(name).Child("filter", "fields").Index(n).Child("key"),
					"the API server does not select %s by %s", argo.Qualified(e.Group, e.Resource), f.Key)
			}
		}
	}
}

// customResource returns the CustomResourceDefinition of a resource, if it is among the objects.
func (i *inspection) customResource(group, plural string) *apiextensionsv1.CustomResourceDefinition {
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](i.set.all) {
		if crd.Spec.Group == group && crd.Spec.Names.Plural == plural {
			return crd
		}
	}
	return nil
}

// needs are the fields that Argo Events requires of each type; "a|b" is one of the two. They are those
// of the functions validate below pkg/eventsources/sources.
var needs = map[string][]string{
	"amqp":              {"url|urlSecret", "routingKey", "exchangeType"},
	"azureEventsHub":    {"fqdn", "hubName"},
	"azureQueueStorage": {"connectionString|storageAccountName", "queueName"},
	"azureServiceBus":   {"connectionString|fullyQualifiedNamespace", "queueName|topicName"},
	"bitbucketserver":   {"bitbucketserverBaseURL"},
	"calendar":          {"schedule|interval"},
	"emitter":           {"broker", "channelName", "channelKey"},
	"file":              {"eventType"},
	"gerrit":            {"projects", "events", "gerritBaseURL", "auth"},
	"github":            {"repositories|organizations|owner"},
	"gitlab":            {"events", "gitlabBaseURL", "accessToken"},
	"hdfs":              {"type", "addresses"},
	"kafka":             {"url", "topic", "partition|consumerGroup"},
	"minio":             {"accessKey", "secretKey", "endpoint"},
	"mns":               {"queue", "endpoint"},
	"mqtt":              {"url", "topic", "clientId"},
	"nats":              {"url", "subject"},
	"nsq":               {"hostAddress", "topic", "channel"},
	"pubSub":            {"topic|subscriptionID"},
	"pulsar":            {"topics", "url"},
	"redis":             {"hostAddress", "channels"},
	"redisStream":       {"hostAddress", "streams"},
	"sns":               {"topicArn", "region", "webhook"},
	"sqs":               {"region", "queue"},
	"webhook":           {"endpoint", "port"},
}

func incompleteSources(i *inspection, s *eventsv1.EventSource) {
	for of, entry := range entriesOf(s) {
		for _, need := range needs[of.kind] {
			names := strings.Split(need, "|")
			if text := strings.Join(names, " or "); !slices.ContainsFunc(names, func(name string) bool { return isSet(entry, name) }) {
				i.reportHint(of.path, "add "+text, "a source of type %s needs %s", of.kind, text)
			}
		}
		port := textOf(entry, "port")
		if hook, ok := fieldNamed(entry, "webhook"); ok && hook.Kind() == reflect.Pointer && !hook.IsNil() {
			port = textOf(hook.Elem(), "port")
		}
		if _, err := strconv.Atoi(port); port != "" && err != nil && !strings.Contains(port, "{{") {
			i.reportHint(of.path, "write a number in quotes", "the port %q is no number", port)
		}
		if zone := textOf(entry, "timezone"); zone != "" && of.kind == "calendar" {
			if _, err := time.LoadLocation(zone); err != nil {
				i.reportHint(of.path.Child("timezone"), "write a name of the IANA database, such as Europe/Berlin",
					"there is no time zone %s", zone)
			}
		}
	}
}

// entriesOf returns the values of all events of an EventSource.
func entriesOf(s *eventsv1.EventSource) map[*namedEvent]reflect.Value {
	out := map[*namedEvent]reflect.Value{}
	spec := reflect.ValueOf(s.Spec)
	for _, e := range eventsOf(s) {
		if list, ok := fieldNamed(spec, e.kind); ok {
			out[&e] = list.MapIndex(reflect.ValueOf(e.name))
		}
	}
	return out
}

// fieldNamed returns the field of a struct by its JSON name, also one of an embedded struct.
func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	for n := range v.NumField() {
		of := v.Type().Field(n)
		json, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		if json == name {
			return v.Field(n), true
		}
		if of.Anonymous && json == "" {
			if inner, ok := fieldNamed(v.Field(n), name); ok {
				return inner, true
			}
		}
	}
	return reflect.Value{}, false
}

func isSet(v reflect.Value, name string) bool {
	of, ok := fieldNamed(v, name)
	return ok && !of.IsZero()
}

func textOf(v reflect.Value, name string) string {
	if of, ok := fieldNamed(v, name); ok && of.Kind() == reflect.String {
		return of.String()
	}
	return ""
}

// githubEvents are the names of the webhook events of GitHub.
var githubEvents = strings.Fields(`
	* branch_protection_configuration branch_protection_rule check_run check_suite code_scanning_alert commit_comment content_reference
	create custom_property custom_property_values delete dependabot_alert deploy_key deployment deployment_protection_rule
	deployment_review deployment_status discussion discussion_comment fork github_app_authorization gollum installation
	installation_repositories installation_target issue_comment issue_dependencies issues label marketplace_purchase member membership
	merge_group meta milestone org_block organization package page_build personal_access_token_request ping project project_card
	project_column projects_v2 projects_v2_item projects_v2_status_update public pull_request pull_request_review
	pull_request_review_comment pull_request_review_thread pull_request_target push registry_package release repository
	repository_advisory repository_dispatch repository_import repository_ruleset repository_vulnerability_alert secret_scanning_alert
	secret_scanning_alert_location secret_scanning_scan security_advisory security_and_analysis sponsorship star status sub_issues team
	team_add user watch workflow_dispatch workflow_job workflow_run`)

// minioEvents are the names of the notifications of MinIO, and of S3.
var minioEvents = strings.Fields(`
	s3:BucketCreated:* s3:BucketRemoved:* s3:IntelligentTiering s3:LifecycleDelMarkerExpiration:Delete s3:LifecycleExpiration:*
	s3:LifecycleExpiration:Delete s3:LifecycleExpiration:DeleteMarkerCreated s3:LifecycleTransition s3:ObjectAccessed:*
	s3:ObjectAccessed:Attributes s3:ObjectAccessed:Get s3:ObjectAccessed:GetLegalHold s3:ObjectAccessed:GetRetention
	s3:ObjectAccessed:Head s3:ObjectAcl:Put s3:ObjectCreated:* s3:ObjectCreated:CompleteMultipartUpload s3:ObjectCreated:Copy
	s3:ObjectCreated:DeleteTagging s3:ObjectCreated:Post s3:ObjectCreated:Put s3:ObjectCreated:PutLegalHold
	s3:ObjectCreated:PutRetention s3:ObjectCreated:PutTagging s3:ObjectRemoved:* s3:ObjectRemoved:Delete
	s3:ObjectRemoved:DeleteAllVersions s3:ObjectRemoved:DeleteMarkerCreated s3:ObjectRemoved:NoOP s3:ObjectRestore:*
	s3:ObjectRestore:Completed s3:ObjectRestore:Delete s3:ObjectRestore:Post s3:ObjectTagging:* s3:ObjectTagging:Delete
	s3:ObjectTagging:Put s3:ObjectTransition:* s3:ObjectTransition:Complete s3:ObjectTransition:Failed s3:ReducedRedundancyLostObject
	s3:Replication:* s3:Replication:OperationCompletedReplication s3:Replication:OperationFailedReplication
	s3:Replication:OperationMissedThreshold s3:Replication:OperationNotTracked s3:Replication:OperationReplicatedAfterThreshold
	s3:Scanner:* s3:Scanner:BigPrefix s3:Scanner:LargeVersions s3:Scanner:ManyVersions s3:TestEvent`)

func unknownEventNames(i *inspection, s *eventsv1.EventSource) {
	check := func(at *field.Path, name string, known []string, service string) {
		if slices.Contains(known, name) || strings.Contains(name, "{{") {
			return
		}
		hint := diag.DidYouMean(name, known, strings.ToLower)
		if hint == "" {
			hint = i.rule.Fix
		}
		i.reportHint(at, hint, "%s has no event %s", service, name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Github)) {
		for n, event := range s.Spec.Github[name].Events {
			check(field.NewPath("spec", "github").Key(name).Child("events").Index(n), event, githubEvents, "GitHub")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Minio)) {
		for n, event := range s.Spec.Minio[name].Events {
			check(field.NewPath("spec", "minio").Key(name).Child("events").Index(n), event, minioEvents, "MinIO")
		}
	}
}

func sharedEndpoints(i *inspection, s *eventsv1.EventSource) {
	seen := map[string]string{}
	for _, e := range eventsOf(s) {
		list, _ := fieldNamed(reflect.ValueOf(s.Spec), e.kind)
		entry := list.MapIndex(reflect.ValueOf(e.name))
		if hook, ok := fieldNamed(entry, "webhook"); ok && hook.Kind() == reflect.Pointer && !hook.IsNil() {
			entry = hook.Elem()
		}
		endpoint, port := textOf(entry, "endpoint"), textOf(entry, "port")
		if endpoint == "" || port == "" || e.kind == "minio" || e.kind == "mns" {
			continue
		}
		id := port + " /" + strings.Trim(endpoint, "/")
		if method := textOf(entry, "method"); method != "" {
			id += " " + strings.ToUpper(method)
		}
		if other, has := seen[id]; has {
			i.report(e.path, "%s and %s have the port %s and the endpoint %s", other, e.name, port, endpoint)
		}
		seen[id] = e.name
	}
}
