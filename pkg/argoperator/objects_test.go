package argoperator_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint"
)

// lintFindings lists the findings that lint may report about generated manifests:
// operator and code, with the reason.
var lintFindings = map[string]string{
	"given-crd no-status-subresource": "its CustomResourceDefinition comes from another project",
	"monitored-worker http-timeout":   "the worker answers with an empty body, so each connection is free at once",
}

// checkObjects checks every object of a generated operator: the rules for children
// accept it, lint has no finding, and its YAML equals that of sigs.k8s.io/yaml,
// which kubectl and controller-gen write.
func checkObjects(t *testing.T, name string, result argoperator.Result) {
	t.Helper()
	for _, o := range result.Objects() {
		fields, err := output.Fields(o)
		if err != nil {
			t.Fatal(err)
		}
		if problems := admission.Child(fields, nil); len(problems) > 0 {
			t.Errorf("%T %s is not a valid child: %v", o, o.GetName(), problems)
		}
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		want, err := yaml.JSONToYAML(data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := output.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%T %s (-sigs.k8s.io/yaml +argoperator):\n%s", o, o.GetName(), diff)
		}
	}
	text, err := output.Stream(result.Objects())
	if err != nil {
		t.Fatal(err)
	}
	findings, _ := lint.Manifests([]source.Input{{Name: name + ".yaml", Data: text}}, new(lint.Config).Stricter())
	for _, f := range findings {
		if lintFindings[name+" "+f.Code] == "" {
			t.Errorf("lint:%d: %s [%s]", f.Line, f.Message, f.Code)
		}
	}
}
