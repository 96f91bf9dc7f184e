package testsuite

import (
	"fmt"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Next generates the operators of the definition that a step applies; the findings are
// those of the definition.
func Next(t *definition.Test, step int) (argoperator.Result, error) {
	result, err := argoperator.Generate([]argoperator.Source{t.Next[step]}, argoperator.Options{})
	if err != nil {
		return result, fmt.Errorf("generating the definition of step %s: %w", t.Spec.Steps[step].Name, err)
	}
	result.Operators = selected(result.Operators, t.Spec.Operator).Operators
	return result, nil
}

// CheckNext reports errors of the definitions that steps of tests apply, and calls note
// with the operators of each.
func CheckNext(tests []*definition.Test, note func(argoperator.Result)) (diag.List, error) {
	var findings diag.List
	for _, t := range tests {
		for i, step := range t.Spec.Steps {
			if step.Definition == nil {
				continue
			}
			result, err := Next(t, i)
			if err != nil {
				return nil, err
			}
			note(result)
			if result.Findings.HasErrors() {
				findings = append(findings, result.Findings.Only(diag.Error)...)
				continue
			}
			findings = append(findings, checkNext(t, i, result)...)
		}
	}
	return findings, nil
}

// checkNext checks that the operators of a step watch the test's custom resource.
func checkNext(t *definition.Test, step int, result argoperator.Result) diag.List {
	var findings diag.List
	at := t.Position("spec", "steps", fmt.Sprint(step), "definition", "file")
	if len(result.Operators) == 0 {
		findings.Add(at, diag.BadValue, fmt.Sprintf("%s does not define the operator %s", t.Next[step].Name, t.Spec.Operator),
			"write the definition with the same metadata.name: another name is another operator")
		return findings
	}
	watched := simulate.Watched(result.Objects(), result.Kinds())
	if what, ok := watched.Contains(t.Resource); !ok {
		findings.Add(at, diag.WrongKind, fmt.Sprintf("the operator of %s does not watch %s", t.Next[step].Name, what),
			"it watches "+watched.String())
	}
	return findings
}

// upgrade applies the manifests of another definition.
func (s *stepRun) upgrade() error {
	result, err := Next(s.test, s.index)
	if err != nil {
		return err
	}
	if result.Findings.HasErrors() {
		s.findings = append(s.findings, result.Findings.Only(diag.Error)...)
		return nil
	}
	return s.s.Upgrade(s.ctx, result.Objects(), result.Kinds())
}

// learns reports whether a failure is how an operator finds an object that another version
// made: a new one may not know what the old one wrote down.
func (s *stepRun) learns(failure simulate.Failure) bool {
	return s.step.Definition != nil && failure.Conflict && s.conflict(failure) == ""
}
