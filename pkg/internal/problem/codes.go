package problem

// The codes of problems. A code is part of the interface: never renamed, never
// reused.
const (
	// The object by itself.
	CodeUnknownKind       = "check-unknown-kind"
	CodeSchema            = "check-schema"
	CodeName              = "check-name"
	CodeDuplicate         = "check-duplicate"
	CodeNamespace         = "check-namespace"
	CodeEventBus          = "check-event-bus"
	CodeEventSource       = "check-event-source"
	CodeEventType         = "check-event-type"
	CodeSensor            = "check-sensor"
	CodeWorkflowTemplate  = "check-workflow-template"
	CodeCronWorkflow      = "check-cron-workflow"
	CodeTriggeredWorkflow = "check-triggered-workflow"
	CodeCRD               = "check-crd"

	// What it refers to.
	CodeServiceAccount       = "check-service-account"
	CodeUnusedServiceAccount = "check-unused-service-account"
	CodeConfigMap            = "check-config-map"
	CodeVolume               = "check-volume"
	CodeTemplateRef          = "check-template-ref"
	CodeUnusedTemplate       = "check-unused-template"
	CodeArgument             = "check-argument"
	CodeDependency           = "check-dependency"
	CodeConditions           = "check-conditions"
	CodeParameterSource      = "check-parameter-source"
	CodeParameterDestination = "check-parameter-destination"
	CodeJQ                   = "check-jq"
	CodeGoTemplate           = "check-go-template"
	CodeRoleBinding          = "check-role-binding"
	CodeUnboundRole          = "check-unbound-role"

	// The rules of a reliable operator.
	CodeAfterStart           = "check-after-start"
	CodeCustomResourceFilter = "check-custom-resource-filter"
	CodeDelivery             = "check-delivery"
	CodeRetry                = "check-retry"
	CodeDeadLetter           = "check-dead-letter"
	CodeTimeout              = "check-timeout"
	CodeInjection            = "check-injection"
	CodeGarbageCollection    = "check-garbage-collection"
	CodeDeadline             = "check-deadline"
	CodeMutex                = "check-mutex"
	CodeResync               = "check-resync"
	CodeTriggerType          = "check-trigger-type"
	CodeSharedServiceAccount = "check-shared-service-account"
	CodeRequest              = "check-request"
	CodeToken                = "check-token"

	// What it may do.
	CodeUnknownRequest    = "check-unknown-request"
	CodeMissingPermission = "check-missing-permission"
	CodeUnusedPermission  = "check-unused-permission"
	CodeWildcard          = "check-wildcard"

	// What it costs, and where it may run.
	CodeSize        = "check-size"
	CodePodSecurity = "check-pod-security"

	// What others see of it.
	CodeMetric     = "check-metric"
	CodePodMonitor = "check-pod-monitor"
	CodeAlert      = "check-alert"
)

// CodeChild is the code of every problem of a child object.
const CodeChild = "check-child"
