// Package adopt creates projects from existing files: the manifests of an
// application, or a CustomResourceDefinition.
//
// The rule of this package: it fills in a scaffold.Project; whatever it leaves out
// is a finding with the reason.
package adopt
