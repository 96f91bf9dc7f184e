// Package problem holds what is wrong with an object: the problem itself, the codes
// of problems and what each of them means.
//
// The rule of this package: a code is never renamed or reused.
package problem
