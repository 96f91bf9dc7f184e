// Package simulate runs an operator without a cluster. A change of an object passes
// through the emitted EventSources and Sensors, using Argo's own code for
// transforms, filters, parameters and triggers, to the API server of
// pkg/internal/kube/cluster.
//
// The rule of this package: it reports what it cannot simulate; it does not guess.
package simulate
