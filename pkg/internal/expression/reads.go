package expression

import "slices"

// root is what a path starts at.
type root string

const (
	inputRoot    root = "."
	childrenRoot root = "$children"
	itemRoot     root = "$item" // and $index
	relatedRoot  root = "$related"
)

// read is a path that an expression reads, with everything below it.
type read struct {
	root root
	path []string
}

// reads are in no order and may say the same twice.
type reads []read

func (r reads) has(root root) bool {
	return slices.ContainsFunc(r, func(one read) bool { return one.root == root })
}

// paths lists the paths below a root, sorted, without those that another covers.
func (r reads) paths(root root) [][]string {
	var all [][]string
	for _, one := range r {
		if one.root == root {
			all = append(all, one.known())
		}
	}
	slices.SortFunc(all, slices.Compare)
	var kept [][]string
	for _, path := range all {
		if len(kept) == 0 || !covers(kept[len(kept)-1], path) {
			kept = append(kept, append([]string{}, path...))
		}
	}
	return kept
}

// known is the path up to an item or a computed key.
func (r read) known() []string {
	if i := slices.IndexFunc(r.path, isItem); i >= 0 {
		return r.path[:i]
	}
	return r.path
}

// covers says that a path leads to another or to something above it.
// One item is as good as another.
func covers(above, path []string) bool {
	same := func(a, b string) bool { return a == b || isItem(a) && isItem(b) }
	return len(above) <= len(path) && slices.EqualFunc(above, path[:len(above)], same)
}

// covers says that a path leads to another or to something above it.
func (r read) covers(other read) bool { return r.root == other.root && covers(r.path, other.path) }

// children sorts the paths below $children by the child. An empty path of
// $children itself must have been written out for each of them.
func (r reads) children() map[string][][]string {
	found := map[string]reads{}
	for _, one := range r {
		if one.root == childrenRoot && len(one.path) > 0 {
			found[one.path[0]] = append(found[one.path[0]], read{childrenRoot, one.path[1:]})
		}
	}
	paths := make(map[string][][]string, len(found))
	for name, below := range found {
		paths[name] = below.paths(childrenRoot)
	}
	return paths
}

// found tells whether a path leads to a value. Of an object it is not known which
// of its fields are read.
func found(value any, path []string) bool {
	if len(path) == 0 {
		_, object := value.(map[string]any)
		return value != nil && !object
	}
	switch value := value.(type) {
	case map[string]any:
		return !isItem(path[0]) && found(value[path[0]], path[1:])
	case []any:
		return isItem(path[0]) && !slices.ContainsFunc(value, func(item any) bool { return !found(item, path[1:]) })
	}
	return false
}
