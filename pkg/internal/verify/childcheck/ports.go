package childcheck

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// containerLists are the fields of a pod that list containers.
var containerLists = []string{"initContainers", "containers"}

// unknownPort returns the mismatch of the port of a Service that an Ingress names.
func (f *family) unknownPort(at []string, made, target member) *mismatch {
	port := f.constant(made, at)
	written := f.constant(target, []string{"spec", "ports"})
	if port == nil || written == nil {
		return nil
	}
	field, of := at[len(at)-1], "port"
	if field == "name" {
		of = "name"
	}
	ports, _ := written.([]any)
	var has []string
	for _, p := range ports {
		if value := schema.ValueAt(p, of); value != nil {
			has = append(has, fmt.Sprint(value))
		}
	}
	if slices.Contains(has, fmt.Sprint(port)) {
		return nil
	}
	return &mismatch{
		at, fmt.Sprintf("the Service of child %s has no port %v%s", f.declared(target.child).Name, port, butHas(has)),
		proposed(field, fmt.Sprint(port), has, "write a port of child "+f.declared(target.child).Name),
	}
}

// targetPorts returns the places of the ports of pods that a Service names.
func targetPorts(m member) [][]string {
	if m.kind.Group+"/"+m.kind.Kind != "/Service" {
		return nil
	}
	var out [][]string
	for _, port := range mappings(m.object, nil, []string{"spec", "ports", "*"}) {
		out = append(out, append(port, "targetPort"))
	}
	return out
}

// unselectedPort returns the mismatch of the name of a port of the pods that a Service selects; nil if it selects
// none of a child.
func (f *family) unselectedPort(at []string, made member, all []member) *mismatch {
	name, _ := f.constant(made, at).(string)
	s, selects := selectorOf(made)
	if name == "" || !selects || f.hasUnknownPods() {
		return nil
	}
	of, has := -1, []string{}
	for _, pod := range all {
		with, makes := podLabels(pod)
		if !makes || !pod.beside(made) || !s.selects(with) {
			continue
		}
		in, _ := podAt(pod)
		for _, list := range containerLists {
			if pod.child < 0 || f.runs[pod.child].computes(slices.Concat(in, []string{"spec", list})) {
				return nil
			}
			for _, container := range mappings(pod.object, nil, slices.Concat(in, []string{"spec", list, "*"})) {
				names, known := f.portNames(pod, container)
				if !known || slices.Contains(names, name) {
					return nil
				}
				has = append(has, names...)
			}
		}
		of = pod.child
	}
	if of < 0 {
		return nil
	}
	child := f.declared(of).Name
	return &mismatch{
		at, fmt.Sprintf("the pods of child %s have no port %s%s", child, name, butHas(has)),
		proposed("targetPort", name, has, fmt.Sprintf("name a port of a container of child %s: name: %s", child, name)),
	}
}

// portNames returns the names of the ports of a container; false if an expression decides about them.
func (f *family) portNames(m member, container []string) (names []string, known bool) {
	ports := append(slices.Clip(container), "ports")
	for i := range mappings(m.object, nil, append(slices.Clip(ports), "*")) {
		at := append(slices.Clip(ports), strconv.Itoa(i), "name")
		name, _ := f.constant(m, at).(string)
		if name == "" && schema.ValueAt(m.object, at...) != nil {
			return nil, false
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names, !f.runs[m.child].computes(ports)
}

// probes are the places in a container of requests of the kubelet.
var probes = func() (out [][]string) {
	for _, of := range [][]string{
		{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"},
	} {
		out = append(out, append(slices.Clip(of), "httpGet"), append(slices.Clip(of), "tcpSocket"))
	}
	return out
}()

// probedPorts returns the places of the ports that the kubelet asks in an object's containers.
func probedPorts(m member) [][]string {
	in, makes := podAt(m)
	if !makes {
		return nil
	}
	var out [][]string
	for _, list := range containerLists {
		for _, at := range mappings(m.object, nil, slices.Concat(in, []string{"spec", list, "*"})) {
			container := schema.ValueAt(m.object, at...)
			for _, probe := range probes {
				for _, place := range mappings(container, at, probe) {
					out = append(out, append(place, "port"))
				}
			}
		}
	}
	return out
}

// unprobedPort returns the mismatch of the name of a port that the kubelet asks: it looks for it in the container.
func (f *family) unprobedPort(at []string, made member) *mismatch {
	name, _ := f.constant(made, at).(string)
	if name == "" {
		return nil
	}
	i := slices.IndexFunc(at, func(step string) bool { return slices.Contains(containerLists, step) })
	names, known := f.portNames(made, at[:i+2])
	if !known || slices.Contains(names, name) {
		return nil
	}
	return &mismatch{
		at, fmt.Sprintf("the container has no port %s%s", name, butHas(names)),
		proposed("port", name, names, "name a port of the container: name: "+name),
	}
}
