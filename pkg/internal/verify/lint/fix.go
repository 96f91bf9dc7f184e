package lint

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Fixed returns the files that change when all problems with a safe fix are fixed.
// Comments and layout stay as they are.
func Fixed(files []source.Input, config *Config) []source.Input {
	all := run(files, config)
	var out []source.Input
	for _, file := range files {
		if edits := all.edits(file); len(edits) > 0 {
			file.Data = apply(file.Data, edits)
			out = append(out, file)
		}
	}
	return out
}

// edits returns the fixes for a file, if the file is valid YAML, for problems that
// are reported.
func (j results) edits(file source.Input) []edit {
	if j.broken[file.Name] {
		return nil
	}
	lines := strings.Split(string(file.Data), "\n")
	var again reader
	var out []edit
	for _, p := range j.problems {
		counts := slices.ContainsFunc(j.findings, func(f diag.Finding) bool { return f.Position == p.Position && f.Code == p.Code })
		if fix := fixes[p.Code]; fix != nil && counts && p.File == file.Name {
			out = append(out, fix(lines, entryOf(again.read(p.in), p.path))...)
		}
	}
	return out
}

// edit replaces part of a line, in bytes from 0. A line that becomes blank is
// deleted.
type edit struct {
	line, from, to int
	text           string
}

func apply(data []byte, edits []edit) []byte {
	lines := strings.Split(string(data), "\n")
	slices.SortFunc(edits, func(a, b edit) int {
		if a.line != b.line {
			return b.line - a.line
		}
		return b.from - a.from
	})
	for _, e := range edits {
		line := lines[e.line]
		lines[e.line] = line[:e.from] + e.text + line[e.to:]
		if strings.TrimSpace(lines[e.line]) == "" {
			lines = slices.Delete(lines, e.line, e.line+1)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// entry is the entry with a problem: its key, which is nil in a list, its value,
// and its parent.
type entry struct{ key, value, parent *yaml.Node }

func entryOf(o source.Object, path string) entry {
	key, value := o.Entry(path)
	_, parent := o.Entry(path[:max(0, strings.LastIndexAny(path, ".["))])
	return entry{key, value, parent}
}

// fixes are the safe fixes by code.
var fixes = map[string]func(lines []string, at entry) []edit{
	"invalid-retry-strategy": unquote,
	"deprecated-field":       plural,
	"invalid-event-type":     upperCase,
	"unknown-verb":           dropLine,
}

// span returns the position of a single-line scalar; false for any other node.
func span(lines []string, n *yaml.Node) (line, from, to int, ok bool) {
	if n == nil || n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(lines) {
		return 0, 0, 0, false
	}
	text := lines[n.Line-1]
	from = diag.Offset(text, n.Column)
	switch n.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		end := strings.IndexByte(text[from+1:], text[from])
		return n.Line - 1, from, from + end + 2, end >= 0 && text[from+1:from+1+end] == n.Value
	case 0:
		return n.Line - 1, from, from + len(n.Value), strings.HasPrefix(text[from:], n.Value)
	}
	return 0, 0, 0, false
}

func replaced(lines []string, n *yaml.Node, text string) []edit {
	line, from, to, ok := span(lines, n)
	if !ok {
		return nil
	}
	return []edit{{line, from, to, text}}
}

// unquote removes the quotes of a number.
func unquote(lines []string, at entry) []edit {
	if at.value == nil || at.key != nil && at.key.Value == "duration" { // a number is in nanoseconds
		return nil
	}
	if _, err := strconv.ParseFloat(at.value.Value, 64); err != nil {
		return nil
	}
	return replaced(lines, at.value, at.value.Value)
}

// upperCase corrects the case of an event type.
func upperCase(lines []string, at entry) []edit {
	if at.value == nil || !slices.Contains([]string{"ADD", "UPDATE", "DELETE"}, strings.ToUpper(at.value.Value)) {
		return nil
	}
	return replaced(lines, at.value, strings.ToUpper(at.value.Value))
}

// dropLine deletes a list entry that has its own line, unless it is the only entry.
func dropLine(lines []string, at entry) []edit {
	line, from, to, ok := span(lines, at.value)
	if !ok || at.parent == nil || len(at.parent.Content) < 2 || strings.TrimSpace(lines[line][:from]) != "-" ||
		strings.TrimSpace(lines[line][to:]) != "" {
		return nil
	}
	return []edit{{line, 0, len(lines[line]), ""}}
}

// plural replaces a deprecated singular field by a list: schedule by schedules,
// mutex by mutexes.
func plural(lines []string, at entry) []edit {
	key, value := at.key, at.value
	plurals := map[string]string{"schedule": "schedules", "mutex": "mutexes"}
	if key == nil || plurals[key.Value] == "" {
		return nil
	}
	head := replaced(lines, key, plurals[key.Value])
	if key.Value == "schedule" {
		text, err := json.Marshal(value.Value)
		if body := replaced(lines, value, "["+string(text)+"]"); err == nil && head != nil && body != nil {
			return append(head, body...)
		}
		return nil
	}
	if value.Kind != yaml.MappingNode || value.Style == yaml.FlowStyle || len(value.Content) != 2 || head == nil {
		return nil
	}
	inner := value.Content[0] // a block mapping with a single key becomes a list entry
	line := inner.Line - 1
	from := diag.Offset(lines[line], inner.Column)
	if line != value.Content[1].Line-1 || strings.TrimSpace(lines[line][:from]) != "" {
		return nil
	}
	return append(head, edit{line, from, from, "- "})
}
