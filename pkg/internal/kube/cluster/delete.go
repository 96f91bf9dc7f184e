package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// delete deletes an object, or sets its deletionTimestamp if it has finalizers. It answers
// with the object if that is still there.
func (c *Cluster) delete(req Request) (int, any, error) {
	old, err := c.find(req.key())
	if err != nil {
		return 0, nil, err
	}
	var options metav1.DeleteOptions
	if len(req.body) > 0 {
		if err := json.Unmarshal(req.body, &options); err != nil {
			return 0, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding DeleteOptions: %v", err))
		}
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != old.GetUID() {
			return 0, nil, apierrors.NewConflict(req.Kind.Resource(), req.Name, otherUID(*p.UID, old))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion() {
			return 0, nil, apierrors.NewConflict(req.Kind.Resource(), req.Name, errModified)
		}
	}
	if req.Kind.Resource() == namespaces && slices.Contains(immortal, req.Name) {
		return 0, nil, apierrors.NewForbidden(namespaces, req.Name, errors.New("this namespace may not be deleted"))
	}
	if req.dry() || slices.Contains(options.DryRun, metav1.DryRunAll) {
		return reply(http.StatusOK, c.InVersion(old, req.Kind), nil)
	}
	o := c.end(req.key(), old, options)
	switch {
	case c.Objects[req.key()] != nil:
	case propagation(req.key(), options) == metav1.DeletePropagationOrphan:
		o = c.deleting(o) // it ends when the garbage collector has removed its finalizer
		o.SetFinalizers(append(o.GetFinalizers(), metav1.FinalizerOrphanDependents))
	case !returnsDeleted[req.Kind.Resource()]:
		return http.StatusOK, deleted(req, old), nil
	}
	return reply(http.StatusOK, c.InVersion(o, req.Kind), nil)
}

// returnsDeleted are the kinds whose deletion is answered with the deleted object.
var returnsDeleted = map[schema.GroupResource]bool{
	{Resource: "namespaces"}: true, {Resource: "persistentvolumeclaims"}: true, {Resource: "persistentvolumes"}: true,
	{Resource: "pods"}: true, {Resource: "podtemplates"}: true, {Resource: "resourcequotas"}: true,
	{Resource: "serviceaccounts"}: true, {Resource: "services"}: true, {Group: "storage.k8s.io", Resource: "storageclasses"}: true,
}

// deleted is the answer to the deletion of any other object.
func deleted(req Request, o Object) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: req.Name, Group: req.Kind.Group, Kind: req.Kind.Plural, UID: o.GetUID()},
	}
}

func (c *Cluster) end(k Key, old Object, options metav1.DeleteOptions) Object {
	switch propagation(k, options) {
	case metav1.DeletePropagationOrphan:
		c.orphan(old.GetUID())
	case metav1.DeletePropagationForeground:
		if !slices.Contains(old.GetFinalizers(), metav1.FinalizerDeleteDependents) {
			old = old.DeepCopy()
			old.SetFinalizers(append(old.GetFinalizers(), metav1.FinalizerDeleteDependents))
		}
		c.owners.foreground[k] = struct{}{}
	}
	if !held(old) {
		c.remove(k, old)
		return old
	}
	if old.GetDeletionTimestamp() != nil {
		return old
	}
	o := c.deleting(old)
	if k.GroupResource == namespaces {
		set(o, "Terminating", "status", "phase")
		c.ending[k] = struct{}{}
		o.SetDeletionGracePeriodSeconds(nil)
	}
	return c.write(k, o)
}

// deleting returns an object whose deletion has begun.
func (c *Cluster) deleting(old Object) Object {
	o := old.DeepCopy()
	now, none := metav1.NewTime(c.now()), int64(0)
	o.SetDeletionTimestamp(&now)
	o.SetDeletionGracePeriodSeconds(&none)
	if o.GetGeneration() > 0 {
		o.SetGeneration(o.GetGeneration() + 1)
	}
	return o
}

// propagation returns how the deletion of an object affects its dependents.
func propagation(k Key, options metav1.DeleteOptions) metav1.DeletionPropagation {
	switch {
	case options.PropagationPolicy != nil:
		return *options.PropagationPolicy
	case k.Group == "batch" && k.Resource == "jobs":
		return metav1.DeletePropagationOrphan // as Jobs always have
	}
	return metav1.DeletePropagationBackground
}

// orphan removes an owner from its dependents.
func (c *Cluster) orphan(owner types.UID) {
	for _, k := range c.sorted(c.owners.dependents[owner]) {
		left := slices.DeleteFunc(c.Objects[k].GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner })
		c.setOwners(k, left)
	}
}

// setOwners replaces the owner references of an object.
func (c *Cluster) setOwners(k Key, left []metav1.OwnerReference) {
	o := c.Objects[k].DeepCopy()
	o.SetOwnerReferences(left)
	c.write(k, o)
}

// deleteInForeground deletes the dependents of the objects that wait for that, and then
// the objects.
func (c *Cluster) deleteInForeground() int {
	deleted := 0
	for _, k := range c.sorted(c.owners.foreground) {
		o := c.Objects[k]
		if o == nil || o.GetDeletionTimestamp() == nil {
			delete(c.owners.foreground, k)
			continue
		}
		for _, child := range c.sorted(c.owners.dependents[o.GetUID()]) {
			deleted += c.disown(child, func(uid types.UID) bool { return uid == o.GetUID() || !c.owners.alive[uid] })
		}
		if c.blocked(o.GetUID()) {
			continue
		}
		delete(c.owners.foreground, k)
		o = o.DeepCopy()
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == metav1.FinalizerDeleteDependents }))
		if held(o) {
			c.write(k, o)
		} else {
			c.remove(k, o)
		}
		deleted++
	}
	return deleted
}

// blocked reports whether an owner waits for dependents, which have finalizers.
func (c *Cluster) blocked(owner types.UID) bool {
	for child := range c.owners.dependents[owner] {
		for _, r := range c.Objects[child].GetOwnerReferences() {
			if r.UID == owner && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion {
				return true
			}
		}
	}
	return false
}

// CollectGarbage deletes objects whose owners are all gone, like the garbage
// collector. It returns how many objects it deleted.
func (c *Cluster) CollectGarbage() int {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	deleted := c.deleteInForeground() + c.endNamespaces()
	for _, k := range c.sorted(c.owners.takeOrphans()) {
		if c.Objects[k] != nil { // else deleted meanwhile
			deleted += c.disown(k, func(uid types.UID) bool { return !c.owners.alive[uid] })
		}
	}
	return deleted
}

// disown removes owners from an object, or deletes it if no other is left. It returns how
// many objects it deleted.
func (c *Cluster) disown(k Key, gone func(types.UID) bool) int {
	o := c.Objects[k]
	all := o.GetOwnerReferences()
	left := slices.DeleteFunc(slices.Clone(all), func(r metav1.OwnerReference) bool { return gone(r.UID) })
	switch {
	case len(left) == len(all) || o.GetDeletionTimestamp() != nil:
	case len(left) > 0:
		c.setOwners(k, left)
	default:
		c.end(k, o, metav1.DeleteOptions{})
		return 1
	}
	return 0
}
