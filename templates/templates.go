// Package templates holds files that are shipped as they are.
//
// The rule of this package: text that people or pods read; no code but the embed.
package templates

import "embed"

// Runtime is the operator's own steps: one program of the Python standard
// library, run in the pod of a reconcile.
//
//go:embed runtime/reconcile.py
var Runtime string

// Expressions evaluates the expressions of a definition in the pod, beside Runtime.
//
//go:embed runtime/expressions.py
var Expressions string

// Client sends requests to the API server, beside Runtime and Diagnosis.
//
//go:embed runtime/api.py
var Client string

// Diagnosis asks the API server why it rejects a request of a Sensor.
//
//go:embed runtime/diagnose.py
var Diagnosis string

// Init are the files of a new project, with [[ ]] where a project differs from
// others. Their names are the project's, less a .tmpl behind what Go would take
// for its own.
//
//go:embed all:init
var Init embed.FS
