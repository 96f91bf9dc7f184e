// Package manifest builds the emitted objects from a plan: one file and one
// function per kind, each a literal of the real Argo or Kubernetes type.
//
// The rule of this room: it reads the plan only and cannot fail. Every choice,
// name and permission was made in pkg/plan.
package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is an emitted object.
type Object interface {
	metav1.Object
	runtime.Object
}
