package differential

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Operators are drawn operators that lint accepts, for games with attackers.
type Operators struct {
	*targets
	Findings diag.List // warnings

	free     []string // the keys that users choose, as lint warns: name, namespace
	engines  []string // by operator
	objects  []manifest.Object
	prepared *simulate.Prepared
}

// DrawOperators draws operators. There are none if lint reports errors, which the findings
// have then.
func DrawOperators(seed uint64, choices Choices) (*Operators, diag.List, error) {
	o := &Operators{targets: drawTargets(newDrawing(seed, choices)), prepared: simulate.NewPrepared()}
	sources := o.sources()
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		return nil, result.Findings, err
	}
	o.Findings, o.free = result.Findings, freeKeys(sources, result.Findings)
	for _, operator := range result.Operators {
		o.engines = append(o.engines, operator.Engine())
	}
	for _, b := range result.Bundles() {
		o.objects = append(o.objects, b.Objects...)
	}
	return o, nil, nil
}

// String returns the definitions and what lint says of them.
func (o *Operators) String() string {
	var b strings.Builder
	for _, s := range o.sources() {
		fmt.Fprintf(&b, "---\n%s", s.Data)
	}
	for _, f := range o.Findings {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// freeKeys returns the keys of definitions of which lint says that users choose them.
func freeKeys(sources []argoperator.Source, findings diag.List) []string {
	var out []string
	for _, f := range findings {
		i := slices.IndexFunc(sources, func(s argoperator.Source) bool { return s.Name == f.File })
		if f.Code != diag.UnrestrictedTarget || i < 0 {
			continue
		}
		key, _, _ := strings.Cut(strings.Split(string(sources[i].Data), "\n")[f.Line-1], ":")
		out = append(out, strings.Trim(key, " -"))
	}
	return out
}

// children returns the children of all operators, each with the name of its operator and its definition.
func (o *Operators) children() []map[string]any {
	var out []map[string]any
	for i, spec := range o.specs {
		children, _ := spec["children"].([]any)
		for _, c := range children {
			out = append(out, with(c.(map[string]any), "operator", o.name(i), "spec", spec))
		}
	}
	return out
}

// Choices returns the choices that the operators were made of.
func (o *Operators) Choices() Choices { return maps.Clone(o.taken) }

// Game is a cluster with operators, tenants, objects of others and attackers.
type Game struct {
	*simulate.Simulation
	*drawing
	o      *Operators
	first  map[string]map[string]any // the objects before the first game
	before map[string]map[string]any // those before this one
	edited map[string]bool           // objects of others of which an editor has changed labels or annotations
	log    []string
}

// Begin makes a cluster for games with operators, which its Close ends.
func Begin(o *Operators, seed uint64, runner simulate.Runner) (*Game, error) {
	g := &Game{drawing: newDrawing(seed, nil), o: o, edited: map[string]bool{}}
	var err error
	g.Simulation, err = simulate.New(simulate.Inputs{Objects: o.objects, Runner: runner, Prepared: o.prepared, Untraced: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(g.peace(), g.settle()); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.first = g.everything()
	return g, nil
}

// Attack plays a game on a cluster, after those that have been played on it, and returns the
// effects outside of the attackers' rights.
func (g *Game) Attack(seed uint64) ([]string, error) {
	g.drawing, g.before = newDrawing(seed, nil), g.everything()
	for i := range 2 + g.pick("moves", 4) {
		if err := g.move(fmt.Sprintf("move.%d.", i)); err != nil {
			return nil, err
		}
	}
	if err := g.settle(); err != nil {
		return nil, err
	}
	return g.effects(), nil
}

// Log returns what the attackers did in all games.
func (g *Game) Log() string { return strings.Join(g.log, "\n") }

// marked is the value of the Secrets of others.
var marked = base64.StdEncoding.EncodeToString([]byte("MARKERofASecret"))

// othersKinds are the kinds of the objects that belong to nobody's custom resource.
var othersKinds = []struct {
	apiVersion, kind string
	cluster          bool
	content          map[string]any
}{
	{"v1", "ConfigMap", false, map[string]any{"data": map[string]any{"value": "theirs", "ns": "kube-system", "name": "victim", "text": "theirs"}}},
	{"v1", "Secret", false, map[string]any{"data": map[string]any{"value": marked}}},
	{"v1", "ServiceAccount", false, nil},
	{"rbac.authorization.k8s.io/v1", "Role", false, map[string]any{"rules": []any{}}},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", false, map[string]any{"roleRef": map[string]any{
		"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view",
	}}},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", true, map[string]any{"rules": []any{}}},
	{"scheduling.k8s.io/v1", "PriorityClass", true, map[string]any{"value": int64(7)}},
}

// peace makes what exists before the attack: objects of others, and a tenant's custom
// resources.
func (g *Game) peace() error {
	for _, name := range []string{attackers, accomplice, common, victims, platform, system, "default"} {
		if err := g.Apply(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}); err != nil {
			return err
		}
	}
	used := encoded(map[string]any{"specs": g.o.specs})
	for _, k := range othersKinds {
		if !strings.Contains(used, `"kind":"`+k.kind+`"`) {
			continue
		}
		for _, place := range []string{victims, common, platform, system} {
			for _, name := range []string{"victim", "x-victim", "only"} {
				metadata := map[string]any{"name": name, "namespace": place, "labels": map[string]any{"team": "victim"}}
				switch {
				case k.cluster:
					delete(metadata, "namespace")
				case name == "x-victim" && place == common:
					owner, err := g.controller()
					if err != nil {
						return err
					}
					metadata["ownerReferences"] = []any{owner}
				}
				o := with(k.content, "apiVersion", k.apiVersion, "kind", k.kind, "metadata", metadata)
				if name == "only" && g.rarely("only", 2) {
					continue // free
				}
				if err := g.Apply(o); err != nil {
					return err
				}
			}
		}
	}
	for i := range g.o.specs {
		for _, of := range [][2]string{{"bob", victims}, {"victim", victims}, {"bob", common}} {
			name, place := of[0], of[1]
			fields := map[string]any{
				"ns": victims, "name": "of-" + name, "role": "view", "user": "bob", "text": "of-" + name, "items": []any{name + "-x"}, "labels": map[string]any{"a": "b"},
			}
			metadata := map[string]any{"annotations": with(map[string]any{}, "ns", victims, "name", name+"s", "text", "of-"+name)}
			metadata["labels"] = maps.Clone(metadata["annotations"].(map[string]any))
			if err := g.try(g.Apply(g.customResource(i, name, place, metadata, fields))); err != nil {
				return err
			}
		}
	}
	return nil
}

// controller makes an object that controls others, and returns the owner reference to it.
func (g *Game) controller() (map[string]any, error) {
	owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "controller", "namespace": common}}
	if err := g.Apply(owner); err != nil {
		return nil, err
	}
	made := g.everything()[fmt.Sprint("v1 ", placeOf(owner))]
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "controller", "uid": textAt(made, "metadata", "uid"), "controller": true}, nil
}

// customResource returns a custom resource of an operator.
func (g *Game) customResource(i int, name, place string, metadata, fields map[string]any) map[string]any {
	metadata = with(metadata, "name", name, "namespace", place)
	if at(g.o.specs[i], "api", "existing") == nil {
		return map[string]any{"apiVersion": group + "/v1", "kind": attackedKinds[i], "metadata": metadata, "spec": fields}
	}
	metadata["labels"] = with(metadata["labels"].(map[string]any), "for", g.o.name(i))
	data := map[string]any{}
	for key, value := range fields {
		switch value := value.(type) {
		case string:
			data[key] = value
		case []any:
			words := make([]string, len(value))
			for i, item := range value {
				words[i] = fmt.Sprint(item)
			}
			data[key] = strings.Join(words, ",")
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
}

// settle runs the operators until nothing changes, and then as in a resync.
func (g *Game) settle() error {
	ctx := context.Background()
	if err := g.Run(ctx); err != nil {
		return err
	}
	if _, err := g.FireTimers(ctx); err != nil {
		return err
	}
	if err := g.Resync(ctx); err != nil {
		return err
	}
	return g.Run(ctx)
}

// try counts a request of a user that the API server rejects, which is no failure.
func (g *Game) try(err error) error {
	if err != nil {
		g.log = append(g.log, "rejected: "+err.Error())
	}
	return nil
}

func (g *Game) everything() map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, o := range g.Objects() {
		if o["kind"] != "Event" {
			out[fmt.Sprint(o["apiVersion"], " ", placeOf(o))] = o
		}
	}
	return out
}

// among returns one of the objects that a condition selects; nil if there is none.
func (g *Game) among(at string, of func(o map[string]any) bool) map[string]any {
	list := slices.DeleteFunc(g.Objects(), func(o map[string]any) bool { return o["kind"] == "Event" || !of(o) })
	if len(list) == 0 {
		return nil
	}
	return list[g.pick(at, 1<<20)%len(list)]
}

// theirs reports an object of the attackers: they have all rights in their namespaces.
func theirs(o map[string]any) bool {
	place := textAt(o, "metadata", "namespace")
	return place == attackers || place == accomplice
}

// own reports whether the attackers may write a custom resource.
func (g *Game) own(o map[string]any) bool {
	return g.isParent(o) && (theirs(o) || textAt(o, "metadata", "namespace") == common && textAt(o, "metadata", "name") == "mine")
}

func ownerUID(o map[string]any) string {
	return textAt(o, "metadata", "labels", "argoperator.dev/owner-uid")
}

// move is one action of the attackers.
func (g *Game) move(at string) error {
	do := oneOf(g.drawing, at+"do", g.grab, g.grab, g.grab, g.forgeChild, g.forgeStatus, g.forgeAnnotations, g.editChild, g.editOthers, g.withdraw, g.provide)
	if err := do(at); err != nil {
		return err
	}
	return g.Run(context.Background())
}

// Words that attackers write into fields.
var (
	placeWords = []string{victims, platform, system, attackers, "argo", "default", "..", "team-b%2fx", "argo-events", ""}
	nameWords  = []string{"victim", "bob", "of-bob", "only", "x-victim", "mine", "team-b.bob", "system:masters", "..", "bob-x", "victim-bob-x"}
	roleWords  = []string{"cluster-admin", "secrets", "*", "edit", "view"}
	textWords  = []string{"b", "of-bob", "victim", "off", "a", "", "theirs"}
)

// hostile draws the values of a custom resource.
func (g *Game) hostile(at string) (metadata, fields map[string]any) {
	word := func(name string, from []string) string { return oneOf(g.drawing, at+name, from...) }
	metadata = map[string]any{
		"annotations": map[string]any{"ns": word("a.ns", placeWords), "name": word("a.name", nameWords), "text": word("a.text", textWords)},
		"labels":      map[string]any{"team": "victim"},
	}
	label := func(key, value string) {
		if !strings.ContainsAny(value, ":%") && value != ".." {
			metadata["labels"].(map[string]any)[key] = value
		}
	}
	label("ns", word("l.ns", placeWords))
	label("name", word("l.name", nameWords))
	label("text", word("l.text", textWords))
	fields = map[string]any{
		"ns": word("ns", placeWords), "name": word("name", nameWords), "role": word("role", roleWords), "user": "mallory", "text": word("text", textWords),
		"items": []any{word("item.0", placeWords), word("item.1", nameWords)},
		"labels": map[string]any{
			"rbac.authorization.k8s.io/aggregate-to-view": "true", "pod-security.kubernetes.io/enforce": "privileged", "app.kubernetes.io/managed-by": "op1",
		},
	}
	return metadata, fields
}

// grab creates or changes a custom resource.
func (g *Game) grab(at string) error {
	metadata, fields := g.hostile(at)
	name, place := oneOf(g.drawing, at+"cr", "mine", "victim", "bob"), oneOf(g.drawing, at+"place", attackers, accomplice, common)
	if place == common {
		name, fields["name"] = "mine", oneOf(g.drawing, at+"taken", "victim", "x-victim", "only", "bob", "of-bob")
		fields["items"] = []any{fields["name"], oneOf(g.drawing, at+"too", "victim", "x-victim", "of-bob")}
	}
	cr := g.customResource(g.pick(at+"operator", len(g.o.specs)), name, place, metadata, fields)
	g.log = append(g.log, "write "+oneLine(cr))
	return g.try(g.Apply(cr))
}

func oneLine(o map[string]any) string { return strings.ReplaceAll(string(text(o)), "\n", "\n    ") }

// isParent reports a custom resource.
func (g *Game) isParent(o map[string]any) bool {
	return slices.Contains(attackedKinds, textAt(o, "kind")) || textAt(o, "metadata", "labels", "for") != ""
}

// mark returns what identifies a child of somebody, as labels and annotations.
func (g *Game) mark(at string) (labels, annotations map[string]any) {
	child := g.among(at+"like", func(o map[string]any) bool { return ownerUID(o) != "" })
	labels, annotations = map[string]any{}, map[string]any{}
	for key, value := range mapAt(child, "metadata", "labels") {
		if strings.HasPrefix(key, "a") {
			labels[key] = value
		}
	}
	maps.Copy(annotations, mapAt(child, "metadata", "annotations"))
	parent := g.among(at+"parent", g.isParent)
	if parent != nil && g.rarely(at+"other parent", 2) {
		labels["argoperator.dev/owner-uid"] = textAt(parent, "metadata", "uid")
		annotations["argoperator.dev/owner"] = textAt(parent, "metadata", "namespace") + "." + textAt(parent, "metadata", "name")
	}
	annotations["argoperator.dev/fixed"] = "changed"
	return labels, annotations
}

func mapAt(o map[string]any, path ...string) map[string]any {
	out, _ := at(o, path...).(map[string]any)
	return out
}

// forgeChild creates an object that looks like a child.
func (g *Game) forgeChild(at string) error {
	like := g.among(at+"copied", func(o map[string]any) bool {
		return ownerUID(o) != "" || strings.Contains(textAt(o, "metadata", "name"), "victim")
	})
	if like == nil || textAt(like, "metadata", "namespace") == "" {
		return nil
	}
	labels, annotations := g.mark(at)
	metadata := map[string]any{
		"name": oneOf(g.drawing, at+"name", append(nameWords, textAt(like, "metadata", "name"))...), "namespace": oneOf(g.drawing, at+"place", attackers, accomplice),
		"labels": labels, "annotations": annotations,
	}
	if parent := g.among(at+"owner", g.isParent); parent != nil {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": parent["apiVersion"], "kind": parent["kind"], "name": textAt(parent, "metadata", "name"), "uid": textAt(parent, "metadata", "uid"),
			"controller": g.rarely(at+"controller", 2),
		}}
	}
	forged := with(like, "metadata", metadata)
	for _, key := range []string{"data", "stringData", "status"} {
		delete(forged, key)
	}
	g.log = append(g.log, "forge "+oneLine(forged))
	return g.try(g.Apply(forged))
}

// forgeStatus claims in the observed state that an object of others is a child.
func (g *Game) forgeStatus(at string) error {
	cr := g.among(at+"cr", func(o map[string]any) bool { return g.isParent(o) && (theirs(o) || g.rarely(at+"elsewhere", 4)) })
	victim := g.among(at+"victim", func(o map[string]any) bool { return !theirs(o) && !g.isParent(o) })
	if cr == nil || victim == nil {
		return nil
	}
	seen := map[string]any{
		"uid": textAt(victim, "metadata", "uid"), "ownerUID": textAt(cr, "metadata", "uid"), "resourceVersion": textAt(victim, "metadata", "resourceVersion"),
		"generation": int64(g.pick(at+"generation", 3)), "ready": true, "name": textAt(victim, "metadata", "name"), "fixed": "other", "unwanted": g.rarely(at+"unwanted", 2),
		"fields": []any{map[string]any{"data": map[string]any{"ns": system, "name": "victim", "text": "theirs"}}},
	}
	name, place := textAt(victim, "metadata", "name"), textAt(victim, "metadata", "namespace")
	children := map[string]any{}
	for _, child := range []string{"c0", "c1"} {
		children[child], children[child+"/"+name], children[child+"/"+place+"/"+name] = seen, seen, seen
	}
	g.log = append(g.log, fmt.Sprintf("claim in the status of %s that %s is a child", placeOf(cr), placeOf(victim)))
	return g.try(g.Patch(cr, "status", "mallory", map[string]any{"status": map[string]any{"children": children}}))
}

// forgeAnnotations does the same in annotations.
func (g *Game) forgeAnnotations(at string) error {
	cr := g.among(at+"cr", func(o map[string]any) bool { return g.isParent(o) && theirs(o) })
	victim := g.among(at+"victim", func(o map[string]any) bool { return !theirs(o) && !g.isParent(o) })
	if cr == nil || victim == nil {
		return nil
	}
	annotations := map[string]any{"argoperator.dev/reconcile": "now", "argoperator.dev/owner": victims + ".bob", "argoperator.dev/depth": "-5"}
	seen := fmt.Sprintf(`{"uid":%q,"ownerUID":%q,"resourceVersion":"1","generation":1,"ready":true}`, textAt(victim, "metadata", "uid"), textAt(cr, "metadata", "uid"))
	for i := range g.o.specs {
		annotations[g.o.name(i)+".argoperator.dev/child-c0"] = seen
	}
	g.log = append(g.log, fmt.Sprintf("claim in annotations of %s that %s is a child", placeOf(cr), placeOf(victim)))
	return g.try(g.Patch(cr, "", "mallory", map[string]any{"metadata": map[string]any{"annotations": annotations}}))
}

// editChild changes or deletes an object in a namespace of the attackers.
func (g *Game) editChild(at string) error {
	o := g.among(at+"child", func(o map[string]any) bool { return theirs(o) && !g.isParent(o) })
	if o == nil {
		return nil
	}
	if g.rarely(at+"delete", 3) {
		g.log = append(g.log, "delete "+placeOf(o))
		return g.try(g.Delete(o))
	}
	labels, annotations := g.mark(at)
	patch := map[string]any{"metadata": map[string]any{"labels": labels, "annotations": annotations}}
	if g.rarely(at+"content", 2) {
		patch = map[string]any{"data": map[string]any{"ns": oneOf(g.drawing, at+"ns", placeWords...), "name": oneOf(g.drawing, at+"name", nameWords...)}}
		if textAt(o, "kind") != "ConfigMap" {
			return nil
		}
	}
	g.log = append(g.log, fmt.Sprintf("change %s: %s", placeOf(o), oneLine(patch)))
	return g.try(g.Patch(o, "", "mallory", patch))
}

// editOthers changes labels and annotations of an object of others, by somebody who may do
// that, and nothing else.
func (g *Game) editOthers(at string) error {
	o := g.among(at+"other", func(o map[string]any) bool {
		return !theirs(o) && !g.isParent(o) && textAt(o, "metadata", "namespace") != ""
	})
	if o == nil || !g.rarely("editor", 2) {
		return nil
	}
	labels, annotations := g.mark(at)
	patch := map[string]any{"metadata": map[string]any{"labels": labels, "annotations": annotations}}
	g.log = append(g.log, fmt.Sprintf("label %s: %s", placeOf(o), oneLine(patch)))
	if err := g.Patch(o, "", "carol", patch); err != nil {
		return g.try(err)
	}
	g.edited[fmt.Sprint(o["apiVersion"], " ", placeOf(o))] = true
	return nil
}

// withdraw deletes a custom resource of the attackers.
func (g *Game) withdraw(at string) error {
	cr := g.among(at+"cr", g.own)
	if cr == nil {
		return nil
	}
	g.log = append(g.log, "delete "+placeOf(cr))
	return g.try(g.Delete(cr))
}

// provide creates an object that related entries read.
func (g *Game) provide(at string) error {
	o := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
			"name": oneOf(g.drawing, at+"object", nameWords...), "namespace": oneOf(g.drawing, at+"place", attackers, accomplice), "labels": map[string]any{"team": oneOf(g.drawing, at+"team", "a", "b", "victim")},
		},
		"data": map[string]any{
			"ns": oneOf(g.drawing, at+"ns", placeWords...), "name": oneOf(g.drawing, at+"name", nameWords...), "text": oneOf(g.drawing, at+"text", textWords...), "value": "mine",
		},
	}
	g.log = append(g.log, "provide "+oneLine(o))
	return g.try(g.Apply(o))
}
