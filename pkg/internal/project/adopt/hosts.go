package adopt

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// hostsOf replaces names of Services in text: in environment variables, commands
// and ConfigMaps.
func (m *Manifest) hostsOf(p *piece) {
	if p.kind == "ConfigMap" {
		data := Mapping(p.Fields, "data")
		for key, text := range data {
			data[key] = m.hosts(p, key, text)
		}
		return
	}
	ForEachMap(p.Fields, func(_ string, object map[string]any) {
		for _, key := range []string{"args", "command"} {
			words, _ := object[key].([]any)
			for i, word := range words {
				flag := ""
				if i > 0 && strings.HasPrefix(fmt.Sprint(words[i-1]), "-") {
					flag = fmt.Sprint(words[i-1])
				}
				words[i] = m.hosts(p, "", m.NamedIn(flag, word))
			}
		}
		if name, ok := object["name"].(string); ok && object["value"] != nil {
			object["value"] = m.hosts(p, name, m.NamedIn(name, object["value"]))
		}
	})
}

var namesKind = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:(config[-_]?map)|(service[-_]?account))`) })

// NamedIn replaces the name of a ConfigMap or ServiceAccount by that of the child
// if the name of a flag or variable shows that it is one.
func (m *Manifest) NamedIn(by string, value any) any {
	text, ok := value.(string)
	flag, name, assigned := strings.Cut(text, "=")
	if assigned && strings.HasPrefix(text, "-") {
		by = flag
	} else {
		name = text
	}
	parts := namesKind().FindStringSubmatch(by)
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
	return Expr(escaped(strings.TrimSuffix(text, name), true)) + to.named()
}

var namesHost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(host|addr|address|server|service|endpoint|upstream|url|uri)s?$`)
})

// hosts replaces the names of Services in a text by those of the children. Words
// that only look like one stay.
func (m *Manifest) hosts(p *piece, key string, value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	if service := m.find("Service", text); service != nil && namesHost().MatchString(key) {
		return service.named()
	}
	var out strings.Builder
	written := 0 // end of the text already in out
	for i := 0; i < len(text); i++ {
		if i > 0 && strings.IndexByte(wordBytes, text[i-1]) >= 0 {
			continue // within a word
		}
		service, length, behind := m.host(text[:i], text[i:])
		if service == nil {
			continue
		}
		out.WriteString(
			escaped(text[written:i], true) + string(service.named()) + strings.Replace(behind, "NAMESPACE", string(m.ownNamespace(p)), 1),
		)
		i += length - 1
		written = i + 1
	}
	if written == 0 {
		return value
	}
	return Expr(out.String() + escaped(text[written:], true))
}

// wordBytes are the bytes of names, and $, which starts a variable.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-$"

var (
	hostName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)((?:\.[A-Za-z0-9_-]+)*)(:[0-9]{2,5})?`)
	})
	inCluster = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.[a-z0-9-]+)?(\.svc(\.[a-z0-9.-]+)?)?$`) })
)

// host returns the Service whose name a text begins with, if the context is clear:
// as part of a URL, with a port, or with its namespace. behind is the domain after
// the name, with NAMESPACE for its own namespace.
func (m *Manifest) host(before, text string) (service *piece, length int, behind string) {
	parts := hostName().FindStringSubmatch(text)
	if parts == nil || len(text) > len(parts[0]) && strings.IndexByte(wordBytes, text[len(parts[0])]) >= 0 {
		return nil, 0, ""
	}
	service, behind = m.find("Service", parts[1]), parts[2]
	if service == nil || !inCluster().MatchString(behind) {
		return nil, 0, ""
	}
	namespace, svc, _ := strings.Cut(strings.TrimPrefix(behind, "."), ".")
	switch {
	case namespace == "" || namespace == "svc":
	case namespace == service.namespace || service.namespace == "" && strings.HasPrefix(svc, "svc"):
		behind = ".NAMESPACE" + strings.TrimPrefix(behind, "."+namespace)
	default:
		return nil, 0, "" // of another application
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
