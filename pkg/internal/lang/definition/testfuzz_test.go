package definition

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// FuzzParseTests covers that ParseTests ends for any input, that every error has a
// position, and that all accessors of a returned test work.
func FuzzParseTests(f *testing.F) {
	const object = "apiVersion: v1\nkind: Memcached\nmetadata: {name: one}\n"
	dir := fstest.MapFS{"memcached.yaml": {Data: []byte(object)}, "others.yaml": {Data: []byte(object + "---\n" + object)}}
	for _, pattern := range []string{"wrong/*.yaml", "failing/*.yaml", "passing/*.yaml"} {
		found, err := filepath.Glob("../../../../testdata/tests/" + pattern)
		if err != nil || len(found) == 0 {
			f.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, file := range found {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tests, list := ParseTests(source.Input{Name: "tests/x", Data: data, Dir: dir}, "tests")
		for _, found := range list {
			if found.Severity == diag.Error && found.Line < 1 && len(data) > 0 {
				t.Errorf("no position: %+v", found)
			}
		}
		for _, test := range tests {
			if test.Resource == nil || len(test.Spec.Steps) == 0 || test.Metadata.Name == "" {
				t.Errorf("legal, with %+v", test.OperatorTest)
			}
			for i := range test.Spec.Steps {
				if test.Action(i) == "" {
					t.Errorf("nothing happens in step %d", i)
				}
			}
		}
	})
}
