package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/scaffold"
)

// other lifts the settings of an object without pods.
func (l *lifter) other(p *piece) {
	switch spec := Mapping(p.Fields, "spec"); p.kind {
	case "Service":
		l.service(p, spec)
	case "Ingress", "HTTPRoute", "Route", "Gateway":
		l.hostNames(p)
	case "PersistentVolumeClaim":
		l.storage(spec, in(l.groupOf(p), "storage"), called(p.kind, p.name), "")
	case "HorizontalPodAutoscaler":
		l.autoscaler(p, spec)
	case "ConfigMap":
		l.config(p)
	}
}

// groupOf returns the parent field for an object's settings if there are several of
// its kind.
func (l *lifter) groupOf(p *piece) []string {
	for _, other := range l.Kept {
		if other != p && other.kind == p.kind {
			return []string{camel(withKind(p.suffix, p.kind), p.kind)}
		}
	}
	return nil
}

// service lifts the port, unless other objects refer to it or it has a name.
func (l *lifter) service(p *piece, spec map[string]any) {
	group := l.groupOf(p)
	if group == nil {
		group = []string{"service"}
	}
	if spec["clusterIP"] != "None" {
		l.set(spec, "type", in(group, "type"), oneOf("ClusterIP", "NodePort", "LoadBalancer"), "How the Service "+p.name+" is reached")
	}
	ports := List(spec, "ports")
	if len(ports) != 1 || p.port || spec["clusterIP"] == "None" {
		return
	}
	port, _ := ports[0].(map[string]any)
	number, _ := port["port"].(int64)
	if port["targetPort"] == nil { // the port is also the target port
		return
	}
	e := l.set(port, "port", in(group, "port"), whole("minimum=1 maximum=65535"), "Port of the Service "+p.name)
	if e == "" {
		return
	}
	for _, other := range l.Kept {
		ForEachMap(other.Fields["spec"], func(_ string, object map[string]any) {
			if object["name"] != p.named() {
				return
			}
			if inner := Mapping(object, "port"); inner["number"] == number {
				inner["number"] = e
			}
			if object["port"] == number {
				object["port"] = e
			}
			if object["servicePort"] == number {
				object["servicePort"] = e
			}
		})
	}
}

// hostNames lifts external host names.
func (l *lifter) hostNames(p *piece) {
	known := map[string]Expr{}
	path := in(l.groupOf(p), "host")
	lifted := func(object map[string]any, key string) {
		host, _ := object[key].(string)
		if e, again := known[host]; again {
			object[key] = e
			return
		}
		if e := l.set(object, key, path, text("maxLength=253", goodHost), "Name under which "+called(p.kind, p.name)+" is reached"); e != "" {
			known[host] = e
		}
	}
	for _, rule := range List(p.Fields, "spec", "rules") {
		if rule, ok := rule.(map[string]any); ok && rule["host"] != nil {
			lifted(rule, "host")
		}
	}
	names := [][]any{List(p.Fields, "spec", "hostnames")}
	for _, tls := range List(p.Fields, "spec", "tls") {
		if tls, ok := tls.(map[string]any); ok {
			names = append(names, List(tls, "hosts"))
		}
	}
	for _, hosts := range names {
		for i := range hosts {
			object := map[string]any{"host": hosts[i]}
			lifted(object, "host")
			hosts[i] = object["host"]
		}
	}
}

func (l *lifter) autoscaler(p *piece, spec map[string]any) {
	group := l.groupOf(p)
	if group == nil {
		group = []string{"autoscale"}
	}
	least := l.set(spec, "minReplicas", in(group, "minReplicas"), whole("minimum=1 maximum=1000"), "How many pods run at least")
	most := l.set(spec, "maxReplicas", in(group, "maxReplicas"), whole("minimum=1 maximum=1000"), "How many pods run at most")
	if least != "" && most != "" {
		l.atMost(least, most, "%s <= %s")
	}
	for _, metric := range List(spec, "metrics") {
		metric, _ := metric.(map[string]any)
		resource := Mapping(metric, "resource")
		if name, _ := resource["name"].(string); name != "" {
			l.set(Mapping(resource, "target"), "averageUtilization", in(group, camel(name, "")+"Percent"), whole("minimum=1 maximum=1000"),
				"Percent of the requested "+name+" at which pods are added")
		}
	}
	l.set(spec, "targetCPUUtilizationPercentage", in(group, "cpuPercent"), whole("minimum=1 maximum=1000"), "Percent of the requested cpu at which pods are added")
}

// config lifts the short entries of a ConfigMap; files stay in the template.
func (l *lifter) config(p *piece) {
	data := Mapping(p.Fields, "data")
	group := []string{"config"}
	if more := l.groupOf(p); more != nil {
		group = more
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value, plain := data[key].(string)
		if !plain || secretive.MatchString(key) {
			continue
		}
		entry := map[string]any{}
		if l.variable(entry, value, in(group, camel(key, "entry")), "Entry "+key+" of the ConfigMap "+p.name); entry["value"] != nil {
			data[key] = entry["value"]
		}
	}
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

// secret is a Secret that is not a child.
type secret struct {
	name    Expr
	awaited bool     // pods do not start without it
	readers []string // objects that refer to it
}

// noteSecrets lists the required Secrets and the objects that need them.
func (l *lifter) noteSecrets(p *scaffold.Project) {
	var awaited, others []string
	for _, name := range slices.Sorted(maps.Keys(l.secrets)) {
		if s := l.secrets[name]; s.awaited {
			awaited = append(awaited, name)
		} else {
			others = append(others, fmt.Sprintf("%s (%s)", name, strings.Join(slices.Compact(s.readers), ", ")))
		}
	}
	if len(awaited) > 0 {
		p.Notes = append(p.Notes, "pods wait for Secrets that the operator does not make; the sample needs in its namespace: "+strings.Join(awaited, ", "))
	}
	if len(others) > 0 {
		p.Notes = append(p.Notes, "the children refer to Secrets that the operator does not make and that no pod waits for: "+strings.Join(others, ", "))
	}
}

func (l *lifter) secretName(p *piece, object map[string]any, key string) {
	name, _ := object[key].(string)
	if l.secrets[name] == nil {
		if !goodName.MatchString(name) {
			return
		}
		field := camel(strings.TrimPrefix(strings.TrimPrefix(name, l.base), "-"), "secret")
		if !strings.HasSuffix(strings.ToLower(field), "secret") {
			field += "Secret"
		}
		e := l.set(object, key, []string{field}, text("maxLength=253", goodName), "Name of a Secret that is there already, such as "+name)
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
