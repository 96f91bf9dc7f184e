package cluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// Cache holds what is expensive to build and the same for every API server of the
// same objects: schemas with their rules, and field managers. It is safe for
// concurrent use; a nil Cache caches nothing.
type Cache struct {
	mu       sync.Mutex
	trackers map[trackerKey]*tracker
	schemas  map[schema.GroupVersionKind]*resource.Schema
}

// NewCache returns an empty Cache.
func NewCache() *Cache {
	return &Cache{trackers: map[trackerKey]*tracker{}, schemas: map[schema.GroupVersionKind]*resource.Schema{}}
}

func (c *Cache) tracker(which trackerKey, fresh func() *tracker) *tracker {
	if c == nil {
		return fresh()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trackers[which] == nil {
		c.trackers[which] = fresh()
	}
	return c.trackers[which]
}

func (c *Cache) schema(gvk schema.GroupVersionKind, fresh func() (*resource.Schema, error)) (*resource.Schema, error) {
	if c == nil {
		return fresh()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.schemas[gvk] == nil {
		made, err := fresh()
		if err != nil {
			return nil, err
		}
		c.schemas[gvk] = made
	}
	return c.schemas[gvk], nil
}
