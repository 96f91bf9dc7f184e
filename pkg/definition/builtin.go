package definition

// builtin is a kind that every cluster has.
type builtin struct {
	group, version, kind string
	plural               string
	namespaced           bool
	hasStatus            bool // a status subresource
}

// scope is Namespaced or Cluster; of the zero value Namespaced.
func (b builtin) scope() string {
	if b.namespaced || b.kind == "" {
		return "Namespaced"
	}
	return "Cluster"
}

func builtinKind(group, version, kind string) (builtin, bool) {
	for _, b := range builtinKinds() {
		if b.group == group && b.version == version && b.kind == kind {
			return b, true
		}
	}
	return builtin{}, false
}

// Builtin tells whether every cluster has a kind of that name, and in which
// apiVersion; of several, in the first that people mean.
func Builtin(kind string) (apiVersion string, ok bool) {
	for _, b := range builtinKinds() {
		if b.kind == kind {
			return b.apiVersion(), true
		}
	}
	return "", false
}

// Namespaced tells whether the objects of a kind stand in a namespace, if it is
// one that every cluster has.
func Namespaced(apiVersion, kind string) (namespaced, known bool) {
	group, version := SplitAPIVersion(apiVersion)
	b, known := builtinKind(group, version, kind)
	return b.namespaced, known
}

// apiVersion is what an object of the kind has as its apiVersion.
func (b builtin) apiVersion() string {
	if b.group == "" {
		return b.version
	}
	return b.group + "/" + b.version
}
