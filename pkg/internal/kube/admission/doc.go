// Package admission reports which objects the API server and Argo's controllers
// refuse: objects of built-in kinds, custom resources, CustomResourceDefinitions,
// Argo's own kinds, and pods that violate the restricted Pod Security Standard.
//
// The rule of this package: it validates one object at a time, with the code of
// Kubernetes and Argo where that can be imported, and works on deep copies, because
// Argo's validators modify the objects that they are given.
package admission
