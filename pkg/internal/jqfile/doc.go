// Package jqfile makes jq programs from files that people read. A file is
// ordinary jq, with comments and small definitions; names such as hole::child
// stand for what differs between the programs made from it. What is emitted has
// no comments, no branch of an option that is off and no definition that is
// called once or never: Argo Events parses and compiles a program for every
// event, so each syntax node costs.
//
// The rule of this package: it transforms syntax and never runs it. The emitted
// program means what the file means with the holes filled in. That holds as long
// as a program and its prelude define no name and bind no variable twice, which
// pkg/plan tests of its files, and as long as an option stands only where a
// condition does: `true and E` becomes E.
package jqfile
