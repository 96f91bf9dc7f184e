package adopt

import (
	"maps"
	"slices"
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
		l.set(spec, "type", in(group, "type"), oneOf("ClusterIP", "NodePort", "LoadBalancer"), "Type of the Service "+p.name)
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
		if e := l.set(object, key, path, text("maxLength=253", goodHost()), "Host name of "+called(p.kind, p.name)); e != "" {
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
	least := l.set(spec, "minReplicas", in(group, "minReplicas"), whole("minimum=1 maximum=1000"), "Minimum number of pods")
	most := l.set(spec, "maxReplicas", in(group, "maxReplicas"), whole("minimum=1 maximum=1000"), "Maximum number of pods")
	if least != "" && most != "" {
		l.atMost(least, most, "%s <= %s")
	}
	for _, metric := range List(spec, "metrics") {
		metric, _ := metric.(map[string]any)
		resource := Mapping(metric, "resource")
		if name, _ := resource["name"].(string); name != "" {
			l.set(Mapping(resource, "target"), "averageUtilization", in(group, camel(name, "")+"Percent"), whole("minimum=1 maximum=1000"),
				"Target utilization of "+name+", in percent of the request")
		}
	}
	l.set(
		spec,
		"targetCPUUtilizationPercentage",
		in(group, "cpuPercent"),
		whole("minimum=1 maximum=1000"),
		"Target utilization of cpu, in percent of the request",
	)
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
		if !plain || secretive().MatchString(key) {
			continue
		}
		entry := map[string]any{}
		if l.variable(entry, value, in(group, camel(key, "entry")), "Entry "+key+" of the ConfigMap "+p.name); entry["value"] != nil {
			data[key] = entry["value"]
		}
	}
}
