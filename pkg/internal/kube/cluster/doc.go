// Package cluster is an in-memory API server: it stores, lists, patches, applies
// and deletes objects, tracks field managers, validates custom resources, evaluates
// admission policies, and records every request.
//
// The rule of this package: it answers as the API server does, with its status
// codes and messages, and runs no controller but those that delete: the garbage
// collector and that of Namespaces.
package cluster
