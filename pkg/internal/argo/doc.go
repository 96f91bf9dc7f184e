// Package argo reads manifests of Argo Events and Argo Workflows and tells what they
// do: which triggers fire on which events, which Workflows they start, which pods
// run, and which requests each service account sends to the API server.
//
// The rule of this package: it reads objects and never writes to them, imports no
// engine code of Argo, and reports only what keeps it from reading on.
package argo
