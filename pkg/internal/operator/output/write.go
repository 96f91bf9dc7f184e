package output

import (
	"bufio"
	"bytes"
	"crypto/rand"
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

	"github.com/argoperator/argoperator/pkg/internal/base/place"
)

// ownedFile lists what WriteDir wrote into a directory, with checksums in the format of
// `sha256sum --check`.
const ownedFile = ".argoperator.sha256"

// TakenError lists existing files that WriteDir would overwrite.
type TakenError struct{ Names []string }

func (e *TakenError) Error() string {
	return "these files exist and were not generated: " + strings.Join(e.Names, ", ")
}

// WriteDir writes files to a directory that may contain other files. It creates a
// missing directory, and removes files that it wrote before and that are no longer
// needed. A file that was changed since is kept and returned. If a file that it did not
// write would be overwritten, it writes nothing and returns a TakenError. It writes
// temporary files and renames them. It follows no link to the directory, and none out of it.
func WriteDir(dir string, files []File) (left []string, err error) {
	root, err := place.Open(dir)
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
	return d.replace(files)
}

// directory is the state of WriteDir: the checksums of what it wrote before, and of
// what it writes now, by name.
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

// sum returns the checksum of a file, or "" if it cannot be read.
func (d directory) sum(name string) string {
	data, err := d.root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return ""
	}
	return checksum(data)
}

func (d directory) replace(files []File) (left []string, err error) {
	stage := ".argoperator-" + rand.Text()
	if err := d.root.Mkdir(stage, 0o700); err != nil {
		return nil, fmt.Errorf("preparing the output directory: %w", err)
	}
	defer func() { err = errors.Join(err, d.root.RemoveAll(stage)) }()
	for _, f := range files {
		if err := d.write(path.Join(stage, f.Name), f.Data); err != nil {
			return nil, err
		}
	}
	// after an interruption from here on, the next call continues
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
		return fmt.Errorf("creating the directory of %s: %w", name, err)
	}
	if err := d.root.WriteFile(name, data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (d directory) move(from, to string) error {
	to = filepath.FromSlash(to)
	if err := d.root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("creating the directory of %s: %w", to, err)
	}
	if err := d.root.Rename(filepath.FromSlash(from), to); err != nil {
		return fmt.Errorf("moving %s into place: %w", to, err)
	}
	return nil
}

// remove removes a file that is no longer needed, and the directories that are empty
// then. It keeps a file that was changed.
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
			break // it is not empty
		}
	}
	return false, nil
}

// own writes the checksum file. It renames a temporary file, so that it is never
// incomplete.
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
