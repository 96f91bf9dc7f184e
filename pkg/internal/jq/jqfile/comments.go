package jqfile

import (
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// Comments are the comments of jq files.
type Comments struct {
	About       string              // what the last file says about itself
	definitions map[string][]string // lines by the name of the definition that follows
}

// ReadComments reads the comments of files.
func ReadComments(files fs.FS, names ...string) (Comments, error) {
	out := Comments{definitions: map[string][]string{}}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return Comments{}, err
		}
		head, rest, _ := strings.Cut(string(data), "\n\n")
		out.About = uncommented(head)
		var comment []string
		for line := range strings.Lines(rest) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") {
				comment = append(comment, line)
				continue
			}
			if found := defines().FindStringSubmatch(line); found != nil && comment != nil {
				out.definitions[found[1]] = comment
			}
			comment = nil
		}
	}
	return out, nil
}

// defines matches a line with which a definition begins.
var defines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\| )?def (\w+)\b`) })

// uncommented returns the text of a comment.
func uncommented(comment string) string {
	var lines []string
	for line := range strings.Lines(comment) {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "#"), " "))
	}
	return strings.Join(lines, "\n")
}

// On returns a program with a comment before each definition that has one.
func (c Comments) On(program string) string {
	var out strings.Builder
	for line := range strings.Lines(program) {
		code := strings.TrimLeft(line, " ")
		if found := defines().FindStringSubmatch(code); found != nil {
			for _, comment := range c.definitions[found[1]] {
				out.WriteString(line[:len(line)-len(code)] + comment + "\n")
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
