// Package templates holds files that are shipped as they are.
//
// The rule of this package: text that people or pods read; no code but the embed.
package templates

import "embed"

// Runtime are the programs of the Python standard library that run in an operator's pods:
// reconcile.py with its modules, and diagnose.py, which uses api.py alone of them.
//
//go:embed runtime/*.py
var Runtime embed.FS

// Chart renders a Helm chart in an operator's pod: chart.sh, and the chart with which it
// converts YAML to JSON.
//
//go:embed chart
var Chart embed.FS

// Init are the files of a new project, with [[ ]] where a project differs from
// others. Their names are the project's, less a .tmpl behind what Go would take
// for its own.
//
//go:embed all:init
var Init embed.FS
