package schema

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestMayExceed covers that there is a guard only where an integer beyond 2^53 can
// occur.
func TestMayExceed(t *testing.T) {
	const all = `{"type":"object","properties":{
		"text":{"type":"string"}, "on":{"type":"boolean"},
		"open":{"type":"integer"}, "long":{"type":"integer","format":"int64"}, "short":{"type":"integer","format":"int32"},
		"small":{"type":"integer","minimum":0,"maximum":100}, "half":{"type":"integer","maximum":100},
		"edge":{"type":"integer","minimum":0,"maximum":9007199254740992}, "ratio":{"type":"number"},
		"either":{"x-kubernetes-int-or-string":true}, "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"list":{"type":"array","items":{"type":"integer"}}, "texts":{"type":"array","items":{"type":"string"}},
		"map":{"type":"object","additionalProperties":{"type":"integer"}}, "words":{"type":"object","additionalProperties":{"type":"string"}},
		"maps":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}}}},
		"inner":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"}}}}}
	}}`
	var fields apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(all), &fields); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"": true, "text": false, "on": false, "open": true, "long": true, "short": false, "small": false, "half": true, "edge": true,
		"ratio": true, "either": true, "any": true, "any.a.b": true, "list": true, "texts": false, "map": true, "map.k": true, "words": false,
		"words.k": false, "maps": true, "maps.k": true, "maps.k.a": true, "maps.k.b": false, "inner": true, "inner.a": false, "inner.b": true,
		"inner.b.c": true, "none": false,
	} {
		var steps []string
		if path != "" {
			steps = strings.Split(path, ".")
		}
		if got := MayExceed(&fields, steps); got != want {
			t.Errorf(".%s: %v, want %v", path, got, want)
		}
	}
	if !MayExceed(nil, []string{"spec"}) {
		t.Error("without a schema there may be anything")
	}
}
