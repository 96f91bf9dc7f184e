// Package diff shows what an operator's next version changes: which objects are
// created, configured and deleted, and which changes of its kind break clients.
//
// The rule of this package: it compares encoded objects and does not know how they
// were made or where the old ones come from.
package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	textdiff "github.com/rogpeppe/go-internal/diff"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// Action is the action in the output of kubectl apply --prune.
type Action string

// The actions.
const (
	Created    Action = "created"
	Configured Action = "configured"
	Deleted    Action = "deleted"
)

// Change is a changed object.
type Change struct {
	Action   Action
	Kind     string
	Name     string // NAMESPACE/NAME, or NAME
	Old, Now []byte // YAML; empty if the object does not exist
}

// String formats a change like kubectl.
func (c Change) String() string { return fmt.Sprintf("%s %s %s", c.Kind, c.Name, c.Action) }

// Objects compares objects and leaves out unchanged ones. Created and configured
// objects are in the order of the new ones, deleted ones in the reverse order of
// the old ones.
func Objects(old, now []map[string]any) ([]Change, error) {
	before := map[string]map[string]any{}
	for _, o := range old {
		before[identityOf(o)] = o
	}
	var out []Change
	after := map[string]bool{}
	for _, o := range now {
		id := identityOf(o)
		after[id] = true
		change, err := compareOne(before[id], o)
		if err != nil {
			return nil, err
		}
		if change.Action != "" {
			out = append(out, change)
		}
	}
	for _, o := range slices.Backward(old) {
		if id := identityOf(o); !after[id] {
			after[id] = true // ignore duplicates
			change, err := compareOne(o, nil)
			if err != nil {
				return nil, err
			}
			out = append(out, change)
		}
	}
	return out, nil
}

func compareOne(old, now map[string]any) (Change, error) {
	c := Change{Action: Configured}
	of := now
	switch {
	case old == nil:
		c.Action = Created
	case now == nil:
		c.Action, of = Deleted, old
	}
	c.Kind, c.Name = text(of, "kind"), metadata(of, "name")
	if namespace := metadata(of, "namespace"); namespace != "" {
		c.Name = namespace + "/" + c.Name
	}
	var err1, err2 error
	c.Old, err1 = encode(old)
	c.Now, err2 = encode(now)
	if err := errors.Join(err1, err2); err != nil {
		return Change{}, fmt.Errorf("encoding %s %s: %w", c.Kind, c.Name, err)
	}
	if bytes.Equal(c.Old, c.Now) {
		return Change{}, nil
	}
	return c, nil
}

func encode(o map[string]any) ([]byte, error) {
	if o == nil {
		return nil, nil
	}
	return output.YAML(o)
}

func identityOf(o map[string]any) string {
	group, _, found := strings.Cut(text(o, "apiVersion"), "/")
	if !found {
		group = ""
	}
	return group + "\x00" + text(o, "kind") + "\x00" + metadata(o, "namespace") + "\x00" + metadata(o, "name")
}

func text(o map[string]any, key string) string {
	s, _ := o[key].(string)
	return s
}

func metadata(o map[string]any, key string) string {
	m, _ := o["metadata"].(map[string]any)
	return text(m, key)
}

// Printer prints changes in a readable form. The zero value prints without colour.
type Printer struct {
	Colour bool
	// Programs prints the lines of generated programs and configurations, too, instead of which
	// changed.
	Programs bool
}

// Text returns the unified diff of a file, as programs that apply patches read it.
func Text(name string, old, now []byte) []byte { return textdiff.Diff("a/"+name, old, "b/"+name, now) }

// Print prints each change with its unified diff, and a summary.
func (p Printer) Print(w io.Writer, changes []Change) error {
	count := map[Action]int{}
	for _, c := range changes {
		count[c.Action]++
		if _, err := terminal.Fprintf(w, "%s\n", terminal.Style(p.Colour, terminal.Bold, c.String())); err != nil {
			return err
		}
		print := p.lines
		switch {
		case c.Action != Configured || p.Programs:
		case c.Kind == "Sensor":
			print = p.sensor
		case c.Kind == "ConfigMap":
			print = p.configMap
		}
		if err := print(w, c); err != nil {
			return err
		}
	}
	_, err := terminal.Fprintf(w, "%d created, %d configured, %d deleted\n", count[Created], count[Configured], count[Deleted])
	return err
}

func (p Printer) lines(w io.Writer, c Change) error { return p.texts(w, c.Old, c.Now) }

// unified returns the lines of a unified diff, without those that name files.
func unified(old, now []byte) []string {
	const head = 3
	return strings.Split(strings.TrimSuffix(string(textdiff.Diff("a", old, "b", now)), "\n"), "\n")[head:]
}

// texts prints a unified diff.
func (p Printer) texts(w io.Writer, old, now []byte) error {
	for _, line := range unified(old, now) {
		colour := terminal.Plain
		switch {
		case strings.HasPrefix(line, "@@"):
			colour = terminal.Cyan
		case strings.HasPrefix(line, "+"):
			colour = terminal.Green
		case strings.HasPrefix(line, "-"):
			colour = terminal.Red
		}
		if _, err := terminal.Fprintf(w, "  %s\n", terminal.Style(p.Colour, colour, line)); err != nil {
			return err
		}
	}
	return nil
}
