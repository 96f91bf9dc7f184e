package differential

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// Choices are the alternatives of a case, by name. The first alternative, 0, is the
// simplest one, and that of a name without an entry.
type Choices map[string]int

// drawing makes the choices of one case. A choice depends on its own name and the seed
// only, so that one of them can be changed while the others stay.
type drawing struct {
	seed  uint64
	fixed Choices // not drawn; nil: every choice is drawn
	taken Choices // those that were made
	sizes Choices // the number of alternatives of each
}

func newDrawing(seed uint64, fixed Choices) *drawing {
	return &drawing{seed: seed, fixed: fixed, taken: Choices{}, sizes: Choices{}}
}

// pick returns one of n alternatives.
func (d *drawing) pick(name string, n int) int {
	chosen, ok := d.taken[name]
	if !ok {
		if chosen = int(hashed(d.seed, name) % uint64(n)); d.fixed != nil {
			chosen = d.fixed[name] % n
		}
		d.taken[name], d.sizes[name] = chosen, n
	}
	return chosen
}

// rarely reports a choice that is made once in n times.
func (d *drawing) rarely(name string, n int) bool { return d.pick(name, n) == n-1 }

// oneOf returns one of the alternatives; the first one is the simplest.
func oneOf[T any](d *drawing, name string, from ...T) T { return from[d.pick(name, len(from))] }

func hashed(seed uint64, name string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s", seed, name) // never fails
	sum := h.Sum64()
	return sum ^ sum>>29 // the low bits of neighbours differ too little
}

// nonzero returns the names of the choices that are not the simplest ones, sorted.
func (c Choices) nonzero() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if c[name] != 0 {
			out = append(out, name)
		}
	}
	return out
}

// without returns the choices with the simplest alternative for some names.
func (c Choices) without(names []string) Choices {
	out := maps.Clone(c)
	for _, name := range names {
		delete(out, name)
	}
	return out
}
