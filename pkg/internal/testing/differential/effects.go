package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// effects returns what has happened outside of the attackers' rights, although neither the
// definition says so nor lint warns of it.
func (g *Game) effects() []string {
	var out []string
	now := g.everything()
	for _, key := range slices.Sorted(maps.Keys(g.first)) {
		was, is := g.before[key], now[key]
		if was == nil || theirs(was) || ownerUID(was) != ownerUID(g.first[key]) { // the attackers have got it in an earlier game
			continue
		}
		if !g.excusesChange(was, is, g.edited[key]) && !g.follows(was, is) {
			out = append(out, fmt.Sprintf("%s is another one:\n%s", key, difference(was, is)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		o := now[key]
		if g.before[key] == nil && !theirs(o) && !g.excusesCreation(o) && !repairs(g.first[key], o) {
			out = append(out, key+" was created:\n"+string(text(o)))
		}
		if why := g.exposes(o); why != "" {
			out = append(out, key+" "+why+":\n"+string(text(o)))
		}
	}
	for _, o := range g.Objects() {
		if o["kind"] == "Event" && hasMark(o) {
			out = append(out, "an Event has the value of a Secret:\n"+string(text(o)))
		}
	}
	return out
}

// follows reports an object of others that is gone because what it belongs to is gone: its namespace, its owners, or
// the custom resource of a child without owner references. These were there before the first game, so each of them
// is compared itself. Its place is free then, and a new object there needs an excuse like any other.
func (g *Game) follows(was, is map[string]any) bool {
	if is != nil && (textAt(is, "metadata", "uid") == textAt(was, "metadata", "uid") || !g.excusesCreation(is)) {
		return false
	}
	uids := func(objects map[string]map[string]any) map[string]bool {
		out := map[string]bool{}
		for _, o := range objects {
			out[textAt(o, "metadata", "uid")] = true
		}
		return out
	}
	before, now := uids(g.first), uids(g.everything())
	gone := func(uid string) bool { return before[uid] && !now[uid] }
	if gone(textAt(g.first["v1 Namespace /"+textAt(was, "metadata", "namespace")], "metadata", "uid")) {
		return true
	}
	owners, _ := at(was, "metadata", "ownerReferences").([]any)
	if len(owners) == 0 {
		return gone(ownerUID(was))
	}
	return !slices.ContainsFunc(owners, func(owner any) bool { return !gone(textAt(owner.(map[string]any), "uid")) })
}

// repairs reports an object that is there again, as it was before the first game: a child of the same custom resource,
// with the same content. Its deletion was an effect of the game that deleted it.
func repairs(first, is map[string]any) bool {
	if first == nil || ownerUID(first) == "" || ownerUID(first) != ownerUID(is) {
		return false
	}
	content := func(o map[string]any) string {
		o = withoutLabels(o)
		for _, key := range []string{"uid", "creationTimestamp", "generation"} {
			delete(mapAt(o, "metadata"), key)
		}
		delete(o, "status")
		return encoded(o)
	}
	return content(first) == content(is)
}

// warns reports a warning with one of the codes.
func (g *Game) warns(codes ...string) bool {
	return slices.ContainsFunc(g.o.Findings, func(f diag.Finding) bool { return slices.Contains(codes, f.Code) })
}

// unrestricted reports a warning that users choose a name, or a namespace.
func (g *Game) unrestricted(key string) bool {
	return slices.Contains(g.o.free, key)
}

// excusesChange reports whether an object of others is as it was, or may have changed. An editor
// may change labels and annotations.
func (g *Game) excusesChange(was, is map[string]any, edited bool) bool {
	if g.trusted(was) || g.adoptedByWish(was, is) || g.patchedByWish(was, is) {
		return true
	}
	if is != nil && edited {
		was, is = withoutLabels(was), withoutLabels(is)
	}
	if is != nil && g.isParent(was) { // its status says that others have a name that it wants
		was, is = withoutLabels(was), withoutLabels(is)
		for _, o := range []map[string]any{was, is} {
			delete(o, "status")
			delete(mapAt(o, "metadata"), "finalizers")
		}
	}
	return encoded(was) == encoded(is)
}

// trusted reports an object of a kind about which users write what an operator trusts: without policies,
// the observed state of direct, and the labels of children that nothing else identifies.
func (g *Game) trusted(o map[string]any) bool {
	for i, spec := range g.o.specs {
		if at(spec, "install", "admissionPolicies") != false {
			continue
		}
		children, _ := spec["children"].([]any)
		if strings.HasPrefix(g.o.engines[i], string(plan.Direct)) || slices.ContainsFunc(children, func(c any) bool {
			owned := beside(c) && textAt(o, "metadata", "namespace") != "" && at(c, "onDelete") == nil && at(c, "update") == nil
			return textAt(c, "template", "kind") == textAt(o, "kind") && !owned
		}) {
			return true
		}
	}
	return false
}

// adoptedByWish reports an object of nobody that the definition takes over, at a place that is
// either fixed or that lint warns of.
func (g *Game) adoptedByWish(was, is map[string]any) bool {
	if ownerUID(was) != "" || at(was, "metadata", "ownerReferences") != nil {
		return false
	}
	taken := func(c map[string]any) bool {
		return at(c, "adopt") == true && g.namesOthers(c, at(c, "spec"), textAt(was, "metadata", "namespace"))
	}
	if is == nil { // deleted, after it was taken over in the same game
		return slices.ContainsFunc(g.o.children(), func(c map[string]any) bool {
			return textAt(c, "template", "kind") == textAt(was, "kind") && taken(c)
		})
	}
	return taken(g.childOf(is))
}

// patchedByWish reports an object of which a patch has set the field, at a place that is either
// fixed or that lint warns of.
func (g *Game) patchedByWish(was, is map[string]any) bool {
	for _, spec := range g.o.specs {
		patches, _ := spec["patches"].([]any)
		for _, p := range patches {
			was, is := withoutLabels(was), withoutLabels(is)
			delete(mapAt(was, "data"), "stamp")
			delete(mapAt(is, "data"), "stamp")
			if g.namesOthers(p, spec, textAt(is, "metadata", "namespace")) && encoded(was) == encoded(is) {
				return true
			}
		}
	}
	return false
}

// namesOthers reports whether a definition takes or changes an object of nobody in a namespace by the wish of its author:
// lint warns that users choose the name or the namespace, or the name is fixed, in a namespace that the definition
// allows. That of the custom resource is always allowed. No custom resource elsewhere names common.
func (g *Game) namesOthers(template, spec any, place string) bool {
	return g.unrestricted("name") || g.unrestricted("namespace") ||
		fixedText(template, "name") && (place == common || g.allows(template, spec, place))
}

// withoutLabels returns an object without labels, annotations, and what changes with them.
func withoutLabels(o map[string]any) map[string]any {
	if o == nil {
		return nil
	}
	o = decoded[map[string]any](o)
	metadata := mapAt(o, "metadata")
	for _, key := range []string{"labels", "annotations", "managedFields", "resourceVersion"} {
		delete(metadata, key)
	}
	return o
}

func encoded(o any) string {
	out, err := json.Marshal(o)
	if err != nil {
		panic(err) // unreachable: plain data
	}
	return string(out)
}

// childOf returns the child of a definition that an object is of; nil: none.
func (g *Game) childOf(o map[string]any) map[string]any {
	for _, c := range g.o.children() {
		if textAt(o, "metadata", "labels", "app.kubernetes.io/managed-by") == textAt(c, "operator") &&
			textAt(o, "metadata", "labels", "argoperator.dev/child") == c["name"] && textAt(c, "template", "kind") == textAt(o, "kind") {
			return c
		}
	}
	return nil
}

// fixedText reports a field of the metadata of a template without an expression.
func fixedText(c any, field string) bool {
	text, written := at(c, "template", "metadata", field).(string)
	return written && !strings.Contains(text, "${")
}

// ofMine reports a child of the custom resource of the attacker who may write no other. An editor may have
// changed its annotations.
func ofMine(o map[string]any) bool {
	owners, _ := at(o, "metadata", "ownerReferences").([]any)
	return textAt(o, "metadata", "annotations", "argoperator.dev/owner") == common+".mine" ||
		slices.ContainsFunc(owners, func(owner any) bool { return at(owner, "name") == "mine" })
}

// beside reports a template of objects in the namespace of their custom resource. What they may be there is its
// author's wish.
func beside(c any) bool { return at(c, "template", "metadata", "namespace") == nil }

// excusesCreation reports whether a new object may be there: its place is fixed, or one of those
// that the definition allows, or lint warns of it. It must be a child of a custom resource of an
// attacker.
func (g *Game) excusesCreation(o map[string]any) bool {
	if g.own(o) {
		return true
	}
	c := g.childOf(o)
	if c == nil {
		return false
	}
	place := textAt(o, "metadata", "namespace")
	if place == common && ofMine(o) {
		return true // in its own namespace
	}
	allowed, _ := at(c, "spec", "install", "allowedNamespaces").([]any)
	switch {
	case textAt(o, "kind") == "Namespace":
		place = textAt(o, "metadata", "name")
		return place != system && (g.unrestricted("name") || g.warns(diag.Uniqueness) || len(allowed) > 0 || !strings.HasPrefix(place, "kube-"))
	case place == "":
		return true
	}
	return g.allows(c, at(c, "spec"), place)
}

// allows reports whether a definition writes to a namespace of others by the wish of its author:
// the namespace is fixed, listed in the schema or under allowedNamespaces; or lint warns.
func (g *Game) allows(template, spec any, place string) bool {
	from := textAt(template, "template", "metadata", "namespace")
	versions, _ := at(spec, "api", "versions").([]any)
	listed := len(versions) > 0 && strings.Contains(textAt(versions[0], "schema", "spec", "ns"), "enum") && strings.Contains(from, ".spec.ns")
	allowed, _ := at(spec, "install", "allowedNamespaces").([]any)
	switch {
	case fixedText(template, "namespace"):
		return true
	case len(allowed) > 0:
		return slices.ContainsFunc(allowed, func(pattern any) bool { matches, _ := path.Match(pattern.(string), place); return matches })
	case listed:
		return true
	}
	return g.unrestricted("namespace") && place != system && !strings.HasPrefix(place, "argo")
}

// exposes returns what an object gives to the attackers that they must not have.
func (g *Game) exposes(o map[string]any) string {
	c := g.childOf(o)
	private := slices.Contains([]string{platform, victims, common}, textAt(o, "metadata", "namespace"))
	readable := theirs(o) || textAt(o, "kind") != "Secret" && !private
	if readable && hasMark(o) && !g.warns(diag.SecretExposed) {
		rel, _ := at(c, "spec", "related").([]any)
		wished := len(rel) == 1 && textAt(o, "kind") == "Secret" && (textAt(rel[0], "namespace") == platform || g.unrestricted("namespace") ||
			at(c, "spec", "install", "allowedNamespaces") != nil)
		if !wished {
			return "has the value of a Secret"
		}
	}
	if c == nil || g.warns(diag.PrivilegeEscalation) {
		return ""
	}
	template := encoded(mapAt(c, "template"))
	for _, word := range []string{"cluster-admin", "edit", "secrets", "*"} {
		if strings.HasPrefix(textAt(o, "apiVersion"), "rbac.") && strings.Contains(encoded(withoutLabels(o)), `"`+word+`"`) && !strings.Contains(template, word) {
			return "grants " + word
		}
	}
	for key := range mapAt(o, "metadata", "labels") {
		if slices.Contains([]string{"ClusterRole", "Namespace"}, textAt(o, "kind")) && (strings.HasPrefix(key, "rbac.") || strings.HasPrefix(key, "pod-security.")) && !theirs(o) {
			return "has the label " + key
		}
	}
	return ""
}

func hasMark(value any) bool {
	return strings.Contains(fmt.Sprint(value), marked[:12]) || strings.Contains(fmt.Sprint(value), "MARKERof")
}
