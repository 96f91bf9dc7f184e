// Package source reads YAML and JSON files with the position of every key and value:
// documents and the objects in them, the source text of a scalar, and strict decoding
// into Go structs.
//
// It is independent of definitions. Every problem of a file is a finding with line and
// column; reading continues after it.
package source
