// Package jq reads, compiles and runs the jq of definitions and of Sensors: its
// tokens, the positions of the nodes of gojq's syntax tree, a walk over them, and
// bounded evaluation. What an expression of argoperator may do is decided in
// pkg/internal/expression. Every
// evaluation ends: it is bounded in steps, time and memory, whatever the program
// does. Steps are counted and single large operations are refused before they
// run, so a program that is refused on one machine is refused on each; time and
// the heap are watched for what is left.
//
// The rule of this package: nothing else compiles or runs jq. A program means
// what gojq says it means, until it meets a bound; a program cannot catch a
// bound with `try`, `?` or `//`.
package jq
