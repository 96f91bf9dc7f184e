// Package shortschema expands the short form of schemas: a mapping of fields, whose
// values are types with markers, as in `size: integer | minimum=1`.
package shortschema
