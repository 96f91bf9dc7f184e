package definition

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

func TestWorkingVersion(t *testing.T) {
	own := operator("spec: {f: string}")
	two := strings.Replace(own, "    - name: v1\n", "    - name: v1beta1\n      schema: {spec: {old: string}}\n    - name: v1\n      storage: true\n", 1)
	for _, tt := range []struct{ reason, text, want, field string }{
		{"the only one", own, "v1", "f"},
		{"the stored one", two, "v1", "f"},
		{"the stored one is not served", strings.Replace(two, "storage: true", "storage: true\n      served: false", 1), "v1beta1", "old"},
	} {
		defs, list := Parse(source.Input{Name: "x", Data: []byte(tt.text)})
		if len(defs) != 1 {
			t.Fatalf("%s: %v", tt.reason, list)
		}
		version := defs[0].WorkingVersion()
		schema := defs[0].Schema(version)
		if version != tt.want || schema == nil {
			t.Fatalf("%s: %q with schema %v, want %q", tt.reason, version, schema, tt.want)
		}
		if _, ok := schema.Properties["spec"].Properties[tt.field]; !ok {
			t.Errorf("%s: the schema of %s has no field %s", tt.reason, version, tt.field)
		}
		if defs[0].Schema("v9") != nil {
			t.Errorf("%s: there is a schema of v9", tt.reason)
		}
	}
}

func TestSchemasOfCRDs(t *testing.T) {
	defs, list := parseFile(t, testdata+"/ok/crd.yaml")
	if len(defs) != 1 {
		t.Fatal(list)
	}
	if d := defs[0]; d.Schema(d.WorkingVersion()) == nil || d.WorkingVersion() != d.Operator.Spec.API.CRD.Version {
		t.Errorf("version %q of a given API has no schema", d.WorkingVersion())
	}
	defs, list = parseFile(t, testdata+"/ok/existing.yaml")
	if len(defs) == 0 {
		t.Fatal(list)
	}
	if d := defs[0]; d.Schema(d.WorkingVersion()) != nil || d.WorkingVersion() != d.Operator.Spec.API.Existing.Version {
		t.Errorf("version %q of an existing kind: %v", d.WorkingVersion(), d.Schema(d.WorkingVersion()))
	}
	defs, list = parseFile(t, testdata+"/ok/templates.yaml")
	if len(defs) != 1 {
		t.Fatal(list)
	}
	schema := defs[0].ChildSchema("certificate")
	if schema == nil || defs[0].ChildSchema("issuer") != nil || defs[0].ChildSchema("deployment") != nil {
		t.Fatalf("certificate: %v; others have none", schema)
	}
	if _, ok := schema.Properties["spec"].Properties["dnsNames"]; !ok {
		t.Error("the schema of certificate has no spec.dnsNames")
	}
}

// Numbers of a template keep their value and type.
func TestNumbersOfATemplate(t *testing.T) {
	defs, list := parseFile(t, testdata+"/ok/templates.yaml")
	if len(defs) != 1 {
		t.Fatal(list)
	}
	spec, _ := defs[0].Operator.Spec.Children[4].Template["spec"].(map[string]any)
	if spec["revisionHistoryLimit"] != int64(3) || spec["ratio"] != 0.5 || spec["on"] != true {
		t.Errorf("%#v", spec)
	}
}
