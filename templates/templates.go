// Package templates holds files that are shipped as they are.
//
// The rule of this room: text that people or pods read; no code but the embed.
package templates

import _ "embed" // files become strings

// Runtime is the operator's own steps: one program of the Python standard
// library, run in the pod of a reconcile.
//
//go:embed runtime/reconcile.py
var Runtime string
