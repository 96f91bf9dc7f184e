package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// The programs of the Sensors are the jq files of the directory direct. This file
// fills in their holes. The parsed files are the same for every operator, so they are part
// of argoperator: parsing them took a tenth of a run.

//go:generate go run ../../testing/generate/direct

// directPrograms returns the parsed files.
func directPrograms() *jqfile.Set { return &directSet }

// labelHoles returns the keys of labels and annotations, which are the same for every
// operator.
var labelHoles = sync.OnceValue(func() jqfile.Holes {
	return jqfile.Holes{
		"label::managedBy": jqfile.String(ManagedBy), "label::ownerUID": jqfile.String(OwnerUID),
		"label::child": jqfile.String(ChildLabel), "label::operatorNamespace": jqfile.String(OperatorNamespace),
		"label::reclaimed":       jqfile.String(reclaimedLabel),
		"annotation::generation": jqfile.String(generationAnnotation),
		"annotation::attempt":    jqfile.String(attemptAnnotation), "annotation::owner": jqfile.String(OwnerAnnotation),
		"annotation::paused": jqfile.String(PausedAnnotation),
		"annotation::inputs": jqfile.String(inputsAnnotation), "annotation::fixed": jqfile.String(fixedAnnotation),
	}
})

var reclaimedPointer = "/metadata/labels/" + escapePointer(reclaimedLabel)

// holesOf returns the holes that all programs share.
func holesOf(p *configured) jqfile.Holes {
	prefix := p.annotationPrefix()
	var live []jqfile.Field
	for _, c := range p.Children {
		if observedFieldsJQ(p, c) != "" {
			live = append(live, jqfile.Field{Name: c.Name, Value: liveValue(p, c)})
		}
	}
	return jqfile.Holes{
		"option::childOfOwnKind": jqfile.Bool(hasChildOfOwnKind(p)),
		"option::inStatus":       jqfile.Bool(p.Reconcile.StateLocation == InStatus),
		"option::namespaced":     jqfile.Bool(p.API.Kind.Namespaced),
		"option::diagnosed":      jqfile.Bool(p.Reconcile.Diagnoses),
		"hole::liveChildren":     jqfile.Object(live...),
		"hole::apiRoot":          jqfile.String(root(p.API.Kind)), "hole::plural": jqfile.String(p.API.Kind.Plural),
		"hole::apiVersion": jqfile.String(p.API.Kind.APIVersion()), "hole::kind": jqfile.String(p.API.Kind.Kind),
		"hole::operator":   jqfile.String(p.Operator.Name),
		"annotation::seen": jqfile.String(prefix + seenAnnotation), "annotation::deleted": jqfile.String(prefix + deletedAnnotation),
		"annotation::error": jqfile.String(prefix + errorAnnotation), "annotation::failed": jqfile.String(prefix + failedAnnotation),
	}
}

// listPrefix returns the beginning of the keys of a child's objects in the list.
func listPrefix(c Child) string { return c.Name + "/" }

// hasPrefix returns the jq that tells whether a key begins with one of the prefixes.
func hasPrefix(prefixes []string) jqfile.Value {
	if prefixes == nil {
		return jqfile.Bool(false)
	}
	var terms []string
	for _, prefix := range prefixes {
		terms = append(terms, fmt.Sprintf("startswith(%s)", quote(prefix)))
	}
	return jqfile.Raw("(" + strings.Join(terms, " or ") + ")")
}

// liveValue returns the jq of $children.NAME.
func liveValue(p *configured, c Child) jqfile.Value {
	holes := jqfile.Holes{"hole::child": jqfile.String(c.Name), "hole::childPrefix": jqfile.String(listPrefix(c))}
	switch {
	case !p.listed(c):
		return directPrograms().Definition("liveFields", holes)
	case c.ForEach == nil:
		return directPrograms().Definition("liveListed", holes)
	}
	return directPrograms().Definition("liveEach", holes)
}

// childHoles returns the holes of the programs of one child.
func childHoles(p *configured, c Child) jqfile.Holes {
	prefix := p.annotationPrefix()
	holes := jqfile.Holes{
		"hole::child": jqfile.String(c.Name), "hole::childPrefix": jqfile.String(listPrefix(c)),
		"option::listed": jqfile.Bool(p.listed(c)), "option::each": jqfile.Bool(c.ForEach != nil),
		"option::marked": jqfile.Bool(marked(p, c, p.inputsOf(c))),
		"annotation::childSeen": jqfile.String(
			prefix + seenAnnotation + c.Name,
		), "annotation::childDeleted": jqfile.String(prefix + deletedAnnotation + c.Name),
		"annotation::childError": jqfile.String(
			prefix + errorAnnotation + c.Name,
		), "annotation::childFailed": jqfile.String(prefix + failedAnnotation + c.Name),
		"option::conditional": jqfile.Bool(c.When != nil), "option::diagnosed": jqfile.Bool(p.diagnoses(c)),
		"option::never": jqfile.Bool(c.Update == Never), "option::recreated": jqfile.Bool(c.Replaced != nil),
		"option::sealed": jqfile.Bool(c.Sealed), "option::readsSecrets": jqfile.Bool(p.ReadsSecrets(c)),
		"option::labelled": jqfile.Bool(slices.Contains(p.labelledKinds(), c.Kind)), "hole::namespace": jqfile.String(p.Shared.Namespace),
		"option::unowned": jqfile.Bool(p.unowned(c)), "option::adopt": jqfile.Bool(c.Adopt),
		"option::childNamespaced": jqfile.Bool(c.Kind.Namespaced),
		"option::childNamespace":  jqfile.Bool(namespaceComputed(c)),
		"hole::name":              jqfile.Raw(c.ObjectName.Source()),
		"hole::childRoot":         jqfile.String(root(c.Kind)), "hole::childPlural": jqfile.String(c.Kind.Plural),
		"hole::childKind": jqfile.String(c.Kind.Kind),
	}
	if c.Replaced != nil {
		holes["hole::fixed"] = jqfile.Raw("(" + c.Replaced.Source() + ")")
	}
	if namespaceComputed(c) {
		holes["hole::childNamespace"] = jqfile.Raw(c.Namespace.Source())
	}
	return holes
}

// marked reports whether the observed state has a digest of what a child was made from
// beside the spec. Without it the status cannot tell that it is about to be made again.
func marked(p *configured, c Child, in inputs) bool {
	return !in.none() && (p.listed(c) || c.Update != Never && !in.whole)
}

// namespaceComputed reports whether the namespace of a child differs from that of its
// custom resource.
func namespaceComputed(c Child) bool {
	return c.Kind.Namespaced && c.Namespace != nil && !c.SameNamespace
}

// writeJQ returns the program that writes a child: direct/write.jq.
func writeJQ(p *configured, c Child) string {
	return directPrograms().Program("write", writeHoles(p, c), childHoles(p, c), holesOf(p), labelHoles())
}

// objectsJQ returns the program that writes the objects of a listed child:
// direct/objects.jq.
func objectsJQ(p *configured, c Child, worker, workers int) string {
	holes := writeHoles(p, c)
	holes["hole::template"] = templateJQ(p, c)
	holes["option::workers"], holes["hole::workers"], holes["hole::worker"] = jqfile.Bool(
		workers > 1,
	), jqfile.Number(
		workers,
	), jqfile.Number(
		worker,
	)
	holes["hole::place"] = placeOf(c)
	holes["option::finalized"], holes["hole::finalizer"] = jqfile.Bool(p.needsFinalizer(c)), jqfile.String(p.Reconcile.Finalizer)
	if c.ForEach != nil {
		holes["hole::forEach"] = jqfile.Raw("(" + c.ForEach.Source() + ")")
	}
	return directPrograms().Program("objects", holes, childHoles(p, c), holesOf(p), labelHoles())
}

// placeOf returns the jq of the name and namespace of an object of a child, with more fields.
func placeOf(c Child, more ...jqfile.Field) jqfile.Value {
	place := append(more, jqfile.Field{Name: "name", Value: jqfile.Raw(c.ObjectName.Source())})
	if namespaceComputed(c) {
		place = append(place, jqfile.Field{Name: "namespace", Value: jqfile.Raw(c.Namespace.Source())})
	}
	return jqfile.Object(place...)
}

// deleteJQ returns the program that deletes listed objects, or those that may be
// missing: direct/delete.jq.
func deleteJQ(p *configured, missing bool) string {
	pointers := jqfile.Holes{
		"option::missing":         jqfile.Bool(missing),
		"hole::ownerLabelPointer": jqfile.String("/metadata/labels/" + escapePointer(OwnerUID)),
		"hole::reclaimedPointer":  jqfile.String(reclaimedPointer),
	}
	var deletion jqfile.Value
	var prefixes []string
	for _, c := range slices.Backward(p.Children) {
		if p.listed(c) {
			next := jqfile.Holes{"option::last": jqfile.Bool(prefixes == nil), "hole::otherDeletion": deletion}
			deletion = directPrograms().Definition("deletion", next, pointers, childHoles(p, c), holesOf(p))
			prefixes = append(prefixes, listPrefix(c))
		}
	}
	return directPrograms().Program("delete", jqfile.Holes{
		"hole::maxMissing": jqfile.Number(
			maxMissing,
		), "hole::maxAttempts": jqfile.Number(MaxAttempts), "hole::lastAttempt": jqfile.Number(MaxAttempts - 1),
		"hole::deletion": deletion, "hole::isListed": hasPrefix(prefixes),
	}, pointers, holesOf(p), labelHoles())
}

// writeHoles returns the holes of the programs that write the objects of a child.
func writeHoles(p *configured, c Child) jqfile.Holes {
	in := p.inputsOf(c)
	readsChildren := len(c.Object.ReadsChildren()) > 0 || len(readsOf(c.When)) > 0 || len(readsOf(c.ForEach)) > 0 ||
		slices.ContainsFunc(p.meeting(c), Child.placedByChildren)
	pointerToOwner := "/metadata/ownerReferences/0/uid"
	if p.unowned(c) {
		pointerToOwner = "/metadata/labels/" + escapePointer(OwnerUID)
	}
	holes := jqfile.Holes{
		"hole::exactNumbers": exactNumbers(c.InexactPaths), "option::readsChildren": jqfile.Bool(readsChildren),
		"hole::template":  unsharedJQ(p, c),
		"option::mayMeet": jqfile.Bool(len(p.meeting(c)) > 0), "hole::taken": taken(p, c),
		"option::hasInputs": jqfile.Bool(!in.none()), "hole::inputs": in.jq(p),
		"option::canBeHeld": jqfile.Bool(canWait(c)), "option::dependsOn": jqfile.Bool(canBeLate(c)),
		"option::force":        jqfile.Bool(p.Reconcile.ForceConflicts),
		"option::besideParent": jqfile.Bool(c.Kind.Namespaced && c.Namespace == nil),
		"hole::maxAttempts":    jqfile.Number(MaxAttempts), "hole::lastAttempt": jqfile.Number(lastAttempt(p, c)),
		"option::absenceAllowed": jqfile.Bool(absenceAllowed(p, c)),
		"hole::observeTimeout":   jqfile.Number(observeTimeout), "hole::noVersion": jqfile.String(noVersion),
		"hole::ownerPointer": jqfile.String(pointerToOwner), "hole::reclaimedPointer": jqfile.String(reclaimedPointer),
	}
	if c.When != nil {
		holes["hole::when"] = jqfile.Raw("(" + c.When.Source() + ")")
	}
	waitHoles(p, c, holes)
	decideHoles(p, c, holes)
	return holes
}

// waitHoles fills the holes for the conditions under which a child is not written.
func waitHoles(p *configured, c Child, holes jqfile.Holes) {
	var ready []jqfile.Value
	var waits []string
	for _, other := range p.Children {
		if slices.Contains(c.DependsOn, other.Name) {
			ready, waits = append(ready, dependencyReady(p, other)), append(waits, other.Name)
		}
		if slices.Contains(c.Deciders, other.Name) {
			absent := directPrograms().Definition("absent", otherHoles(p, other))
			decides := directPrograms().Definition("decides", jqfile.Holes{"hole::absentDecider": absent})
			ready, waits = append(ready, decides), append(waits, other.Name)
		}
		if slices.Contains(c.Alternatives, other.Name) {
			gone := directPrograms().Definition("alternativeGone",
				jqfile.Holes{"hole::alternativePrefix": jqfile.String(listPrefix(other))})
			ready, waits = append(ready, gone), append(waits, "the deletion of "+other.Name)
		}
	}
	holes["hole::dependenciesReady"] = jqfile.All(ready...)
	holes["hole::waitsFor"] = jqfile.String("waits for " + strings.Join(waits, ", "))
	needHoles(p, c, holes)
}

// decideHoles fills the holes for the children that decide which objects of a child are
// wanted.
func decideHoles(p *configured, c Child, holes jqfile.Holes) {
	var absent []jqfile.Value
	by := decidedBy(p.Children, c)
	for _, other := range p.Children {
		if slices.Contains(by, other.Name) {
			absent = append(absent, directPrograms().Definition("absent", otherHoles(p, other)))
		}
	}
	holes["option::decided"], holes["hole::deciding"] = jqfile.Bool(len(absent) > 0), jqfile.List(absent...)
}

// needHoles fills the holes for the values that a child waits for.
func needHoles(p *configured, c Child, holes jqfile.Holes) {
	holes["option::needs"], holes["hole::missing"] = jqfile.Bool(len(c.needs) > 0), jqfile.List(missing(p, c)...)
	holes["option::needsList"] = jqfile.Bool(c.ForEach != nil && len(c.ForEach.Needs()) > 0)
}

func dependencyReady(p *configured, other Child) jqfile.Value {
	holes := otherHoles(p, other)
	needHoles(p, other, holes)
	in := p.inputsOf(other)
	holes["option::marked"], holes["hole::otherInputs"] = jqfile.Bool(marked(p, other, in) && other.Update != Never), in.jq(p)
	holes["option::never"] = jqfile.Bool(other.Update == Never)
	return directPrograms().Definition("dependencyReady", holes)
}

// otherHoles returns the holes for whether a child exists that another one waits for.
func otherHoles(p *configured, other Child) jqfile.Holes {
	holes := jqfile.Holes{
		"option::listed": jqfile.Bool(p.listed(other)), "hole::otherPrefix": jqfile.String(listPrefix(other)),
		"hole::wantedCount": wantedCount(p, other),
		"hole::other":       jqfile.String(other.Name), "option::conditional": jqfile.Bool(other.When != nil),
		"option::readsChildren": jqfile.Bool(other.When != nil && len(other.When.ReadsChildren()) > 0),
	}
	if other.When != nil {
		holes["hole::wanted"] = jqfile.Raw(whenJQ(other))
	}
	return holes
}

// wantedCount returns the jq of the number of objects of a listed child that are wanted;
// null if it cannot be computed.
func wantedCount(p *configured, c Child) jqfile.Value {
	if !p.listed(c) {
		return jqfile.Number(1)
	}
	if c.When == nil && c.ForEach == nil {
		return jqfile.Number(1)
	}
	holes := jqfile.Holes{
		"option::conditional": jqfile.Bool(c.When != nil), "option::each": jqfile.Bool(c.ForEach != nil),
	}
	if c.When != nil {
		holes["hole::when"] = jqfile.Raw("(" + c.When.Source() + ")")
	}
	if c.ForEach != nil {
		holes["hole::forEach"] = jqfile.Raw("(" + c.ForEach.Source() + ")")
	}
	return directPrograms().Definition("countWanted", jqfile.Holes{
		"option::readsChildren": jqfile.Bool(len(readsOf(c.When)) > 0 || len(readsOf(c.ForEach)) > 0),
		"hole::number":          directPrograms().Definition("numberWanted", holes),
	})
}

// observeJQ returns the program that stores the observed state of a child: direct/observe.jq.
func observeJQ(p *configured, c Child) string {
	shown := observedFieldsJQ(p, c)
	return directPrograms().Program("observe", jqfile.Holes{
		"hole::unready": jqfile.Raw("(" + unreadyJQ(c) + ")"),
		"option::live":  jqfile.Bool(shown != ""), "hole::live": jqfile.Raw(shown),
		"option::sameNamespace": jqfile.Bool(c.Kind.Namespaced && !namespaceComputed(c) && p.API.Kind.Namespaced),
		"hole::groupPrefix":     jqfile.String(groupPrefix(p.API.Kind)),
	}, childHoles(p, c), holesOf(p), labelHoles())
}

// statusJQ returns the program that writes the status: direct/status.jq.
func statusJQ(p *configured) string {
	var fields []jqfile.Field
	var wanted []jqfile.Value
	var names, unownedPrefixes, each []string
	for _, c := range p.Children {
		in := p.inputsOf(c)
		holes := jqfile.Holes{
			"hole::child": jqfile.String(
				c.Name,
			), "hole::childPrefix": jqfile.String(listPrefix(c)), "option::conditional": jqfile.Bool(c.When != nil),
			"option::never": jqfile.Bool(c.Update == Never),
			"option::canBeHeld": jqfile.Bool(
				canWait(c),
			), "option::dependsOn": jqfile.Bool(canBeLate(c)), "hole::wantedCount": wantedCount(p, c),
			"option::marked": jqfile.Bool(
				marked(p, c, in) && c.Update != Never,
			), "hole::inputs": in.jq(p),
		}
		if c.When != nil {
			holes["hole::wanted"] = jqfile.Raw(whenJQ(c))
		}
		waitHoles(p, c, holes)
		definition := "wantedObject"
		if p.listed(c) {
			definition = "wantedListed"
		}
		wanted = append(wanted, directPrograms().Definition(definition, holes))
		if p.needsFinalizer(c) {
			unownedPrefixes = append(unownedPrefixes, listPrefix(c))
		}
		if c.ForEach != nil {
			each = append(each, fmt.Sprintf("{name: %s, prefix: %s, workers: %d}", quote(c.Name), quote(listPrefix(c)), listedWorkers(c)))
		}
	}
	var conditions jqfile.Value
	own, nested := false, false
	for _, f := range p.Status.Fields {
		value := directPrograms().Definition("statusField", jqfile.Holes{
			"hole::exactNumbers": exactNumbers(f.InexactPaths), "hole::value": jqfile.Raw(f.Value.Source()),
		})
		if f.Name == "conditions" && p.API.HasConditions {
			conditions, own = value, true // joined with Ready
			continue
		}
		names = append(names, quote(f.Name))
		fields = append(fields, jqfile.Field{Name: f.Name, Value: value})
		kind := f.Value.Type().Kind()
		nested = nested || kind == schema.Object || kind == schema.Unknown
	}
	if p.API.HasObservedGeneration {
		names = append(names, "observedGeneration")
	}
	if p.API.HasConditions {
		names = append(names, "conditions")
	}
	return directPrograms().Program("status", jqfile.Holes{
		"hole::wantedObjects": jqfile.List(wanted...),
		"option::finalized":   jqfile.Bool(p.Reconcile.Finalizer != ""), "option::forced": jqfile.Bool(p.Reconcile.FinalizerForced),
		"hole::finalizer": jqfile.String(p.Reconcile.Finalizer), "hole::isUnowned": hasPrefix(unownedPrefixes),
		"option::verified": jqfile.Bool(each != nil), "hole::eachChildren": jqfile.Raw("[" + strings.Join(each, ", ") + "]"),
		"option::ownConditions": jqfile.Bool(own), "hole::ownConditions": conditions, "option::nested": jqfile.Bool(nested),
		"option::many": jqfile.Bool(each != nil || len(p.Children) > maxNamed), "hole::maxNamed": jqfile.Number(maxNamed),
		"option::events": jqfile.Bool(
			p.emitsEvents(),
		), "hole::eventNamespace": jqfile.String(eventNamespace), "hole::reportingInstance": jqfile.String(p.Names.Sensor),
		"option::observedGeneration": jqfile.Bool(p.API.HasObservedGeneration), "option::conditions": jqfile.Bool(p.API.HasConditions),
		"option::numbersConditions": jqfile.Bool(p.API.NumbersConditions),
		"hole::pausedMessage":       jqfile.String("the annotation " + PausedAnnotation + " stops all writes; remove it to resume"),
		"hole::fields":              jqfile.Object(fields...), "hole::computed": jqfile.Raw("{" + strings.Join(names, ", ") + "}"),
	}, holesOf(p), labelHoles())
}
