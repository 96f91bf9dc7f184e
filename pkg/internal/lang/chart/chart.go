// Package chart reads Helm charts: their files, from a directory or an archive, and what
// their templates use.
//
// The rule of this package: it reads text. It renders nothing, because only Helm knows how.
package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// File is a file of a chart. Its path is relative to the chart.
type File struct {
	Path string
	Data []byte
}

// Chart is a chart with those that it contains, whose archives are unpacked.
type Chart struct {
	Metadata

	Files []File // in the order of their paths
}

// Metadata is what Chart.yaml says.
type Metadata struct {
	Name         string       `json:"name"`
	Version      string       `json:"version"`
	Description  string       `json:"description"`
	Type         string       `json:"type"`
	Dependencies []Dependency `json:"dependencies"`
}

// Dependency is a chart that another one needs.
type Dependency struct {
	Name string `json:"name"`
}

// metadataFile is the file that makes a directory a chart.
const metadataFile = "Chart.yaml"

// ErrTooLarge reports that an archive has more content than the limit.
var ErrTooLarge = errors.New("the archive has too much content")

// IsArchive reports whether a file is the archive of a chart by its name.
func IsArchive(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

// New returns the chart with some files, less those that .helmignore excludes. Archives of
// other charts in it are replaced by their files. limit is the size of all unpacked files in
// bytes.
func New(files []File, limit int) (Chart, error) {
	var c Chart
	files = without(files)
	for _, f := range files {
		if !IsArchive(f.Path) || path.Dir(f.Path) != "charts" && !strings.HasSuffix(path.Dir(f.Path), "/charts") {
			c.Files = append(c.Files, f)
			continue
		}
		inside, err := Unpack(f.Data, limit)
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.Path, err)
		}
		part, err := New(inside, limit)
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.Path, err)
		}
		dir := path.Join(path.Dir(f.Path), part.Name)
		for _, one := range part.Files {
			c.Files = append(c.Files, File{path.Join(dir, one.Path), one.Data})
		}
	}
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var err error
	c.Metadata, err = metadata(c.Files, "")
	return c, err
}

// metadata reads the Chart.yaml in a directory, which ends with a slash.
func metadata(files []File, dir string) (Metadata, error) {
	var m Metadata
	data, ok := find(files, dir+metadataFile)
	if !ok {
		return m, fmt.Errorf("there is no file %s", dir+metadataFile)
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s cannot be read: %w", dir+metadataFile, err)
	}
	if older, ok := find(files, dir+"requirements.yaml"); ok { // of charts with apiVersion: v1
		var more Metadata
		if err := yaml.Unmarshal(older, &more); err != nil {
			return m, fmt.Errorf("%srequirements.yaml cannot be read: %w", dir, err)
		}
		m.Dependencies = append(m.Dependencies, more.Dependencies...)
	}
	if m.Name == "" || m.Name != path.Base(m.Name) || m.Name == ".." || m.Name == "." {
		return m, fmt.Errorf("%s has no name, or one that is not a name of a directory", dir+metadataFile)
	}
	return m, nil
}

func find(files []File, name string) ([]byte, bool) {
	i := slices.IndexFunc(files, func(f File) bool { return f.Path == name })
	if i < 0 {
		return nil, false
	}
	return files[i].Data, true
}

// File returns the content of a file, and whether there is one.
func (c Chart) File(name string) ([]byte, bool) { return find(c.Files, name) }

// Unpack returns the files of an archive, without the directory that contains them all.
func Unpack(archive []byte, limit int) ([]File, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var files []File
	for from := tar.NewReader(unzipped); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		_, name, inside := strings.Cut(path.Clean(header.Name), "/")
		if header.Typeflag != tar.TypeReg || !inside || !localPath(name) {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
		if err != nil {
			return nil, err
		}
		if limit -= len(data); limit < 0 {
			return nil, ErrTooLarge
		}
		files = append(files, File{name, data})
	}
}

// localPath reports whether a clean path stays below its directory.
func localPath(name string) bool {
	return !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../") && !strings.Contains(name, `\`)
}

// ignoreFile lists the files that are not part of a chart.
const ignoreFile = ".helmignore"

// Ignores returns the rules of a .helmignore: whether it excludes a path below the chart.
func Ignores(text []byte) func(name string) bool {
	type rule struct {
		pattern     string
		dir, negate bool
	}
	var rules []rule
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var r rule
		line, r.negate = strings.CutPrefix(line, "!")
		line, r.dir = strings.CutSuffix(line, "/")
		r.pattern = line
		rules = append(rules, r)
	}
	excludes := func(name string, dir bool) bool {
		for _, r := range rules {
			pattern, subject := r.pattern, name
			if rooted, ok := strings.CutPrefix(pattern, "/"); ok {
				pattern = rooted
			} else if !strings.Contains(pattern, "/") {
				subject = path.Base(name)
			}
			matched, err := path.Match(pattern, subject)
			if err == nil && matched != r.negate && (!r.dir || dir) && (!r.negate || !r.dir) {
				return true
			}
		}
		return false
	}
	return func(name string) bool {
		for i, c := range name {
			if c == '/' && excludes(name[:i], true) {
				return true
			}
		}
		return excludes(name, false)
	}
}

// List returns the paths of the files of a chart in a directory, less those that .helmignore
// excludes.
func List(dir fs.FS) ([]string, error) {
	rules, err := fs.ReadFile(dir, ignoreFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ignored := Ignores(rules)
	var out []string
	err = fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir() && (name == ignoreFile || !ignored(name)):
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

// without returns the files of a chart that its .helmignore does not exclude, and none of
// version control.
func without(files []File) []File {
	rules, _ := find(files, ignoreFile)
	ignored := Ignores(rules)
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		return f.Path != ignoreFile && (ignored(f.Path) || strings.HasPrefix(f.Path, ".git/"))
	})
}

// Missing returns the names of the dependencies that a chart, or one inside it, does not
// contain, with the path of the chart that needs them.
func (c Chart) Missing() []string {
	var out []string
	for _, f := range c.Files {
		if path.Base(f.Path) != metadataFile || !isChartDir(path.Dir(f.Path)) {
			continue
		}
		dir := strings.TrimSuffix(f.Path, metadataFile)
		m, err := metadata(c.Files, dir)
		if err != nil {
			continue
		}
		for _, d := range m.Dependencies {
			if !slices.Contains(c.parts(dir), d.Name) {
				out = append(out, dir+"charts/"+d.Name)
			}
		}
	}
	return out
}

// isChartDir reports whether a directory is that of a chart: the root, or one in charts.
func isChartDir(dir string) bool { return dir == "." || path.Base(path.Dir(dir)) == "charts" }

// parts returns the names of the charts directly inside that of a directory.
func (c Chart) parts(dir string) []string {
	var out []string
	for _, f := range c.Files {
		if ok, _ := path.Match(dir+"charts/*/"+metadataFile, f.Path); ok {
			if m, err := metadata(c.Files, strings.TrimSuffix(f.Path, metadataFile)); err == nil {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

// Place is where a template uses something.
type Place struct {
	File string
	Line int
	What string // as written
}

// Kind is a kind that a template makes.
type Kind struct {
	Place

	APIVersion string // empty: the template computes it
}

// Uses is what the templates of a chart use. Each has the first place of each text.
type Uses struct {
	Random   []Place // functions with another result for each call
	Unsorted []Place // functions with another order for each call, whose result the same action does not sort
	Lookup   []Place
	Release  []Place // fields of the release that only an installation by Helm has
	Hooks    []Place // less those of tests
	Kept     []Kind  // of objects that an uninstallation by Helm keeps; What is empty if the document has no kind
	CRDs     []Place
	Kinds    []Kind // of objects, less those of hooks; What is the kind
}

// patterns are those of what templates use. A name after a dot or a dollar is that of a
// value.
type patterns struct {
	action, comment, quoted                   *regexp.Regexp
	random, unsorted, sorted, lookup, release *regexp.Regexp // in an action
	hook, keep, kind, version, divider        *regexp.Regexp // in a document
}

var compiled = sync.OnceValue(func() patterns {
	return patterns{
		action:  regexp.MustCompile(`(?s)\{\{.*?\}\}`),
		comment: regexp.MustCompile(`(?s)^\{\{-?\s*/\*.*?\*/\s*-?\}\}$`),
		quoted:  regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`"),
		random: regexp.MustCompile(`(?:^|[^\w.$"-])(rand(?:AlphaNum|Alpha|Numeric|Ascii|Bytes|Int)|` +
			`gen(?:CA|CAWithKey|SelfSignedCert|SelfSignedCertWithKey|SignedCert|SignedCertWithKey|PrivateKey)|` +
			`uuidv4|now|ago|shuffle|bcrypt|htpasswd|encryptAES)\b`),
		unsorted: regexp.MustCompile(`(?:^|[^\w.$"-])(keys|values)\b`),
		sorted:   regexp.MustCompile(`\b(?:sortAlpha|len|has|empty)\b`),
		lookup:   regexp.MustCompile(`(?:^|[^\w.$"-])(lookup)\b`),
		release:  regexp.MustCompile(`(\.Release\.(?:IsUpgrade|IsInstall|Revision))\b`),
		hook:     regexp.MustCompile(`helm\.sh/hook["']?\s*:\s*["']?(\{\{.*?\}\}|[a-z][a-z-]*(?:\s*,\s*(?:pre|post)-[a-z]+)*)`),
		keep:     regexp.MustCompile(`helm\.sh/resource-policy["']?\s*:\s*["']?keep\b`),
		kind:     regexp.MustCompile(`(?m)^kind:[ \t]*["']?([A-Z][A-Za-z0-9]*)["']?[ \t\r]*$`),
		version:  regexp.MustCompile(`(?m)^apiVersion:[ \t]*["']?([a-z0-9./-]+)["']?[ \t\r]*$`),
		divider:  regexp.MustCompile(`(?m)^---`),
	}
})

// Uses looks for what the templates use, in the chart and those inside it.
func (c Chart) Uses() Uses {
	var u Uses
	for _, f := range c.Files {
		dirs := strings.Split(path.Dir(f.Path), "/")
		if slices.Contains(dirs, "crds") && path.Ext(f.Path) != ".md" && !slices.Contains(dirs, "templates") {
			u.CRDs = append(u.CRDs, Place{f.Path, 1, f.Path})
		}
		if slices.Contains(dirs, "templates") && path.Base(f.Path) != "NOTES.txt" {
			u.file(f.Path, string(f.Data))
		}
	}
	return u
}

func (u *Uses) file(name, text string) {
	search := compiled()
	for _, at := range search.action.FindAllStringIndex(text, -1) {
		code := text[at[0]:at[1]]
		if search.comment.MatchString(code) {
			continue
		}
		code = search.quoted.ReplaceAllStringFunc(code, func(s string) string { return strings.Repeat(" ", len(s)) })
		for _, one := range []struct {
			pattern *regexp.Regexp
			to      *[]Place
		}{{search.random, &u.Random}, {search.unsorted, &u.Unsorted}, {search.lookup, &u.Lookup}, {search.release, &u.Release}} {
			if one.pattern == search.unsorted && search.sorted.MatchString(code) {
				continue
			}
			for _, found := range one.pattern.FindAllStringSubmatchIndex(code, -1) {
				add(one.to, Place{name, lineOf(text, at[0]+found[2]), code[found[2]:found[3]]})
			}
		}
	}
	start := 0
	for _, end := range append(search.divider.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		u.document(name, text, start, end[0])
		start = end[0]
	}
}

// document looks for the kind of a document, unless it is a hook.
func (u *Uses) document(name, text string, start, end int) {
	document := text[start:end]
	if found := compiled().hook.FindStringSubmatchIndex(document); found != nil {
		if what := document[found[2]:found[3]]; !strings.HasPrefix(what, "test") {
			add(&u.Hooks, Place{name, lineOf(text, start+found[0]), what})
		}
		return
	}
	version := ""
	if found := compiled().version.FindAllStringSubmatch(document, -1); len(found) == 1 { // of several, one depends on the cluster
		version = found[0][1]
	}
	kinds := compiled().kind.FindAllStringSubmatchIndex(document, -1)
	if kept := compiled().keep.FindStringIndex(document); kept != nil {
		one := Kind{Place{name, lineOf(text, start+kept[0]), ""}, version}
		if len(kinds) == 1 {
			one.What = document[kinds[0][2]:kinds[0][3]]
		}
		u.Kept = append(u.Kept, one)
	}
	for _, found := range kinds {
		one := Kind{Place{name, lineOf(text, start+found[2]), document[found[2]:found[3]]}, version}
		if !slices.ContainsFunc(u.Kinds, func(k Kind) bool { return k.What == one.What && k.APIVersion == version }) {
			u.Kinds = append(u.Kinds, one)
		}
	}
}

// add adds a place, unless there is one with the same text.
func add(to *[]Place, p Place) {
	if !slices.ContainsFunc(*to, func(other Place) bool { return other.What == p.What }) {
		*to = append(*to, p)
	}
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }
