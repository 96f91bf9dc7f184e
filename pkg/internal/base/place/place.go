// Package place writes files where the user says, and not where a link leads.
//
// The rule of this package: a project that has a link where a command writes gets an
// error, also if it replaces a directory by a link meanwhile.
package place

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LinkError reports a link where a command would write.
type LinkError struct{ Path string }

func (e *LinkError) Error() string {
	return e.Path + " is a link: name the place that it leads to, or remove it"
}

// Open opens a directory for writing and creates what is missing of it. Neither the
// directory nor a directory between it and the working directory may be a link. Those above
// may: they belong to the system or to the user, and not to a project.
func Open(dir string) (*os.Root, error) {
	start, steps, err := split(dir)
	if err == nil {
		err = os.MkdirAll(start, 0o755)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(start)
	if err != nil {
		return nil, err
	}
	at := start
	for _, step := range steps {
		at = filepath.Join(at, step)
		next, err := enter(root, step, at)
		err = errors.Join(err, root.Close())
		if err != nil {
			return nil, err
		}
		root = next
	}
	return root, nil
}

// split returns the part of a directory that may contain links, and the names below it.
func split(dir string) (start string, steps []string, err error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	start, err = os.Getwd()
	if err != nil {
		return "", nil, err
	}
	for !Within(start, whole) {
		start = filepath.Dir(start)
	}
	if home, err := os.UserHomeDir(); err == nil && Within(start, home) && !Within(home, start) || start == filepath.Dir(start) {
		start = filepath.Dir(whole) // too much that is no project
	}
	below, err := filepath.Rel(start, whole)
	if err != nil || below == "." {
		return start, nil, err
	}
	return start, strings.Split(below, string(filepath.Separator)), nil
}

// Within reports whether a path is a directory or below it.
func Within(dir, path string) bool {
	below, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(below)
}

// enter opens a directory in another one, and creates it if it is missing.
func enter(root *os.Root, name, path string) (*os.Root, error) {
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	seen, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, &LinkError{path}
	case !seen.IsDir():
		return nil, fmt.Errorf("%s is not a directory", path)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(seen, opened) { // somebody has replaced it
		err = &LinkError{path}
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// usual are the permissions of a new file.
const usual = 0o644

// Replace writes a file in place of the one with this name, and keeps its permissions.
// Others see the old content or the new one.
func Replace(path string, data []byte) (err error) {
	root, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name, mode := filepath.Base(path), fs.FileMode(usual)
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &LinkError{path}
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	default:
		mode = info.Mode().Perm()
	}
	temporary := ".argoperator-" + rand.Text()
	if err := write(root, temporary, data, mode); err != nil {
		return err
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}

// Create writes a file that must not exist.
func Create(path string, data []byte) (err error) {
	root, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return write(root, filepath.Base(path), data, usual)
}

// write creates a file with a content, or nothing.
func write(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if mode != usual { // which the user may have limited
		err = errors.Join(err, file.Chmod(mode))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}
