package adopt_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/project/adopt"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/testing/scaffoldtest"
)

// crdOf returns a CustomResourceDefinition of a kind.
func crdOf(kind, more string) string {
	lower := strings.ToLower(kind)
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %ss.example.com}
spec:
  group: example.com
  names: {kind: %s, listKind: %sList, plural: %ss, singular: %s}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}}}
%s`, lower, kind, kind, lower, lower, more)
}

func TestFromCRD(t *testing.T) {
	two := "# both\n---\n" + crdOf("One", "") + "---\n# the second\n" + crdOf("Two", "") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	tests := []struct {
		name, reason, data, kind string
		want                     scaffold.API
		finding                  string
	}{
		{
			name: "one", reason: "the CustomResourceDefinition has all fields", data: crdOf("One", ""),
			want: scaffold.API{Group: "example.com", Kind: "One", Version: "v1", Plural: "ones", Cluster: true, CRD: "crd.yaml"},
		},
		{
			name: "selected kind", reason: "projects publish all kinds in one file", data: two, kind: "Two",
			want: scaffold.API{Group: "example.com", Kind: "Two", Version: "v1", Plural: "twos", Cluster: true, CRD: "crd.yaml"},
		},
		{
			name: "stored version not served", reason: "the first served version is used", data: strings.Replace(crdOf("One",
				"  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n"), "served: true", "served: false", 1),
			want: scaffold.API{Group: "example.com", Kind: "One", Version: "v2", Plural: "ones", Cluster: true, CRD: "crd.yaml"},
		},
		{name: "several", reason: "the user must select one", data: two, finding: "dir/f.yaml:0:0: dir/f.yaml contains 2 CustomResourceDefinitions; choose one: --kind One or Two"},
		{
			name: "unknown kind", reason: "the error lists the kinds", data: two, kind: "Three",
			finding: "dir/f.yaml:0:0: dir/f.yaml contains no CustomResourceDefinition of the kind Three; write --kind One or Two",
		},
		{name: "no CustomResourceDefinition", reason: "the file has other objects only", data: "a: b\n", finding: "dir/f.yaml:0:0: f.yaml contains no CustomResourceDefinition"},
		{name: "no matching kind", reason: "the file does not have it", data: "a: b\n", kind: "One", finding: "dir/f.yaml:0:0: f.yaml contains no CustomResourceDefinition"},
		{name: "empty", reason: "the file has no objects", data: "", finding: "dir/f.yaml:0:0: f.yaml contains no CustomResourceDefinition"},
		{
			name: "v1beta1", reason: "current clusters refuse it", data: "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {names: {kind: One}}\n",
			finding: `dir/f.yaml:1:13: apiVersion is "apiextensions.k8s.io/v1beta1", want apiextensions.k8s.io/v1; a cluster that has it prints it in the current version: kubectl get crd NAME -o yaml`,
		},
		{name: "not text", reason: "it is the wrong file", data: "\x00", finding: "dir/f.yaml:1:1: the file contains a NUL byte: it is not text; save the file as UTF-8"},
		{name: "invalid YAML", reason: "the error has a position", data: "a: b\nc: [\n", finding: "dir/f.yaml:2:4: invalid YAML: did not find expected node content; close the list: c: []"},
		{
			name: "error in one of several", reason: "positions refer to the whole file", data: strings.Replace(two, "names: {kind: Two,", "names: {kind: Two, nope: x,", 1), kind: "Two",
			finding: `dir/f.yaml:19:22: unknown key "nope" in spec.names; keys here: categories, kind, listKind, plural, shortNames, singular`,
		},
		{
			name: "no served version", reason: "the project needs one", data: strings.Replace(crdOf("One", ""), "served: true", "served: false", 1),
			finding: "dir/f.yaml:0:0: the CustomResourceDefinition serves no version",
		},
		{
			name: "version without a schema", reason: "the project needs a schema",
			data:    strings.Replace(crdOf("One", ""), "schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}}", "schema: null", 1),
			finding: `dir/f.yaml:0:0: version "v1" of the CustomResourceDefinition has no schema; give each entry of spec.versions a schema.openAPIV3Schema`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, findings := adopt.FromCRD(scaffold.Options{Name: "a", Kind: tt.kind, Own: true}, "./dir/f.yaml", []byte(tt.data))
			got := ""
			if len(findings) > 0 {
				f := findings[0]
				got = strings.TrimSuffix(fmt.Sprintf("%s:%d:%d: %s; %s", f.File, f.Line, f.Column, f.Message, f.Hint), "; ")
			}
			if diff := cmp.Diff(tt.finding, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.want, p.API); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if tt.finding != "" {
				return
			}
			result, err := scaffold.Files(p)
			if err != nil {
				t.Fatal(err)
			}
			scaffoldtest.Play(t, scaffoldtest.Generated(t, result), result.Files)
		})
	}
}

// TestCRDIsCopied requires that a file with one CustomResourceDefinition is copied
// unchanged, and that only the selected one is taken from a file with several.
func TestCRDIsCopied(t *testing.T) {
	data, err := os.ReadFile("../scaffold/testdata/crontabs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ file, kind, want string }{
		"one":     {string(data), "", string(data)},
		"named":   {string(data), "CronTab", string(data)},
		"several": {crdOf("One", "") + "---\n" + crdOf("Two", "") + "--- \r\n" + crdOf("Three", ""), "Two", crdOf("Two", "")},
	} {
		p, findings := adopt.FromCRD(scaffold.Options{Name: "a", Kind: tt.kind, Own: true}, "f.yaml", []byte(tt.file))
		if len(findings) > 0 || len(p.Files) != 1 {
			t.Fatalf("%s: %d files, %+v", name, len(p.Files), findings)
		}
		if diff := cmp.Diff(tt.want, string(p.Files[0].Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLargeCRD covers a CustomResourceDefinition that is too large for client-side
// kubectl apply.
func TestLargeCRD(t *testing.T) {
	long := strings.Repeat("a", 250<<10)
	data := strings.Replace(crdOf("One", ""), "{type: string}", "{type: string, description: "+long+"}", 1)
	p, findings := adopt.FromCRD(scaffold.Options{Name: "a", Own: true}, "f.yaml", []byte(data))
	if len(findings) > 0 {
		t.Fatal(findings[0].Message)
	}
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	makefile := string(scaffold.Directory(result.Files)["Makefile"].Data)
	if result.Apply != "kubectl apply --server-side" || !strings.Contains(makefile, "$(KUBECTL) apply --server-side -f -") {
		t.Errorf("it is applied with %s and\n%s", result.Apply, makefile)
	}
}

// TestNoSample requires that a schema without a valid sample still creates a
// project, with a note.
func TestNoSample(t *testing.T) {
	data := strings.Replace(crdOf("One", ""), "openAPIV3Schema: {", `openAPIV3Schema: {x-kubernetes-validations: [{rule: "1 == 2"}], `, 1)
	p, findings := adopt.FromCRD(scaffold.Options{Name: "a", Own: true}, "f.yaml", []byte(data))
	if len(findings) > 0 {
		t.Fatal(findings[0].Message)
	}
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Notes) != 2 || !strings.HasPrefix(result.Notes[0], "fill in samples/one.yaml: no sample of One could be generated") {
		t.Errorf("notes %q", result.Notes)
	}
	got := scaffoldtest.Decoded(t, scaffold.Directory(result.Files)["samples/one.yaml"].Data)
	want := map[string]any{"apiVersion": "example.com/v1", "kind": "One", "metadata": map[string]any{"name": "sample"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestExisting follows the alternative to the CustomResourceDefinition that the
// definition suggests.
func TestExisting(t *testing.T) {
	for _, data := range []string{crdOf("One", ""), strings.Replace(crdOf("Ox", ""), "oxs", "oxen", 2)} {
		p, findings := adopt.FromCRD(scaffold.Options{Name: "a", Own: true}, "f.yaml", []byte(data))
		if len(findings) > 0 {
			t.Fatal(findings[0].Message)
		}
		result, err := scaffold.Files(p)
		if err != nil {
			t.Fatal(err)
		}
		text := string(result.Files[0].Data)
		_, rest, _ := strings.Cut(text, "  #   existing: ")
		existing, _, _ := strings.Cut(rest, "\n")
		result.Files[0].Data = []byte(strings.Replace(text, "    crd: {file: crd.yaml, version: v1}\n", "    existing: "+existing+"\n", 1))
		operator := scaffoldtest.Generated(t, result)
		for _, o := range operator.Objects() {
			if o.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition" {
				t.Errorf("a CustomResourceDefinition is generated:\n%s", result.Files[0].Data)
			}
		}
	}
}

// TestFromCRDOfOthers covers that a kind is that of others unless somebody says otherwise.
func TestFromCRDOfOthers(t *testing.T) {
	p, findings := adopt.FromCRD(scaffold.Options{Name: "a"}, "f.yaml", []byte(crdOf("One", "")))
	if findings.HasErrors() || !p.API.Existing || p.API.CRD == "" {
		t.Errorf("%v %+v", findings, p.API)
	}
}
