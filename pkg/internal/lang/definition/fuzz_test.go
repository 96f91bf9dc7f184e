package definition

import (
	"encoding/json"
	"os"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// FuzzParse covers that Parse ends for any input, that every error has a position, and
// that a returned definition is valid.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"ok/everything.yaml", "ok/tabs.json", "ok/aliases.yaml", "ok/templates.yaml", "err/template-*.yaml", "err/many*.yaml", "err/short-*.yaml", "err/yaml-*.yaml"} {
		for _, file := range files(f, pattern) {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	gadgets, err := os.ReadFile(testdata + "/err/crd/gadgets.yaml")
	if err != nil {
		f.Fatal(err)
	}
	dir := fstest.MapFS{
		"logic/main.py": {Data: []byte("1")}, "logic/main.js": {Data: []byte("1")}, "logic/lib/names.js": {},
		"children/good.yaml": {Data: []byte(childFile)}, "crd/gadgets.yaml": {Data: gadgets},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defs, list := Parse(source.Input{Name: "x", Data: data, Dir: dir})
		for _, found := range list {
			if found.Severity == diag.Error && found.Line < 1 && len(data) > 0 {
				t.Errorf("no position: %+v", found)
			}
		}
		if len(defs) == 0 && !list.HasErrors() {
			t.Error("neither a definition nor an error")
		}
		for _, def := range defs {
			fillEmptyVariables(def)
			asWritten(def)
			raw, err := json.Marshal(def.Operator)
			if err != nil {
				t.Fatal(err)
			}
			again, list := Parse(source.Input{Name: "again", Data: raw, Dir: dir})
			if len(again) != 1 {
				t.Errorf("a returned definition is not legal: %v\n%s", list, raw)
			}
		}
	})
}

// fillEmptyVariables sets a value for variables that are "", which encoding would omit.
func fillEmptyVariables(def *Definition) {
	if def.Operator.Spec.Logic == nil {
		return
	}
	for i, v := range def.Operator.Spec.Logic.Env {
		if v.Secret == "" && v.Value == "" {
			def.Operator.Spec.Logic.Env[i].Value = "x"
		}
	}
}

// asWritten clears fields that were copied from the template.
func asWritten(def *Definition) {
	for i := range def.Operator.Spec.Children {
		child := &def.Operator.Spec.Children[i]
		if child.Template != nil {
			child.File, child.APIVersion, child.Kind = "", "", ""
		}
	}
}
