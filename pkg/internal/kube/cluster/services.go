package cluster

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The addresses and ports of Services. They follow from the name of the Service, so that
// they do not depend on the order in which an operator creates its children.

const (
	headless      = "None" // the clusterIP of a Service without an address
	firstNodePort = 30000
	nodePorts     = 2768
)

// assignService gives a Service the addresses and ports that its type needs, and takes
// those that it does not need any more.
func (c *Cluster) assignService(k Key, old, o Object) {
	spec, ok := o.Object["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
		o.Object["spec"] = spec
	}
	if old != nil {
		before, _, _ := unstructured.NestedMap(old.Object, "spec")
		keepAllocated(before, spec)
		if isBalanced(before) && !isBalanced(spec) {
			set(o, map[string]any{}, "status", "loadBalancer")
		}
	}
	if needsAddress(spec) {
		assignFamilies(spec)
		c.assignAddresses(k, spec)
	}
	if needsNodePorts(spec) {
		for _, port := range portsOf(spec) {
			if port["nodePort"] == nil {
				port["nodePort"] = c.free(k, fmt.Sprintf("%v/%v", port["port"], port["protocol"]), nodePort)
			}
		}
	}
	if needsHealthPort(spec) && spec["healthCheckNodePort"] == nil {
		spec["healthCheckNodePort"] = c.free(k, "health check", nodePort)
	}
}

func needsAddress(spec map[string]any) bool { return spec["type"] != "ExternalName" }

func isBalanced(spec map[string]any) bool { return spec["type"] == "LoadBalancer" }

func hasNodePorts(spec map[string]any) bool { return spec["type"] == "NodePort" || isBalanced(spec) }

func isExternal(spec map[string]any) bool {
	addresses, _ := spec["externalIPs"].([]any)
	return hasNodePorts(spec) || spec["type"] == "ClusterIP" && len(addresses) > 0
}

// needsNodePorts reports whether ports without a node port get one. What they have stays.
func needsNodePorts(spec map[string]any) bool {
	return spec["type"] == "NodePort" || isBalanced(spec) && spec["allocateLoadBalancerNodePorts"] != false
}

func needsHealthPort(spec map[string]any) bool {
	return isBalanced(spec) && spec["externalTrafficPolicy"] == "Local"
}

func portsOf(spec map[string]any) []map[string]any {
	list, _ := spec["ports"].([]any)
	var out []map[string]any
	for _, port := range list {
		if port, ok := port.(map[string]any); ok {
			out = append(out, port)
		}
	}
	return out
}

// keepAllocated keeps what the Service has if the update omits it, and removes what its new
// type does not need if the update does not change it.
func keepAllocated(before, spec map[string]any) {
	drop := func(needs func(map[string]any) bool, names ...string) {
		for _, name := range names {
			if needs(before) && !needs(spec) && fmt.Sprint(spec[name]) == fmt.Sprint(before[name]) {
				delete(spec, name)
			}
		}
	}
	keep := func(needs func(map[string]any) bool, names ...string) {
		for _, name := range names {
			if had := before[name]; had != nil && spec[name] == nil && needs(before) && needs(spec) {
				spec[name] = had
			}
		}
		drop(needs, names...)
	}
	drop(isBalanced, "allocateLoadBalancerNodePorts", "loadBalancerClass")
	drop(isExternal, "externalTrafficPolicy")
	keep(needsAddress, "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
	if spec["clusterIP"] != nil && spec["clusterIP"] != before["clusterIP"] &&
		fmt.Sprint(spec["clusterIPs"]) == fmt.Sprint(before["clusterIPs"]) {
		spec["clusterIPs"] = []any{spec["clusterIP"]}
	}
	keep(needsHealthPort, "healthCheckNodePort")
	keepNodePorts(before, spec)
}

// keepNodePorts keeps the ports of nodes by the names of the ports. A type without ports of
// nodes loses them, unless the update asks for one that the Service did not have.
func keepNodePorts(before, spec map[string]any) {
	if !hasNodePorts(before) {
		return
	}
	had, named, used := map[any]bool{nil: true}, map[any]any{}, map[any]bool{}
	for _, port := range portsOf(before) {
		had[port["nodePort"]] = true
		named[port["name"]] = port["nodePort"]
	}
	ports := portsOf(spec)
	asksForMore := false
	for _, port := range ports {
		used[port["nodePort"]] = true
		asksForMore = asksForMore || !had[port["nodePort"]]
	}
	for _, port := range ports {
		of := named[port["name"]]
		switch {
		case !hasNodePorts(spec) && !asksForMore:
			delete(port, "nodePort")
		case needsNodePorts(before) && needsNodePorts(spec) && port["nodePort"] == nil && of != nil && !used[of]:
			port["nodePort"] = of
		}
	}
}

// assignFamilies chooses the families of the addresses, on a cluster with IPv4.
func assignFamilies(spec map[string]any) {
	selector, _ := spec["selector"].(map[string]any)
	free := spec["clusterIP"] == headless && len(selector) == 0
	families, _ := spec["ipFamilies"].([]any)
	given, _ := spec["clusterIPs"].([]any)
	for i := len(families); i < len(given) && given[i] != headless; i++ {
		families = append(families, familyOf(given[i]))
	}
	if len(families) == 0 {
		families = []any{"IPv4"}
	}
	if spec["ipFamilyPolicy"] == nil {
		spec["ipFamilyPolicy"] = "SingleStack"
		if free {
			spec["ipFamilyPolicy"] = "RequireDualStack"
		}
	}
	if free && len(families) == 1 && spec["ipFamilyPolicy"] != "SingleStack" {
		other := "IPv6"
		if families[0] == other {
			other = "IPv4"
		}
		families = append(families, other)
	}
	spec["ipFamilies"] = families
}

func familyOf(address any) string {
	text, _ := address.(string)
	if parsed, err := netip.ParseAddr(text); err == nil && parsed.Is6() {
		return "IPv6"
	}
	return "IPv4"
}

// assignAddresses gives a Service an address of each family. One that is given comes first.
func (c *Cluster) assignAddresses(k Key, spec map[string]any) {
	all, _ := spec["clusterIPs"].([]any)
	if spec["clusterIP"] != nil && len(all) == 0 {
		all = []any{spec["clusterIP"]}
	}
	families, _ := spec["ipFamilies"].([]any)
	for i := len(all); i < len(families) && !slices.Contains(all, any(headless)); i++ {
		of := addressIPv4
		if families[i] == "IPv6" {
			of = addressIPv6
		}
		all = append(all, c.free(k, "", of))
	}
	if len(all) > 0 {
		spec["clusterIPs"] = all
		if spec["clusterIP"] == nil {
			spec["clusterIP"] = all[0]
		}
	}
}

// The values that Services share, by a number.
func addressIPv4(n uint32) any {
	return netip.AddrFrom4([4]byte{10, 96, byte(n >> 8), byte(n)}).String()
}

func addressIPv6(n uint32) any {
	address := netip.MustParseAddr("fd00:10:96::").As16()
	binary.BigEndian.PutUint16(address[14:], uint16(n)) //nolint:gosec // the lowest bits
	return netip.AddrFrom16(address).String()
}

func nodePort(n uint32) any { return int64(firstNodePort + n%nodePorts) }

// free returns a value for a Service that no other one has.
func (c *Cluster) free(k Key, use string, value func(uint32) any) any {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(k.Namespace + "/" + k.Name + "/" + use))
	for n := hash.Sum32(); ; n++ {
		if out := value(n); c.taken[out] == (Key{}) || c.Objects[c.taken[out]] == nil || c.taken[out] == k {
			c.taken[out] = k
			return out
		}
	}
}
