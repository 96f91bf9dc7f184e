// Package builtin validates objects of built-in kinds as the API server does. The
// API server's own validation cannot be imported without all of Kubernetes;
// `make agreement` compares this package with it.
//
// The rule of this package: it refuses only what the API server refuses. What is
// accepted and fails later, such as an image without a valid name, is a warning.
package builtin
