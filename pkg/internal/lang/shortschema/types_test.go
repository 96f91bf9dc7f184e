package shortschema

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestTypes checks the examples of the documentation, and values that look alike.
func TestTypes(t *testing.T) {
	wrong := map[string][]string{
		"name":      {`"1a"`, `"a-"`, `"A"`, `""`, `"a.b"`},
		"namespace": {`"a.b"`, `"-a"`, `""`},
		"label":     {`"-a"`, `"a/b"`},
		"hostname":  {`"a..b"`, `"A.com"`, `"a_b.com"`, `".com"`},
		"port":      {`0`, `65536`, `"80"`, `1.5`},
		"duration":  {`"1"`, `"1d"`, `""`, `"1 h"`},
		"image":     {`"Busy Box://"`, `"app:"`, `"App"`, `"app@sha256:1"`, `""`},
		"url":       {`"example.com"`, `"https://"`, `"https://a b"`},
		"quantity":  {`"64 Mi"`, `"x"`},
	}
	right := map[string][]string{
		"image":    {`"nginx"`, `"localhost:5000/a/b__c"`, `"docker.io/library/nginx:1.27@sha256:` + hex64 + `"`},
		"hostname": {`"localhost"`, `"1.2.3.4"`},
		"label":    {`""`},
		"url":      {`"s3://bucket/key"`, `"http://localhost:80"`},
		"duration": {`"0.5s"`, `"100ms"`},
	}
	for _, typ := range Types() {
		for _, value := range append(right[typ.Name], typ.Example) {
			if problem := Conform(typ.schema(), decoded(t, value)); problem != "" {
				t.Errorf("%s %s: %s", typ.Name, value, problem)
			}
		}
		for _, value := range wrong[typ.Name] {
			if Conform(typ.schema(), decoded(t, value)) == "" {
				t.Errorf("%s takes %s", typ.Name, value)
			}
		}
	}
}

const hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestMarkers checks the examples of the documentation.
func TestMarkers(t *testing.T) {
	for _, m := range Markers() {
		var found diag.List
		form := New(source.Positions{}, nil, &found)
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte("field: '"+m.Example+"'"), &doc); err != nil {
			t.Fatal(err)
		}
		schema := form.Object(doc.Content[0])
		if len(found) > 0 || !strings.Contains(m.Example, m.Name+"=") || m.Doc == "" {
			t.Errorf("%s: %s: %v (%v)", m.Name, m.Example, found, schema)
		}
	}
}
