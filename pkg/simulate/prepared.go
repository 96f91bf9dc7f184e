package simulate

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/resource"
)

// Prepared is what takes long to make and is the same for every simulation of
// the same objects: schemas with their rules, who manages fields, and the jq of
// transforms. It is safe for concurrent use.
type Prepared struct {
	mu       sync.Mutex
	trackers map[tracked]*tracker
	schemas  map[schema.GroupVersionKind]*resource.Schema
	programs map[string]*program
}

// NewPrepared returns an empty one.
func NewPrepared() *Prepared {
	return &Prepared{
		trackers: map[tracked]*tracker{}, schemas: map[schema.GroupVersionKind]*resource.Schema{}, programs: map[string]*program{},
	}
}

func (p *Prepared) tracker(which tracked, fresh func() *tracker) *tracker {
	if p == nil {
		return fresh()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trackers[which] == nil {
		p.trackers[which] = fresh()
	}
	return p.trackers[which]
}

func (p *Prepared) schema(gvk schema.GroupVersionKind, fresh func() (*resource.Schema, error)) (*resource.Schema, error) {
	if p == nil {
		return fresh()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.schemas[gvk] == nil {
		made, err := fresh()
		if err != nil {
			return nil, err
		}
		p.schemas[gvk] = made
	}
	return p.schemas[gvk], nil
}
