// Package argo analyzes manifests of Argo Events and Argo Workflows: which triggers
// fire on which events, which Workflows they start, which pods run, and which
// requests each service account sends to the API server.
//
// The rule of this package: it reads objects and never changes them, imports no
// engine code of Argo, and reports only what it cannot analyze.
package argo
