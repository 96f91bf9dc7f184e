package cmd

import (
	"os"
	"path/filepath"

	"github.com/argoperator/argoperator/pkg/internal/base/place"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
)

// path returns where the command finds programs: on the PATH, but not in the project that
// it reads.
func (f *sourceFlags) path() process.Path {
	return process.NewPath(os.Getenv("PATH"), f.projects()...)
}

// projects returns the working directory and those of the named files, and the working
// trees of Git that they are in. A directory with the user's home is no project: it has the
// user's programs.
func (f *sourceFlags) projects() []string {
	home, _ := os.UserHomeDir()
	home, _ = filepath.EvalSymlinks(home) // without one, there is nothing to spare
	var out []string
	for _, name := range append([]string{"."}, f.names...) {
		dir, err := filepath.Abs(name)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			continue // the command reports it
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = filepath.Dir(dir)
		}
		for _, one := range []string{dir, workingTree(dir)} {
			if one != "" && !place.Within(one, home) {
				out = append(out, one)
			}
		}
	}
	return out
}
