// Package pages reads the code blocks of the documentation for the tests that run
// or lint them.
//
// The rule of this package: it only reads; its callers report errors.
package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Page is one file of the documentation.
type Page struct {
	Name   string // slash-separated, from the root of the repository
	Text   string
	Blocks []Block
}

// Block is a block of code on a page. The words behind its three backticks say
// how it is tried:
//
//	sh                a script that ends with 0
//	console           commands after "$ ", each with what it prints
//	sh cluster        a script that the cluster suite runs
//	console cluster   the same, with what is printed
//	sh ci             targets of make that continuous integration runs
//	LANGUAGE FILE     a file that the blocks behind it find
//	LANGUAGE …        nothing to run
type Block struct {
	At    string // page:line of its first line
	Words []string
	Text  string
}

// Info returns the words of a block as one text.
func (b Block) Info() string { return strings.Join(b.Words, " ") }

// Runs reports whether the block contains commands.
func (b Block) Runs() bool { return (b.Words[0] == "sh" || b.Words[0] == "console") && b.File() == "" }

// OnCluster reports whether the block requires a cluster.
func (b Block) OnCluster() bool { return b.Runs() && len(b.Words) == 2 && b.Words[1] == "cluster" }

// File returns the file name of the block; "" if the block is not a file.
func (b Block) File() string {
	if len(b.Words) == 2 && strings.Contains(b.Words[1], ".") {
		return b.Words[1]
	}
	return ""
}

// Save writes the block to its file in a directory, if it has one.
func (b Block) Save(dir string) error {
	if b.File() == "" {
		return nil
	}
	file := filepath.Join(dir, filepath.FromSlash(b.File()))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.Text), 0o600)
}

// Exchange is a command with its expected output.
type Exchange struct{ Command, Prints string }

// Exchanges returns the commands of a console block.
func (b Block) Exchanges() []Exchange {
	var out []Exchange
	for _, text := range strings.Split("\n"+b.Text, "\n$ ")[1:] {
		command, prints, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n")
		out = append(out, Exchange{command, prints})
	}
	return out
}

// Read reads all pages of the repository at root.
func Read(root string) ([]Page, error) {
	var all []Page
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md", "examples/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s: %d pages, %w", pattern, len(files), err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			page := Page{Name: filepath.ToSlash(name), Text: string(text)}
			if page.Blocks, err = blocks(page); err != nil {
				return nil, err
			}
			all = append(all, page)
		}
	}
	return all, nil
}

var fence = regexp.MustCompile("(?m)^```(.*)$")

func blocks(p Page) ([]Block, error) {
	marks := fence.FindAllStringSubmatchIndex(p.Text, -1)
	if len(marks)%2 != 0 {
		return nil, fmt.Errorf("%s: a block has no end", p.Name)
	}
	var out []Block
	for i := 0; i < len(marks); i += 2 {
		open, end := marks[i], marks[i+1]
		b := Block{
			At:    fmt.Sprintf("%s:%d", p.Name, strings.Count(p.Text[:open[1]], "\n")+2),
			Words: strings.Fields(p.Text[open[2]:open[3]]),
			Text:  p.Text[open[1]+1 : end[0]],
		}
		if len(b.Words) == 0 {
			return nil, fmt.Errorf("%s: the block does not say in which language it is: text, if in none", b.At)
		}
		out = append(out, b)
	}
	return out, nil
}

var (
	duration = regexp.MustCompile(`\b([0-9.]+(ms|µs|[smhd]))+\b`)
	already  = regexp.MustCompile(`(?m) (unchanged|configured)$`)
	spaces   = regexp.MustCompile(`  +`)
)

// Timeless removes what differs between runs: durations, ages, column widths, and
// whether an object existed before.
func Timeless(text string) string {
	text = duration.ReplaceAllString(text, "AGE")
	text = already.ReplaceAllString(text, " created")
	return strings.TrimSpace(spaces.ReplaceAllString(text, "  "))
}
