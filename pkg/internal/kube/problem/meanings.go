package problem

// Code is the code of a problem with its meaning.
type Code struct {
	Code string
	Doc  string // one line, for the documentation
}

// Codes lists the codes in the order of the documentation. The caller owns the slice.
func Codes() []Code {
	return []Code{
		{CodeCRD, "The API server rejects the CustomResourceDefinition."},
		{CodeWorkflowTemplate, "Argo Workflows rejects the WorkflowTemplate."},
		{CodeInjection, "Argo would evaluate text of a custom resource as a template."},
		{CodeSize, "An object is too large for etcd, an annotation or an environment variable."},
		{CodeChild, "The API server rejects the child, or a value that a patch writes."},
		{CodeImage, "The kubelet rejects an image name in a child or a patch."},
	}
}
