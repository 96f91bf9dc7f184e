package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// readFile reads a file up to the size limit.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !openStream(name) {
		return nil, &irregularError{info.Mode()}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	defer file.Close()
	data, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	return data, nil
}

// readStdin reads the standard input up to the size limit.
func readStdin(stdin io.Reader) ([]byte, error) {
	data, err := readAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return data, nil
}

// readAll reads at most one byte more than the limit, so that the parser can report
// that the text is too long.
func readAll(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, argoperator.MaxFile+1))
}

// openStream reports whether a name is that of a stream that the caller opened:
// standard input, or a process substitution of a shell. Other irregular files are
// not read: a named pipe may block forever, and a device may never end.
func openStream(name string) bool {
	dir, _ := path.Split(path.Clean(filepath.ToSlash(name)))
	return name == "/dev/stdin" || slices.Contains([]string{"/dev/fd/", "/proc/self/fd/"}, dir)
}

// irregularError reports a file that is not a regular file.
type irregularError struct{ mode fs.FileMode }

func (e *irregularError) Error() string {
	switch {
	case e.mode.IsDir():
		return "is a directory, not a file"
	case e.mode&fs.ModeNamedPipe != 0:
		return "is a named pipe, not a file"
	case e.mode&fs.ModeSocket != 0:
		return "is a socket, not a file"
	}
	return "is a device, not a file"
}

// unreadable adds a finding for a file that cannot be read, if the user can fix
// that; it returns every other error.
func unreadable(findings *diag.List, name, check string, err error) error {
	at := diag.Position{File: filepath.ToSlash(name)}
	irregular := (*irregularError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		findings.Add(at, diag.FileNotFound, "no such file or directory", "check "+check)
	case errors.As(err, &irregular):
		hint := "name a regular file"
		if irregular.mode&fs.ModeNamedPipe != 0 {
			hint += ", or let a shell open it: <(cat " + quoted(name) + ")"
		}
		findings.Add(at, diag.NotAFile, irregular.Error(), hint)
	default:
		return err
	}
	return nil
}

// entry is an entry of a directory.
type entry struct {
	path  string
	isDir bool
}

// visible returns the directories and regular files in a directory, sorted by name,
// and the files that links point to, but not linked directories. It skips hidden
// ones, broken links, such as the lock files of editors, and other file types.
func visible(dir string) ([]entry, error) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading a directory: %w", err)
	}
	var out []entry
	for _, e := range found {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		at := filepath.Join(dir, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := os.Stat(at)
			if err != nil {
				continue //nolint:nilerr // a broken link
			}
			mode = info.Mode()
		}
		if e.IsDir() || mode.IsRegular() {
			out = append(out, entry{at, e.IsDir()})
		}
	}
	return out, nil
}

// yamlFiles returns the visible YAML and JSON files in a directory, and with
// recursive in its subdirectories.
func yamlFiles(dir string, recursive bool) ([]string, error) {
	entries, err := visible(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		switch {
		case e.isDir && recursive:
			below, err := yamlFiles(e.path, true)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case !e.isDir && isYAML(e.path):
			out = append(out, e.path)
		}
	}
	return out, nil
}

func isYAML(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}
