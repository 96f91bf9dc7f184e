package problem

// The codes of problems. A code is part of the interface: it is never renamed and never
// reused.
const (
	// The object itself.
	CodeUnknownKind       = "check-unknown-kind"
	CodeStrict            = "check-strict"
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

	// The objects that it refers to.
	CodeServiceAccount    = "check-service-account"
	CodeServiceAccountUse = "check-service-account-unused"
	CodeConfigMap         = "check-config-map"
	CodeVolume            = "check-volume"
	CodeTemplateRef       = "check-template-ref"
	CodeTemplateUnused    = "check-template-unused"
	CodeArgument          = "check-argument"
	CodeDependency        = "check-dependency"
	CodeConditions        = "check-conditions"
	CodeParameter         = "check-parameter"
	CodeDestination       = "check-destination"
	CodeJQ                = "check-jq"
	CodeGoTemplate        = "check-go-template"
	CodeBinding           = "check-binding"
	CodeRoleUnbound       = "check-role-unbound"

	// The requirements of a reliable operator.
	CodeAfterStart    = "check-after-start"
	CodeParentFilter  = "check-parent-filter"
	CodeDelivery      = "check-delivery"
	CodeRetry         = "check-retry"
	CodeDeadLetter    = "check-dead-letter"
	CodeTimeout       = "check-timeout"
	CodeInjection     = "check-injection"
	CodeGarbage       = "check-garbage"
	CodeDeadline      = "check-deadline"
	CodeMutex         = "check-mutex"
	CodeResync        = "check-resync"
	CodeTrigger       = "check-trigger"
	CodeSharedAccount = "check-shared-account"
	CodeRequest       = "check-request"
	CodeToken         = "check-token"

	// Its permissions.
	CodeCall       = "check-call"
	CodePermission = "check-permission"
	CodeExcess     = "check-excess"
	CodeWildcard   = "check-wildcard"

	// Its cost, and where it can run.
	CodeSize        = "check-size"
	CodePodSecurity = "check-pod-security"

	// Its effect on others.
	CodeMetric     = "check-metric"
	CodePodMonitor = "check-pod-monitor"
	CodeAlert      = "check-alert"
)

// CodeChild is the code of every problem of a child object.
const CodeChild = "check-child"
