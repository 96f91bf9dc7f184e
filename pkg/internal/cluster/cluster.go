package cluster

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

	"github.com/argoperator/argoperator/pkg/internal/resource"
)

// Object is one object of the cluster. It is never changed once it is stored.
type Object = *unstructured.Unstructured

// Key is where an object is kept, whatever the version it is read in.
type Key struct {
	schema.GroupResource
	Namespace, Name string
}

// Change is what a watch would tell of a write.
type Change struct {
	Resource schema.GroupResource
	Old, New Object // nil: it was not there, it is gone
}

// About is the object that changed, as it is or was last.
func (c Change) About() Object { return cmp.Or(c.New, c.Old) }

// Cluster is an API server in memory, an http.Handler. Versions, identities and
// times are counted, so that two runs write the same.
type Cluster struct {
	Mu      sync.Mutex
	Kinds   *Kinds
	Objects map[Key]Object
	Order   []Key       // in which they were written first
	born    map[Key]int // when they were, counted
	Births  int
	owners  *owners
	changes []Change
	version int // of the last change; like etcd's, that of the empty cluster is 1
	made    int // objects made so far, for uids and generated names
	Uid     func(made int) types.UID
	Given   map[Key]Identity // of objects that users have from elsewhere
	now     func() time.Time
	tracked map[tracked]*tracker
	schemas map[schema.GroupVersionKind]*resource.Schema

	Policies []Policy
	Cache    *Cache // nil: nothing is kept
}

// NewCluster returns an empty cluster that knows the kinds of Kubernetes and
// those given. The clock is asked once for every write.
func NewCluster(custom []Kind, now func() time.Time) *Cluster {
	return &Cluster{
		Kinds:   &Kinds{List: append(BuiltinKinds(), custom...)},
		Objects: map[Key]Object{},
		born:    map[Key]int{},
		owners:  newOwners(),
		version: 1,
		Uid:     counted,
		Given:   map[Key]Identity{},
		now:     now,
		tracked: map[tracked]*tracker{},
		schemas: map[schema.GroupVersionKind]*resource.Schema{},
	}
}

// Identity is what makes an object the same as in another cluster.
type Identity struct {
	Uid        types.UID
	Generation int64
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
func (c *Cluster) Kind(gvk schema.GroupVersionKind) Kind { return c.Kinds.Of(gvk, nil) }

// Take returns the changes since it was asked last.
func (c *Cluster) Take() []Change {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	changes := c.changes
	c.changes = nil
	return changes
}

// List are the objects of a resource by namespace and name; an empty namespace
// is all of them.
func (c *Cluster) List(r schema.GroupResource, namespace string) []Object {
	found := slices.DeleteFunc(slices.Collect(maps.Keys(c.Objects)), func(k Key) bool {
		return k.GroupResource != r || namespace != "" && k.Namespace != namespace
	})
	slices.SortFunc(found, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out := make([]Object, len(found))
	for i, k := range found {
		out[i] = c.Objects[k]
	}
	return out
}

// write stores an object under a new version and tells of it. Two clocks would
// disagree, so the time is the caller's.
func (c *Cluster) write(k Key, o Object) Object {
	old := c.Objects[k]
	if old == nil {
		c.Order = append(c.Order, k)
		c.Births++
		c.born[k] = c.Births
	}
	c.version++
	o.SetResourceVersion(fmt.Sprint(c.version))
	c.Objects[k] = o
	c.owners.note(k, old, o)
	c.changes = append(c.changes, Change{Resource: k.GroupResource, Old: old, New: o})
	return o
}

// remove takes an object away; the watch shows it as it was last, under the
// version of its end.
func (c *Cluster) remove(k Key, last Object) {
	c.version++
	last = last.DeepCopy()
	last.SetResourceVersion(fmt.Sprint(c.version))
	c.owners.note(k, c.Objects[k], nil)
	at, _ := slices.BinarySearchFunc(c.Order, c.born[k], func(other Key, born int) int { return cmp.Compare(c.born[other], born) })
	c.Order = slices.Delete(c.Order, at, at+1)
	delete(c.born, k)
	delete(c.Objects, k)
	c.changes = append(c.changes, Change{Resource: k.GroupResource, Old: last})
}

// Since are the objects that were written first after so many others had been.
func (c *Cluster) Since(births int) []Key {
	at, _ := slices.BinarySearchFunc(c.Order, births+1, func(k Key, born int) int { return cmp.Compare(c.born[k], born) })
	return c.Order[at:]
}

// sorted are keys in the order in which the objects were written first.
func (c *Cluster) sorted(keys map[Key]struct{}) []Key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b Key) int { return cmp.Compare(c.born[a], c.born[b]) })
}

func (c *Cluster) find(k Key) (Object, error) {
	if o := c.Objects[k]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(k.GroupResource, k.Name)
}
