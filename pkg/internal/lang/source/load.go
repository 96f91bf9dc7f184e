package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// MaxFile limits the size of a file, in bytes. The largest CustomResourceDefinitions in
// use have about 3 MB. An [Input] needs at most one byte more.
const MaxFile = 16 << 20

// TooLarge reports a file that exceeds MaxFile.
func TooLarge(list *diag.List, at diag.Position, data []byte) bool {
	if len(data) <= MaxFile {
		return false
	}
	list.Add(at, diag.TooLarge, fmt.Sprintf("the file has more than %d MiB", MaxFile>>20), "split it into several files")
	return true
}

// Document is one YAML document of a file. Its nodes have no aliases, no duplicate keys
// and no merge keys.
type Document struct {
	Positions
	Found diag.List // the problems found while reading it
	plain bool      // its nodes have the values
}

// Repaired reports whether lines that are not YAML were read as they are probably meant.
func (d Document) Repaired() bool { return len(d.repaired) > 0 }

// Load splits a file into its documents. Each is parsed separately, so that a syntax
// error does not hide the problems of others. keep reports whether a syntax error in a
// text is reported.
func Load(file string, data []byte, keep func(text []byte) bool) ([]Document, diag.List) {
	docs, found := loadText(file, data, keep)
	out := make([]Document, len(docs))
	for n, doc := range docs {
		out[n] = doc.Document
	}
	return out, found
}

// loadText is Load with the text of each document.
func loadText(file string, data []byte, keep func(text []byte) bool) (docs []written, list diag.List) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if TooLarge(&list, diag.Position{File: file}, data) {
		if !keep(data) {
			list = nil
		}
		return nil, list
	}
	if bad := NotText(data); bad >= 0 {
		if keep(data) {
			list.Add(offsetPosition(file, data, bad), diag.InvalidUTF8, textProblem(data[bad]), "save the file as UTF-8")
		}
		return nil, list
	}
	whole := string(data)
	lines := strings.Split(whole, "\n")
	for _, c := range split(whole) {
		text := c.text
		roots, err := parseYAML(c.text)
		if err != nil && keep([]byte(c.text)) {
			var found diag.List
			roots, found = readable(file, &c)
			list = append(list, found...)
		}
		for _, root := range roots {
			shift(root, c.line)
			c.place(root)
			doc := Document{Positions: Positions{File: file, Root: root, lines: lines, repaired: c.originals}}
			clean(&doc)
			doc.plain = err == nil && len(roots) == 1 && len(doc.Found) == 0 && isOrdinary(c.text)
			docs = append(docs, written{Document: doc, text: text, from: c.line})
		}
	}
	return docs, list
}

// NotText returns the offset of the first byte that is not UTF-8 text, or -1.
func NotText(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func textProblem(b byte) string {
	if b == 0 {
		return "the file contains a NUL byte: it is not text"
	}
	return fmt.Sprintf("the byte 0x%02X is not UTF-8 text", b)
}

func offsetPosition(file string, data []byte, offset int) diag.Position {
	head := data[:offset]
	start := bytes.LastIndexByte(head, '\n') + 1
	return diag.Position{
		File:   file,
		Line:   bytes.Count(head, []byte("\n")) + 1,
		Column: utf8.RuneCount(head[start:]) + 1,
	}
}

// chunk is the text of one document, and the number of lines before it.
type chunk struct {
	text      string
	line      int
	file      string         // all documents of the file
	originals map[int]string // lines of the file, from 1, that text has repaired
}

// split splits a file before every line that starts a document. Lines before a
// document, such as comments, belong to the document after them.
func split(text string) []chunk {
	var out []chunk
	start, first, body := 0, 0, false // the offset and the line of the document
	for at, n := 0, 0; at <= len(text); n++ {
		line, _, _ := strings.Cut(text[at:], "\n")
		starts := startsDocument(line)
		if starts && body {
			out = append(out, chunk{text: text[start:at], line: first, file: text})
			start, first, body = at, n, false
		}
		body = body || starts || hasContent(line)
		at += len(line) + 1
	}
	return append(out, chunk{text: text[start:], line: first, file: text})
}

const spaces = " \t\f\r"

func startsDocument(line string) bool {
	rest, is := strings.CutPrefix(line, "---")
	return is && (rest == "" || strings.IndexByte(spaces, rest[0]) >= 0)
}

// hasContent reports whether a line is more than a directive, a comment or white space.
func hasContent(line string) bool {
	text := strings.TrimLeft(line, spaces)
	return text != "" && text[0] != '#' && line[0] != '%'
}

// parseYAML returns the documents up to the first syntax error.
func parseYAML(text string) (roots []*yaml.Node, err error) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return roots, err
		case doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 && !isNull(doc.Content[0]):
			roots = append(roots, doc.Content[0])
		}
	}
}

// shift moves a tree down by a number of lines. It runs before aliases are resolved,
// when every node has one parent.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, child := range n.Content {
		shift(child, lines)
	}
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Input is a file that may contain definitions.
type Input struct {
	Name string // as the user named it; "-" for standard input
	Data []byte
	// Dir contains the files that a definition refers to. Paths are slash-separated and
	// relative to the definition. If it is nil, the definition cannot refer to files.
	Dir fs.FS
	// Lenient skips documents of other kinds, for files found in a directory.
	Lenient bool
	// Unlocked keeps the images as written and ignores install.imagesLock.
	Unlocked bool
	// Parameters are values for the parameters of the definitions, in place of their
	// defaults. Of several values for one parameter, the last one counts.
	Parameters []Parameter
}

// Parameter is a value for a parameter of definitions.
type Parameter struct {
	Name string
	// Value as JSON has it: string, float64, bool, []any, map[string]any or nil.
	Value any
	// Text is the value of a command line, which is read by the type of the parameter. Value is unused then.
	Text *string
	// At is where the value is written; zero: on a command line.
	At diag.Position
}
