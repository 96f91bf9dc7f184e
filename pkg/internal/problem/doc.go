// Package problem has the problems of an object, their codes and the meaning of each
// code.
//
// A code is never renamed or reused.
package problem
