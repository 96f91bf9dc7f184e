package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/place"
)

// InTheWay lists what conflicts with the files: existing files, and non-directories
// where a directory is needed. Links below dir count as conflicts.
func InTheWay(dir string, files []File) ([]string, error) {
	var out []string
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the project's directory: %w", err)
	case !info.IsDir():
		return []string{dir}, nil
	}
	for _, f := range files {
		found, err := inTheWay(dir, f.Path)
		if err != nil {
			return nil, fmt.Errorf("checking whether %s exists: %w", f.Path, err)
		}
		out = append(out, found...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// inTheWay returns the first path that conflicts with a file.
func inTheWay(dir, file string) ([]string, error) {
	place := dir
	steps := strings.Split(file, "/")
	for i, step := range steps {
		place = filepath.Join(place, step)
		info, err := os.Lstat(place)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case i == len(steps)-1 || !info.IsDir():
			return []string{place}, nil
		}
	}
	return nil, nil
}

// Write writes the files and creates missing directories. It overwrites nothing,
// and removes everything it wrote after an error.
func Write(dir string, files []File) (err error) {
	var made []string // new paths, the outermost first
	defer func() {
		if err == nil {
			return
		}
		for _, name := range slices.Backward(made) {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if made, err = mkdirs(filepath.Dir(path), made); err != nil {
			return fmt.Errorf("creating the directory of %s: %w", f.Path, err)
		}
		if err := place.Create(path, f.Data); err != nil {
			return fmt.Errorf("creating %s: %w", f.Path, err)
		}
		made = append(made, path)
	}
	return nil
}

// mkdirs creates a directory with its parents and appends the new ones to a list.
func mkdirs(dir string, made []string) ([]string, error) {
	err := os.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		return append(made, dir), nil
	case errors.Is(err, fs.ErrExist):
		return made, nil // creating a file in it reports if it is not a directory
	case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
		if made, err = mkdirs(filepath.Dir(dir), made); err != nil {
			return made, err
		}
		if err = os.Mkdir(dir, 0o755); err == nil {
			made = append(made, dir)
		}
	}
	return made, err
}
