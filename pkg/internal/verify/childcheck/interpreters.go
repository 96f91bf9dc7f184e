package childcheck

import (
	"encoding/base64"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// script is the text of a program that an interpreter runs.
type script struct {
	interpreter string // sh, python3
	shell       bool
	file        bool // it is in a ConfigMap or a Secret
	text        string
	at          []string // in the object
}

// The interpreters and the options after which the program follows.
var (
	shells  = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "su", "runuser"}
	options = map[string][]string{
		"python": {"-c"}, "perl": {"-e", "-E", "-ne", "-pe", "-le"}, "ruby": {"-e", "-ne", "-pe"},
		"node": {"-e", "--eval", "-p", "--print", "-pe"},
		"php":  {"-r"}, "lua": {"-e"}, "Rscript": {"-e"},
	}
)

// versioned matches an interpreter with its version, such as python3.12.
var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z]+)[0-9.]*$`) })

// scriptsIn returns the programs in an object: in the commands of containers, of hooks and probes,
// in Argo's script templates, and in the files of ConfigMaps and Secrets.
func scriptsIn(value any, at ...string) []script {
	var out []script
	switch value := value.(type) {
	case map[string]any:
		if len(at) == 0 && holdsFiles(value) {
			return filesIn(value)
		}
		out = commandIn(value, at)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			field := value[key]
			out = append(out, scriptsIn(field, append(slices.Clip(at), key)...)...)
		}
	case []any:
		for i, item := range value {
			out = append(out, scriptsIn(item, append(slices.Clip(at), strconv.Itoa(i))...)...)
		}
	}
	return out
}

// holdsFiles reports whether containers see the values of an object as files.
func holdsFiles(object map[string]any) bool {
	return object["apiVersion"] == "v1" && (object["kind"] == "ConfigMap" || object["kind"] == "Secret")
}

// filesIn returns the values of a ConfigMap or a Secret that are programs by the ends of their keys, or
// by their first lines.
func filesIn(object map[string]any) []script {
	var out []script
	for _, field := range []string{"data", "stringData"} {
		files, _ := object[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(files)) {
			text, _ := files[key].(string)
			if object["kind"] == "Secret" && field == "data" {
				decoded, _ := base64.StdEncoding.DecodeString(text)
				text = string(decoded)
			}
			name := interpreterOf(key, text)
			m := versioned().FindStringSubmatch(name)
			isShell := slices.Contains(shells, name)
			if isShell || m != nil && options[m[1]] != nil {
				out = append(out, script{interpreter: name, shell: isShell, file: true, text: text, at: []string{field, key}})
			}
		}
	}
	return out
}

// interpreterOf returns the interpreter that the first line of a file names, or else the end of its
// name; "": none.
func interpreterOf(name, text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if command, is := strings.CutPrefix(line, "#!"); is {
		for _, word := range strings.Fields(command) {
			if base := path.Base(word); base != "env" && !strings.HasPrefix(word, "-") {
				return base
			}
		}
	}
	return map[string]string{
		".sh": "sh", ".bash": "bash", ".zsh": "zsh", ".ksh": "ksh", ".py": "python", ".pl": "perl", ".rb": "ruby",
		".js": "node", ".mjs": "node", ".php": "php", ".lua": "lua", ".R": "Rscript",
	}[path.Ext(name)]
}

// commandIn returns the program in the command of a container or the like.
func commandIn(fields map[string]any, at []string) []script {
	var words []string
	var places [][]string
	for _, key := range []string{"command", "args"} {
		list, _ := fields[key].([]any)
		for i, word := range list {
			text, _ := word.(string)
			words, places = append(words, text), append(places, append(slices.Clip(at), key, strconv.Itoa(i)))
		}
	}
	for i, word := range words {
		name := path.Base(word)
		if m := versioned().FindStringSubmatch(name); m != nil && options[m[1]] != nil {
			if source, is := fields["source"].(string); is {
				return []script{{interpreter: name, text: source, at: append(slices.Clip(at), "source")}}
			}
			j := slices.IndexFunc(words[i+1:], func(w string) bool { return slices.Contains(options[m[1]], w) })
			if j >= 0 && i+j+2 < len(words) {
				return []script{{interpreter: name, text: words[i+j+2], at: places[i+j+2]}}
			}
		}
		if !slices.Contains(shells, name) {
			continue
		}
		if source, is := fields["source"].(string); is {
			return []script{{interpreter: name, shell: true, text: source, at: append(slices.Clip(at), "source")}}
		}
		if j := afterC(words, i+1, name == "su" || name == "runuser"); j > 0 {
			return []script{{interpreter: name, shell: true, text: words[j], at: places[j]}}
		}
	}
	return nil
}

// afterC returns the index of the word after the option -c of a shell, which can be one of
// several letters: -ec, -lc, -euo pipefail -c; 0 if there is none. With names, those of users
// may come before it.
func afterC(words []string, from int, names bool) int {
	for i := from; i < len(words); i++ {
		word := words[i]
		switch option := strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+"); {
		case !option && !names:
			return 0
		case !option || strings.HasPrefix(word, "--"):
		case strings.Contains(word, "c"):
			if i+1 < len(words) {
				return i + 1
			}
			return 0
		case strings.HasSuffix(word, "o"):
			i++ // its argument
		}
	}
	return 0
}

// shellRuns reports whether a shell runs a command substitution that is in a script: it is
// not in single quotes, escaped, in a comment, or in a here-document that is not expanded.
// A command after a separator, alone, is not in double quotes or in any here-document either.
func shellRuns(text, substitution string, alone bool) bool {
	p := shellText{text: text, substitution: substitution, alone: alone}
	return p.runs()
}

// shellText is a script that is being read.
type shellText struct {
	text, substitution string
	alone              bool
	at                 int
	documents          []hereDocument // that begin after the line
}

// hereDocument is the end of a here-document.
type hereDocument struct {
	end                 string
	tabs, isNotExpanded bool
}

var documentStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<<(-?)[ \t]*(['"\\]?)([A-Za-z0-9_]+)['"]?`)
})

func (p *shellText) runs() bool {
	closers := []byte{0} // the quotes and parentheses that are open, innermost last
	for p.at < len(p.text) {
		rest, inner := p.text[p.at:], closers[len(closers)-1]
		letter := rest[0]
		step := 1
		switch {
		case inner == '\'':
			if letter == '\'' {
				closers = closers[:len(closers)-1]
			}
		case strings.HasPrefix(rest, p.substitution) && !(p.alone && inner == '"'):
			return true
		case letter == '\\':
			step = 2
		case inner == '"' && letter == '"', inner == ')' && letter == ')':
			closers = closers[:len(closers)-1]
		case strings.HasPrefix(rest, "$("):
			closers, step = append(closers, ')'), 2
		case letter == '"':
			closers = append(closers, '"')
		case inner == '"':
		case letter == '\'':
			closers = append(closers, '\'')
		case letter == '(':
			closers = append(closers, ')')
		case letter == '#' && (p.at == 0 || strings.IndexByte(" \t\n;(&|", p.text[p.at-1]) >= 0):
			if step = strings.IndexByte(rest, '\n'); step < 0 {
				return false
			}
		case strings.HasPrefix(rest, "<<<"):
			step = 3
		case documentStart().MatchString(rest):
			m := documentStart().FindStringSubmatch(rest)
			p.documents = append(p.documents, hereDocument{m[3], m[1] != "", m[2] != ""})
			step = len(m[0])
		case letter == '\n' && len(p.documents) > 0:
			p.at++
			if p.skipDocuments() {
				return true
			}
			step = 0
		}
		p.at += step
	}
	return false
}

// skipDocuments reads the here-documents that begin here, and reports whether the shell runs the
// substitution in one of them.
func (p *shellText) skipDocuments() bool {
	for _, document := range p.documents {
		for p.at < len(p.text) {
			line, _, _ := strings.Cut(p.text[p.at:], "\n")
			p.at = min(p.at+len(line)+1, len(p.text))
			if document.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == document.end {
				break
			}
			if i := strings.Index(line, p.substitution); i >= 0 && !document.isNotExpanded && !p.alone && (i == 0 || line[i-1] != '\\') {
				return true
			}
		}
	}
	p.documents = nil
	return false
}
