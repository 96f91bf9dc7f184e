package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

func TestComment(t *testing.T) {
	for _, tt := range []struct{ comment, want string }{
		{"Name of\nthe bus.", `{"description":"Name of the bus."}`},
		{"Replicas.\n+default=3", `{"description":"Replicas.\n\nDefault: 3","default":3}`},
		{"Version.\n+default=\"1.9\"\n+since=v0.2.0", `{"description":"Version.\n\nDefault: \"1.9\"\n\nSince: v0.2.0","default":"1.9"}`},
		{"Plural.\n+defaultText=`kind`", "{\"description\":\"Plural.\\n\\nDefault: kind\",\"markdownDescription\":\"Plural.\\n\\nDefault: `kind`\"}"},
		{"See [a](b.md#c).", `{"description":"See a.","markdownDescription":"See [a](` + documentation + `reference/b.md#c)."}`},
		{"See [a](../how-to/b.md).", `{"description":"See a.","markdownDescription":"See [a](` + documentation + `how-to/b.md)."}`},
	} {
		s := &jsonschema.Schema{Description: tt.comment}
		if err := comment(s); err != nil {
			t.Errorf("%s: %v", tt.comment, err)
		}
		got, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.comment, diff)
		}
	}
	for _, wrong := range []string{"", "+default=1", "Name.\n+defalt=1", "Name.\n+default={a"} {
		if comment(&jsonschema.Schema{Description: wrong}) == nil {
			t.Errorf("the comment %q is accepted", wrong)
		}
	}
}
