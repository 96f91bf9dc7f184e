package source

import (
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
)

// Decoder decodes YAML nodes into structs by their json tags. It continues after each
// finding, and remembers rejected values, so that later checks do not report them
// again.
type Decoder struct {
	File     string
	list     *diag.List
	Rejected map[string]bool // by path.id
	Unknown  map[string]bool // mappings with unknown keys, by path.id
	// kubernetes decodes an object of Kubernetes: null means absent, and some types
	// have their own decoders.
	Kubernetes bool
	Kind       reflect.Type // the type of the document; hints search it for a key's place
	fields     map[reflect.Type]map[string]Field
	keys       map[*yaml.Node]*yaml.Node // of a value
	in         map[*yaml.Node]string     // name of the type whose key has the value, or a list with it
}

// NewDecoder returns a decoder that adds its findings to a list.
func NewDecoder(file string, list *diag.List) *Decoder {
	return &Decoder{
		File:     file,
		list:     list,
		Rejected: map[string]bool{},
		Unknown:  map[string]bool{},
		Kind:     reflect.TypeFor[v1alpha1.Operator](),
		fields:   map[reflect.Type]map[string]Field{},
		keys:     map[*yaml.Node]*yaml.Node{},
		in:       map[*yaml.Node]string{},
	}
}

func (d *Decoder) pos(n *yaml.Node) diag.Position {
	return diag.Position{File: d.File, Line: n.Line, Column: n.Column}
}

// atKey returns the position of a value's key, or of the value if it has none.
func (d *Decoder) atKey(n *yaml.Node) diag.Position {
	if key := d.keys[n]; key != nil {
		return d.pos(key)
	}
	return d.pos(n)
}

// Reject reports a value and marks it as rejected.
func (d *Decoder) Reject(n *yaml.Node, p Path, code, message, hint string) {
	d.list.Add(d.pos(n), code, message, hint)
	d.Rejected[p.ID()] = true
}

// Value decodes a node into v.
func (d *Decoder) Value(n *yaml.Node, v reflect.Value, p Path) {
	if isNull(n) && v.Kind() != reflect.Interface {
		if !d.Kubernetes {
			d.Reject(n, p, diag.NullValue, fmt.Sprintf("%s has no value, want %s", subject(p), wanted(v.Type())), nullHint(v.Type()))
		}
		return
	}
	if d.Kubernetes && d.special(n, v, p) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		d.Value(n, target.Elem(), p)
		if !d.Rejected[p.ID()] {
			v.Set(target)
		}
	case reflect.Struct:
		d.object(n, v, p)
	case reflect.Map:
		d.mapping(n, v, p)
	case reflect.Slice:
		d.sequence(n, v, p)
	case reflect.Interface:
		if a := d.Any(n, p); a != nil {
			v.Set(reflect.ValueOf(a))
		}
	default:
		d.scalar(n, v, p)
	}
}

func (d *Decoder) object(n *yaml.Node, v reflect.Value, p Path) {
	if !d.want(n, yaml.MappingNode, v.Type(), p) {
		return
	}
	fields := d.FieldsOf(v.Type())
	written, meant := map[string]bool{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		d.keys[child], d.in[child] = key, v.Type().Name()
		f, ok := fields[key.Value]
		if !ok {
			ours, alike := d.unknownKey(key, v.Type(), p)
			if _, again := LookupNode(n, ours); ours == "" || again != nil || !alike ||
				!fits(child, v.FieldByIndex(fields[ours].index).Type(), p.To(ours)) {
				meant[ours] = true
				continue
			}
			f, key.Value = fields[ours], ours // read it as it is meant
		}
		written[key.Value] = true
		if f.opaque && d.Kubernetes {
			continue
		}
		d.Value(child, v.FieldByIndex(f.index), p.To(key.Value))
		d.enum(child, v.FieldByIndex(f.index), f, p.To(key.Value))
	}
	for _, name := range SortedKeys(fields) {
		if written[name] || !meant[name] && !fields[name].required {
			continue
		}
		if !meant[name] {
			d.list.Add(d.atKey(n), diag.MissingKey, fmt.Sprintf("missing key %q%s", name, Inside(p)), Example(v.Type().Name(), name))
		}
		d.Rejected[p.To(name).ID()] = true
	}
}

func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, p Path) {
	if !d.want(n, yaml.MappingNode, v.Type(), p) {
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		d.keys[n.Content[i+1]] = n.Content[i]
		item := reflect.New(v.Type().Elem()).Elem()
		d.Value(n.Content[i+1], item, p.To(n.Content[i].Value))
		out.SetMapIndex(reflect.ValueOf(n.Content[i].Value).Convert(v.Type().Key()), item)
	}
	v.Set(out)
}

func (d *Decoder) sequence(n *yaml.Node, v reflect.Value, p Path) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		d.bytes(n, v, p)
		return
	}
	if !d.want(n, yaml.SequenceNode, v.Type(), p) {
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, child := range n.Content {
		d.in[child] = d.in[n]
		d.Value(child, out.Index(i), p.To(i))
	}
	v.Set(out)
}

// bytes decodes base64, like encoding/json.
func (d *Decoder) bytes(n *yaml.Node, v reflect.Value, p Path) {
	text, err := json.Marshal(n.Value)
	if err == nil {
		err = json.Unmarshal(text, v.Addr().Interface())
	}
	if n.Kind != yaml.ScalarNode || err != nil {
		d.Reject(n, p, diag.WrongType, fmt.Sprintf("%s is not base64", subject(p)), "")
	}
}

// want reports whether a node has the YAML kind that a Go type requires.
func (d *Decoder) want(n *yaml.Node, kind yaml.Kind, t reflect.Type, p Path) bool {
	if n.Kind == kind {
		return true
	}
	d.Reject(n, p, diag.WrongType, fmt.Sprintf("%s is %s, want %s", subject(p), Describe(n), wanted(t)), d.formHint(n, t, p))
	return false
}
