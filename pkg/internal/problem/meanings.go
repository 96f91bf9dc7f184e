package problem

// Code is a problem's code with what it means.
type Code struct {
	Code string
	Doc  string // one line, for the documentation
}

// Codes lists every code in the order of the documentation. The caller owns the slice.
func Codes() []Code {
	return []Code{
		{CodeUnknownKind, "An object of a kind that argoperator does not emit."},
		{CodeSchema, "A field that the kind does not have, or a value of another type than its field."},
		{CodeName, "A name that Kubernetes or Argo refuses."},
		{CodeDuplicate, "Two objects, or two entries of a list, share a name."},
		{CodeNamespace, "A namespaced object without a namespace, or one in a namespace that nothing else lives in."},
		{CodeEventBus, "An EventBus that Argo Events refuses, or replicas that it cannot elect a leader among."},
		{CodeEventSource, "An EventSource that Argo Events refuses, or that watches nothing."},
		{CodeEventType, "An event type that is none of ADD, UPDATE and DELETE."},
		{CodeSensor, "A Sensor that Argo Events refuses."},
		{CodeWorkflowTemplate, "A WorkflowTemplate that Argo Workflows refuses."},
		{CodeCronWorkflow, "A CronWorkflow that Argo Workflows refuses, or that never runs."},
		{CodeTriggeredWorkflow, "A Workflow in a trigger that Argo Workflows refuses."},
		{CodeCRD, "A CustomResourceDefinition that the API server refuses."},
		{CodeServiceAccount, "Something runs as a service account that is not emitted."},
		{CodeUnusedServiceAccount, "A service account as which nothing runs."},
		{CodeConfigMap, "A volume or parameter names a ConfigMap, or a key of one, that is not emitted."},
		{CodeVolume, "A container mounts a volume that its pod does not have, or a volume is mounted nowhere."},
		{CodeTemplateRef, "A Workflow names a WorkflowTemplate that is not emitted."},
		{CodeUnusedTemplate, "A WorkflowTemplate that nothing starts."},
		{CodeArgument, "An argument that the template does not take, or one that it takes and is not given."},
		{CodeDependency, "A dependency on an EventSource, or an event of one, that is not emitted."},
		{CodeConditions, "The conditions of a trigger name no dependency, or a dependency is in no trigger's."},
		{CodeParameterSource, "A trigger parameter takes something from an event that it does not have."},
		{CodeParameterDestination, "A trigger parameter writes to a place that the trigger does not have."},
		{CodeJQ, "The jq of a dependency does not parse or compile."},
		{CodeGoTemplate, "The Go template of a parameter does not parse."},
		{CodeRoleBinding, "A binding binds nobody, or a role that is not emitted."},
		{CodeUnboundRole, "A role that no binding gives to anyone."},
		{CodeAfterStart, "An EventSource ignores what was there before it: events would be lost whenever it restarts."},
		{CodeCustomResourceFilter, "A filter holds back events of the custom resources."},
		{CodeDelivery, "A trigger may lose an event: it is not retried, or an answer that is no success passes for one."},
		{CodeRetry, "A retry strategy that Argo Events does not carry out as it is written."},
		{CodeDeadLetter, "A trigger without a dead letter: what fails for good would be seen by nobody."},
		{CodeTimeout, "An http trigger keeps each connection too long."},
		{CodeInjection, "Text of a custom resource would be evaluated as a template."},
		{CodeGarbageCollection, "Finished Workflows or pods would pile up."},
		{CodeDeadline, "A Workflow that hangs would hold its mutex for ever."},
		{CodeMutex, "Two Workflows of one custom resource could work against each other."},
		{CodeResync, "The resync does not run, or runs beside itself."},
		{CodeTriggerType, "A trigger of a kind that does not tell what it does."},
		{CodeSharedServiceAccount, "One service account serves in several roles at once, so each has the rights of all."},
		{CodeRequest, "A trigger does not send the request that its dependency has computed."},
		{CodeToken, "A Sensor calls the API server without its token, or with it in a place where others can read it."},
		{CodeUnknownRequest, "Which calls a trigger makes to the API server cannot be told from the manifests."},
		{CodeMissingPermission, "A call to the API server that no role allows."},
		{CodeUnusedPermission, "A role allows what is never called."},
		{CodeWildcard, "A role allows everything of something."},
		{CodeSize, "An object is too large for where it has to fit: etcd, an annotation, an environment variable."},
		{CodePodSecurity, "A pod that the restricted Pod Security Standard refuses."},
		{CodeMetric, "A metric that Prometheus does not take."},
		{CodePodMonitor, "A PodMonitor that selects no pod, or a port that none has."},
		{CodeAlert, "An alert whose expression does not parse, or that says too little."},
		{CodeChild, "A child that the API server refuses."},
	}
}
