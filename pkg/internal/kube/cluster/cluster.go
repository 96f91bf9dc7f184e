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

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// Object is one object of the cluster. A stored object is never changed.
type Object = *unstructured.Unstructured

// Key identifies an object independently of its version.
type Key struct {
	schema.GroupResource
	Namespace, Name string
}

// Change is a write as a watch reports it.
type Change struct {
	Resource schema.GroupResource
	Old, New Object // nil: the object was created, or deleted
}

// Object returns the changed object, or its last state if it was deleted.
func (c Change) Object() Object { return cmp.Or(c.New, c.Old) }

// Cluster is an in-memory API server and an http.Handler. Versions, uids and times
// are counted, so that two runs write the same objects.
type Cluster struct {
	Mu         sync.Mutex
	Kinds      *Kinds
	Objects    map[Key]Object
	Order      []Key       // in creation order
	created    map[Key]int // sequence number of the creation
	Created    int
	owners     *owners
	changes    []Change
	version    int // of the last change; 1 for an empty cluster, like etcd's
	objects    int // objects created so far, for uids and generated names
	NewUID     func(objects int) types.UID
	Identities map[Key]Identity // of objects read from another cluster
	taken      map[any]Key      // addresses and ports of Services
	plain      map[Key]plain
	ending     map[Key]struct{} // Namespaces that are being deleted
	ended      map[string]bool  // Namespaces that were deleted
	now        func() time.Time
	trackers   map[trackerKey]*tracker
	schemas    map[schema.GroupVersionKind]*resource.Schema

	Policies []Policy
	Cache    *Cache     // nil: nothing is cached
	Requests func(Call) // called with each request and its answer; nil: not called
	Strict   bool       // refuses kinds and namespaces that it does not have, of which tests need not tell
}

// NewCluster returns an empty cluster with the built-in kinds and the given ones.
// It reads the clock once for each write.
func NewCluster(custom []Kind, now func() time.Time) *Cluster {
	return &Cluster{
		Kinds:      &Kinds{List: append(BuiltinKinds(), custom...)},
		Objects:    map[Key]Object{},
		created:    map[Key]int{},
		owners:     newOwners(),
		version:    1,
		NewUID:     counted,
		Identities: map[Key]Identity{},
		taken:      map[any]Key{},
		plain:      map[Key]plain{},
		ending:     map[Key]struct{}{},
		ended:      map[string]bool{},
		now:        now,
		trackers:   map[trackerKey]*tracker{},
		schemas:    map[schema.GroupVersionKind]*resource.Schema{},
	}
}

// Serve replaces the custom kinds, as changed CustomResourceDefinitions do. Objects stay, and
// are read with the new schemas: without fields that these do not have, and with their
// defaults. The cache is for the new kinds.
func (c *Cluster) Serve(custom []Kind, cache *Cache) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Kinds, c.Cache = &Kinds{List: append(BuiltinKinds(), custom...)}, cache
	c.trackers, c.schemas = map[trackerKey]*tracker{}, map[schema.GroupVersionKind]*resource.Schema{}
	for k, o := range c.Objects {
		read := o.DeepCopy()
		if err := c.complete(Request{Kind: c.Kind(o.GroupVersionKind())}, read); err != nil {
			return err
		}
		c.Objects[k] = read
	}
	return nil
}

// Identity is the metadata of an object that is kept from another cluster.
type Identity struct {
	UID        types.UID
	Generation int64
}

func counted(made int) types.UID {
	return types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", made))
}

// Ticks returns a clock that starts at a fixed time and advances by a second on
// each call.
func Ticks() func() time.Time {
	t := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		t = t.Add(time.Second)
		return t
	}
}

// Kind returns the kind of objects with this apiVersion and kind.
func (c *Cluster) Kind(gvk schema.GroupVersionKind) Kind { return c.Kinds.Of(gvk, nil) }

// Version returns the version of the last change. The caller holds Mu.
func (c *Cluster) Version() int { return c.version }

// TakeChanges returns the changes since the last call.
func (c *Cluster) TakeChanges() []Change {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	changes := c.changes
	c.changes = nil
	return changes
}

// List returns the objects of a resource sorted by namespace and name; an empty
// namespace means all namespaces.
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

// write stores an object under a new version and records the change. The caller has
// set the times, so that the clock is read once.
func (c *Cluster) write(k Key, o Object) Object {
	old := c.Objects[k]
	if old == nil {
		if k.GroupResource == namespaces {
			delete(c.ended, k.Name)
		}
		c.Order = append(c.Order, k)
		c.Created++
		c.created[k] = c.Created
	}
	c.version++
	o.SetResourceVersion(fmt.Sprint(c.version))
	c.Objects[k] = o
	c.owners.record(k, old, o)
	c.changes = append(c.changes, Change{Resource: k.GroupResource, Old: old, New: o})
	return o
}

// remove deletes an object. The watch reports its last state with the version of
// the deletion.
func (c *Cluster) remove(k Key, last Object) {
	c.version++
	last = last.DeepCopy()
	last.SetResourceVersion(fmt.Sprint(c.version))
	c.owners.record(k, c.Objects[k], nil)
	if k.GroupResource == namespaces {
		c.ended[k.Name] = true
		delete(c.ending, k)
	}
	at, _ := slices.BinarySearchFunc(c.Order, c.created[k], func(other Key, born int) int { return cmp.Compare(c.created[other], born) })
	c.Order = slices.Delete(c.Order, at, at+1)
	delete(c.created, k)
	delete(c.Objects, k)
	delete(c.plain, k)
	c.changes = append(c.changes, Change{Resource: k.GroupResource, Old: last})
}

// CreatedAfter returns the objects created after the first n.
func (c *Cluster) CreatedAfter(n int) []Key {
	at, _ := slices.BinarySearchFunc(c.Order, n+1, func(k Key, born int) int { return cmp.Compare(c.created[k], born) })
	return c.Order[at:]
}

// sorted returns keys in creation order.
func (c *Cluster) sorted(keys map[Key]struct{}) []Key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b Key) int { return cmp.Compare(c.created[a], c.created[b]) })
}

func (c *Cluster) find(k Key) (Object, error) {
	if o := c.Objects[k]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(k.GroupResource, k.Name)
}
