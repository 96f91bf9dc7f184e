package expression

import "slices"

// root is the start of a path.
type root string

const (
	inputRoot    root = "."
	childrenRoot root = "$children"
	itemRoot     root = "$item"
	indexRoot    root = "$index"
	relatedRoot  root = "$related"
	// variablesRoot is that of the variables of the definition, in place of which others are read.
	variablesRoot root = "$variables"
	// parametersRoot is that of the parameters of the installation, which are not read from anywhere.
	parametersRoot root = "$parameters"
)

// read is a path that an expression reads, including everything below it.
type read struct {
	root root
	path []string
}

// reads is an unordered list that may have duplicates.
type reads []read

func (r reads) has(root root) bool {
	return slices.ContainsFunc(r, func(one read) bool { return one.root == root })
}

func (r reads) ofItem() bool { return r.has(itemRoot) || r.has(indexRoot) }

func (r reads) others() bool { return r.has(childrenRoot) || r.has(relatedRoot) }

// distinct returns the reads without duplicates.
func (r reads) distinct() reads {
	var out reads
	for _, one := range r {
		same := func(other read) bool { return one.root == other.root && slices.Equal(one.path, other.path) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, one)
		}
	}
	return out
}

// paths returns the sorted paths below a root, without those below another path.
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

// known returns the path up to a list element or a computed key.
func (r read) known() []string {
	if i := slices.IndexFunc(r.path, isItem); i >= 0 {
		return r.path[:i]
	}
	return r.path
}

// covers reports whether a path equals another, or is an ancestor of it. All list
// elements are equal.
func covers(above, path []string) bool {
	same := func(a, b string) bool { return a == b || isItem(a) && isItem(b) }
	return len(above) <= len(path) && slices.EqualFunc(above, path[:len(above)], same)
}

// covers reports whether a path equals another, or is an ancestor of it.
func (r read) covers(other read) bool { return r.root == other.root && covers(r.path, other.path) }

// children returns the paths below $children by child. $children itself must have been
// expanded to each child before.
func (r reads) children() map[string][][]string { return r.named(childrenRoot) }

// named returns the paths below a root by name; those of a list are below each of its
// objects.
func (r reads) named(root root) map[string][][]string {
	found := map[string]reads{}
	for _, one := range r {
		if one.root == root && len(one.path) > 0 {
			below := one.path[1:]
			if len(below) > 0 && isItem(below[0]) {
				below = below[1:]
			}
			found[one.path[0]] = append(found[one.path[0]], read{root, below})
		}
	}
	paths := make(map[string][][]string, len(found))
	for name, below := range found {
		paths[name] = below.paths(root)
	}
	return paths
}

// found reports whether a value has a path. For a whole object it returns true, because
// the fields that are read are not known.
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
