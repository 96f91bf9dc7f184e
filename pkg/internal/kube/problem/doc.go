// Package problem defines the problems of an emitted object, their codes and the
// meaning of each code.
//
// The rule of this package: a code is never renamed or reused.
package problem
