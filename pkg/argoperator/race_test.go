//go:build race

package argoperator_test

// raced tells whether the race detector watches.
const raced = true
