package output

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ownedFile lists what WriteDir wrote into a directory, with checksums, as
// `sha256sum --check` reads it.
const ownedFile = ".argoperator.sha256"

// TakenError names the files of others that stand where files have to be written.
type TakenError struct{ Names []string }

func (e *TakenError) Error() string {
	return "files of others are in the way: " + strings.Join(e.Names, ", ")
}

// WriteDir makes a directory hold these files, beside those of others. It makes
// the directory where it is missing, and removes what it wrote before and is no
// longer among the files. One of those that somebody has changed since is theirs
// now: it stays, and is among the names that are returned. Where a file that it
// did not write is in the way it writes nothing and returns a TakenError. The
// files are written beside their places first and then renamed. It reads and
// writes nothing through links that lead out of the directory.
func WriteDir(dir string, files []File) (left []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the output directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the output directory: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	d := directory{root: root, now: map[string]string{}}
	if d.before, err = d.readOwned(); err != nil {
		return nil, err
	}
	if err := d.claim(files); err != nil {
		return nil, err
	}
	return d.replace(dir, files)
}

// directory is one that WriteDir writes into: the checksums of what it wrote
// before, and of what it writes now, by name.
type directory struct {
	root        *os.Root
	before, now map[string]string
}

func checksum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func (d directory) readOwned() (map[string]string, error) {
	owned := map[string]string{}
	data, err := d.root.ReadFile(ownedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return owned, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was written before: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if sum, name, ok := strings.Cut(lines.Text(), "  "); ok && filepath.IsLocal(filepath.FromSlash(name)) {
			owned[name] = sum
		}
	}
	return owned, lines.Err()
}

// claim refuses to write over what others wrote, unless it is the same.
func (d directory) claim(files []File) error {
	var taken []string
	for _, f := range files {
		d.now[f.Name] = checksum(f.Data)
		if _, ours := d.before[f.Name]; ours {
			continue
		}
		if _, err := d.root.Lstat(filepath.FromSlash(f.Name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if d.sum(f.Name) != d.now[f.Name] {
			taken = append(taken, f.Name)
		}
	}
	if len(taken) > 0 {
		return &TakenError{Names: taken}
	}
	return nil
}

// sum is the checksum of a file, empty if there is none that can be read.
func (d directory) sum(name string) string {
	data, err := d.root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return ""
	}
	return checksum(data)
}

func (d directory) replace(dir string, files []File) (left []string, err error) {
	stage, err := os.MkdirTemp(dir, ".argoperator-*")
	if err != nil {
		return nil, fmt.Errorf("preparing the output directory: %w", err)
	}
	stage = filepath.Base(stage)
	defer func() { err = errors.Join(err, d.root.RemoveAll(stage)) }()
	for _, f := range files {
		if err := d.write(path.Join(stage, f.Name), f.Data); err != nil {
			return nil, err
		}
	}
	// what is interrupted from here on goes on the next time
	everything := maps.Clone(d.before)
	maps.Copy(everything, d.now)
	if err := d.own(everything); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := d.move(path.Join(stage, f.Name), f.Name); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.before)) {
		if _, still := d.now[name]; still {
			continue
		}
		stays, err := d.remove(name)
		if err != nil {
			return nil, err
		}
		if stays {
			left = append(left, name)
		}
	}
	return left, d.own(d.now)
}

func (d directory) write(name string, data []byte) error {
	name = filepath.FromSlash(name)
	if err := d.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("making the directory of %s: %w", name, err)
	}
	if err := d.root.WriteFile(name, data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (d directory) move(from, to string) error {
	to = filepath.FromSlash(to)
	if err := d.root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("making the directory of %s: %w", to, err)
	}
	if err := d.root.Rename(filepath.FromSlash(from), to); err != nil {
		return fmt.Errorf("moving %s into place: %w", to, err)
	}
	return nil
}

// remove takes away a file that is no longer wanted, and the directories that are
// empty then. One that somebody has changed stays.
func (d directory) remove(name string) (stays bool, err error) {
	place := filepath.FromSlash(name)
	if _, err := d.root.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if d.sum(name) != d.before[name] {
		return true, nil
	}
	if err := d.root.Remove(place); err != nil {
		return false, fmt.Errorf("removing %s: %w", name, err)
	}
	for parent := filepath.Dir(place); parent != "."; parent = filepath.Dir(parent) {
		if d.root.Remove(parent) != nil {
			break // something is in it
		}
	}
	return false, nil
}

// own writes down what is ours. Beside its place first, so that it is never half
// of it.
func (d directory) own(sums map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	if err := d.write(ownedFile+".new", []byte(b.String())); err != nil {
		return err
	}
	return d.move(ownedFile+".new", ownedFile)
}
