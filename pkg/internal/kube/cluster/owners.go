package cluster

import (
	"k8s.io/apimachinery/pkg/types"
)

// owners indexes owner references, so that the garbage collector need not scan all
// objects after every event.
type owners struct {
	alive      map[types.UID]bool
	dependents map[types.UID]map[Key]struct{} // dependents by owner
	foreground map[Key]struct{}               // objects that are deleted after their dependents
	orphans    map[Key]struct{}               // objects whose owner did not exist or was deleted since the last takeOrphans
}

func newOwners() *owners {
	return &owners{
		alive:      map[types.UID]bool{},
		dependents: map[types.UID]map[Key]struct{}{},
		foreground: map[Key]struct{}{},
		orphans:    map[Key]struct{}{},
	}
}

// record updates the index after a write; nil: the object was created, or deleted.
func (s *owners) record(k Key, old, written Object) {
	if old != nil {
		for _, r := range old.GetOwnerReferences() {
			delete(s.dependents[r.UID], k)
			if len(s.dependents[r.UID]) == 0 {
				delete(s.dependents, r.UID)
			}
		}
	}
	if written == nil {
		delete(s.alive, old.GetUID())
		for child := range s.dependents[old.GetUID()] {
			s.orphans[child] = struct{}{}
		}
		return
	}
	s.alive[written.GetUID()] = true
	for _, r := range written.GetOwnerReferences() {
		if s.dependents[r.UID] == nil {
			s.dependents[r.UID] = map[Key]struct{}{}
		}
		s.dependents[r.UID][k] = struct{}{}
		if !s.alive[r.UID] {
			s.orphans[k] = struct{}{}
		}
	}
}

// takeOrphans returns the objects for the garbage collector to check and clears the
// list.
func (s *owners) takeOrphans() map[Key]struct{} {
	out := s.orphans
	s.orphans = map[Key]struct{}{}
	return out
}
