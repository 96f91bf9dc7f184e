package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
)

// revision reads files of a Git revision.
type revision struct {
	path process.Path
	name string
}

// checkout writes the files that a path has at the revision into a directory, together
// with the files next to it. It returns the new path.
func (r revision) checkout(ctx context.Context, name, into string) (string, error) {
	home, base := name, ""
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		home, base = filepath.Dir(name), filepath.Base(name)
	}
	home, err := filepath.EvalSymlinks(home)
	if err == nil {
		home, err = filepath.Abs(home)
	}
	if err != nil {
		return "", fmt.Errorf("looking for a Git working tree: %w", err)
	}
	tree := workingTree(home)
	if tree == "" {
		return "", usagef("--against %s: no such path, and %s is in no Git working tree", r.name, name)
	}
	if err := os.MkdirAll(into, 0o700); err != nil {
		return "", fmt.Errorf("unpacking a revision: %w", err)
	}
	files, err := r.list(ctx, tree, home)
	if err == nil {
		err = r.unpack(ctx, tree, files, into)
	}
	return filepath.Join(into, base), err
}

// workingTree returns the nearest directory above that has a directory or a file .git,
// which no commit can contain; empty: there is none. Git would also take a directory with
// the files of a bare repository, which a commit can contain.
func workingTree(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// git runs a command in a working tree and returns its output.
func (r revision) git(ctx context.Context, tree string, arguments ...string) (string, error) {
	var out []byte
	err := r.stream(ctx, tree, "", func(output io.Reader) error {
		var err error
		out, err = io.ReadAll(output)
		return err
	}, arguments...)
	return string(out), err
}

// stream runs a command in a working tree, and read reads its output meanwhile.
func (r revision) stream(ctx context.Context, tree, input string, read func(output io.Reader) error, arguments ...string) error {
	cmd, err := r.path.Command(ctx, process.Git, append([]string{"-C", tree}, arguments...)...)
	if err != nil {
		return usagef("--against %s: no such path, and %w to look for a revision", r.name, err)
	}
	var said bytes.Buffer
	output, into := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = strings.NewReader(input), into, &said, outputGrace
	ended := make(chan error, 1)
	go func() {
		err := cmd.Run()
		_ = into.Close() // it never fails
		ended <- err
	}()
	unread := read(output)
	_ = output.Close() // ends git if nobody reads on
	err = <-ended
	switch {
	case unread != nil && !errors.Is(unread, io.ErrUnexpectedEOF):
		return unread
	case errors.As(err, new(*process.ExitError)):
		return usagef("--against %s is neither a path nor a Git revision: %s", r.name, strings.TrimSpace(said.String()))
	case err != nil:
		return fmt.Errorf("running git: %w", err)
	}
	return unread
}

// blob is a file of the revision.
type blob struct{ path, object string }

// list returns the regular files below a directory of the working tree.
func (r revision) list(ctx context.Context, tree, home string) ([]blob, error) {
	dir, err := r.git(ctx, tree, "rev-parse", "--git-dir")
	if err != nil {
		return nil, err
	}
	if filepath.Clean(strings.TrimSpace(dir)) == "." { // an old git, and .git is no repository
		return nil, usagef("--against %s: %s is not the working tree of a Git repository", r.name, tree)
	}
	below, err := filepath.Rel(tree, home)
	if err != nil {
		return nil, fmt.Errorf("looking for a Git working tree: %w", err)
	}
	command := []string{"ls-tree", "-r", "-z", "--full-tree", r.name}
	prefix := ""
	if below != "." {
		prefix = filepath.ToSlash(below) + "/"
		command = append(command, "--", prefix)
	}
	out, err := r.git(ctx, tree, command...)
	if err != nil {
		return nil, err
	}
	var files []blob
	for line := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if len(fields) == 3 && strings.HasPrefix(fields[0], "100") { // no links, no submodules
			files = append(files, blob{strings.TrimPrefix(path, prefix), fields[2]})
		}
	}
	return files, nil
}

// unpack writes files into a directory, which no path can leave. It reads objects without
// the filters that attributes name.
func (r revision) unpack(ctx context.Context, tree string, files []blob, into string) error {
	root, err := os.OpenRoot(into)
	if err != nil {
		return fmt.Errorf("unpacking a revision: %w", err)
	}
	defer root.Close()
	var objects strings.Builder
	for _, file := range files {
		objects.WriteString(file.object + "\n")
	}
	return r.stream(ctx, tree, objects.String(), func(output io.Reader) error {
		stream := bufio.NewReader(output)
		for _, file := range files {
			data, err := r.next(stream)
			if err != nil {
				return err
			}
			place := filepath.FromSlash(file.path)
			if err := errors.Join(root.MkdirAll(filepath.Dir(place), 0o700), root.WriteFile(place, data, 0o600)); err != nil {
				return fmt.Errorf("unpacking a revision: %w", err)
			}
		}
		return nil
	}, "cat-file", "--batch")
}

// next reads an object from the output of cat-file, up to the size limit of a file.
func (r revision) next(stream *bufio.Reader) ([]byte, error) {
	head, err := stream.ReadString('\n')
	if err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	var object, kind string
	var size int64
	if _, err := fmt.Sscan(head, &object, &kind, &size); err != nil {
		return nil, usagef("--against %s: this clone does not have all files of the revision, and argoperator fetches nothing; "+
			"run git fetch --refetch --no-filter", r.name)
	}
	data, err := readAll(io.LimitReader(stream, size))
	if err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := stream.Discard(int(size) - len(data) + 1); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return data, nil
}
