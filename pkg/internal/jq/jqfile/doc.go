// Package jqfile generates jq programs from readable files. A file is ordinary jq, with
// comments and small definitions; names such as hole::child are placeholders for values
// that differ between programs. The generated program has no comments, no branches of
// disabled options and no definition that is called at most once, because Argo Events
// parses and compiles a program for every event, so each syntax node has a cost.
//
// The package transforms syntax and never runs it. The generated program has the
// meaning of the file with its holes filled in. This requires that a program and its
// prelude define no name and bind no variable twice, which pkg/internal/operator/plan tests for
// its files, and that options are only used as conditions: `true and E` becomes E.
package jqfile
