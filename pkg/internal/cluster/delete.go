package cluster

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// delete takes an object away, or marks it where finalizers hold it.
func (c *Cluster) delete(req Request) (Object, error) {
	old, err := c.find(req.key())
	if err != nil {
		return nil, err
	}
	var options metav1.DeleteOptions
	if len(req.body) > 0 {
		if err := json.Unmarshal(req.body, &options); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding DeleteOptions: %v", err))
		}
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != old.GetUID() {
			return nil, apierrors.NewConflict(req.Kind.Resource(), req.Name, otherUID(*p.UID, old))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion() {
			return nil, apierrors.NewConflict(req.Kind.Resource(), req.Name, errModified)
		}
	}
	return c.end(req.key(), old, options), nil
}

func (c *Cluster) end(k Key, old Object, options metav1.DeleteOptions) Object {
	if policy := options.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationOrphan {
		c.orphan(old.GetUID())
	}
	if len(old.GetFinalizers()) == 0 {
		c.remove(k, old)
		return old
	}
	if old.GetDeletionTimestamp() != nil {
		return old
	}
	o := old.DeepCopy()
	now, none := metav1.NewTime(c.now()), int64(0)
	o.SetDeletionTimestamp(&now)
	o.SetDeletionGracePeriodSeconds(&none)
	if o.GetGeneration() > 0 {
		o.SetGeneration(o.GetGeneration() + 1)
	}
	return c.write(k, o)
}

// orphan lets the children of an object stay without it.
func (c *Cluster) orphan(owner types.UID) {
	for _, k := range c.sorted(c.owners.of[owner]) {
		left := slices.DeleteFunc(c.Objects[k].GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner })
		c.disown(k, left)
	}
}

// disown leaves an object with fewer owners.
func (c *Cluster) disown(k Key, left []metav1.OwnerReference) {
	o := c.Objects[k].DeepCopy()
	o.SetOwnerReferences(left)
	c.write(k, o)
}

// Collect is the garbage collector: it deletes what has owners and none of them
// is there any more. It returns how many objects it deleted.
func (c *Cluster) Collect() int {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	deleted := 0
	for _, k := range c.sorted(c.owners.takeLoose()) {
		o := c.Objects[k]
		if o == nil { // it went by itself
			continue
		}
		all := o.GetOwnerReferences()
		left := slices.DeleteFunc(slices.Clone(all), func(r metav1.OwnerReference) bool { return !c.owners.alive[r.UID] })
		switch {
		case len(left) == len(all) || o.GetDeletionTimestamp() != nil:
		case len(left) > 0:
			c.disown(k, left)
		default:
			c.end(k, o, metav1.DeleteOptions{})
			deleted++
		}
	}
	return deleted
}
