// Package differential draws definitions, custom resources and lives from a grammar of the
// whole definition language, and compares what should agree: the verdict of lint, the
// engines, the expressions of the definition, and a second delivery of all events.
//
// The rule of this package: a case follows from its seed and its choices alone, so that a
// difference repeats and its case can be simplified.
package differential
