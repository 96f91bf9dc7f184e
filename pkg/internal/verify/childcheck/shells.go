package childcheck

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// code is a text that an interpreter runs. A schema that does not permit the first of several may
// permit another.
type code struct {
	texts []string
	shell bool
	alone bool // a shell runs it only where nothing is quoted
}

// codes are what a text can end with to be code: in a word or in double quotes, in a word alone, in
// single quotes, in double quotes that it ends, and in any quotes of another interpreter.
var codes = []code{
	{texts: []string{"$(b)", "`b`"}, shell: true},
	{texts: []string{";reboot", "|reboot", "&reboot", "\nreboot"}, shell: true, alone: true},
	{texts: []string{"'$(b)", "'`b`"}, shell: true},
	{texts: []string{"';reboot", "'|reboot", "'&reboot"}, shell: true, alone: true},
	{texts: []string{`";reboot`, `"|reboot`, `"&reboot`}, shell: true, alone: true},
	{texts: []string{`'"(b)`}},
}

// maxCodeSamples limits the samples of which each text is replaced by code.
const maxCodeSamples = 8

// interpreted warns of a text of the custom resource that is a part of a program, where the
// schema permits that it is code.
func (f *family) interpreted(child int) diag.List {
	r := f.runs[child]
	mayBeCode := func(p expression.Part) bool { return inCommand(p) || r.inFile(p) }
	if f.samples.schema == nil || !slices.ContainsFunc(r.child.Object.Parts(), mayBeCode) {
		return nil
	}
	var findings diag.List
	told, tried := map[string]bool{}, map[string]bool{}
	for _, cr := range r.having[:min(len(r.having), maxCodeSamples)] {
		for _, at := range textsIn(cr.written, nil) {
			if !usersKey(at) || !slices.ContainsFunc(r.reads, func(path []string) bool { return schema.Overlap(path, at) }) {
				continue
			}
			field := jqField(at)
			for i, c := range codes {
				attempt := field + " " + strconv.Itoa(i)
				key := func(s script) string { return field + " " + strings.Join(s.at, ".") }
				isNew := func(s script) bool { return !told[key(s)] }
				if tried[attempt] {
					continue
				}
				text := c.texts[0]
				changed, _ := replaced(cr.written, at, "a"+text)
				written, _ := changed.(map[string]any)
				scripts := f.interprets(r, written, c, text)
				if !slices.ContainsFunc(scripts, isNew) {
					continue
				}
				if !f.samples.admits(written) {
					if written, text = f.permitted(cr.written, at, c); written == nil {
						tried[attempt] = true
						continue
					}
					scripts = f.interprets(r, written, c, text)
				}
				for _, found := range scripts {
					if isNew(found) {
						told[key(found)] = true
						findings = append(findings, f.interpretedIn(child, found, field, c, text, written)...)
					}
				}
			}
		}
	}
	return findings
}

// maxVariants limits the places in a text at which code is tried.
const maxVariants = 64

// permitted returns a custom resource with code in a text, as the schema permits, and the code;
// nil if it permits none: beside a letter, or at any place of the text of a sample.
func (f *family) permitted(cr map[string]any, at []string, c code) (written map[string]any, text string) {
	sample, _ := schema.ValueAt(cr, at...).(string)
	for _, text := range c.texts {
		variants := []string{"a" + text}
		for i := len(sample); i >= 0 && len(variants) < maxVariants; i-- {
			if i == len(sample) || utf8.RuneStart(sample[i]) {
				variants = append(variants, sample[:i]+text+sample[i:])
			}
		}
		for _, variant := range variants {
			changed, _ := replaced(cr, at, variant)
			if written, ok := changed.(map[string]any); ok && f.samples.admits(written) {
				return written, text
			}
		}
	}
	return nil, ""
}

// interpretedIn returns the warning of a program with a text, with the smallest custom resource.
func (f *family) interpretedIn(child int, in script, field string, c code, text string, written map[string]any) diag.List {
	var findings diag.List
	least := f.samples.schema.Shrink(written, func(object map[string]any) bool {
		return slices.ContainsFunc(f.interprets(f.runs[child], object, c, text), func(s script) bool { return slices.Equal(s.at, in.at) })
	})
	says := "%s runs %s as a part of its program, where the custom resource has %s"
	if in.file {
		says = "this is a program of %s, and %s a part of it that can be code, where the custom resource has %s"
	}
	findings.Warn(f.at(child, in.at...), diag.InterpretedText, fmt.Sprintf(says, in.interpreter, field, specOf(least)),
		instead(in, field, f.runs[child].child.ForEach != nil))
	return findings
}

// inFile reports whether a value can be a part of a file of a ConfigMap or a Secret.
func (r *run) inFile(p expression.Part) bool {
	return holdsFiles(map[string]any{"apiVersion": r.child.Kind.APIVersion(), "kind": r.child.Kind.Kind}) &&
		len(p.Path) > 0 && slices.Contains([]string{"data", "stringData"}, p.Path[0])
}

// inCommand reports whether a value that expressions compute can be a part of a command.
func inCommand(p expression.Part) bool {
	return slices.ContainsFunc(p.Path, func(key string) bool {
		return slices.Contains([]string{"command", "args", "source", "containers", "initContainers"}, key)
	})
}

// interprets returns the programs of a child in which a text is code.
func (f *family) interprets(r *run, written map[string]any, c code, text string) []script {
	var out []script
	one := f.samples.served(written)
	for _, env := range r.environments(one) {
		for _, object := range r.render(one, env).objects {
			for _, s := range scriptsIn(object) {
				runs := strings.Contains(s.text, text)
				if s.shell {
					runs = shellRuns(s.text, strings.TrimLeft(text, `'"`), c.alone)
				}
				if s.shell == c.shell && runs {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// instead says how to pass a text to a program.
func instead(s script, field string, each bool) string {
	value, quoted := field, field
	switch list, item, isItem := strings.Cut(field, "[]"); {
	case isItem && each && !strings.Contains(item, "[]"):
		value, quoted = "$item"+item, "$item"+item
	case isItem && item == "":
		value, quoted = list+` | join(\" \")`, list
	case isItem:
		value, quoted = "VALUE", "VALUE"
	}
	const restrict = "or restrict the field in the schema (pattern, enum)"
	switch {
	case s.file && s.shell:
		return fmt.Sprintf("quote it: ${ %s | @sh }; or write it into a key of its own, which the program reads; "+restrict, quoted)
	case s.file:
		return "write it into a key of its own, which the program reads; " + restrict
	}
	if !s.shell {
		return fmt.Sprintf(`pass it as an environment variable: env: [{name: TEXT, value: "${ %s }"}]; `+restrict, value)
	}
	return fmt.Sprintf(`pass it as an environment variable, and write "$TEXT" in the script: env: [{name: TEXT, value: "${ %s }"}]; `+
		"or quote it: ${ %s | @sh }; "+restrict, value, quoted)
}

// textsIn returns the paths of the texts in a value.
func textsIn(value any, at []string) [][]string {
	var out [][]string
	switch value := value.(type) {
	case string:
		return [][]string{at}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out = append(out, textsIn(value[key], append(slices.Clip(at), key))...)
		}
	case []any:
		for i, item := range value {
			out = append(out, textsIn(item, append(slices.Clip(at), strconv.Itoa(i)))...)
		}
	}
	return out
}

// jqField returns a path as jq, with [] for each item.
func jqField(at []string) string {
	var b strings.Builder
	for _, key := range at {
		if _, err := strconv.Atoi(key); err == nil {
			b.WriteString("[]")
			continue
		}
		if !jq.IsName(key) {
			key = jq.Quote(key)
		}
		b.WriteString("." + key)
	}
	return b.String()
}
