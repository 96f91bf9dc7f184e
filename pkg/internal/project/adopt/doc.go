// Package adopt creates projects from existing files: the manifests of an
// application, a CustomResourceDefinition, or a hand-written Argo operator like the
// tutorial's.
//
// The rule of this package: it fills in a scaffold.Project; whatever it leaves out
// is a finding with the reason.
package adopt
