package lint

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	operators "k8s.io/apimachinery/pkg/selection"
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
			Summary: "An EventSource watches, or a role names, a resource that Kubernetes does not have.",
			Why: "The path of the watch does not exist in the API. The pod tries again forever, and no event arrives. Such a rule of a " +
				"role grants nothing.",
			Fix: "write the plural in lower case, with its API group and version",
			check: func(i *inspection) {
				on(unknownResources)(i)
				eachRule(grantedResources)(i)
			},
		},
		{
			Code:    "invalid-resource-filter",
			Summary: "A filter of a resource event lets no object pass.",
			Why: "The EventSource compares the texts of fields with regular expressions. It drops each object without the field, and " +
				"only its log says why.",
			Fix:   "correct the name of the field",
			check: on(invalidResourceFilters),
		},
		{
			Code:    "incomplete-event-source",
			Summary: "An event of an EventSource lacks a field that its type needs, or two fields exclude each other.",
			Why:     "Argo Events rejects the EventSource after kubectl has applied it: the error is only in its status.",
			Fix:     "correct the field",
			check:   on(incompleteSources),
		},
		{
			Code:    "silent-event-source",
			Summary: "With a setting of an EventSource, no event arrives.",
			Why:     "Argo Events accepts it. Its pod cannot connect, or drops what it receives.",
			Fix:     "correct the setting",
			check:   on(silentSources),
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
			Code:    "inactive-webhook",
			Warning: true,
			Summary: "An event source for GitHub creates an inactive webhook.",
			Why:     "GitHub sends nothing to an inactive webhook, and Argo Events never activates one that exists.",
			Fix:     "add active: true, and delete a webhook that was created without it",
			check:   on(inactiveHooks),
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

// builtinResources are the kinds of Kubernetes by their API group.
var builtinResources = sync.OnceValue(func() map[string][]schema.BuiltinKind {
	byGroup := map[string][]schema.BuiltinKind{}
	for _, k := range schema.BuiltinKinds() {
		byGroup[k.Group] = append(byGroup[k.Group], k)
	}
	return byGroup
})

func unknownResources(i *inspection, s *eventsv1.EventSource) {
	known := builtinResources()
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e, at := s.Spec.Resource[name], field.NewPath("spec", "resource").Key(name)
		group, kinds := e.Group, known[e.Group]
		switch {
		case e.Resource == "" || strings.Contains(e.Resource+e.Group+e.Version, "{{"):
		case group == "core" || group == "v1":
			i.reportHint(at.Child("group"), `write group: ""`, "the core API group has no name")
		case strings.Contains(group, "/"):
			name, version, _ := strings.Cut(group, "/")
			i.reportHint(at.Child("group"), "write group: "+name+", and version: "+version, "the group %s has a version", group)
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

// invalidResourceFilters checks the fields by which the pod of an EventSource filters what it watches: it
// compares texts with regular expressions.
func invalidResourceFilters(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		if e.Filter == nil {
			continue
		}
		of := i.watchedType(e)
		i.phases(field.NewPath("spec", "resource").Key(name).Child("filter", "labels"), e)
		for n, f := range e.Filter.Fields {
			at := field.NewPath("spec", "resource").Key(name).Child("filter", "fields").Index(n)
			if f.Operation == "" { // invalid-manifest reports others
				i.reportHint(at, "add operation: ==", "a field without an operation lets no object pass")
			}
			i.pattern(at.Child("value"), f.Value)
			if why := badPath(f.Key); why != "" {
				i.reportHint(at.Child("key"), pathHint(f.Key), "%s", why)
				continue
			}
			if strings.ContainsAny(f.Key, `#@*?|\`) {
				continue // more than the names of fields
			}
			is, missing, in := placed(of, f.Key)
			if missing != "" {
				i.reportHint(at.Child("key"), cmp.Or(diag.DidYouMean(missing, in.Fields(), strings.ToLower), i.rule.Fix),
					"%s: %s has no field %s", f.Key, argo.Qualified(e.Group, e.Resource), missing)
			} else if notText(is) {
				i.reportHint(at.Child("key"), "filter in the Sensor", "%s is %s, and the filter compares texts", f.Key, describe(is))
			}
		}
	}
}

// phases reports values that the label with the phase of a Workflow never has.
func (i *inspection) phases(at *field.Path, e eventsv1.ResourceEventSource) {
	known := []string{
		string(wfv1.WorkflowPending), string(wfv1.WorkflowRunning), string(wfv1.WorkflowSucceeded), string(wfv1.WorkflowFailed),
		string(wfv1.WorkflowError),
	}
	for n, l := range e.Filter.Labels {
		excludes := slices.Contains([]operators.Operator{operators.NotEquals, operators.NotIn}, operators.Operator(l.Operation))
		if e.Group != argo.Group || e.Resource != "workflows" || l.Key != common.LabelKeyPhase || excludes || fromTemplate(l.Value) {
			continue
		}
		for _, value := range strings.Split(l.Value, ",") {
			if value != "" && !slices.Contains(known, value) {
				hint := oneOf(value, known)
				i.reportHint(at.Index(n).Child("value"), hint, "a Workflow has no phase %s", value)
			}
		}
	}
}

// watchedType returns the type of the objects that an event watches; any, if it is not known.
func (i *inspection) watchedType(e eventsv1.ResourceEventSource) schema.Type {
	for _, k := range builtinResources()[e.Group] {
		if k.Plural == e.Resource {
			if of, ok := schema.Builtin(strings.TrimPrefix(e.Group+"/"+e.Version, "/"), k.Kind); ok {
				return of
			}
		}
	}
	return schema.Any()
}

// filesNeed are the needs of a source that watches files.
var filesNeed = []string{
	"eventType", "watchPathConfig.directory", "watchPathConfig.path|watchPathConfig.pathRegexp",
	"watchPathConfig.path^watchPathConfig.pathRegexp",
}

// needs are what Argo Events requires of the fields of each type, as the functions validate below
// pkg/eventsources/sources do. "a|b" is one of the two, "a^b" not both, "a=>b" b with a, and "a in x,y" one
// of these values.
var needs = map[string][]string{
	"amqp": {"url|urlSecret", "url^urlSecret", "routingKey", "exchangeType", "auth=>auth.username", "auth=>auth.password"},
	"azureEventsHub": {
		"fqdn", "hubName", "sharedAccessKey=>sharedAccessKeyName", "sharedAccessKeyName=>sharedAccessKey",
	},
	"azureQueueStorage": {"connectionString|storageAccountName", "queueName"},
	"azureServiceBus": {
		"connectionString|fullyQualifiedNamespace", "queueName|topicName", "queueName^topicName", "topicName=>subscriptionName",
		"subscriptionName=>topicName",
	},
	// Without auth, Argo's validator panics.
	"bitbucket":       {"auth", "repositories|owner", "owner=>repositorySlug|repositories", "webhook"},
	"bitbucketserver": {"bitbucketserverBaseURL", "webhook"},
	"calendar":        {"schedule|interval"},
	"emitter":         {"broker", "channelName", "channelKey"},
	"file":            filesNeed,
	"generic":         {"url", "config"},
	"gerrit":          {"projects", "events", "gerritBaseURL", "auth", "webhook"},
	"github": {
		"repositories|organizations|owner", "repositories^organizations", "contentType in json,form", "githubBaseURL=>githubUploadURL",
		"githubUploadURL=>githubBaseURL", "webhook", "owner=>repository|repositories|organizations",
	},
	"gitlab": {"events", "gitlabBaseURL", "accessToken", "webhook"},
	"hdfs": {
		"type", "addresses", "directory", "path|pathRegexp", "path^pathRegexp", "hdfsUser|krbCCacheSecret|krbKeytabSecret",
		"krbKeytabSecret=>krbServicePrincipalName", "krbKeytabSecret=>krbConfigConfigMap", "krbKeytabSecret=>krbUsername",
		"krbKeytabSecret=>krbRealm", "krbCCacheSecret=>krbServicePrincipalName", "krbCCacheSecret=>krbConfigConfigMap",
	},
	"kafka": {
		"url", "topic", "partition|consumerGroup", "awsMskIamAuth=>awsMskIamAuth.region", "sasl=>sasl.userSecret",
		"sasl=>sasl.passwordSecret", "sasl.mechanism in PLAIN,OAUTHBEARER,SCRAM-SHA-256,SCRAM-SHA-512,GSSAPI",
	},
	"minio":       {"accessKey", "secretKey", "endpoint", "bucket=>bucket.name"},
	"mns":         {"queue", "endpoint"},
	"mqtt":        {"url", "topic", "clientId", "auth=>auth.username", "auth=>auth.password"},
	"nats":        {"url", "subject"},
	"nsq":         {"hostAddress", "topic", "channel"},
	"pubSub":      {"topic|subscriptionID", "topicProjectID=>topic"},
	"pulsar":      {"topics", "url", "type", "type in exclusive,shared"},
	"redis":       {"hostAddress", "channels", "password=>namespace"},
	"redisStream": {"hostAddress", "streams"},
	"sftp":        filesNeed,
	"slack":       {"token", "signingSecret", "webhook"},
	"sns":         {"topicArn", "region", "webhook"},
	"sqs":         {"region", "queue"},
	"storageGrid": {"topicArn", "apiURL", "authToken", "bucket", "events", "webhook"},
	"stripe":      {"createWebhook=>apiKey", "webhook"},
	"webhook":     {"endpoint", "port"},
}

// These match the forms of needs.
var (
	implied  = lazily(`^(.+)=>(.+)$`)
	excluded = lazily(`^(.+)\^(.+)$`)
	listed   = lazily(`^(.+) in (.+)$`)
)

// need checks one of the needs of an event.
func (i *inspection) need(of *namedEvent, entry reflect.Value, need string) {
	if m := listed().FindStringSubmatch(need); m != nil {
		known := strings.Split(m[2], ",")
		if text := textOf(entry, m[1]); text != "" && !slices.Contains(known, text) && !strings.Contains(text, "{{") {
			hint := oneOf(text, known)
			i.reportHint(of.at(m[1]), hint, "%s cannot be %s", m[1], text)
		}
		return
	}
	if m := excluded().FindStringSubmatch(need); m != nil {
		if isSet(entry, m[1]) && isSet(entry, m[2]) {
			i.reportHint(of.at(m[2]), "remove one of the two", "%s and %s exclude each other", m[1], m[2])
		}
		return
	}
	where, who := of.path, "a source of type "+of.kind
	if m := implied().FindStringSubmatch(need); m != nil {
		if !isSet(entry, m[1]) {
			return
		}
		where, who, need = of.at(m[1]), m[1], m[2]
	}
	names := strings.Split(need, "|")
	if text := strings.Join(names, " or "); !slices.ContainsFunc(names, func(name string) bool { return isSet(entry, name) }) {
		i.reportHint(where, "add "+text, "%s needs %s", who, text)
	}
}

func incompleteSources(i *inspection, s *eventsv1.EventSource) {
	for of, entry := range entriesOf(s) {
		for _, need := range needs[of.kind] {
			i.need(of, entry, need)
		}
		hook := webhookOf(of, entry)
		for _, need := range []string{"endpoint", "port"} {
			if hook.IsValid() && of.kind != "webhook" && !isSet(hook, need) {
				i.reportHint(of.path.Child("webhook"), "add "+need, "webhook needs %s", need)
			}
		}
		if port := textOf(hook, "port"); port != "" && !strings.Contains(port, "{{") {
			if _, err := strconv.Atoi(port); err != nil {
				i.reportHint(of.path, "write a number in quotes", "the port %q is no number", port)
			}
		}
		i.tlsOf(of, entry)
		i.ofType(of, entry)
	}
	i.mixedStrategies(s)
}

// webhookOf returns the settings of the server of an event, if it has one.
func webhookOf(of *namedEvent, entry reflect.Value) reflect.Value {
	if of.kind == "webhook" {
		return entry
	}
	if hook, ok := fieldNamed(entry, "webhook"); ok && hook.Kind() == reflect.Pointer && !hook.IsNil() {
		return hook.Elem()
	}
	return reflect.Value{}
}

// hookPath returns the path of the settings of the server of an event.
func hookPath(of *namedEvent) *field.Path {
	if of.kind == "webhook" {
		return of.path
	}
	return of.path.Child("webhook")
}

// tlsOf checks the settings of TLS, which all types have in common.
func (i *inspection) tlsOf(of *namedEvent, entry reflect.Value) {
	value, ok := fieldNamed(entry, "tls")
	if !ok || value.Kind() != reflect.Pointer || value.IsNil() {
		return
	}
	if tls, ok := value.Interface().(*eventsv1.TLSConfig); ok {
		if err := eventsv1.ValidateTLSConfig(tls); err != nil {
			i.reportHint(of.path.Child("tls"), "set caCertSecret, or clientCertSecret and clientKeySecret", "%v", err)
		}
	}
}

// ofType checks what only one type of source has.
func (i *inspection) ofType(of *namedEvent, entry reflect.Value) {
	switch e := entry.Interface().(type) {
	case eventsv1.CalendarEventSource:
		if _, err := time.LoadLocation(e.Timezone); err != nil {
			i.reportHint(of.path.Child("timezone"), "write a name of the IANA database, such as Europe/Berlin",
				"there is no time zone %s", e.Timezone)
		}
	case eventsv1.FileEventSource:
		i.watched(of.path.Child("watchPathConfig"), e.WatchPathConfig)
	case eventsv1.SFTPEventSource:
		i.watched(of.path.Child("watchPathConfig"), e.WatchPathConfig)
	case eventsv1.HDFSEventSource:
		i.watched(of.path, e.WatchPathConfig)
		known := []string{"CREATE", "REMOVE", "WRITE", "RENAME", "CHMOD"}
		if e.Type != "" && !slices.ContainsFunc(strings.Split(e.Type, "|"), func(one string) bool { return slices.Contains(known, one) }) {
			i.reportHint(of.path.Child("type"), oneOf(e.Type, known),
				"there is no type %s", e.Type)
		}
		i.interval(of.path.Child("checkInterval"), e.CheckInterval)
	case eventsv1.BitbucketServerEventSource:
		i.interval(of.path.Child("checkInterval"), e.CheckInterval)
		i.hooksWithoutEvents(of, e.ShouldCreateWebhooks(), e.Events)
	case eventsv1.BitbucketEventSource:
		i.hooksWithoutEvents(of, e.Auth != nil && e.ShouldCreateWebhooks(), e.Events)
	case eventsv1.GithubEventSource:
		i.hooksWithoutEvents(of, e.NeedToCreateHooks(), e.Events)
	}
}

func (i *inspection) interval(at *field.Path, text string) {
	if _, err := time.ParseDuration(text); text != "" && err != nil {
		i.reportHint(at, "write s, m or h, such as 30s", "%q is no duration", text)
	}
}

func (i *inspection) hooksWithoutEvents(of *namedEvent, creates bool, events []string) {
	if creates && len(events) == 0 {
		i.reportHint(of.path, "add events", "to create the webhook, the source needs events")
	}
}

// watched checks the paths of a source of files.
func (i *inspection) watched(at *field.Path, c eventsv1.WatchPathConfig) {
	switch {
	case c.Directory == "" || strings.Contains(c.Directory+c.Path, "{{"):
	case !path.IsAbs(c.Directory):
		i.reportHint(at.Child("directory"), "begin it with /", "the directory is no absolute path")
	case c.Path != "" && path.IsAbs(c.Path):
		i.reportHint(at.Child("path"), "write "+strings.TrimLeft(c.Path, "/"), "the path is not relative to the directory")
	}
	i.pattern(at.Child("pathRegexp"), c.PathRegexp)
}

// mixedStrategies reports types that Argo Events does not run in one Deployment.
func (i *inspection) mixedStrategies(s *eventsv1.EventSource) {
	var recreated, rolled *namedEvent
	for _, e := range eventsOf(s) {
		if isRecreated(e.kind) {
			recreated = cmp.Or(recreated, &e)
		} else {
			rolled = cmp.Or(rolled, &e)
		}
	}
	if recreated != nil && rolled != nil {
		i.reportHint(recreated.path, "move it to an EventSource of its own", "the types %s and %s cannot be in one EventSource",
			rolled.kind, recreated.kind)
	}
}

// isRecreated reports whether only one pod reads a type of source: such pods elect a leader.
func isRecreated(kind string) bool {
	return slices.Contains(eventsv1.RecreateStrategyEventSources, eventsv1.EventSourceType(kind))
}

// entriesOf returns all events of an EventSource with their values, in order.
func entriesOf(s *eventsv1.EventSource) iter.Seq2[*namedEvent, reflect.Value] {
	return func(yield func(*namedEvent, reflect.Value) bool) {
		spec := reflect.ValueOf(s.Spec)
		for _, e := range eventsOf(s) {
			if list, ok := fieldNamed(spec, e.kind); ok && !yield(&e, list.MapIndex(reflect.ValueOf(e.name))) {
				return
			}
		}
	}
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

// valueAt returns the value at a path of fields; an invalid one if it is not there.
func valueAt(v reflect.Value, path string) reflect.Value {
	for _, name := range strings.Split(path, ".") {
		for v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		var ok bool
		if v, ok = fieldNamed(v, name); !ok {
			return reflect.Value{}
		}
	}
	return v
}

func isSet(v reflect.Value, path string) bool {
	of := valueAt(v, path)
	return of.IsValid() && !of.IsZero()
}

func textOf(v reflect.Value, path string) string {
	if of := valueAt(v, path); of.IsValid() && of.Kind() == reflect.String {
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

// gitlabEvents are the names of events in the webhooks of GitLab.
var gitlabEvents = strings.Fields(`
	ConfidentialIssuesEvents ConfidentialNoteEvents DeploymentEvents EmojiEvents IssuesEvents JobEvents MergeRequestsEvents NoteEvents
	PipelineEvents PushEvents ReleasesEvents ResourceAccessTokenEvents TagPushEvents VulnerabilityEvents WikiPageEvents`)

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
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Gitlab)) {
		for n, event := range s.Spec.Gitlab[name].Events {
			check(field.NewPath("spec", "gitlab").Key(name).Child("events").Index(n), event, gitlabEvents, "the webhook of GitLab")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Minio)) {
		for n, event := range s.Spec.Minio[name].Events {
			check(field.NewPath("spec", "minio").Key(name).Child("events").Index(n), event, minioEvents, "MinIO")
		}
	}
}

func inactiveHooks(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Github)) {
		if e := s.Spec.Github[name]; e.NeedToCreateHooks() && !e.Active {
			i.report(field.NewPath("spec", "github").Key(name), "the webhook is created inactive")
		}
	}
}

func sharedEndpoints(i *inspection, s *eventsv1.EventSource) {
	seen := map[string]string{}
	for e, entry := range entriesOf(s) {
		hook := webhookOf(e, entry)
		endpoint, port := textOf(hook, "endpoint"), textOf(hook, "port")
		if endpoint == "" || port == "" {
			continue
		}
		id := port + " /" + strings.Trim(endpoint, "/")
		if method := textOf(hook, "method"); method != "" {
			id += " " + strings.ToUpper(method)
		}
		if other, has := seen[id]; has {
			i.report(e.path, "%s and %s have the port %s and the endpoint %s", other, e.name, port, endpoint)
		}
		seen[id] = e.name
	}
}
