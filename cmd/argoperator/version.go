package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version string

// facts are what `version` tells.
type facts struct {
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

func newVersion(s streams) *cobra.Command {
	var format string
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and what it was built with",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("output", format, formats); err != nil {
				return err
			}
			f := buildFacts()
			if format == "json" {
				return writeJSON(s.out, f)
			}
			_, err := fmt.Fprintf(s.out, "argoperator %s (Argo Events %s, Argo Workflows %s, %s, %s)\n",
				f.Version, f.ArgoEvents, f.ArgoWorkflows, f.GoVersion, f.Platform)
			return err
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "output format: text|json")
	completeWith(cmd, "output", formats)
	return cmd
}

func buildFacts() facts {
	f := facts{
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
