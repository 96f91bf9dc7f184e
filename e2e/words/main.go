// Command words checks how the project reads: its pages, and the comments and texts of
// its Go code. The rules are those of Vale in the folder styles; .vale.ini at the top of
// the repository says which apply where.
//
// Vale reads comments of Go, but neither texts such as help and findings, nor which of
// them are prose. So each Go file becomes a page that has its prose at the same lines.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	vale, err := filepath.Abs("bin/vale")
	if err == nil {
		err = check(vale, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

// check runs Vale on the files of the repository, or on those that arguments name.
func check(vale string, files []string) error {
	if len(files) == 0 {
		listed, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
		if err != nil {
			return fmt.Errorf("listing the files: %w", err)
		}
		files = strings.Split(strings.Trim(string(listed), "\x00"), "\x00")
	}
	dir, err := os.MkdirTemp("", "words")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, file := range files {
		if err := page(file, filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	config, err := filepath.Abs(".vale.ini")
	if err != nil {
		return err
	}
	cmd := exec.Command(vale, "--config", config, "--output", "line", "--sort", ".")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err = cmd.Run()
	fmt.Print(strings.ReplaceAll(out.String(), ".go.txt:", ".go:"))
	if err != nil {
		return fmt.Errorf("%d places do not read as the rules of .ci/words/styles ask for", bytes.Count(out.Bytes(), []byte("\n")))
	}
	return nil
}

// page writes what Vale reads of a file, if it reads any of it.
func page(file, target string) error {
	text, err := os.ReadFile(file)
	switch {
	case os.IsNotExist(err): // deleted, but not committed
		return nil
	case err != nil:
		return err
	}
	switch {
	case strings.Contains(file, "testdata/"):
		return nil
	case strings.HasSuffix(file, ".md"):
	case strings.HasSuffix(file, ".go"):
		target += ".txt"
		if text, err = prose(file, text); err != nil {
			return err
		}
	default:
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, text, 0o644)
}

// prose returns the comments of a Go file, and those of its texts that are sentences,
// each at its line.
func prose(name string, source []byte) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	lines := make([]string, bytes.Count(source, []byte("\n"))+1)
	put := func(at token.Pos, text string) {
		first := files.Position(at).Line - 1
		for i, line := range strings.Split(text, "\n") {
			if first+i < len(lines) {
				lines[first+i] = strings.TrimSpace(lines[first+i] + " " + line)
			}
		}
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if !directive.MatchString(comment.Text) {
				put(comment.Pos(), plain(strings.Trim(comment.Text, "/*")))
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil && sentence.MatchString(text) {
					put(n.Pos(), plain(text))
				}
			}
		}
		return true
	})
	return []byte(strings.Join(lines, "\n")), nil
}

var (
	directive = regexp.MustCompile(`^//(go:|nolint|export |line |\+)`)
	// sentence is a text with at least three words of letters in a row.
	sentence = regexp.MustCompile(`[A-Za-z]{2,},? [a-z]+,? [a-z]{2,}`)
	// code is what stands in a sentence without being a word of it.
	code = regexp.MustCompile("`[^`]*`|%[-+#0-9.*]*[a-zA-Z]|\\$\\{[^}]*\\}|[$.@/#<-][A-Za-z][A-Za-z0-9_./:>-]*|[A-Za-z0-9_]+([._/:=(\\[-]+[A-Za-z0-9_)\\]]+)*[._/:=(\\[]+[A-Za-z0-9_)\\]]*[A-Za-z0-9_)\\]]")
)

// plain replaces code by blanks.
func plain(text string) string {
	return code.ReplaceAllString(text, " ")
}
