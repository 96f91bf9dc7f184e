package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/plan"
	"github.com/argoperator/argoperator/templates"
)

// configMaps carry the programs: the user's and the operator's own.
func configMaps(p *plan.Plan) []Object {
	if p.Reconcile.Engine == plan.Direct && !p.Rotates() {
		return nil
	}
	runtime := configMap(p, p.Names.RuntimeConfigMap, map[string]string{
		runtimeScript:     templates.Runtime,
		expressionsScript: templates.Expressions,
		runtimeConfig:     config(p.Runtime),
	})
	if !hasLogic(p) {
		return []Object{runtime}
	}
	logic := map[string]string{}
	for _, f := range append(append([]plan.File{}, p.Logic.Files...), p.Logic.Parameters...) {
		logic[f.Key] = f.Content
	}
	return []Object{configMap(p, p.Names.ConfigMap, logic), runtime}
}

const (
	runtimeScript     = "reconcile.py"
	expressionsScript = "expressions.py"
	runtimeConfig     = "config.json"
)

func configMap(p *plan.Plan, name string, data map[string]string) Object {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta(p, name),
		Data:       data,
	}
}

func config(r plan.Runtime) string {
	data, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	var out bytes.Buffer
	indent(&out, data, "\n")
	out.WriteByte('\n')
	return out.String()
}

// indent writes compact JSON with a line for each field and each object of a list.
// Other lists stay on one line: an expression tree has hundreds of them.
func indent(out *bytes.Buffer, value json.RawMessage, newline string) {
	opening := value[0]
	if opening != '{' && !bytes.HasPrefix(value, []byte("[{")) || len(value) == len("{}") {
		out.Write(value)
		return
	}
	out.WriteByte(opening)
	decoder := json.NewDecoder(bytes.NewReader(value))
	_, _ = decoder.Token() // valid by construction, as all that follows
	for separator := ""; decoder.More(); separator = "," {
		out.WriteString(separator + newline + "  ")
		if opening == '{' {
			key, _ := decoder.Token()
			name, _ := json.Marshal(key)
			out.Write(name)
			out.WriteString(": ")
		}
		var inner json.RawMessage
		_ = decoder.Decode(&inner)
		indent(out, inner, newline+"  ")
	}
	out.WriteString(newline)
	out.WriteByte(value[len(value)-1])
}
