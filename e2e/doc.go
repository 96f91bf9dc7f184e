// Package e2e contains the cluster suite. Its tests have the build tag e2e: they
// run the built binary, install its output on the cluster of $KUBECONFIG and check
// the results. The cluster needs Argo Events with an EventBus `default` in the
// namespace argo-events, and Argo Workflows.
//
// The rule of this package: wait for conditions, never for a fixed time; uninstall
// what was installed; print the logs after a failure.
package e2e
