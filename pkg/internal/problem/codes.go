package problem

// The codes of problems. A code is part of the interface: it is never renamed and never
// reused.
const (
	// The object itself.
	CodeUnknownKind       = "check-unknown-kind" // an object of a kind that argoperator does not emit
	CodeSchema            = "check-schema"       // a field that the kind does not have, or a value of another type than its field
	CodeName              = "check-name"         // a name that Kubernetes or Argo refuses
	CodeDuplicate         = "check-duplicate"    // two objects, or two entries of a list, share a name
	CodeNamespace         = "check-namespace"    // a namespaced object without a namespace, or one in a namespace that nothing else lives in
	CodeEventBus          = "check-event-bus"    // an EventBus that Argo Events refuses, or replicas that it cannot elect a leader among
	CodeEventSource       = "check-event-source" // an EventSource that Argo Events refuses, or that watches nothing
	CodeEventType         = "check-event-type"   // an event type that is none of ADD, UPDATE and DELETE
	CodeSensor            = "check-sensor"       // a Sensor that Argo Events refuses
	CodeWorkflowTemplate  = "check-workflow-template"
	CodeCronWorkflow      = "check-cron-workflow"      // a CronWorkflow that Argo Workflows refuses, or that never runs
	CodeTriggeredWorkflow = "check-triggered-workflow" // a Workflow in a trigger that Argo Workflows refuses
	CodeCRD               = "check-crd"

	// The objects that it refers to.
	CodeServiceAccount       = "check-service-account"        // something runs as a service account that is not emitted
	CodeUnusedServiceAccount = "check-unused-service-account" // a service account as which nothing runs
	CodeConfigMap            = "check-config-map"             // a volume or parameter names a ConfigMap, or a key of one, that is not emitted
	CodeVolume               = "check-volume"                 // a container mounts a volume that its pod does not have, or a volume is mounted nowhere
	CodeTemplateRef          = "check-template-ref"           // a Workflow names a WorkflowTemplate that is not emitted
	CodeUnusedTemplate       = "check-unused-template"        // a WorkflowTemplate that nothing starts
	CodeArgument             = "check-argument"               // an argument that the template does not take, or one that it takes and is not given
	CodeDependency           = "check-dependency"             // a dependency on an EventSource, or an event of one, that is not emitted
	CodeConditions           = "check-conditions"             // the conditions of a trigger name no dependency, or a dependency is in no trigger's
	CodeParameterSource      = "check-parameter-source"       // a trigger parameter takes something from an event that it does not have
	CodeParameterDestination = "check-parameter-destination"  // a trigger parameter writes to a place that the trigger does not have
	CodeJQ                   = "check-jq"                     // the jq of a dependency does not parse or compile
	CodeGoTemplate           = "check-go-template"            // the Go template of a parameter does not parse
	CodeRoleBinding          = "check-role-binding"           // a binding binds nobody, or a role that is not emitted
	CodeUnboundRole          = "check-unbound-role"           // a role that no binding gives to anyone

	// The requirements of a reliable operator.
	CodeAfterStart           = "check-after-start"            // an EventSource ignores what was there before it: events would be lost whenever it restarts
	CodeCustomResourceFilter = "check-custom-resource-filter" // a filter holds back events of the custom resources
	CodeDelivery             = "check-delivery"               // a trigger may lose an event: it is not retried, or an answer that is no success passes for one
	CodeRetry                = "check-retry"                  // a retry strategy that Argo Events does not carry out as it is written
	CodeDeadLetter           = "check-dead-letter"            // a trigger without a dead letter: what fails for good would be seen by nobody
	CodeTimeout              = "check-timeout"                // an http trigger keeps each connection too long
	CodeInjection            = "check-injection"
	CodeGarbageCollection    = "check-garbage-collection"     // finished Workflows or pods would pile up
	CodeDeadline             = "check-deadline"               // a Workflow that hangs would hold its mutex for ever
	CodeMutex                = "check-mutex"                  // two Workflows of one custom resource could work against each other
	CodeResync               = "check-resync"                 // the resync does not run, or runs beside itself
	CodeTriggerType          = "check-trigger-type"           // a trigger of a kind that does not tell what it does
	CodeSharedServiceAccount = "check-shared-service-account" // one service account serves in several roles at once, so each has the rights of all
	CodeRequest              = "check-request"                // a trigger does not send the request that its dependency has computed
	CodeCost                 = "check-cost"
	CodeToken                = "check-token" // a Sensor calls the API server without its token, or with it in a place where others can read it

	// Its permissions.
	CodeUnknownRequest    = "check-unknown-request"    // which calls a trigger makes to the API server cannot be told from the manifests
	CodeMissingPermission = "check-missing-permission" // a call to the API server that no role allows
	CodeUnusedPermission  = "check-unused-permission"  // a role allows what is never called
	CodeWildcard          = "check-wildcard"           // a role allows everything of something

	// Its cost, and where it can run.
	CodeSize        = "check-size"
	CodePodSecurity = "check-pod-security" // a pod that the restricted Pod Security Standard refuses

	// Its effect on others.
	CodeMetric     = "check-metric"      // a metric that Prometheus does not take
	CodePodMonitor = "check-pod-monitor" // a PodMonitor that selects no pod, or a port that none has
	CodeAlert      = "check-alert"       // an alert whose expression does not parse, or that says too little
)

// CodeChild is the code of every problem of a child object.
const CodeChild = "check-child"
