package scaffold

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/argoperator/argoperator/pkg/diag"
)

// name finds out what all names have in common, which becomes the custom
// resource's name. What has nothing in common gets that in front.
func (m *manifest) name() {
	var common []string
	for i, p := range m.kept {
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
	for _, p := range m.kept {
		if p.suffix = strings.TrimPrefix(p.name, m.base); m.base == "" {
			p.suffix = "-" + p.name
		}
	}
}

// named is the name of the child.
func (p *piece) named() expr { return expr(ownName + p.suffix) }

// ownNamespace is where the children of a custom resource stand.
func (m *manifest) ownNamespace(p *piece) expr {
	switch {
	case !m.cluster:
		return "${ .metadata.namespace }"
	case p.namespace != "":
		return expr(p.namespace)
	}
	return "default"
}

// refer makes all references between the objects those between children.
func (m *manifest) refer() {
	for _, p := range m.kept {
		for _, key := range slices.Sorted(maps.Keys(p.fields)) {
			if key == "metadata" {
				continue
			}
			eachMap(key, p.fields[key], func(key string, object map[string]any) { m.references(p, key, object) })
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
func (m *manifest) references(p *piece, key string, object map[string]any) {
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
		m.resourceNames(resources, list(object, "resources"))
	}
}

// pointTo makes a field the name of the child that it names.
func (m *manifest) pointTo(object map[string]any, field, kind string) bool {
	name, _ := object[field].(string)
	to := m.find(kind, name)
	if to != nil {
		object[field] = to.named()
	}
	return to != nil
}

// resourceNames are those of a rule of a Role.
func (m *manifest) resourceNames(names, resources []any) {
	for i, name := range names {
		for _, p := range m.kept {
			if name == p.name && slices.Contains(resources, any(strings.ToLower(p.kind)+"s")) {
				names[i] = p.named()
			}
		}
	}
}

// hostsOf finds names of Services in text: of the environment, of commands, of
// ConfigMaps.
func (m *manifest) hostsOf(p *piece) {
	if p.kind == "ConfigMap" {
		data := mapping(p.fields, "data")
		for key, text := range data {
			data[key] = m.hosts(p, key, text)
		}
		return
	}
	forEachMap(p.fields, func(_ string, object map[string]any) {
		for _, key := range []string{"args", "command"} {
			words, _ := object[key].([]any)
			for i, word := range words {
				flag := ""
				if i > 0 && strings.HasPrefix(fmt.Sprint(words[i-1]), "-") {
					flag = fmt.Sprint(words[i-1])
				}
				words[i] = m.hosts(p, "", m.said(flag, word))
			}
		}
		if name, ok := object["name"].(string); ok && object["value"] != nil {
			object["value"] = m.hosts(p, name, m.said(name, object["value"]))
		}
	})
}

var namesKind = regexp.MustCompile(`(?i)(?:(config[-_]?map)|(service[-_]?account))`)

// said makes the name of a ConfigMap or ServiceAccount that of the child, where a
// flag or a variable says that it is one.
func (m *manifest) said(by string, value any) any {
	text, ok := value.(string)
	flag, name, assigned := strings.Cut(text, "=")
	if assigned && strings.HasPrefix(text, "-") {
		by = flag
	} else {
		name = text
	}
	parts := namesKind.FindStringSubmatch(by)
	if !ok || parts == nil {
		return value
	}
	kind := "ConfigMap"
	if parts[2] != "" {
		kind = "ServiceAccount"
	}
	to := m.find(kind, name)
	if to == nil {
		return value
	}
	return expr(escaped(strings.TrimSuffix(text, name), true)) + to.named()
}

var namesHost = regexp.MustCompile(`(?i)(host|addr|address|server|service|endpoint|upstream|url|uri)s?$`)

// hosts makes the names of Services in a text those of the children. What only
// looks like one, a word among others, stays.
func (m *manifest) hosts(p *piece, key string, value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	if service := m.find("Service", text); service != nil && namesHost.MatchString(key) {
		return service.named()
	}
	var out strings.Builder
	written := 0 // up to here, the text is in out
	for i := 0; i < len(text); i++ {
		if i > 0 && strings.IndexByte(wordBytes, text[i-1]) >= 0 {
			continue // within a word
		}
		service, length, behind := m.host(text[:i], text[i:])
		if service == nil {
			continue
		}
		out.WriteString(escaped(text[written:i], true) + string(service.named()) + strings.Replace(behind, "NAMESPACE", string(m.ownNamespace(p)), 1))
		i += length - 1
		written = i + 1
	}
	if written == 0 {
		return value
	}
	return expr(out.String() + escaped(text[written:], true))
}

// wordBytes are what names are made of, and $, behind which a variable's follows.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-$"

var (
	hostName  = regexp.MustCompile(`^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)((?:\.[A-Za-z0-9_-]+)*)(:[0-9]{2,5})?`)
	inCluster = regexp.MustCompile(`^(\.[a-z0-9-]+)?(\.svc(\.[a-z0-9.-]+)?)?$`)
)

// host is the Service whose name a text begins with, if it is surely meant: as
// part of a URL, with a port, or with its namespace. behind is the domain that
// follows the name in its length, with NAMESPACE for its own namespace.
func (m *manifest) host(before, text string) (service *piece, length int, behind string) {
	parts := hostName.FindStringSubmatch(text)
	if parts == nil || len(text) > len(parts[0]) && strings.IndexByte(wordBytes, text[len(parts[0])]) >= 0 {
		return nil, 0, ""
	}
	service, behind = m.find("Service", parts[1]), parts[2]
	if service == nil || !inCluster.MatchString(behind) {
		return nil, 0, ""
	}
	namespace, svc, _ := strings.Cut(strings.TrimPrefix(behind, "."), ".")
	switch {
	case namespace == "" || namespace == "svc":
	case namespace == service.namespace || service.namespace == "" && strings.HasPrefix(svc, "svc"):
		behind = ".NAMESPACE" + strings.TrimPrefix(behind, "."+namespace)
	default:
		return nil, 0, "" // another's
	}
	url := strings.HasSuffix(before, "://") || strings.HasSuffix(before, "@")
	if behind == "" && parts[3] == "" && !url {
		return nil, 0, ""
	}
	if parts[3] != "" {
		service.port = true
	}
	return service, len(parts[1]) + len(parts[2]), behind
}

// instanceLabel tells the pods of one custom resource from those of others.
const instanceLabel = "app.kubernetes.io/instance"

// label gives all objects and pods the custom resource's name as a label, and
// makes what selects them select those of the same custom resource.
func (m *manifest) label() {
	known := m.labels()
	m.release = commonLabel(known)
	for _, p := range m.kept {
		m.selectors(p, known)
	}
	for _, p := range m.kept {
		if pods := podTemplate(p.fields); pods != nil {
			m.stamp(at(pods, "metadata", "labels"))
		}
		m.stamp(at(p.fields, "metadata", "labels"))
	}
}

// labels are those of the objects and of the pods that they make.
func (m *manifest) labels() []map[string]any {
	var out []map[string]any
	for _, p := range m.kept {
		out = append(out, maps.Clone(mapping(p.fields, "metadata", "labels")))
		if pods := podTemplate(p.fields); pods != nil {
			out = append(out, maps.Clone(mapping(pods, "metadata", "labels")))
		}
	}
	return out
}

func (m *manifest) selectors(p *piece, known []map[string]any) {
	selected := func(labels map[string]any) bool {
		return len(labels) > 0 && slices.ContainsFunc(known, func(set map[string]any) bool {
			for key, value := range labels {
				if set[key] != value {
					return false
				}
			}
			return true
		})
	}
	forEachMap(p.fields["spec"], func(key string, object map[string]any) {
		if key == "matchLabels" && selected(object) {
			m.stamp(object)
		}
	})
	selector := mapping(p.fields, "spec", "selector")
	_, structured := selector["matchLabels"]
	_, expressions := selector["matchExpressions"]
	switch {
	case p.kind == "Service" || p.kind == "ReplicationController":
		if selected(selector) {
			m.stamp(selector)
		} else if len(selector) > 0 {
			m.warn(p.Position("spec.selector"), diag.Changed, fmt.Sprintf("%s selects pods that are not among the objects", called(p.kind, p.name)),
				"the Services of all custom resources of a namespace will select the same pods")
		}
	case podTemplate(p.fields) != nil && (structured || expressions):
		m.stamp(at(p.fields, "spec", "selector", "matchLabels"))
	}
}

// stamp writes the label, in the place of what it said before.
func (m *manifest) stamp(labels map[string]any) {
	was, plain := labels[instanceLabel].(string)
	rest, own := strings.CutPrefix(was, m.base)
	switch {
	case labels[instanceLabel] != nil && !plain: // it is written already
	case was == "" || was == m.release || was == m.base:
		labels[instanceLabel] = expr(ownName)
	case m.base != "" && own && rest[0] == '-':
		labels[instanceLabel] = expr(ownName + rest)
	default:
		labels[instanceLabel] = expr(ownName + "-" + was)
	}
}

// commonLabel is what the label says on all objects; empty where it differs.
func commonLabel(known []map[string]any) string {
	var all []string
	for _, labels := range known {
		if was, _ := labels[instanceLabel].(string); was != "" {
			all = append(all, was)
		}
	}
	if all = slices.Compact(all); len(all) != 1 {
		return ""
	}
	return all[0]
}

// at is the object at a path of keys, which is made where it is missing.
func at(fields map[string]any, path ...string) map[string]any {
	for _, key := range path {
		inner, ok := fields[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			fields[key] = inner
		}
		fields = inner
	}
	return fields
}

// podTemplate is that of an object that makes pods, or the Pod itself; nil of
// any other.
func podTemplate(fields map[string]any) map[string]any {
	if fields["kind"] == "Pod" {
		return fields
	}
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		if template := mapping(fields, path...); len(list(template, "spec", "containers")) > 0 {
			return template
		}
	}
	return nil
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
