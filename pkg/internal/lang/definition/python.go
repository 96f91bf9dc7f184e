package definition

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/imagename"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// stdlib lists the modules of Python's standard library.
//
//go:embed stdlib.txt
var stdlib string

// pythons are the minor versions of Python 3 that stdlib lists.
const (
	firstPython = 10
	lastPython  = 13
)

// standardModules returns the first and the last minor version of Python 3 that has each
// module of the standard library.
var standardModules = sync.OnceValue(func() map[string][2]int {
	out := map[string][2]int{}
	for line := range strings.Lines(stdlib) {
		fields := strings.Fields(line)
		if fields[0] == "#" || len(fields) != 1 && len(fields) != 3 {
			continue
		}
		versions := [2]int{firstPython, lastPython}
		for i, text := range fields[1:] {
			versions[i], _ = strconv.Atoi(text)
		}
		out[fields[0]] = versions
	}
	return out
})

// inImage are the modules that the official images have in addition to the standard library.
var inImage = []string{"pip", "setuptools", "pkg_resources", "wheel"}

var (
	pythonTag     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^3\.(\d+)([.-]|$)`) })
	pythonCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^python3?(\.\d+)?$`) })
)

// pythonModules warns of modules that a program imports, and that neither its image nor its
// files have. It knows the modules of the official images of Python alone, and nothing of
// packages that the command installs.
func (c *checker) pythonModules(p source.Path) {
	logic := c.op.Spec.Logic
	minor := pythonOf(logic.Image)
	if minor < firstPython || minor > lastPython || len(logic.Command) == 0 || c.filesRejected() ||
		!pythonCommand().MatchString(path.Base(logic.Command[0])) {
		return
	}
	for _, e := range logic.Env {
		if strings.HasPrefix(e.Name, "PYTHON") {
			return // modules may be elsewhere
		}
	}
	own := slices.Clone(inImage)
	for _, f := range c.def.Files {
		if strings.Contains(f.Content, "sys.path") {
			return
		}
		for _, part := range strings.Split(f.Path, "/") {
			own = append(own, strings.TrimSuffix(part, ".py"))
		}
	}
	for i, f := range c.def.Files {
		if path.Ext(f.Path) != ".py" {
			continue
		}
		var seen []string
		for _, one := range pythonImports(f.Content) {
			versions, standard := standardModules()[one.module]
			has := standard && versions[0] <= minor && minor <= versions[1] || slices.Contains(own, one.module)
			if has || slices.Contains(seen, one.module) {
				continue
			}
			seen = append(seen, one.module)
			hint := "use the standard library, add the module to files, or build an image with it"
			switch {
			case standard && minor < versions[0]:
				hint = fmt.Sprintf("Python has it since 3.%d: use a newer image", versions[0])
			case standard:
				hint = fmt.Sprintf("Python 3.%d was the last version with it: use another module, or build an image with it", versions[1])
			}
			c.warn(p.To("files", i), diag.MissingModule,
				fmt.Sprintf("%s:%d: the image %s does not have the module %s", logic.Files[i], one.line, logic.Image, one.module), hint)
		}
	}
}

// pythonOf returns the minor version of Python 3 in an official image; -1 for other images
// and those whose tag does not say it.
func pythonOf(image string) int {
	if !isReference(image) {
		return -1
	}
	name, tag := imagename.Official(image)
	found := pythonTag().FindStringSubmatch(tag)
	if name != "python" || found == nil {
		return -1
	}
	minor, err := strconv.Atoi(found[1])
	if err != nil {
		return -1
	}
	return minor
}

// pythonImport is a module that a program imports.
type pythonImport struct {
	module string // the first part of its name
	line   int
}

// pythonImports returns what a program imports when it starts: the import statements that
// are not in a block, where an error may be caught.
func pythonImports(text string) []pythonImport {
	var out []pythonImport
	s := pythonScanner{text: text, line: 1, begins: true}
	for s.at < len(s.text) {
		if s.begins {
			for _, module := range importsOf(s.text[s.at:]) {
				out = append(out, pythonImport{module, s.line})
			}
		}
		s.next()
	}
	return out
}

// importsOf returns the modules of an import statement at the beginning of a text.
func importsOf(text string) []string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, "#")
	line, _, _ = strings.Cut(line, ";")
	words := strings.Fields(line)
	var out []string
	switch {
	case len(words) < 2 || !strings.HasPrefix(line, words[0]) || // in a block
		words[0] == "from" && (len(words) < 3 || words[2] != "import"):
	case words[0] == "from":
		out = append(out, words[1])
	case words[0] == "import":
		for name := range strings.SplitSeq(strings.Join(words[1:], " "), ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			out = append(out, name)
		}
	}
	for i, name := range out {
		out[i], _, _ = strings.Cut(name, ".")
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" || name == `\` }) // "" of a relative name
}

// pythonScanner goes through a program, past its texts and comments.
type pythonScanner struct {
	text   string
	at     int
	line   int
	depth  int  // of brackets
	begins bool // at the first column of a statement
}

// next goes on by a character, a text or a comment.
func (s *pythonScanner) next() {
	rest := s.text[s.at:]
	s.begins = false
	switch rest[0] {
	case '#':
		s.skip(strings.IndexByte(rest+"\n", '\n'))
	case '"', '\'':
		s.skip(textLength(rest))
	case '\\':
		s.skip(min(2, len(rest)))
	case '(', '[', '{':
		s.depth++
		s.skip(1)
	case ')', ']', '}':
		s.depth--
		s.skip(1)
	case '\n':
		s.begins = s.depth <= 0
		s.skip(1)
	default:
		s.skip(1)
	}
}

func (s *pythonScanner) skip(n int) {
	s.line += strings.Count(s.text[s.at:s.at+n], "\n")
	s.at += n
}

// textLength returns the length of the quoted text at the beginning of a program.
func textLength(rest string) int {
	quote := rest[:1]
	if strings.HasPrefix(rest, strings.Repeat(quote, 3)) {
		quote = rest[:3]
	}
	for i := len(quote); i < len(rest); i++ {
		switch {
		case rest[i] == '\\':
			i++
		case strings.HasPrefix(rest[i:], quote):
			return i + len(quote)
		case rest[i] == '\n' && len(quote) == 1:
			return i // it does not end
		}
	}
	return len(rest)
}
