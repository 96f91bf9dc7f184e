package testsuite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Check reports errors in tests that can be found without running them. It also
// requires the operators under test.
func Check(suites []Suite) diag.List {
	var findings diag.List
	for _, suite := range suites {
		for _, t := range suite.Tests {
			findings = append(findings, checkOperator(suite, t)...)
			findings = append(findings, checkAbsent(suite, t)...)
			for i, step := range t.Spec.Steps {
				at := []string{"spec", "steps", strconv.Itoa(i), "expect"}
				for _, one := range []struct {
					key  string
					want any
				}{
					{"children", anyList(step.Expect.Children)},
					{"objects", anyList(step.Expect.Objects)},
					{"resource", step.Expect.Resource},
					{"status", step.Expect.Status},
				} {
					findings = append(findings, checkConditions(t, one.want, append(slices.Clone(at), one.key))...)
				}
			}
		}
	}
	return findings.Sorted()
}

// checkOperator checks that an operator watches the test's custom resource.
func checkOperator(suite Suite, t *definition.Test) diag.List {
	var findings diag.List
	var names []string
	for _, o := range suite.Operators {
		names = append(names, o.Name)
	}
	if name := t.Spec.Operator; name != "" && !slices.Contains(names, name) {
		findings.Add(
			t.Position("spec", "operator"),
			diag.BadValue,
			fmt.Sprintf("unknown operator %s", name),
			"there is "+strings.Join(names, ", "),
		)
		return findings
	}
	tested := selected(suite.Operators, t.Spec.Operator)
	watched := simulate.Watched(tested.Objects(), tested.Kinds())
	if what, ok := watched.Contains(t.Resource); !ok {
		findings.Add(t.Position("spec", "resource"), diag.WrongKind,
			fmt.Sprintf("the operator does not watch %s", what), "it watches "+watched.String())
	}
	return findings
}

// checkAbsent checks that objects can have the kinds that a test expects to be absent.
// Otherwise a misspelled kind would always be absent.
func checkAbsent(suite Suite, t *definition.Test) diag.List {
	var findings diag.List
	kinds := kindsOf(selected(suite.Operators, t.Spec.Operator), t)
	for i, step := range t.Spec.Steps {
		for j, r := range step.Expect.Absent {
			if slices.Contains(kinds, r.Kind) {
				continue
			}
			at := t.Position("spec", "steps", strconv.Itoa(i), "expect", "absent", strconv.Itoa(j), "kind")
			findings.Add(
				at,
				diag.UnknownKind,
				fmt.Sprintf("unknown kind %s: not a kind of Kubernetes, the definition or this test", r.Kind),
				nearestKind(r.Kind, kinds),
			)
		}
	}
	return findings
}

// kindsOf returns the kinds that objects of a test can have.
func kindsOf(tested argoperator.Result, t *definition.Test) []string {
	var kinds []string
	for _, k := range append(cluster.CustomKinds(tested.Objects(), tested.Kinds()), cluster.BuiltinKinds()...) {
		kinds = append(kinds, k.Kind)
	}
	for _, o := range tested.Objects() {
		kinds = append(kinds, o.GetObjectKind().GroupVersionKind().Kind)
	}
	given := append([]map[string]any{t.Resource}, t.Objects...)
	for _, applied := range t.Applied {
		given = append(given, applied...)
	}
	for _, o := range given {
		kinds = append(kinds, kindOf(o))
	}
	for step := range t.Next {
		if next, err := Next(t, step); err == nil { // CheckNext reports it
			for _, k := range cluster.CustomKinds(next.Objects(), next.Kinds()) {
				kinds = append(kinds, k.Kind)
			}
		}
	}
	return kinds
}

// nearestKind returns a hint with the kind that a word misspells or shortens.
func nearestKind(word string, kinds []string) string {
	if hint := diag.DidYouMean(word, kinds, diag.FoldKey); hint != "" {
		return hint
	}
	for _, kind := range kinds {
		if strings.HasSuffix(strings.ToLower(kind), strings.ToLower(word)) {
			return "did you mean " + kind + "?"
		}
	}
	return "write the kind as in the manifest, for example ConfigMap"
}

// checkConditions compiles the expressions among the expected values.
func checkConditions(t *definition.Test, want any, at []string) diag.List {
	var findings diag.List
	switch want := want.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(want)) {
			findings = append(findings, checkConditions(t, want[key], append(slices.Clone(at), key))...)
		}
	case []any:
		for i, one := range want {
			findings = append(findings, checkConditions(t, one, append(slices.Clone(at), strconv.Itoa(i)))...)
		}
	case string:
		source, ok := conditionOf(want)
		if !ok {
			break
		}
		if _, err := compiled(source); err != nil {
			findings.Add(t.Position(at...), diag.BadExpression, err.Error(), "${ … } is a jq condition over the actual value; write $${ "+
				"for a literal ${")
		}
	}
	return findings
}

func anyList(list []map[string]any) any {
	out := make([]any, len(list))
	for i, o := range list {
		out[i] = o
	}
	return out
}
