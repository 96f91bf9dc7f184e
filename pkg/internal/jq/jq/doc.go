// Package jq parses, compiles and runs jq: tokens, positions of the nodes of gojq's
// syntax tree, a walk over them, and limited evaluation. Package
// pkg/internal/jq/expression decides which jq a definition may use.
//
// Every evaluation ends, because its steps, time and memory are limited. Steps are
// counted, and single large operations are rejected before they run, so that a program
// is rejected on every machine or on none. Time and heap size are checked in addition.
//
// No other package compiles or runs jq. A program has the meaning that gojq gives it
// until it exceeds a limit; it cannot catch that error with `try`, `?` or `//`.
package jq
