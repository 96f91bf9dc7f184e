// Package release tells what a release of this program is, without looking.
//
// The rule of this package: fmt, os and runtime, nothing else. Go initialises
// packages one at a time, of those that have what they import the first by its
// path. So this one comes before nearly all others, which are slow to start, and
// answers what needs none of them: the version of a release.
package release

import (
	"fmt"
	"os"
	"runtime"
)

// Version is set by release builds with -ldflags "-X
// github.com/argoperator/argoperator/pkg/internal/release.Version=v1.2.3";
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

// Known returns the facts that need no build information.
func Known() Facts {
	return Facts{
		Version: Version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Language: "argoperator.dev/v1alpha1", ArgoEvents: argoEvents, ArgoWorkflows: argoWorkflows,
	}
}

// String formats the facts on one line.
func (f Facts) String() string {
	return fmt.Sprintf("argoperator %s (Argo Events %s, Argo Workflows %s, %s, %s)", f.Version, f.ArgoEvents, f.ArgoWorkflows, f.GoVersion, f.Platform)
}

func init() {
	if Version != "" && Answered(Known) {
		os.Exit(0)
	}
}

// Answered prints the version if the command line asks for nothing else, and
// reports whether it did. After a write error main tries again and reports it.
func Answered(facts func() Facts) bool {
	if len(os.Args) != 2 || os.Args[1] != "version" && os.Args[1] != "--version" {
		return false
	}
	_, err := fmt.Println(facts())
	return err == nil
}
