package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Field is a chart value that is a whole field of objects, such as the tolerations of pods.
type Field struct {
	Path        string // in values.yaml: two keys with a dot
	Description string
	Schema      map[string]any // of the value
	Keys        []string       // of the field in the objects
	Marker      string         // a text that the field has in the adjustable objects
	// Default is the value in the definition. For entries, it is given; a field has that
	// of the objects, and this one if they do not have the field.
	Default any
	// Entries is a mapping that is merged with what the objects have there. Its marker is a
	// key of the mapping.
	Entries bool
	found   bool
}

func (f Field) standardEntries() map[string]any {
	out, _ := f.Default.(map[string]any)
	return out
}

func (f Field) occursIn(value any) bool {
	data, err := json.Marshal(value)
	return err == nil && bytes.Contains(data, []byte(strconv.Quote(f.Marker)))
}

// entries returns the index of the entries that a key of a mapping marks; -1 for another key.
func (c *chart) entries(key string) int {
	return slices.IndexFunc(c.fields, func(f Field) bool { return f.Entries && f.Marker == key })
}

// field returns the index of the value that is a whole field; -1 if it is none. Entries are
// a whole field if the objects have nothing else there.
func (c *chart) field(key string, value any) int {
	return slices.IndexFunc(c.fields, func(f Field) bool {
		if f.Entries {
			list, ok := value.(map[string]any)
			_, marked := list[f.Marker]
			return ok && marked && len(list) == 1
		}
		return slices.Contains(f.Keys, key) && f.occursIn(value)
	})
}

// standardOf takes the default of a whole field from the objects. All must have the same.
func (c *chart) standardOf(i int, value any) error {
	f := &c.fields[i]
	switch {
	case f.Entries || value == nil && !f.found:
	case f.found && !reflect.DeepEqual(f.Default, value):
		return errors.New("the objects have several values")
	default:
		f.Default, f.found = value, true
	}
	return nil
}

// fieldGroups returns the first keys of the fields in values.yaml. They change how pods run,
// and not what the operator reconciles.
func (c *chart) fieldGroups() []string {
	var out []string
	for _, f := range c.fields {
		group, _, _ := strings.Cut(f.Path, ".")
		out = append(out, group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mark stands for a field in an object.
func mark(i int) string { return fmt.Sprintf("argoperator-field-%d", i) }

// markLine matches a line with a mark: the value of a key, or a key of entries.
var markLine = regexp.MustCompile(`(?m)^( *)(?:([^ ].*): argoperator-field-(\d+)|argoperator-field-(\d+): "")\n`)

// optional returns the mark of a mapping that the objects have only with one of its fields.
func (c *chart) optional(value any) (string, bool) {
	list, ok := value.(map[string]any)
	part := map[string]int{}
	for key, inner := range list {
		if part[key] = c.field(key, inner); part[key] < 0 {
			return "", false
		}
	}
	c.parts = append(c.parts, part)
	return fmt.Sprintf("argoperator-optional-%d", len(c.parts)-1), ok
}

// optionalLine matches a line with such a mark.
var optionalLine = regexp.MustCompile(`(?m)^( *)([^ ].*): argoperator-optional-(\d+)\n`)

// withParts replaces the marks of optional mappings.
func (c *chart) withParts(object []byte) []byte {
	return optionalLine.ReplaceAllFunc(object, func(line []byte) []byte {
		found := optionalLine.FindStringSubmatch(string(line))
		i, err := strconv.Atoi(found[3])
		if err != nil || i >= len(c.parts) {
			return line
		}
		var paths []string
		text := found[1] + found[2] + ":\n"
		for _, key := range slices.Sorted(maps.Keys(c.parts[i])) {
			paths = append(paths, ".Values."+c.fields[c.parts[i][key]].Path)
			text += fmt.Sprintf("%s  %s: %s\n", found[1], key, mark(c.parts[i][key]))
		}
		return fmt.Appendf(nil, "%[1]s{{- if or %[2]s}}\n%[3]s%[1]s{{- end}}\n", found[1], strings.Join(paths, " "), text)
	})
}

// insert replaces the marks by actions. A field without a value is left out.
func (c *chart) insert(object []byte, fields map[string]any) ([]byte, error) {
	var failed error
	out := markLine.ReplaceAllFunc(c.withParts(object), func(line []byte) []byte {
		parts := markLine.FindStringSubmatch(string(line))
		indent, key := parts[1], parts[2]
		i, err := strconv.Atoi(parts[3] + parts[4])
		if err != nil || i >= len(c.fields) || strings.HasPrefix(key, "- ") {
			failed = fmt.Errorf("no value can be inserted at %q", line)
			return line
		}
		f := c.fields[i]
		if key != "" {
			return fmt.Appendf(nil, "%[1]s{{- with .Values.%[2]s}}\n%[1]s%[3]s: {{toJson .}}\n%[1]s{{- end}}\n", indent, f.Path, key)
		}
		var own []string
		for _, name := range otherKeys(fields, mark(i)) {
			own = append(own, strconv.Quote(name))
		}
		return fmt.Appendf(
			nil,
			"%[1]s{{- range $key, $value := omit .Values.%[2]s %[3]s}}\n%[1]s{{toJson $key}}: {{toJson $value}}\n%[1]s{{- end}}\n",
			indent, f.Path, strings.Join(own, " "),
		)
	})
	return out, failed
}

// otherKeys returns the other keys of the mappings that have a key.
func otherKeys(value any, key string) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		if _, marked := value[key]; marked {
			out = slices.DeleteFunc(slices.Sorted(maps.Keys(value)), func(name string) bool { return name == key })
		}
		for _, inner := range value {
			out = append(out, otherKeys(inner, key)...)
		}
	case []any:
		for _, inner := range value {
			out = append(out, otherKeys(inner, key)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
