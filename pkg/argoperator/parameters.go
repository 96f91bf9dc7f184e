package argoperator

import (
	"fmt"
	"maps"
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Parameter is a value for a parameter of definitions.
type Parameter = source.Parameter

// ParseParameters reads the values for parameters in a YAML or JSON file: a mapping from names
// to values.
func ParseParameters(name string, data []byte) ([]Parameter, diag.List) {
	return definition.ParseParameters(name, data)
}

// undeclared reports values for parameters that no definition has.
func undeclared(sources []Source, declared map[string]bool) diag.List {
	var findings diag.List
	reported := map[string]bool{}
	for _, s := range sources {
		for _, one := range s.Parameters {
			if declared[one.Name] || reported[one.Name] {
				continue
			}
			reported[one.Name] = true
			hint := "declare it under spec.parameters, or remove the value"
			if len(declared) > 0 {
				hint = source.DidYouMean(one.Name, slices.Sorted(maps.Keys(declared)), "parameters")
			}
			findings.Add(one.At, diag.UnknownKey, fmt.Sprintf("no definition has a parameter %s", one.Name), hint)
		}
	}
	return findings
}
