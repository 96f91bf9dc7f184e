// Package e2e holds the cluster suite. Its tests are built with the tag e2e:
// they drive the built binary, install what it prints on the cluster of
// $KUBECONFIG and watch what comes of it. The cluster needs Argo Events with an
// EventBus `default` in the namespace argo-events, and Argo Workflows.
//
// The rule of this package: wait for conditions, never for time; what is installed
// is taken away again; whoever fails shows the logs.
package e2e
