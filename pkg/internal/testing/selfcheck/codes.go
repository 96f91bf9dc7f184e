package selfcheck

// The codes of problems. A definition that causes a problem gets another code, of package
// problem.
const (
	// The object itself.
	codeUnknownKind       = "check-unknown-kind"       // an object of a kind that argoperator does not emit
	codeSchema            = "check-schema"             // a field that the kind does not have, or a value of another type than its field
	codeName              = "check-name"               // a name that Kubernetes or Argo refuses
	codeDuplicate         = "check-duplicate"          // two objects, or two entries of a list, share a name
	codeNamespace         = "check-namespace"          // a missing namespace, or one where the kind is cluster-scoped
	codeEventBus          = "check-event-bus"          // an EventBus that Argo Events refuses, or one without a quorum
	codeEventSource       = "check-event-source"       // an EventSource that Argo Events refuses, or that watches nothing
	codeEventType         = "check-event-type"         // an event type other than ADD, UPDATE and DELETE
	codeSensor            = "check-sensor"             // a Sensor that Argo Events refuses
	codeCronWorkflow      = "check-cron-workflow"      // a CronWorkflow that Argo Workflows refuses, or that never runs
	codeTriggeredWorkflow = "check-triggered-workflow" // a Workflow in a trigger that Argo Workflows refuses

	// References to other objects.
	codeServiceAccount       = "check-service-account"        // something runs as a service account that is not emitted
	codeUnusedServiceAccount = "check-unused-service-account" // a service account that nothing uses
	codeConfigMap            = "check-config-map"             // a volume or parameter names a ConfigMap, or a key of one, that is not emitted
	codeVolume               = "check-volume"                 // a container mounts a volume that its pod does not have, or a volume is mounted nowhere
	codeTemplateRef          = "check-template-ref"           // a Workflow names a WorkflowTemplate that is not emitted
	codeUnusedTemplate       = "check-unused-template"        // a WorkflowTemplate that nothing starts
	codeArgument             = "check-argument"               // an argument that the template does not declare, or a declared one without a value
	codeDependency           = "check-dependency"             // a dependency on an EventSource, or an event of one, that is not emitted
	codeConditions           = "check-conditions"             // the conditions of a trigger name an unknown dependency, or no trigger names a dependency
	codeParameterSource      = "check-parameter-source"       // a trigger parameter reads a dependency on which the trigger does not fire
	codeParameterDestination = "check-parameter-destination"  // a trigger parameter writes to a field that the trigger does not have
	codeJQ                   = "check-jq"                     // the jq of a dependency does not parse or compile
	codeGoTemplate           = "check-go-template"            // a Go template in a parameter or filter
	codeRoleBinding          = "check-role-binding"           // a binding without subjects, or of a role that is not emitted
	codeUnboundRole          = "check-unbound-role"           // a role without a binding

	// The requirements of a reliable operator.
	codeAfterStart           = "check-after-start"            // an EventSource ignores existing objects, so events are lost whenever it restarts
	codeCustomResourceFilter = "check-custom-resource-filter" // a filter drops events of the custom resources
	codeDelivery             = "check-delivery"               // a trigger may lose an event: it has no retries, or it treats a failed response as success
	codeRetry                = "check-retry"                  // a trigger without retries, or a retry strategy that Argo Events cannot parse
	codeDeadLetter           = "check-dead-letter"            // a trigger without a dead-letter trigger: permanent failures are not reported
	codeTimeout              = "check-timeout"                // an http trigger keeps each connection too long
	codeGarbageCollection    = "check-garbage-collection"     // finished Workflows or pods accumulate
	codeDeadline             = "check-deadline"               // a Workflow that hangs holds its mutex forever
	codeMutex                = "check-mutex"                  // two Workflows of one custom resource can run at the same time
	codeResync               = "check-resync"                 // no resync runs, or several run at the same time
	codeTriggerType          = "check-trigger-type"           // a type of trigger, or an object in one, that an operator must not use
	codeSharedServiceAccount = "check-shared-service-account" // one service account serves several roles, so each has the permissions of all
	codeRequest              = "check-request"                // a trigger does not send the request that its dependency computed
	codeCost                 = "check-cost"
	codeToken                = "check-token" // a Sensor calls the API server without its own token, or exposes the token

	// Its permissions.
	codeUnknownRequest    = "check-unknown-request"    // the API calls of a trigger cannot be derived from the manifests
	codeMissingPermission = "check-missing-permission" // a call to the API server that no role allows
	codeUnusedPermission  = "check-unused-permission"  // a role allows a call that is never made
	codeWildcard          = "check-wildcard"           // a role with a wildcard

	// Its size and pod security.
	codePodSecurity = "check-pod-security" // a pod that the restricted Pod Security Standard refuses

	// Its effect on others.
	codeMetric     = "check-metric"      // a metric that Argo Workflows or Prometheus refuses
	codePodMonitor = "check-pod-monitor" // a PodMonitor that does not select the pods, or names a port that they do not have
	codeAlert      = "check-alert"       // an alert or recorded series of an unknown metric, or an alert without a required field
	codeDashboard  = "check-dashboard"   // a dashboard about a series that nothing records, or that Grafana refuses
)
