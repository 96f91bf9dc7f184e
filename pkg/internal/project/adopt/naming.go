package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Name finds the common prefix of all names and replaces it by the custom
// resource's name. Other names get the custom resource's name as a prefix.
func (m *Manifest) Name() {
	var common []string
	for i, p := range m.Kept {
		words := strings.Split(p.name, "-")
		if i == 0 {
			common = words
		}
		n := 0
		for n < min(len(common), len(words)) && common[n] == words[n] {
			n++
		}
		common = common[:n]
	}
	m.base = strings.Join(common, "-")
	for _, p := range m.Kept {
		if p.suffix = strings.TrimPrefix(p.name, m.base); m.base == "" {
			p.suffix = "-" + p.name
		}
	}
}

// named returns the name of the child.
func (p *piece) named() Expr { return Expr(OwnName + p.suffix) }

// ownNamespace returns the namespace of a custom resource's children.
func (m *Manifest) ownNamespace(p *piece) Expr {
	switch {
	case !m.cluster:
		return "${ .metadata.namespace }"
	case p.namespace != "":
		return Expr(p.namespace)
	}
	return "default"
}

// Refer rewrites references between the objects to the names of the children.
func (m *Manifest) Refer() {
	for _, p := range m.Kept {
		for _, key := range slices.Sorted(maps.Keys(p.Fields)) {
			if key == "metadata" {
				continue
			}
			eachMap(key, p.Fields[key], func(key string, object map[string]any) { m.references(p, key, object) })
		}
		m.hostsOf(p)
	}
}

// kindsByKey returns the kinds that the name inside an object with this key may
// refer to.
func kindsByKey(key string) string {
	return map[string]string{
		"configMap": "ConfigMap", "configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap",
		"service": "Service", "backendRefs": "Service", "backend": "Service",
	}[key]
}

// kindsByField returns the kinds that a field may refer to.
func kindsByField(key string) string {
	return map[string]string{
		"claimName": "PersistentVolumeClaim", "serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount",
		"serviceName": "Service",
	}[key]
}

// references rewrites the references in one object.
func (m *Manifest) references(p *piece, key string, object map[string]any) {
	kind, _ := object["kind"].(string)
	if kind == "" {
		kind = kindsByKey(key)
	}
	namespace, _ := object["namespace"].(string)
	account := key == "subjects" && kind == "ServiceAccount" && (namespace == "" || namespace == p.namespace)
	if m.pointTo(object, "name", kind) && namespace != "" || account {
		object["namespace"] = m.ownNamespace(p)
	}
	for _, field := range slices.Sorted(maps.Keys(object)) {
		m.pointTo(object, field, kindsByField(field))
	}
	if resources, ok := object["resourceNames"].([]any); ok {
		m.resourceNames(resources, List(object, "resources"))
	}
}

// pointTo replaces the name in a field by that of the child.
func (m *Manifest) pointTo(object map[string]any, field, kind string) bool {
	name, _ := object[field].(string)
	to := m.find(kind, name)
	if to != nil {
		object[field] = to.named()
	}
	return to != nil
}

// resourceNames rewrites the resourceNames of a Role's rule.
func (m *Manifest) resourceNames(names, resources []any) {
	for i, name := range names {
		for _, p := range m.Kept {
			if name == p.name && slices.Contains(resources, any(strings.ToLower(p.kind)+"s")) {
				names[i] = p.named()
			}
		}
	}
}

// camel converts a text to a field name: MAX_REPLICAS to maxReplicas.
func camel(text, otherwise string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		if out.Len() == 0 {
			out.WriteString(strings.ToLower(word[:1]) + word[1:])
		} else {
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	switch name := out.String(); {
	case name == "":
		return camel(otherwise, "value")
	case unicode.IsDigit(rune(name[0])):
		return "x" + name
	default:
		return name
	}
}

// withKind appends the kind to the rest of a name, unless it contains it.
func withKind(suffix, kind string) string {
	name := strings.TrimPrefix(suffix, "-")
	if strings.HasSuffix(strings.ToLower(strings.ReplaceAll(name, "-", "")), strings.ToLower(kind)) {
		return name
	}
	return strings.TrimPrefix(name+"-"+kind, "-")
}

// unused returns a name that is not used yet, with a number if necessary.
func unused(name string, used map[string]bool) string {
	out := name
	for i := 2; used[out]; i++ {
		out = fmt.Sprintf("%s%d", name, i)
	}
	used[out] = true
	return out
}
