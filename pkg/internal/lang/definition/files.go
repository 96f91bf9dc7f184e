package definition

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// maxFiles limits the total size of a definition's files, in bytes: the maximum size of
// an object in etcd, less the rest of the ConfigMap.
const maxFiles = 900 << 10

// maxReferred limits the total size of all files that a definition refers to, in bytes.
const maxReferred = 4 * source.MaxFile

// readFiles reads the files and parameters of the logic.
func (c *checker) readFiles() {
	logic := c.op.Spec.Logic
	if logic == nil {
		return
	}
	p := source.PathOf("spec", "logic", "files")
	total, seen := 0, map[string]int{}
	for i, name := range logic.Files {
		clean := path.Clean(name)
		if first, again := seen[clean]; again && name != "" {
			c.add(
				p.To(i),
				diag.DuplicateValue,
				fmt.Sprintf("%s is listed twice", clean),
				fmt.Sprintf("remove one; the first is files[%d]", first),
			)
			continue
		}
		seen[clean] = i
		if content, ok := c.readText(p.To(i), name); ok {
			total += len(content)
			c.def.Files = append(c.def.Files, File{Path: clean, Content: content})
		}
	}
	for i, param := range logic.Parameters {
		if content, ok := c.readText(p[:2].To("parameters", i, "file"), param.File); ok {
			total += len(content)
			c.def.LogicParameters = append(c.def.LogicParameters, File{Path: param.Name, Content: content})
		}
	}
	if total > maxFiles {
		c.addKey(p, diag.TooLarge, fmt.Sprintf("the files have %d KiB in total, more than %d", total>>10, maxFiles>>10),
			"argoperator stores them in a ConfigMap, whose size is limited; put large files into the image")
	}
	cutCommonDirectory(c.def.Files)
}

// readText reads a text file that a path of the definition names.
func (c *checker) readText(p source.Path, name string) (string, bool) {
	data, ok := c.readFile(p, name)
	if ok && source.NotText(data) >= 0 {
		c.add(p, diag.InvalidUTF8, fmt.Sprintf("%s is not UTF-8 text", name), "")
		return "", false
	}
	return string(data), ok
}

// beside returns the name of a referenced file for findings, relative to the user's
// working directory. The definition may be given as x/operator.yaml or as "-".
func (c *checker) beside(file string) string { return path.Join(path.Dir(c.in.Name), file) }

// readFile reads a file that a path of the definition names.
func (c *checker) readFile(p source.Path, name string) ([]byte, bool) {
	clean := path.Clean(name)
	switch {
	case !c.has(name, p):
		return nil, false
	case strings.Contains(name, `\`):
		c.add(p, diag.BadValue, fmt.Sprintf("the path %s contains a backslash", name), "separate directories with /")
		return nil, false
	case path.IsAbs(name) || !fs.ValidPath(clean):
		c.add(p, diag.PathOutsideDirectory, fmt.Sprintf("%s is outside of the definition's directory", name),
			"write a path below the directory of the definition")
		return nil, false
	case c.in.Dir == nil:
		c.add(p, diag.FileNotFound, fmt.Sprintf("%s cannot be read: the definition has no directory", name),
			"pass the definition as a file, not on standard input")
		return nil, false
	}
	if info, err := fs.Stat(c.in.Dir, clean); err == nil && !info.Mode().IsRegular() {
		c.add(p, diag.NotAFile, fmt.Sprintf("%s is not a regular file", name), c.directoryHint(clean, info))
		return nil, false
	}
	limit := min(source.MaxFile, max(0, maxReferred-c.referred))
	data, err := readUpTo(c.in.Dir, clean, limit)
	c.referred += len(data)
	switch {
	case len(data) > limit && limit < source.MaxFile:
		c.add(p, diag.TooLarge, fmt.Sprintf("the files of the definition have more than %d MiB in total", maxReferred>>20), "")
		return nil, false
	case len(data) > limit:
		c.add(p, diag.TooLarge, fmt.Sprintf("%s has more than %d MiB", name, source.MaxFile>>20), "")
		return nil, false
	case errors.Is(err, fs.ErrNotExist):
		c.add(p, diag.FileNotFound, fmt.Sprintf("there is no file %s", name), c.siblingHint(clean))
	case err != nil:
		c.add(p, diag.NotAFile, fmt.Sprintf("%s cannot be read: %v", name, err), "")
	}
	return data, err == nil
}

// readUpTo reads at most one byte more than the limit.
func readUpTo(dir fs.FS, name string, limit int) ([]byte, error) {
	file, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}

func (c *checker) directoryHint(name string, info fs.FileInfo) string {
	entries, err := fs.ReadDir(c.in.Dir, name)
	if err != nil || !info.IsDir() || len(entries) == 0 {
		return ""
	}
	return "list the files in it, such as " + c.relative(path.Join(name, entries[0].Name()))
}

// siblingHint suggests a file that is probably meant: one with the same name elsewhere, or
// one in the same directory with a similar name.
func (c *checker) siblingHint(name string) string {
	patterns := []string{"*/" + path.Base(name), path.Base(name)}
	if below, in := strings.CutPrefix(name, c.base+"/"); in { // written relative to the definition
		patterns = append([]string{below}, patterns...)
	}
	for _, pattern := range patterns {
		if found, _ := fs.Glob(c.in.Dir, pattern); len(found) > 0 {
			return "did you mean " + c.relative(found[0]) + "?"
		}
	}
	var names []string
	entries, _ := fs.ReadDir(c.in.Dir, path.Dir(name)) // no hint if the directory cannot be listed
	for _, e := range entries {
		names = append(names, e.Name())
	}
	best := source.Nearest(path.Base(name), names)
	if stem := strings.TrimSuffix(path.Base(name), path.Ext(name)); best == "" && len(stem) > 2 {
		longer := slices.DeleteFunc(names, func(other string) bool { return !strings.HasPrefix(other, stem) })
		best = strings.Join(longer[:min(1, len(longer))], "")
	}
	if best != "" {
		return "did you mean " + c.relative(path.Join(path.Dir(name), best)) + "?"
	}
	return ""
}

// relative returns the path of a file as the document names it.
func (c *checker) relative(name string) string {
	if c.base == "" || c.base == "." {
		return name
	}
	if relative, err := filepath.Rel(filepath.FromSlash(c.base), filepath.FromSlash(name)); err == nil {
		return filepath.ToSlash(relative)
	}
	return name
}

// cutCommonDirectory makes paths relative to the deepest directory that contains all
// files.
func cutCommonDirectory(files []File) {
	common := commonDirectory(files)
	for i := range files {
		files[i].Path = strings.TrimPrefix(files[i].Path, common)
	}
}

// commonDirectory returns the deepest directory that contains all files, with a
// trailing slash; "" is the root.
func commonDirectory(files []File) string {
	if len(files) == 0 {
		return ""
	}
	common := strings.Split(path.Dir(files[0].Path), "/")
	for _, f := range files[1:] {
		dirs := strings.Split(path.Dir(f.Path), "/")
		n := 0
		for n < min(len(common), len(dirs)) && common[n] == dirs[n] {
			n++
		}
		common = slices.Clip(common[:n])
	}
	if len(common) == 0 || common[0] == "." {
		return ""
	}
	return strings.Join(common, "/") + "/"
}
