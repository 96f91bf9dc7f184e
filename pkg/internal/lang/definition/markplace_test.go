package definition

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

const childFile = `# A child on its own.
apiVersion: v1
kind: ConfigMap
metadata: {name: "${ .metadata.name }"}
data:
  script: |
    #!/bin/sh

    echo ${ .spec.host }
  folded: >-
    one
    ${ .spec.two }
`

func TestPositionsInTheFileOfAChild(t *testing.T) {
	text := strings.Replace(operator("spec: {f: string}"), "  logic: {image: \"a:1\", command: [a], files: []}",
		"  children:\n  - {name: config, file: ./children/config.yaml}\n  - {name: inline, template: {apiVersion: v1, kind: Secret, metadata: {name: \"x-${ .metadata.uid }\"}}}", 1)
	dir := fstest.MapFS{"children/config.yaml": {Data: []byte(childFile)}}
	template := []string{"spec", "children", "0", "template"}
	for _, tt := range []struct {
		name, file   string
		below        []string
		offset       int
		line, column int
	}{
		{"operator.yaml", "children/config.yaml", nil, -1, 2, 1},
		{"operator.yaml", "children/config.yaml", []string{"kind"}, -1, 3, 7},
		{"operator.yaml", "children/config.yaml", []string{"metadata", "name"}, strings.Index("${ .metadata.name }", "name"), 4, 32},
		{"operator.yaml", "children/config.yaml", []string{"spec"}, -1, 2, 1},
		{"operator.yaml", "children/config.yaml", []string{"data", "missing"}, -1, 5, 1},
		{"./examples/x/operator.yaml", "examples/x/children/config.yaml", []string{"data", "script"}, -1, 6, 11},
		{"../x.yaml", "../children/config.yaml", []string{"data", "script"}, strings.Index("#!/bin/sh\n\necho ${ .spec.host }\n", "host"), 9, 19},
		{"-", "children/config.yaml", []string{"data", "folded"}, strings.Index("one ${ .spec.two }", "two"), 12, 14},
	} {
		defs, list := Parse(source.Input{Name: tt.name, Data: []byte(text), Dir: dir})
		if len(defs) != 1 {
			t.Fatal(list)
		}
		path := append(template[:4:4], tt.below...)
		got := defs[0].Position(path...)
		if tt.offset >= 0 {
			got = defs[0].PositionIn(tt.offset, path...)
		}
		if want := (diag.Position{File: tt.file, Line: tt.line, Column: tt.column}); got != want {
			t.Errorf("%s %v+%d: %+v, want %+v", tt.name, tt.below, tt.offset, got, want)
		}
		if at := defs[0].Position("spec", "children", "0", "file"); at.File != tt.name || at.Line != 13 {
			t.Errorf("the key file is at %+v", at)
		}
		if at := defs[0].PositionIn(7, "spec", "children", "1", "template", "metadata", "name"); at.File != tt.name || at.Line != 14 {
			t.Errorf("the inline template is at %+v", at)
		}
	}
}
