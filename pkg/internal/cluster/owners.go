package cluster

import (
	"k8s.io/apimachinery/pkg/types"
)

// owners knows who owns what, so that the garbage collector need not look at all
// there is after every event.
type owners struct {
	alive map[types.UID]bool
	of    map[types.UID]map[Key]struct{} // what has this owner
	loose map[Key]struct{}               // whose owner was not there, or has gone, since it was asked last
}

func newOwners() *owners {
	return &owners{alive: map[types.UID]bool{}, of: map[types.UID]map[Key]struct{}{}, loose: map[Key]struct{}{}}
}

// note takes note of a write; nil: the object was not there, it is gone.
func (s *owners) note(k Key, old, written Object) {
	if old != nil {
		for _, r := range old.GetOwnerReferences() {
			delete(s.of[r.UID], k)
			if len(s.of[r.UID]) == 0 {
				delete(s.of, r.UID)
			}
		}
	}
	if written == nil {
		delete(s.alive, old.GetUID())
		for child := range s.of[old.GetUID()] {
			s.loose[child] = struct{}{}
		}
		return
	}
	s.alive[written.GetUID()] = true
	for _, r := range written.GetOwnerReferences() {
		if s.of[r.UID] == nil {
			s.of[r.UID] = map[Key]struct{}{}
		}
		s.of[r.UID][k] = struct{}{}
		if !s.alive[r.UID] {
			s.loose[k] = struct{}{}
		}
	}
}

// takeLoose returns what the garbage collector has to look at, once.
func (s *owners) takeLoose() map[Key]struct{} {
	out := s.loose
	s.loose = map[Key]struct{}{}
	return out
}
