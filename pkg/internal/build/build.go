// Package build tells what this program was built from.
//
// The rule of this package: the standard library only, and little of it, so that it
// comes before most of Argo and Kubernetes, as package release does, and answers
// for what is no release.
package build

import (
	"os"
	"runtime/debug"

	"github.com/argoperator/argoperator/pkg/internal/release"
)

// Facts are printed by `version`.
type Facts = release.Facts

func init() {
	if release.Answered(Read) {
		os.Exit(0)
	}
}

// Read returns the facts of this program.
func Read() Facts {
	f := release.Known()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return f
	}
	if f.Version == "" {
		f.Version = info.Main.Version
	}
	if f.Version == "" {
		f.Version = "(devel)"
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			f.Commit = setting.Value
		case "vcs.time":
			f.Date = setting.Value
		case "vcs.modified":
			f.Modified = setting.Value == "true"
		}
	}
	return f
}
