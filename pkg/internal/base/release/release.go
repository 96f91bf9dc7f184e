// Package release tells what this program was built from, before most packages are
// initialised.
//
// The rule of this package: fmt, os and runtime, nothing else. Go initialises the
// packages whose imports are initialised in the order of their paths. So this one comes
// before nearly all of Argo and Kubernetes, and answers what needs none of them: the
// version.
package release

import (
	"fmt"
	"os"
	"runtime"
	_ "unsafe" // for go:linkname
)

// Version is set by release builds with -ldflags "-X
// github.com/argoperator/argoperator/pkg/internal/base/release.Version=v1.2.3";
// otherwise it is empty.
var Version string

// Build dependencies of a release, as in go.mod.
const (
	argoEvents    = "v1.9.11"
	argoWorkflows = "v3.7.18"
)

// Facts are printed by `version`.
type Facts struct {
	Version       string `json:"version"`
	Commit        string `json:"commit,omitempty"`
	Date          string `json:"date,omitempty"`
	Modified      bool   `json:"modified,omitempty"`
	GoVersion     string `json:"goVersion"`
	Platform      string `json:"platform"`
	Language      string `json:"language"`
	ArgoEvents    string `json:"argoEvents"`
	ArgoWorkflows string `json:"argoWorkflows"`
}

// Read returns the facts of this program.
func Read() Facts {
	f := Facts{
		Version: Version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Language: "argoperator.dev/v1alpha1", ArgoEvents: argoEvents, ArgoWorkflows: argoWorkflows,
	}
	f.addBuildInfo(buildInfo())
	if f.Version == "" {
		f.Version = "(devel)"
	}
	return f
}

// buildInfo returns the text that runtime/debug.ReadBuildInfo parses. The path of that
// package puts it, and what imports it, behind the packages that are slow to start.
//
//go:linkname buildInfo runtime/debug.modinfo
func buildInfo() string

// addBuildInfo adds the facts of lines such as "build\tvcs.revision=abc". The first and
// last 16 bytes of the text are markers.
func (f *Facts) addBuildInfo(text string) {
	if len(text) < 32 {
		return
	}
	for rest := text[16 : len(text)-16]; rest != ""; {
		var line, kind string
		line, rest = cut(rest, '\n')
		kind, line = cut(line, '\t')
		switch key, value := cut(line, '='); {
		case kind == "mod" && f.Version == "":
			_, version := cut(line, '\t')
			f.Version, _ = cut(version, '\t')
		case kind == "build" && key == "vcs.revision":
			f.Commit = value
		case kind == "build" && key == "vcs.time":
			f.Date = value
		case kind == "build" && key == "vcs.modified":
			f.Modified = value == "true"
		}
	}
}

// cut is strings.Cut; package strings is initialised too late.
func cut(text string, at byte) (before, after string) {
	for i := range len(text) {
		if text[i] == at {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// String formats the facts on one line.
func (f Facts) String() string {
	return fmt.Sprintf(
		"argoperator %s (Argo Events %s, Argo Workflows %s, %s, %s)",
		f.Version,
		f.ArgoEvents,
		f.ArgoWorkflows,
		f.GoVersion,
		f.Platform,
	)
}

func init() {
	if answered() {
		os.Exit(0)
	}
}

// answered prints the version if the command line asks for nothing else, and reports
// whether it did. After a write error main tries again and reports it.
func answered() bool {
	if len(os.Args) != 2 || os.Args[1] != "version" && os.Args[1] != "--version" {
		return false
	}
	_, err := fmt.Println(Read())
	return err == nil
}
