package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
	"sigs.k8s.io/yaml"
)

// program installs the command as a file, for scripts that call it.
func program(t *testing.T) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "argoperator")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func decodeFile(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, name))
	if err == nil {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPreCommitHooks runs each hook in a project, as pre-commit does.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID            string   `json:"id"`
		Name          string   `json:"name"`
		Description   string   `json:"description"`
		Language      string   `json:"language"`
		Entry         string   `json:"entry"`
		Args          []string `json:"args"`
		PassFilenames bool     `json:"pass_filenames"`
		Files         string   `json:"files"`
	}
	decodeFile(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) == 0 {
		t.Fatal("no hooks")
	}
	project := t.TempDir()
	if err := os.CopyFS(project, os.DirFS(filepath.Join(repository, "examples", "memcached"))); err != nil {
		t.Fatal(err)
	}
	path := program(t)
	for _, hook := range hooks {
		words := append(strings.Fields(hook.Entry), hook.Args...)
		cmd := exec.CommandContext(t.Context(), filepath.Join(path, words[0]), words[1:]...)
		cmd.Dir = project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", hook.ID, err, out)
		}
	}
}

// TestAction runs the last step of the GitHub Action, as a runner does.
func TestAction(t *testing.T) {
	var action struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Inputs      map[string]any `json:"inputs"`
		Runs        struct {
			Using string `json:"using"`
			Steps []struct {
				Uses  string            `json:"uses"`
				With  map[string]string `json:"with"`
				Shell string            `json:"shell"`
				Env   map[string]string `json:"env"`
				Run   string            `json:"run"`
			} `json:"steps"`
		} `json:"runs"`
	}
	decodeFile(t, ".github/actions/lint/action.yml", &action)
	step := action.Runs.Steps[len(action.Runs.Steps)-1]
	for _, value := range step.Env {
		name := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
		if _, known := action.Inputs[name]; !known {
			t.Errorf("%s is not an input", value)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository, "testdata", "lint"))); err != nil {
		t.Fatal(err)
	}
	path := program(t)
	for sample, want := range map[string]string{"unknown-event.yaml": "::error file=unknown-event.yaml,line=", "no-mutex.yaml": "::warning file=no-mutex.yaml,line="} {
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "LINT_PATH="+sample, "RECURSIVE=true", "CONFIG=", "SARIF=findings.sarif")
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || (err != nil) != strings.Contains(want, "error") {
			t.Errorf("%s: %v\n%s", sample, err, out)
		}
		var sarif struct {
			Version string `json:"version"`
			Runs    []struct {
				Results []struct {
					Locations []struct {
						PhysicalLocation struct {
							ArtifactLocation struct {
								URI string `json:"uri"`
							} `json:"artifactLocation"`
						} `json:"physicalLocation"`
					} `json:"locations"`
				} `json:"results"`
			} `json:"runs"`
		}
		data, err := os.ReadFile(filepath.Join(dir, "findings.sarif"))
		if err == nil {
			err = json.Unmarshal(data, &sarif)
		}
		if err != nil || sarif.Version != "2.1.0" || len(sarif.Runs) != 1 || len(sarif.Runs[0].Results) == 0 {
			t.Fatalf("%s: %v\n%s", sample, err, data)
		}
		for _, result := range sarif.Runs[0].Results { // GitHub rejects a file with a result that has no location
			if len(result.Locations) != 1 || result.Locations[0].PhysicalLocation.ArtifactLocation.URI != sample {
				t.Errorf("%s: a result at %v", sample, result.Locations)
			}
		}
	}
}

// TestActionsArePinned requires that external actions are pinned to a commit,
// because tags can move, and that each workflow limits its permissions.
func TestActionsArePinned(t *testing.T) {
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (\S+)(.*)$`)
	pinned := regexp.MustCompile(`@[0-9a-f]{40}$`)
	for _, file := range []string{
		".github/workflows/ci.yaml", ".github/workflows/release.yaml", "templates/init/.github/workflows/ci.yaml",
		".github/actions/lint/action.yml", "docs/how-to/use-in-ci.md", "docs/how-to/lint.md",
	} {
		data, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := uses.FindAllStringSubmatch(string(data), -1)
		if len(found) == 0 {
			t.Errorf("%s uses no action", file)
		}
		for _, use := range found {
			ours := strings.HasPrefix(use[1], "argoperator/") && strings.HasSuffix(use[1], "@COMMIT") // of a release that comes later
			if strings.HasPrefix(use[1], "./") {
				continue
			}
			if !ours && !pinned.MatchString(use[1]) || !strings.HasPrefix(use[2], " # v") {
				t.Errorf("%s: %s is not pinned to a commit with its version in a comment", file, use[1])
			}
		}
		if !strings.HasSuffix(file, "action.yml") && !bytes.Contains(data, []byte("permissions: {contents: read")) {
			t.Errorf("%s: the workflow does not limit its permissions", file)
		}
	}
}

// TestDependabot requires that Dependabot updates every Go module.
func TestDependabot(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	data, err := os.ReadFile(filepath.Join(repository, ".github", "dependabot.yml"))
	if err == nil {
		err = yaml.Unmarshal(data, &config)
	}
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, update := range config.Updates {
		if update.Ecosystem == "gomod" {
			listed = append(listed, update.Directories...)
		}
	}
	var modules []string
	for _, file := range files(t) {
		if path.Base(file) == "go.mod" {
			modules = append(modules, path.Join("/", path.Dir(file)))
		}
	}
	slices.Sort(modules)
	slices.Sort(listed)
	if diff := gocmp.Diff(modules, listed); diff != "" {
		t.Errorf(".github/dependabot.yml does not list the modules (-there +listed):\n%s", diff)
	}
}

// TestInstallable requires that the go command accepts the name of every file: it
// rejects a whole version, as in `go install …@v1.2.3`, for one name that a system
// cannot have, such as nul.txt on Windows.
func TestInstallable(t *testing.T) {
	for _, file := range files(t) {
		if err := module.CheckFilePath(file); err != nil {
			t.Error(err)
		}
	}
}

// files returns the slash-separated names of the repository's files, without those
// that git ignores.
func files(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(repository, func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains([]string{".git", "bin", "dist", "node_modules", "__pycache__"}, entry.Name()):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(repository, file)
		out = append(out, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
