package problem

// Code is the code of a problem with its meaning.
type Code struct {
	Code string
	Doc  string // one line, for the documentation
}

// Codes lists the codes that a definition can cause, in the order of the
// documentation. Any other code means a defect of argoperator; the comment of its
// constant explains it. The caller owns the slice.
func Codes() []Code {
	return []Code{
		{CodeCRD, "A CustomResourceDefinition that the API server refuses."},
		{CodeWorkflowTemplate, "A WorkflowTemplate that Argo Workflows refuses."},
		{CodeInjection, "Text of a custom resource would be evaluated as a template."},
		{CodeCost, "A program takes more time or memory on a sample event than the limit."},
		{CodeSize, "An object is too large for where it has to fit: etcd, an annotation, an environment variable."},
		{CodeChild, "A child that the API server refuses."},
		{CodeImage, "A child with an image whose name the kubelet refuses."},
	}
}
