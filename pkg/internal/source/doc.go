// Package source reads YAML and JSON files with the position of every key and value:
// documents and the objects in them, the source text behind a scalar, and strict
// decoding into Go structs.
//
// The rule of this package: it knows nothing of definitions. Whatever is wrong with
// a file becomes a finding at its line and column; reading goes on.
package source
