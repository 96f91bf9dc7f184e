package problem

// The codes of problems. A code is part of the interface: it is never renamed or
// reused.
const (
	CodeCRD              = "check-crd"
	CodeWorkflowTemplate = "check-workflow-template"
	CodeInjection        = "check-injection"
	CodeSize             = "check-size"
	CodeChild            = "check-child" // a problem of a child object, apart from its images
	CodeImage            = "check-image"
)
