package cluster

import "strings"

// LocalPaths translates container paths in a text to paths on this machine. It
// leaves longer paths alone that only contain such a path.
func LocalPaths(text string, mounts []Mount) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		m := Mount{}
		if i == 0 || !inPath(text[i-1]) {
			m = longest(text[i:], mounts)
		}
		if m.Path == "" {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(m.Source)
		i += len(m.Path)
	}
	return out.String()
}

// longest returns the mount with the longest path that is a prefix of the text, or
// the zero Mount.
func longest(text string, mounts []Mount) Mount {
	best := Mount{}
	for _, m := range mounts {
		rest, ok := strings.CutPrefix(text, m.Path)
		if ok && (rest == "" || rest[0] == '/' || !inPath(rest[0])) && len(m.Path) > len(best.Path) {
			best = m
		}
	}
	return best
}

func inPath(c byte) bool {
	return c == '/' || c == '.' || c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// Mount is a directory on this machine that is mounted into a container.
type Mount struct {
	Path     string // in the container
	Source   string // on this machine
	ReadOnly bool
}
