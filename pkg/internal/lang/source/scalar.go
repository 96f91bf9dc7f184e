package source

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// scalar decodes a string, boolean or number.
func (d *Decoder) scalar(n *yaml.Node, v reflect.Value, p Path) {
	if n.Kind != yaml.ScalarNode {
		if condition := joined(n, p); condition != "" && v.Kind() == reflect.String {
			d.Reject(
				n,
				p,
				diag.WrongType,
				fmt.Sprintf("%s is a list, want a string", subject(p)),
				"write one condition, not a list; join several with and",
			)
			v.SetString(condition) // for checks of the expression
			return
		}
		d.want(n, yaml.ScalarNode, v.Type(), p)
		return
	}
	got, ok := plain(n)
	if !ok {
		d.Reject(n, p, diag.BadValue, fmt.Sprintf("%s: JSON cannot represent %s", subject(p), n.Value), "")
		return
	}
	switch v.Kind() {
	case reflect.String:
		if s, is := got.(string); is {
			v.SetString(s)
			return
		}
	case reflect.Bool:
		if b, is := got.(bool); is {
			v.SetBool(b)
			return
		}
	case reflect.Int32, reflect.Int64:
		if i, is := got.(int64); is {
			if v.OverflowInt(i) {
				d.Reject(n, p, diag.BadValue, fmt.Sprintf("%s is %d, too large", subject(p), i), "")
				return
			}
			v.SetInt(i)
			return
		}
	case reflect.Float64:
		if f, is := number(got); is {
			v.SetFloat(f)
			return
		}
	}
	d.Reject(n, p, diag.WrongType, fmt.Sprintf("%s is %s, want %s", subject(p), Describe(n), wanted(v.Type())),
		scalarHint(n, v.Kind(), p))
}

// joined returns the conditions of a list as one, as kro has lists of them; "" for other
// values.
func joined(n *yaml.Node, p Path) string {
	if n.Kind != yaml.SequenceNode || len(p) == 0 || p[len(p)-1] != "when" && p[len(p)-1] != "readyWhen" {
		return ""
	}
	var all []string
	for _, item := range n.Content {
		text := strings.TrimSpace(item.Value)
		if inner, ok := strings.CutPrefix(text, "${"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(inner, "}"))
		}
		if item.Kind != yaml.ScalarNode || text == "" {
			return ""
		}
		if len(n.Content) > 1 && strings.Contains(text, " ") {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " and ")
}

// plain returns a scalar in the form of JSON: string, bool, int64, float64 or nil. JSON
// does not have every number of YAML: .inf and .nan.
func plain(n *yaml.Node) (any, bool) {
	var v any
	if tag := n.ShortTag(); tag == "!!str" || tag == "!!timestamp" || n.Decode(&v) != nil {
		return n.Value, true
	}
	switch v := v.(type) {
	case int:
		return int64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	return v, true
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Any returns a node in the form of JSON.
func (d *Decoder) Any(n *yaml.Node, p Path) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = d.Any(n.Content[i+1], p.To(n.Content[i].Value))
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, child := range n.Content {
			out[i] = d.Any(child, p.To(i))
		}
		return out
	}
	v, ok := plain(n)
	if !ok {
		d.Reject(n, p, diag.BadValue, fmt.Sprintf("%s: JSON cannot represent %s", subject(p), n.Value), "")
		return nil
	}
	return v
}

// scalarHint explains scalars that YAML parses differently than intended.
func scalarHint(n *yaml.Node, want reflect.Kind, p Path) string {
	word, key := strings.ToLower(n.Value), ""
	if len(p) > 0 {
		key = p[len(p)-1]
	}
	switch {
	case want == reflect.Bool && strings.Contains(n.Value, "${"):
		return constantHint([]string{"true", "false"})
	case want == reflect.String && slices.Contains([]string{"resync", "timeout", "tokenRotation", "interval"}, key):
		return "write a duration with a unit, such as 30m"
	case want == reflect.String && key == "forEach":
		return "write an expression of jq, such as .spec.items // []"
	case want == reflect.String && (key == "when" || key == "readyWhen"):
		return "remove the key, or write a condition of jq, such as .spec.size > 0"
	case want == reflect.String && len(p) > 1 && key == "name" && len(p) > 2 && p[len(p)-3] == "versions":
		return "write v" + strings.SplitN(n.Value, ".", 2)[0]
	case want == reflect.String:
		return "quote it: " + strconv.Quote(n.Value)
	case want == reflect.Bool && (word == "yes" || word == "on" || word == "y"):
		return "write true"
	case want == reflect.Bool && (word == "no" || word == "off" || word == "n"):
		return "write false"
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && n.Value != "" && strings.Trim(n.Value, "0123456789.-") == "",
		word == "true",
		word == "false":
		return "remove the quotes"
	}
	return ""
}
