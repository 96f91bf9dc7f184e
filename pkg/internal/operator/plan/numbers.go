package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// inexact returns the paths of the custom resource that a child is computed from and
// that may hold an integer which a Sensor cannot read exactly.
func inexact(d *definition.Definition, k Kind, programs ...*expression.Program) [][]string {
	fields := d.Schema(d.WorkingVersion())
	if _, builtin := schema.Builtin(k.APIVersion(), k.Kind); fields == nil && builtin {
		return nil // the specs of built-in kinds hold no such numbers
	}
	var out [][]string
	for _, program := range programs {
		if program == nil {
			continue
		}
		for _, path := range program.Reads() {
			counted := len(path) == 0 || path[0] != "metadata" && path[0] != "apiVersion" && path[0] != "kind"
			if counted && schema.MayExceed(fields, path) &&
				!slices.ContainsFunc(out, func(p []string) bool { return slices.Equal(p, path) }) {
				out = append(out, path)
			}
		}
	}
	return out
}

// exactly returns jq that rejects a custom resource with a rounded number. It is empty
// if there can be none. It does not reject numbers beyond int64, because the API server
// decodes those as float64, too.
func exactly(paths [][]string) string {
	if len(paths) == 0 {
		return ""
	}
	var fields []string
	for _, path := range paths {
		field := "."
		for _, key := range path {
			field += fmt.Sprintf("[%s]?", quote(key))
		}
		fields = append(fields, field)
	}
	return fmt.Sprintf(
		`if any(%s | .. | numbers; (if . < 0 then -. else . end) as $n | $n >= %d and $n <= %d) then error("an integer beyond 2^53 would lose precision: use a string") else . end | `,
		strings.Join(fields, ", "),
		int64(schema.MaxExact),
		uint64(1)<<63,
	)
}
