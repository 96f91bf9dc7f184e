package expression

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestEnum covers that the strings which an expression ends with must be in the enum, and
// that other strings need not be.
func TestEnum(t *testing.T) {
	phase := &apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"Pending"`)}, {Raw: []byte(`"Ready"`)}}}
	for text, wrong := range map[string][]string{
		`if .spec.enabled then "Ready" else "Waiting" end`:                  {`"Waiting"`},
		`if .spec.enabled then "A" elif .spec.size > 1 then "B" else . end`: {`"A"`, `"B"`},
		`.status.phase // "Waiting"`:                                        {`"Waiting"`},
		`.spec.image | (if . == "x" then "Readi" else "Pending" end)`:       {`"Readi"`},
		`if .spec.image == "x" then "Ready" else "Pending" end`:             nil,
		`"Read" + "y"`: nil,
		`"Rea\("dy")"`: nil,
		`"x" | if . == "x" then "Ready" else "Pending" end`: nil,
		`{x: "Ready"}["x"]`:        nil,
		`"Waiting"[0:0] + "Ready"`: nil,
	} {
		_, problems := Template("${ "+text+" }", Scope{Input: memcachedType(t)}, schema.OpenAPI(phase))
		var got []string
		for _, p := range errorsOf(problems) {
			got = append(got, text[p.Offset-3:p.Offset-3+p.Length])
		}
		if len(got) != len(wrong) {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		for i := range got {
			if got[i] != wrong[i] {
				t.Errorf("%s: problem at %s, want %s", text, got[i], wrong[i])
			}
		}
	}
}
