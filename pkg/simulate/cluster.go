package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argoperator/argoperator/pkg/resource"
)

// object is one object of the cluster. It is never changed once it is stored.
type object = *unstructured.Unstructured

// key is where an object is kept, whatever the version it is read in.
type key struct {
	schema.GroupResource
	namespace, name string
}

// Change is what a watch would tell of a write.
type Change struct {
	Resource schema.GroupResource
	Old, New object // nil: it was not there, it is gone
}

// about is the object that changed, as it is or was last.
func (c Change) about() object { return cmp.Or(c.New, c.Old) }

// Cluster is an API server in memory, an http.Handler. Versions, identities and
// times are counted, so that two runs write the same.
type Cluster struct {
	mu      sync.Mutex
	kinds   *kinds
	objects map[key]object
	order   []key       // in which they were written first
	born    map[key]int // when they were, counted
	births  int
	owners  *owners
	changes []Change
	version int // of the last change; like etcd's, that of the empty cluster is 1
	made    int // objects made so far, for uids and generated names
	uid     func(made int) types.UID
	given   map[key]identity // of objects that users have from elsewhere
	now     func() time.Time
	tracked map[tracked]*tracker
	schemas map[schema.GroupVersionKind]*resource.Schema

	policies []policy
	prepared *Prepared // nil: nothing is
}

// NewCluster returns an empty cluster that knows the kinds of Kubernetes and
// those given. The clock is asked once for every write.
func NewCluster(custom []Kind, now func() time.Time) *Cluster {
	return &Cluster{
		kinds:   &kinds{list: append(builtinKinds(), custom...)},
		objects: map[key]object{},
		born:    map[key]int{},
		owners:  newOwners(),
		version: 1,
		uid:     counted,
		given:   map[key]identity{},
		now:     now,
		tracked: map[tracked]*tracker{},
		schemas: map[schema.GroupVersionKind]*resource.Schema{},
	}
}

// identity is what makes an object the same as in another cluster.
type identity struct {
	uid        types.UID
	generation int64
}

func counted(made int) types.UID {
	return types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", made))
}

// Ticks is a clock that starts at a fixed time and moves on by a second
// whenever it is asked.
func Ticks() func() time.Time {
	t := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		t = t.Add(time.Second)
		return t
	}
}

// Kind is the kind of objects with this apiVersion and kind.
func (c *Cluster) Kind(gvk schema.GroupVersionKind) Kind { return c.kinds.of(gvk, nil) }

// take returns the changes since it was asked last.
func (c *Cluster) take() []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := c.changes
	c.changes = nil
	return changes
}

// list are the objects of a resource by namespace and name; an empty namespace
// is all of them.
func (c *Cluster) list(r schema.GroupResource, namespace string) []object {
	found := slices.DeleteFunc(slices.Collect(maps.Keys(c.objects)), func(k key) bool {
		return k.GroupResource != r || namespace != "" && k.namespace != namespace
	})
	slices.SortFunc(found, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	out := make([]object, len(found))
	for i, k := range found {
		out[i] = c.objects[k]
	}
	return out
}

// write stores an object under a new version and tells of it. Two clocks would
// disagree, so the time is the caller's.
func (c *Cluster) write(k key, o object) object {
	old := c.objects[k]
	if old == nil {
		c.order = append(c.order, k)
		c.births++
		c.born[k] = c.births
	}
	c.version++
	o.SetResourceVersion(fmt.Sprint(c.version))
	c.objects[k] = o
	c.owners.note(k, old, o)
	c.changes = append(c.changes, Change{Resource: k.GroupResource, Old: old, New: o})
	return o
}

// remove takes an object away; the watch shows it as it was last, under the
// version of its end.
func (c *Cluster) remove(k key, last object) {
	c.version++
	last = last.DeepCopy()
	last.SetResourceVersion(fmt.Sprint(c.version))
	c.owners.note(k, c.objects[k], nil)
	at, _ := slices.BinarySearchFunc(c.order, c.born[k], func(other key, born int) int { return cmp.Compare(c.born[other], born) })
	c.order = slices.Delete(c.order, at, at+1)
	delete(c.born, k)
	delete(c.objects, k)
	c.changes = append(c.changes, Change{Resource: k.GroupResource, Old: last})
}

// since are the objects that were written first after so many others had been.
func (c *Cluster) since(births int) []key {
	at, _ := slices.BinarySearchFunc(c.order, births+1, func(k key, born int) int { return cmp.Compare(c.born[k], born) })
	return c.order[at:]
}

// sorted are keys in the order in which the objects were written first.
func (c *Cluster) sorted(keys map[key]struct{}) []key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b key) int { return cmp.Compare(c.born[a], c.born[b]) })
}

func (c *Cluster) find(k key) (object, error) {
	if o := c.objects[k]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(k.GroupResource, k.name)
}
