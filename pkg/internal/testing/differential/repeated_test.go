package differential_test

import (
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
)

// TestRepeated plays cases that have shown a difference, each with the only choices that it needs.
func TestRepeated(t *testing.T) {
	python := start(t)
	for name, repeated := range map[string]struct {
		seed    uint64
		choices differential.Choices
	}{
		"a name changes and changes back before the events come": {3001828, differential.Choices{
			"c0.kind": 6, "c0.name": 7, "c0.text.field": 1, "c0.text.source": 2, "cr.0.sample": 5, "fields": 2, "life.0": 5, "life.4": 13,
		}},
		"the text that a hand has changed is no longer wanted": {2000082, differential.Choices{
			"c0.more": 1, "c0.text.metadata": 3, "c0.text.source": 4, "life.1": 3, "life.1.cr.note": 2, "life.3": 13,
		}},
		"a child reads from another one what an annotation did not give": {3501535, differential.Choices{
			"c0.text.metadata": 3, "c0.text.source": 4, "c1.onDelete": 5, "c1.policy": 1, "c1.text.read.ConfigMapfalse": 7,
			"c1.text.source": 6, "children": 2,
		}},
		"a child is ready whose change to other data was rejected, and another depends on it": {3694836, differential.Choices{
			"api.builtin": 10, "c0.kind": 6, "c0.text.source": 1, "c1.dependsOn": 4, "children": 2, "life.1": 13, "life.1.cr.text": 2,
		}},
		"an old event shows an object of a list that is gone, and its template is rejected": {3705006, differential.Choices{
			"c0.forEach": 3, "c0.kind": 7, "c0.pod": 2, "c0.when": 4, "cr.0.f0": 2, "cr.0.sample": 3, "field.0": 14, "life.0": 13,
			"life.2": 3, "life.2.cr.f0": 1, "life.2.cr.sample": 3, "life.2.mode": 8, "status.number": 3,
		}},
		"a child is wanted later that reads one whose change is rejected": {3503982, differential.Choices{
			"c1.kind": 7, "c1.pod": 2, "c2.text.child": 1, "c2.text.read.StatefulSetfalse": 1, "c2.text.source": 5, "c2.when": 5,
			"c2.when.field": 1, "children": 2, "field.1": 13, "fields": 1, "life.0": 3, "life.0.cr.f1": 5, "life.0.cr.sample": 3,
		}},
		"a template of any value reads labels that a child may not have": {3506723, differential.Choices{
			"c0.kind": 7, "c1.annotations": 3, "c1.forEach": 4, "c1.kind": 7, "c1.note.read.StatefulSetfalse": 5, "c1.note.source": 7,
			"c1.pod": 2, "children": 1, "cr.0.f2": 3, "field.2": 13, "field.3": 2, "fields": 3,
		}},
		"a child is made while a change of its dependency is not observed": {3506538, differential.Choices{
			"c1.kind": 7, "c1.text.metadata": 2, "c1.text.source": 4, "c2.dependsOn": 4, "c2.namespace": 6, "children": 2, "life.3": 13,
			"life.4": 4, "life.4.tier": 1,
		}},
		"the deletion of a child is lost whose dependency is not ready": {3506225, differential.Choices{
			"c0.kind": 6, "c0.when": 6, "c1.dependsOn": 4, "children": 1, "life.0": 2, "life.0.cr.tier": 1, "life.1": 10, "life.1.mode": 9,
		}},
		"what others wait for is wanted later": {2000834, differential.Choices{
			"api.form": 7, "c0.kind": 3, "c0.when": 4, "c1.forEach": 4, "c1.text.read.Widgetfalse": 7, "c1.text.source": 7, "children": 1,
			"cr.0.sample": 5, "field.0": 3, "life.1": 1,
		}},
		"a child with a status goes elsewhere and returns": {3000020, differential.Choices{
			"c0.kind": 5, "c0.namespace": 6, "c0.type": 2, "life.0": 7, "life.2": 13, "life.2.cr.tier": 1,
		}},
		"what a changed child reads is not wanted any more": {2001611, differential.Choices{
			"c0.kind": 5, "c1.kind": 4, "c1.namespace": 6, "c1.when": 4, "c1.when.items": 1, "c2.more": 1, "c2.moreText.child": 1,
			"c2.moreText.read.Deploymentfalse": 2, "c2.moreText.source": 6, "children": 2, "field.0": 12, "life.0": 13,
			"life.0.cr.sample": 4, "life.0.tier": 1,
		}},
		"a child is refused after another one is ready, and nothing shows it": {3000888, differential.Choices{
			"api.builtin": 10, "c0.kind": 6, "c1.dependsOn": 4, "c1.kind": 12, "children": 1, "install.allowedNamespaces": 5,
			"install.refused": 1,
		}},
		"a child that is never updated is gone, and nobody has seen it": {2001910, differential.Choices{
			"c0.update": 4, "c0.when": 5, "field.0": 6, "life.1": 1, "life.1.cr.sample": 1, "life.2": 10, "life.2.mode": 9,
		}},
		"the write of a status is refused until nothing happens any more": {3000661, differential.Choices{
			"c0.update": 4, "life.1": 5, "life.1.mode": 11, "refused.code": 1, "refused.times": 2, "status": 1, "status.s0.metadata": 4,
			"status.s0.source": 4,
		}},
		"what a child refers to changes and is not watched": {3001076, differential.Choices{
			"c1.text.source": 7, "children": 2, "life.4": 11, "life.4.change": 1, "others": 5, "related": 3, "related.watch": 3,
		}},
		"lint finds what fails only with another value than a default": {2001174, differential.Choices{
			"c2.text.enum": 3, "c2.text.field": 1, "c2.text.source": 2, "c2.when": 4, "children": 2, "field.1": 3, "fields": 2, "life.0": 3,
			"life.0.cr.sample": 2,
		}},
		"a child changes shortly before it has to wait": {3001116, differential.Choices{
			"c1.kind": 3, "c1.name": 7, "c1.when": 6, "c2.labels": 3, "c2.text.child": 1, "c2.text.read.Widgetfalse": 2, "c2.text.source": 5,
			"children": 2, "life.0": 2, "life.0.cr.tier": 1, "life.1": 3,
		}},
		"a child that reads another one is rejected": {2001431, differential.Choices{
			"api.form": 11, "c0.kind": 7, "c1.kind": 6, "c1.text.read.StatefulSetfalse": 3, "c1.text.source": 5, "children": 2,
		}},
		"an object of a list comes while what it waits for waits itself": {3003656, differential.Choices{
			"api.builtin": 19, "c0.kind": 4, "c1.dependsOn": 4, "c1.when": 4, "c2.dependsOn": 4, "c2.forEach": 4, "children": 2,
			"cr.0.replicas": 1, "life.1": 2, "life.1.cr.replicas": 3,
		}},
		"a list that waits is empty": {3005364, differential.Choices{
			"c0.kind": 3, "c1.dependsOn": 4, "c1.forEach": 4, "c2.dependsOn": 4, "children": 2, "field.2": 10, "fields": 3,
		}},
		"an object is deleted twice while it moves": {3005295, differential.Choices{
			"api.scope": 3, "c0.when": 6, "c2.namespace": 6, "c2.when": 7, "children": 2, "cr.0.tier": 1, "life.0": 1,
		}},
		"a child gets another name while what it waits for changes": {3006236, differential.Choices{
			"c0.kind": 7, "c0.text.field": 2, "c0.text.source": 1, "c1.dependsOn": 4, "c1.name": 7, "children": 2, "field.2": 2, "fields": 2,
			"life.1": 6, "life.4": 1, "life.4.cr.sample": 2, "life.4.cr.tier": 1,
		}},
		"an object fails while others are no longer wanted": {3001967, differential.Choices{
			"c0.forEach": 4, "c0.text.enum": 3, "c0.text.source": 1, "field.0": 3, "life.3": 13, "life.3.cr.sample": 5,
		}},
		"a child depends on one about which another one decides": {3011542, differential.Choices{
			"c1.kind": 3, "c1.when": 7, "c2.dependsOn": 4, "c2.kind": 12, "children": 2,
		}},
		"a reconcile fails because of a conflict and because of something else": {3013142, differential.Choices{
			"api.builtin": 10, "c0.kind": 6, "c0.text.source": 3, "c0.text.string": 1, "cr.0.text": 2, "life.4": 3, "patch": 11,
			"patch.text.source": 4,
		}},
		"a template fails whose object exists and is never updated": {3013773, differential.Choices{
			"c1.text.enum": 3, "c1.text.source": 2, "c1.update": 4, "children": 1, "field.0": 3, "life.1": 13, "life.1.cr.sample": 3,
		}},
		"an object is made again by an old event, after it was deleted": {3014706, differential.Choices{
			"c0.forEach": 3, "c1.data": 2, "c1.forEach": 6, "children": 1, "cr.0.f0": 6, "field.0": 13, "field.1": 2, "fields": 3,
			"life.4": 13, "life.4.cr.sample": 5, "life.4.mode": 7,
		}},
		"what cannot change is made of another child, without a value to wait for": {3017814, differential.Choices{
			"c0.kind": 6, "c1.kind": 6, "c1.namespace": 5, "c1.text.read.Jobfalse": 3, "c1.text.source": 6, "children": 1,
		}},
		"an object that nobody watches has a finalizer": {3021469, differential.Choices{
			"api.builtin": 10, "c0.annotations": 3, "c0.note.source": 5, "finalizer": 4, "life.1": 11, "life.1.change": 2, "others": 5,
			"related.watch": 3,
		}},
		"what is related to a paused custom resource is one, too": {3024296, differential.Choices{
			"api.builtin": 10, "life.0": 14, "life.0.0": 5, "others": 5,
		}},
		"a field of a variable has no value": {3025965, differential.Choices{
			"c0.annotations": 3, "c0.kind": 3, "c0.note.metadata": 3, "c0.note.source": 4, "c0.note.variable": 4,
			"c0.note.variableForm": 1,
		}},
		"a child needs another one that waits, and no status says so": {3030756, differential.Choices{
			"api.builtin": 11, "c0.kind": 9, "c0.text.related": 1, "c0.text.source": 5, "c1.text.read.Rolefalse": 3, "c1.text.source": 5,
			"children": 1, "cr.0.tier": 1, "others": 5, "related": 2,
		}},
		"the content of a child disappears and returns empty": {3031614, differential.Choices{
			"c0.when": 4, "c1.forEach": 5, "c1.kind": 3, "c1.text.source": 7, "children": 2, "life.0": 14, "life.1": 3,
			"life.1.cr.sample": 5, "life.2": 13, "life.2.child": 3, "life.2.cr.tier": 2,
		}},
		"a child takes an edit before a label that cannot change it": {3032200, differential.Choices{
			"c0.kind": 6, "c0.text.metadata": 2, "c0.text.source": 4, "childMetadata.annotations": 4, "cr.0.sample": 4, "cr.0.tier": 1,
			"field.0": 6, "life.1": 13, "life.1.cr.tier": 1,
		}},
		"a child depends on one that stays as it is": {3034418, differential.Choices{
			"api.builtin": 9, "c0.forEach": 5, "c0.text.related": 1, "c0.text.source": 6, "c1.dependsOn": 4, "c1.forEach": 4, "children": 1,
			"life.4": 13, "life.4.cr.replicas": 1, "others": 5, "related": 2,
		}},
		"an item moves to another position, which cannot change": {3035485, differential.Choices{
			"c0.adopt": 7, "c0.forEach": 4, "c1.forEach": 6, "c1.kind": 6, "c1.text.item": 1, "c1.text.source": 5, "children": 1,
			"field.0": 3, "life.2": 1, "life.2.cr.sample": 4,
		}},
		"a condition asks for the type of any value": {3036363, differential.Choices{
			"c0.adopt": 7, "c0.forEach": 4, "c1.kind": 7, "c1.pod": 2, "c1.when": 4, "c1.when.any": 1, "children": 1, "field.0": 13,
			"life.4": 3, "life.4.cr.f0": 5, "life.4.cr.sample": 5,
		}},
		"a hand sets what its template then ceases to set": {3027860, differential.Choices{
			"c0.text.metadata": 3, "c0.text.source": 4, "c0.when": 6, "cr.0.note": 2, "cr.0.tier": 1, "life.0": 13, "life.0.tier": 1,
		}},
		"a child reads a list, and another child decides whether it is wanted": {3511323, differential.Choices{
			"c1.forEach": 5, "c1.kind": 3, "c1.when": 7, "c2.namespace": 6, "c2.text.child": 1, "c2.text.read.Widgettrue": 9,
			"c2.text.source": 6, "children": 2,
		}},
		"a list is not wanted any more before its objects have what others wait for": {3514543, differential.Choices{
			"api.builtin": 11, "c0.forEach": 4, "c0.kind": 3, "c0.when": 4, "c1.forEach": 4, "c1.text.read.Widgettrue": 9,
			"c1.text.source": 7, "children": 2, "cr.0.text": 2, "life.2": 1,
		}},
		"a label makes what is rejected, and then does not": {3516840, differential.Choices{
			"c0.kind": 6, "c0.text.metadata": 2, "c0.text.source": 4, "life.2": 13, "life.3": 3,
		}},
		"what cannot change reads a child on which it depends, and which is gone for a moment": {3516878, differential.Choices{
			"c0.kind": 7, "c1.dependsOn": 4, "c1.kind": 6, "c1.text.read.StatefulSetfalse": 6, "c1.text.source": 5, "children": 1,
			"life.2": 13, "life.4": 10, "life.4.child": 3,
		}},
		"another child decides, whose deletion no event tells": {3520077, differential.Choices{
			"c0.generate": 3, "c0.kind": 1, "c0.when": 6, "c2.when": 7, "children": 2, "life.1": 4, "life.1.tier": 1, "life.3": 3,
		}},
		"a child of a list is changed and another one deleted while paused": {3600685, differential.Choices{
			"c0.forEach": 5, "c0.namespace": 5, "life.4": 14, "life.4.0": 1, "life.4.1.mode": 2,
		}},
		"a list is made beside one that needs no finalizer": {3610767, differential.Choices{
			"c0.forEach": 3, "c1.namespace": 6, "c1.when": 6, "children": 1,
		}},
		"a child is deleted in a pause in which it is no longer wanted": {3690802, differential.Choices{
			"c0.when": 4, "c0.when.field": 1, "fields": 1, "life.2": 1, "life.2.cr.sample": 5, "life.3": 14, "life.3.0": 2, "life.3.1": 1,
			"life.3.1.mode": 2, "status": 1, "status.s0.source": 6,
		}},
		"the same of one that a change replaces": {3690802, differential.Choices{
			"c0.kind": 6, "c0.update": 3, "c0.when": 4, "c0.when.field": 1, "fields": 1, "life.2": 1, "life.2.cr.sample": 5, "life.3": 14,
			"life.3.0": 2, "life.3.1": 1, "life.3.1.mode": 2, "status": 1, "status.s0.source": 6,
		}},
		"a variable reads a child that is not wanted": {3026352, differential.Choices{
			"c0.kind": 1, "c0.when": 6, "c2.text.read.Secretfalse": 2, "c2.text.source": 5, "c2.text.variable": 4, "children": 2,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := differential.Draw(repeated.seed, repeated.choices)
			if err != nil {
				t.Fatal(err)
			}
			v, err := differential.Play(c, python)
			if err != nil || v.Difference != nil || v.Steps == 0 {
				t.Error(v.Steps, v.Difference, err)
			}
			taken := c.Choices()
			for choice, n := range repeated.choices {
				if taken[choice] != n {
					t.Errorf("%s is not chosen any more: the case is another one", choice)
				}
			}
		})
	}
}
