package schema

import (
	"slices"
	"strings"
)

// GuessedPlural is the resource that Argo Events makes of a kind: by English
// spelling, never by discovery, and in the case that the kind is written in (DNS
// becomes dnss).
func GuessedPlural(kind string) string {
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(kind, s) })
	}
	plural := kind + "s"
	switch {
	case kind == "EventBus" || len(kind) < 2:
		plural = kind
	case ends("s", "x", "z", "ch", "sh"):
		plural = kind + "es"
	case ends("y") && strings.ContainsAny(kind[len(kind)-2:len(kind)-1], "bcdfghjklmnpqrstvwxyz"):
		plural = strings.TrimSuffix(kind, "y") + "ies"
	case ends("fe"):
		plural = strings.TrimSuffix(kind, "fe") + "ves"
	case ends("f"):
		plural = strings.TrimSuffix(kind, "f") + "ves"
	}
	return strings.ToLower(plural)
}
