package definition

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
)

// decoder fills structs from YAML nodes by their json tags. It goes on after
// each finding, and remembers what it refused, so that later stages say no more
// about it.
type decoder struct {
	file string
	list *diag.List
	bad  map[string]bool // by path.id
	// kubernetes reads an object of Kubernetes: null means absent, and its own types have their own ways.
	kubernetes bool
	kind       reflect.Type // what the document is; hints look in it for where a key belongs
	fields     map[reflect.Type]map[string]field
	keys       map[*yaml.Node]*yaml.Node // of a value
}

func newDecoder(file string, list *diag.List) *decoder {
	return &decoder{
		file:   file,
		list:   list,
		bad:    map[string]bool{},
		kind:   reflect.TypeFor[v1alpha1.Operator](),
		fields: map[reflect.Type]map[string]field{},
		keys:   map[*yaml.Node]*yaml.Node{},
	}
}

func (d *decoder) pos(n *yaml.Node) diag.Position {
	return diag.Position{File: d.file, Line: n.Line, Column: n.Column}
}

// atKey returns where the key of a value stands, of others where the value does.
func (d *decoder) atKey(n *yaml.Node) diag.Position {
	if key := d.keys[n]; key != nil {
		return d.pos(key)
	}
	return d.pos(n)
}

// refuse reports a value and marks it as dealt with.
func (d *decoder) refuse(n *yaml.Node, p steps, code, message, hint string) {
	d.list.Add(d.pos(n), code, message, hint)
	d.bad[p.id()] = true
}

// value fills v from a node.
func (d *decoder) value(n *yaml.Node, v reflect.Value, p steps) {
	if isNull(n) && v.Kind() != reflect.Interface {
		if !d.kubernetes {
			d.refuse(n, p, diag.NullValue, fmt.Sprintf("%s has no value, want %s", subject(p), wanted(v.Type())), nullHint(v.Type()))
		}
		return
	}
	if d.kubernetes && d.special(n, v, p) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		d.value(n, target.Elem(), p)
		if !d.bad[p.id()] {
			v.Set(target)
		}
	case reflect.Struct:
		d.object(n, v, p)
	case reflect.Map:
		d.mapping(n, v, p)
	case reflect.Slice:
		d.sequence(n, v, p)
	case reflect.Interface:
		if a := d.any(n, p); a != nil {
			v.Set(reflect.ValueOf(a))
		}
	default:
		d.scalar(n, v, p)
	}
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, p steps) {
	if !d.want(n, yaml.MappingNode, v.Type(), p) {
		return
	}
	fields := d.fieldsOf(v.Type())
	written, meant := map[string]bool{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		d.keys[child] = key
		f, ok := fields[key.Value]
		if !ok {
			meant[d.unknownKey(key, fields, p)] = true
			continue
		}
		written[key.Value] = true
		if f.opaque && d.kubernetes {
			continue
		}
		d.value(child, v.FieldByIndex(f.index), p.to(key.Value))
		d.enum(child, v.FieldByIndex(f.index), f, p.to(key.Value))
	}
	for _, name := range sortedKeys(fields) {
		if written[name] || !meant[name] && !fields[name].required {
			continue
		}
		if !meant[name] {
			d.list.Add(d.atKey(n), diag.MissingKey, fmt.Sprintf("missing key %q%s", name, inside(p)), "")
		}
		d.bad[p.to(name).id()] = true
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, p steps) {
	if !d.want(n, yaml.MappingNode, v.Type(), p) {
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		d.keys[n.Content[i+1]] = n.Content[i]
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(n.Content[i+1], item, p.to(n.Content[i].Value))
		out.SetMapIndex(reflect.ValueOf(n.Content[i].Value).Convert(v.Type().Key()), item)
	}
	v.Set(out)
}

func (d *decoder) sequence(n *yaml.Node, v reflect.Value, p steps) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		d.bytes(n, v, p)
		return
	}
	if !d.want(n, yaml.SequenceNode, v.Type(), p) {
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, child := range n.Content {
		d.value(child, out.Index(i), p.to(i))
	}
	v.Set(out)
}

// bytes reads base64, as JSON does.
func (d *decoder) bytes(n *yaml.Node, v reflect.Value, p steps) {
	text, err := json.Marshal(n.Value)
	if err == nil {
		err = json.Unmarshal(text, v.Addr().Interface())
	}
	if n.Kind != yaml.ScalarNode || err != nil {
		d.refuse(n, p, diag.WrongType, fmt.Sprintf("%s is not base64", subject(p)), "")
	}
}

// want tells whether a node is of the kind that a Go type is written as.
func (d *decoder) want(n *yaml.Node, kind yaml.Kind, t reflect.Type, p steps) bool {
	if n.Kind == kind {
		return true
	}
	hint := ""
	if kind == yaml.SequenceNode && n.Kind == yaml.ScalarNode {
		hint = fmt.Sprintf("write a list: [%s]", strings.Join(strings.Fields(n.Value), ", "))
	}
	d.refuse(n, p, diag.WrongType, fmt.Sprintf("%s is %s, want %s", subject(p), describe(n), wanted(t)), hint)
	return false
}
