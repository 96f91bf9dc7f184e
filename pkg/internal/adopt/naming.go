package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Name finds out what all names have in common, which becomes the custom
// resource's name. What has nothing in common gets that in front.
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

// named is the name of the child.
func (p *piece) named() Expr { return Expr(OwnName + p.suffix) }

// ownNamespace is where the children of a custom resource stand.
func (m *Manifest) ownNamespace(p *piece) Expr {
	switch {
	case !m.cluster:
		return "${ .metadata.namespace }"
	case p.namespace != "":
		return Expr(p.namespace)
	}
	return "default"
}

// Refer makes all references between the objects those between children.
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

// kindsByKey are the kinds of what is referred to by the name inside an object
// with such a key.
func kindsByKey(key string) string {
	return map[string]string{
		"configMap": "ConfigMap", "configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap",
		"service": "Service", "backendRefs": "Service", "backend": "Service",
	}[key]
}

// kindsByField are the kinds of what a field names.
func kindsByField(key string) string {
	return map[string]string{
		"claimName": "PersistentVolumeClaim", "serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount", "serviceName": "Service",
	}[key]
}

// references finds the references in one object.
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

// pointTo makes a field the name of the child that it names.
func (m *Manifest) pointTo(object map[string]any, field, kind string) bool {
	name, _ := object[field].(string)
	to := m.find(kind, name)
	if to != nil {
		object[field] = to.named()
	}
	return to != nil
}

// resourceNames are those of a rule of a Role.
func (m *Manifest) resourceNames(names, resources []any) {
	for i, name := range names {
		for _, p := range m.Kept {
			if name == p.name && slices.Contains(resources, any(strings.ToLower(p.kind)+"s")) {
				names[i] = p.named()
			}
		}
	}
}

// camel is a text as the name of a field: maxReplicas of MAX_REPLICAS.
func camel(text, otherwise string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
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

// withKind is the rest of a name with the kind behind it, unless it says so itself.
func withKind(suffix, kind string) string {
	name := strings.TrimPrefix(suffix, "-")
	if strings.HasSuffix(strings.ToLower(strings.ReplaceAll(name, "-", "")), strings.ToLower(kind)) {
		return name
	}
	return strings.TrimPrefix(name+"-"+kind, "-")
}

// fresh is a name that is not used yet: the name, or with the next number.
func fresh(name string, used map[string]bool) string {
	out := name
	for i := 2; used[out]; i++ {
		out = fmt.Sprintf("%s%d", name, i)
	}
	used[out] = true
	return out
}
