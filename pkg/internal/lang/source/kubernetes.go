package source

import (
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
)

// special decodes the types of Kubernetes whose JSON differs from their fields.
func (d *Decoder) special(n *yaml.Node, v reflect.Value, p Path) bool {
	switch target := v.Addr().Interface().(type) {
	case *apiextensionsv1.JSON:
		raw, err := json.Marshal(d.Any(n, p))
		if err == nil {
			target.Raw = raw
		}
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		target.Allows = true
		if n.Kind == yaml.ScalarNode {
			d.scalar(n, reflect.ValueOf(&target.Allows).Elem(), p)
			return true
		}
		target.Schema = &apiextensionsv1.JSONSchemaProps{}
		d.Value(n, reflect.ValueOf(target.Schema).Elem(), p)
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		if n.Kind == yaml.SequenceNode {
			d.Value(n, reflect.ValueOf(&target.JSONSchemas).Elem(), p)
			return true
		}
		target.Schema = &apiextensionsv1.JSONSchemaProps{}
		d.Value(n, reflect.ValueOf(target.Schema).Elem(), p)
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		if n.Kind == yaml.SequenceNode {
			d.Value(n, reflect.ValueOf(&target.Property).Elem(), p)
			return true
		}
		target.Schema = &apiextensionsv1.JSONSchemaProps{}
		d.Value(n, reflect.ValueOf(target.Schema).Elem(), p)
	case json.Unmarshaler:
		d.unmarshal(n, target, p)
	default:
		return false
	}
	return true
}

// unmarshal calls the type's own decoder, as for a metav1.Time.
func (d *Decoder) unmarshal(n *yaml.Node, target json.Unmarshaler, p Path) {
	raw, err := json.Marshal(d.Any(n, p))
	if err == nil {
		err = target.UnmarshalJSON(raw)
	}
	if err != nil {
		d.Reject(n, p, diag.BadValue, fmt.Sprintf("%s: %v", subject(p), err), "")
	}
}
