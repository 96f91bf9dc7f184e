package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
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

// exactNumbers returns jq that yields its input, or fails on a number that the Sensor
// has rounded.
func exactNumbers(paths [][]string) jqfile.Value {
	if len(paths) == 0 {
		return jqfile.Input()
	}
	var fields []string
	for _, path := range paths {
		field := "."
		for _, key := range path {
			field += fmt.Sprintf("[%s]?", quote(key))
		}
		fields = append(fields, field)
	}
	return directPrograms().Definition("exactly", jqfile.Holes{
		"hole::inexactFields": jqfile.RawList(strings.Join(fields, ", ")),
		"hole::maxExact":      jqfile.Number(schema.MaxExact), "hole::maxInteger": jqfile.Raw(fmt.Sprint(uint64(1) << 63)),
	})
}
