package problem

// The codes of problems. A code is part of the interface: it is never renamed or
// reused.
const (
	// The object itself.
	CodeUnknownKind       = "check-unknown-kind" // an object of a kind that argoperator does not emit
	CodeSchema            = "check-schema"       // a field that the kind does not have, or a value of another type than its field
	CodeName              = "check-name"         // a name that Kubernetes or Argo refuses
	CodeDuplicate         = "check-duplicate"    // two objects, or two entries of a list, share a name
	CodeNamespace         = "check-namespace"    // a missing namespace, or one where the kind is cluster-scoped
	CodeEventBus          = "check-event-bus"    // an EventBus that Argo Events refuses, or one without a quorum
	CodeEventSource       = "check-event-source" // an EventSource that Argo Events refuses, or that watches nothing
	CodeEventType         = "check-event-type"   // an event type other than ADD, UPDATE and DELETE
	CodeSensor            = "check-sensor"       // a Sensor that Argo Events refuses
	CodeWorkflowTemplate  = "check-workflow-template"
	CodeCronWorkflow      = "check-cron-workflow"      // a CronWorkflow that Argo Workflows refuses, or that never runs
	CodeTriggeredWorkflow = "check-triggered-workflow" // a Workflow in a trigger that Argo Workflows refuses
	CodeCRD               = "check-crd"

	// References to other objects.
	CodeServiceAccount       = "check-service-account"        // something runs as a service account that is not emitted
	CodeUnusedServiceAccount = "check-unused-service-account" // a service account that nothing uses
	CodeConfigMap            = "check-config-map"             // a volume or parameter names a ConfigMap, or a key of one, that is not emitted
	CodeVolume               = "check-volume"                 // a container mounts a volume that its pod does not have, or a volume is mounted nowhere
	CodeTemplateRef          = "check-template-ref"           // a Workflow names a WorkflowTemplate that is not emitted
	CodeUnusedTemplate       = "check-unused-template"        // a WorkflowTemplate that nothing starts
	CodeArgument             = "check-argument"               // an argument that the template does not declare, or a declared one without a value
	CodeDependency           = "check-dependency"             // a dependency on an EventSource, or an event of one, that is not emitted
	CodeConditions           = "check-conditions"             // the conditions of a trigger name an unknown dependency, or no trigger names a dependency
	CodeParameterSource      = "check-parameter-source"       // a trigger parameter reads a dependency on which the trigger does not fire
	CodeParameterDestination = "check-parameter-destination"  // a trigger parameter writes to a field that the trigger does not have
	CodeJQ                   = "check-jq"                     // the jq of a dependency does not parse or compile
	CodeGoTemplate           = "check-go-template"            // a Go template in a parameter or filter
	CodeRoleBinding          = "check-role-binding"           // a binding without subjects, or of a role that is not emitted
	CodeUnboundRole          = "check-unbound-role"           // a role without a binding

	// The requirements of a reliable operator.
	CodeAfterStart           = "check-after-start"            // an EventSource ignores existing objects, so events are lost whenever it restarts
	CodeCustomResourceFilter = "check-custom-resource-filter" // a filter drops events of the custom resources
	CodeDelivery             = "check-delivery"               // a trigger may lose an event: it has no retries, or it treats a failed response as success
	CodeRetry                = "check-retry"                  // a trigger without retries, or a retry strategy that Argo Events cannot parse
	CodeDeadLetter           = "check-dead-letter"            // a trigger without a dead-letter trigger: permanent failures are not reported
	CodeTimeout              = "check-timeout"                // an http trigger keeps each connection too long
	CodeInjection            = "check-injection"
	CodeGarbageCollection    = "check-garbage-collection"     // finished Workflows or pods accumulate
	CodeDeadline             = "check-deadline"               // a Workflow that hangs holds its mutex forever
	CodeMutex                = "check-mutex"                  // two Workflows of one custom resource can run at the same time
	CodeResync               = "check-resync"                 // no resync runs, or several run at the same time
	CodeTriggerType          = "check-trigger-type"           // a type of trigger, or an object in one, that an operator must not use
	CodeSharedServiceAccount = "check-shared-service-account" // one service account serves several roles, so each has the permissions of all
	CodeRequest              = "check-request"                // a trigger does not send the request that its dependency computed
	CodeCost                 = "check-cost"
	CodeToken                = "check-token" // a Sensor calls the API server without its own token, or exposes the token

	// Its permissions.
	CodeUnknownRequest    = "check-unknown-request"    // the API calls of a trigger cannot be derived from the manifests
	CodeMissingPermission = "check-missing-permission" // a call to the API server that no role allows
	CodeUnusedPermission  = "check-unused-permission"  // a role allows a call that is never made
	CodeWildcard          = "check-wildcard"           // a role with a wildcard

	// Its size and pod security.
	CodeSize        = "check-size"
	CodePodSecurity = "check-pod-security" // a pod that the restricted Pod Security Standard refuses

	// Its effect on others.
	CodeMetric     = "check-metric"      // a metric that Argo Workflows or Prometheus refuses
	CodePodMonitor = "check-pod-monitor" // a PodMonitor that does not select the pods, or names a port that they do not have
	CodeAlert      = "check-alert"       // an alert on an unknown metric, or without a required field
)

// The codes of problems of a child object.
const (
	CodeChild = "check-child" // all but the following
	CodeImage = "check-image"
)
