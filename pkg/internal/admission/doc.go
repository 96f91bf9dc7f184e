// Package admission tells what the API server and Argo's controllers refuse:
// objects of built-in kinds, custom resources, CustomResourceDefinitions, Argo's own
// kinds, and pods that break the restricted Pod Security Standard.
//
// The rule of this package: it decides about one object at a time, by the code of
// Kubernetes and Argo where that can be imported, and works on deep copies, because
// Argo's validators write to the objects that they are given.
package admission
