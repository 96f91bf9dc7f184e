package diff

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// Difference is a place at which two definitions differ. Its JSON form is part of the interface.
type Difference struct {
	Operator string `json:"operator"`
	Path     string `json:"path"`          // items of lists by their name: spec.children.web.template
	Old      any    `json:"old,omitempty"` // nil: it is new
	Now      any    `json:"new,omitempty"` // nil: it is gone
}

// Definitions returns where two definitions of an operator differ. Children that are renamed
// are compared under their new names.
func Definitions(operator string, old, now map[string]any, renamed map[string]string) []Difference {
	c := comparison{operator: operator}
	c.compare("", withNames(old, renamed), now)
	return c.found
}

// withNames returns a definition whose children are known by their new names.
func withNames(definition map[string]any, renamed map[string]string) map[string]any {
	spec, _ := definition["spec"].(map[string]any)
	children, _ := spec["children"].([]any)
	if len(renamed) == 0 {
		return definition
	}
	var out []any
	for _, child := range children {
		fields, ok := child.(map[string]any)
		if name, _ := fields["name"].(string); ok && renamed[name] != "" {
			fields = maps.Clone(fields)
			fields[newName] = renamed[name]
		}
		out = append(out, fields)
	}
	definition, spec = maps.Clone(definition), maps.Clone(spec)
	spec["children"], definition["spec"] = out, spec
	return definition
}

// newName is the key of a renamed child for the name that it is found by. No definition
// has it.
const newName = "\x00name"

type comparison struct {
	operator string
	found    []Difference
}

func (c *comparison) compare(path string, old, now any) {
	before, after := c.fields(old), c.fields(now)
	if before == nil || after == nil {
		if !reflect.DeepEqual(old, now) {
			c.found = append(c.found, Difference{c.operator, path, old, now})
		}
		return
	}
	keys := slices.Collect(maps.Keys(after))
	for key := range before {
		if _, both := after[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if key != newName {
			c.compare(below(path, key), before[key], after[key])
		}
	}
}

// fields returns the fields of a mapping, or the items of a list by their names; nil for any
// other value, and for a list whose items have none.
func (c *comparison) fields(value any) map[string]any {
	switch v := value.(type) {
	case map[string]any:
		return v
	case []any:
		out := map[string]any{}
		for _, item := range v {
			fields, _ := item.(map[string]any)
			name, ok := fields[newName].(string)
			if !ok {
				name, ok = fields["name"].(string)
			}
			if _, twice := out[name]; !ok || twice {
				return nil
			}
			out[name] = item
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// below returns the path of a key.
func below(path, key string) string {
	if strings.ContainsAny(key, ". /") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// PrintDefinitions prints each difference.
func (p Printer) PrintDefinitions(w io.Writer, list []Difference) error {
	for _, d := range list {
		old, now := written(d.Old), written(d.Now)
		at := d.Operator + ": " + d.Path
		if line := at + ": " + old + " → " + now; d.Old != nil && d.Now != nil && len(line) <= width && !strings.Contains(line, "\n") {
			before, after := terminal.Style(p.Colour, terminal.Red, old), terminal.Style(p.Colour, terminal.Green, now)
			if _, err := terminal.Fprintf(w, "%s: %s → %s\n", at, before, after); err != nil {
				return err
			}
			continue
		}
		if _, err := terminal.Fprintf(w, "%s\n", at); err != nil {
			return err
		}
		if err := p.values(w, old, now); err != nil {
			return err
		}
	}
	return nil
}

// values prints two values: what differs in texts of several lines, and else both.
func (p Printer) values(w io.Writer, old, now string) error {
	if old != "" && now != "" && strings.Contains(old+now, "\n") {
		return p.texts(w, []byte(old+"\n"), []byte(now+"\n"))
	}
	for _, side := range []struct {
		sign, text string
		colour     terminal.Colour
	}{{"-", old, terminal.Red}, {"+", now, terminal.Green}} {
		for line := range strings.Lines(side.text) {
			line = side.sign + " " + strings.TrimSuffix(line, "\n")
			if _, err := terminal.Fprintf(w, "  %s\n", terminal.Style(p.Colour, side.colour, line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// width is the length of a line that fits most terminals.
const width = 100

// written returns a value as people write it in a definition; nil: nothing.
func written(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		if text, err := output.YAML(v); err == nil {
			return strings.TrimSuffix(string(text), "\n")
		}
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value) // unreachable
	}
	return strings.TrimSuffix(string(text), "\n")
}

// sensor prints which triggers of a Sensor changed, and what else did.
func (p Printer) sensor(w io.Writer, c Change) error {
	old, now := triggersOf(c.Old), triggersOf(c.Now)
	names := slices.Collect(maps.Keys(now.parts))
	for name := range old.parts {
		if now.parts[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		what, style := old.parts[name].change(now.parts[name])
		if what == "" {
			continue
		}
		if _, err := terminal.Fprintf(w, "  trigger %s: %s\n", name, terminal.Style(p.Colour, style, what)); err != nil {
			return err
		}
	}
	if string(old.rest) == string(now.rest) {
		return nil
	}
	return p.texts(w, old.rest, now.rest)
}

// configMap prints how much of the configurations for the programs of a pod changed, which the
// differences of the definitions explain, and what else did.
func (p Printer) configMap(w io.Writer, c Change) error {
	var old, now map[string]any
	if yaml.Unmarshal(c.Old, &old) != nil || yaml.Unmarshal(c.Now, &now) != nil {
		return p.lines(w, c)
	}
	before, _ := old["data"].(map[string]any)
	after, _ := now["data"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(after)) {
		was, is := text(before, key), text(after, key)
		if was == is || !isConfiguration(was) || !isConfiguration(is) {
			continue
		}
		delete(before, key)
		delete(after, key)
		all := strings.Count(strings.TrimSuffix(is, "\n"), "\n") + 1
		if _, err := terminal.Fprintf(w, "  %s: configuration, %d of %d lines\n", key, changedLines(was, is), all); err != nil {
			return err
		}
	}
	var err error
	if c.Old, err = encode(old); err == nil {
		c.Now, err = encode(now)
	}
	if err != nil || string(c.Old) == string(c.Now) {
		return err
	}
	return p.lines(w, c)
}

// isConfiguration reports whether a text is what argoperator writes for the programs of a pod.
func isConfiguration(text string) bool {
	var fields map[string]any
	if !strings.HasPrefix(text, "{") || yaml.Unmarshal([]byte(text), &fields) != nil {
		return false
	}
	return fields["operator"] != nil && fields["engine"] != nil && fields["digest"] != nil
}

// triggers are the triggers of a Sensor by name.
type triggers struct {
	parts map[string]*trigger
	rest  []byte // YAML of everything else
}

// trigger is a trigger with the dependency of its name.
type trigger struct {
	program string
	other   []any // the dependency without its program, and the trigger
}

func triggersOf(data []byte) triggers {
	out := triggers{parts: map[string]*trigger{}}
	var fields map[string]any
	if err := yaml.Unmarshal(data, &fields); err != nil {
		return triggers{rest: data}
	}
	spec, _ := fields["spec"].(map[string]any)
	part := func(name string) *trigger {
		if out.parts[name] == nil {
			out.parts[name] = &trigger{}
		}
		return out.parts[name]
	}
	dependencies, _ := spec["dependencies"].([]any)
	for _, d := range dependencies {
		d, _ := d.(map[string]any)
		t := part(text(d, "name"))
		transform, _ := d["transform"].(map[string]any)
		t.program = text(transform, "jq")
		delete(transform, "jq")
		t.other = append(t.other, d)
	}
	list, _ := spec["triggers"].([]any)
	for _, one := range list {
		one, _ := one.(map[string]any)
		template, _ := one["template"].(map[string]any)
		t := part(text(template, "name"))
		t.other = append(t.other, one)
	}
	delete(spec, "dependencies")
	delete(spec, "triggers")
	out.rest, _ = encode(fields) // it was read from YAML
	return out
}

// change says what a trigger becomes; empty: nothing changes.
func (t *trigger) change(now *trigger) (string, terminal.Colour) {
	switch {
	case t == nil:
		return "new", terminal.Green
	case now == nil:
		return "gone", terminal.Red
	}
	var parts []string
	if t.program != now.program {
		all := strings.Count(now.program, "\n") + 1
		parts = append(parts, fmt.Sprintf("program, %d of %d lines", changedLines(t.program, now.program), all))
	}
	if !reflect.DeepEqual(t.other, now.other) {
		parts = append(parts, "filter, request or retries")
	}
	return strings.Join(parts, "; "), terminal.Plain
}

// changedLines returns how many lines of a text are new or changed, or gone if those are more.
func changedLines(old, now string) int {
	added, removed := 0, 0
	for _, line := range unified([]byte(old+"\n"), []byte(now+"\n")) {
		switch line[:min(len(line), 1)] {
		case "+":
			added++
		case "-":
			removed++
		}
	}
	return max(added, removed)
}
