package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// secret is a Secret that children read and that no child creates.
type secret struct {
	name    Expr
	awaited bool     // pods do not start without it
	readers []string // objects that refer to it
}

// nameMadeSecrets finds the Secrets that other controllers create for the children, and
// names them after the custom resource.
func (l *lifter) nameMadeSecrets() {
	for _, p := range l.Kept {
		spec := Mapping(p.Fields, "spec")
		switch kind := p.kind + "." + p.Group(); {
		case kind == "Certificate.cert-manager.io":
			l.nameMade(spec, "secretName")
		case kind == "ExternalSecret.external-secrets.io":
			if target := Mapping(spec, "target"); target["name"] != nil {
				l.nameMade(target, "name")
			} else {
				l.made[p.name] = p.named()
			}
		case kind == "Ingress.networking.k8s.io" && hasIssuer(p.Fields):
			for _, tls := range List(spec, "tls") {
				if tls, ok := tls.(map[string]any); ok {
					l.nameMade(tls, "secretName")
				}
			}
		}
	}
}

// hasIssuer reports whether cert-manager creates the Secrets of an Ingress.
func hasIssuer(fields map[string]any) bool {
	annotations := Mapping(fields, "metadata", "annotations")
	for _, key := range []string{"cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "kubernetes.io/tls-acme"} {
		if annotations[key] != nil {
			return true
		}
	}
	return false
}

func (l *lifter) nameMade(object map[string]any, key string) {
	name, _ := object[key].(string)
	if !goodName().MatchString(name) {
		return
	}
	suffix := "-" + name
	if rest, ok := strings.CutPrefix(name, l.base); ok && l.base != "" && (rest == "" || rest[0] == '-') {
		suffix = rest
	}
	l.made[name] = Expr(OwnName + suffix)
	object[key] = l.made[name]
}

// secretNames lifts the names of Secrets that are not children.
func (l *lifter) secretNames(p *piece) {
	ForEachMap(p.Fields["spec"], func(key string, object map[string]any) {
		switch key {
		case "secretKeyRef", "secretRef", "imagePullSecrets":
			l.secretName(p, object, "name")
		case "secret", "tls":
			l.secretName(p, object, "secretName")
		}
	})
	for _, secret := range List(p.Fields, "imagePullSecrets") {
		if secret, ok := secret.(map[string]any); ok {
			l.secretName(p, secret, "name")
		}
	}
}

func (l *lifter) secretName(p *piece, object map[string]any, key string) {
	name, _ := object[key].(string)
	if made, ok := l.made[name]; ok {
		object[key] = made
		return
	}
	if l.secrets[name] == nil {
		if !goodName().MatchString(name) {
			return
		}
		field := camel(strings.TrimPrefix(strings.TrimPrefix(name, l.base), "-"), "secret")
		if !strings.HasSuffix(strings.ToLower(field), "secret") {
			field += "Secret"
		}
		e := l.set(object, key, []string{field}, text("maxLength=253", goodName()), "Name of an existing Secret, such as "+name)
		if e == "" {
			return
		}
		l.secrets[name] = &secret{name: e}
	}
	s := l.secrets[name]
	object[key] = s.name
	if optional, _ := object["optional"].(bool); !optional && PodTemplate(p.Fields) != nil {
		s.awaited = true
	}
	s.readers = append(s.readers, called(p.kind, p.name))
}

// noteSecrets lists the Secrets to create, and the objects that read them.
func (l *lifter) noteSecrets(p *scaffold.Project) {
	var awaited, others []string
	for _, name := range slices.Sorted(maps.Keys(l.secrets)) {
		s := l.secrets[name]
		line := fmt.Sprintf("%s for %s (%s names it)", name, strings.Join(slices.Compact(s.readers), ", "), s.name.path())
		if s.awaited {
			awaited = append(awaited, line)
		} else {
			others = append(others, line)
		}
	}
	if len(awaited) > 0 {
		p.Notes = append(
			p.Notes,
			fmt.Sprintf("create these Secrets in %s; pods do not start without them: %s", l.place(), strings.Join(awaited, "; ")),
		)
	}
	if len(others) > 0 {
		p.Notes = append(
			p.Notes,
			fmt.Sprintf("create these Secrets in %s; the operator does not create them: %s", l.place(), strings.Join(others, "; ")),
		)
	}
}

// place returns the namespace of the children, for messages.
func (m *Manifest) place() string {
	if m.cluster {
		return "the namespace of the children"
	}
	return "the namespace of each custom resource"
}

// leaveSecrets reports the Secrets of the manifests, none of which becomes a child.
func (l *lifter) leaveSecrets() {
	for _, o := range l.left {
		name := o.Text("metadata", "name")
		why, hint := "a project does not contain secrets", "create it in "+l.place()+" if a child needs it"
		if s := l.secrets[name]; s != nil {
			hint = "create it in " + l.place() + "; " + s.name.path() + " names it"
		}
		if _, made := l.made[name]; made {
			why, hint = "another controller creates it for a child", ""
		}
		l.warn(o.Position("kind"), diag.NotImported, fmt.Sprintf("%s is left out: %s", called("Secret", name), why), hint)
	}
}

// isSecret reports whether an object is a Secret that no controller creates.
func isSecret(o source.Object) bool {
	metadata := Mapping(o.Fields, "metadata")
	return o.Text("kind") == "Secret" && o.Text("apiVersion") == "v1" && len(List(metadata, "ownerReferences")) == 0
}
