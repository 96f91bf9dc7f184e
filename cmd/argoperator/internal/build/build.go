// Package build tells what this program was built from.
//
// The rule of this room: the standard library only, and little of it. Go
// initialises packages one at a time, of those that have what they import the
// first by its path. So this one comes before most of Argo and Kubernetes, which
// take their time, and answers what needs none of them: the version.
package build

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// version is set by release builds with -ldflags "-X
// github.com/argoperator/argoperator/cmd/argoperator/internal/build.version=v1.2.3".
var version string

// Facts are what `version` tells.
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

// init answers before main where the command line asks for nothing else. What
// cannot be written is tried again, and told, by main.
func init() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		if _, err := fmt.Println(Read()); err == nil {
			os.Exit(0)
		}
	}
}

// String is a line for people.
func (f Facts) String() string {
	return fmt.Sprintf("argoperator %s (Argo Events %s, Argo Workflows %s, %s, %s)", f.Version, f.ArgoEvents, f.ArgoWorkflows, f.GoVersion, f.Platform)
}

// Read returns the facts of this program.
func Read() Facts {
	f := Facts{
		Version: version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Language: "argoperator.dev/v1alpha1", ArgoEvents: "unknown", ArgoWorkflows: "unknown",
	}
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
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/argoproj/argo-events":
			f.ArgoEvents = m.Version
		case "github.com/argoproj/argo-workflows/v3":
			f.ArgoWorkflows = m.Version
		}
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
