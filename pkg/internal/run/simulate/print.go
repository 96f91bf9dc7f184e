package simulate

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
)

// YAML returns the objects as one stream for kubectl.
func (r Rendering) YAML() ([]byte, error) {
	var out bytes.Buffer
	for i, o := range r.Objects {
		data, err := output.YAML(o)
		if err != nil {
			return nil, fmt.Errorf("encoding an object: %w", err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(data)
	}
	return out.Bytes(), nil
}

// JSON returns the objects as one object of kind List.
func (r Rendering) JSON() ([]byte, error) { return output.List(r.Objects) }

// Print writes the trace in a readable form.
func (t Trace) Print(w io.Writer) error {
	p := &printer{}
	if len(t) == 0 {
		p.line(0, "no EventSource received an event")
	}
	for i, step := range t {
		switch {
		case step.Event != nil:
			if i > 0 {
				p.line(0, "")
			}
			p.line(0, "%s %s: EventSource %s publishes %s", step.Event.Type, step.Event.Object, step.Event.Source, step.Event.Name)
		case step.Delivery != nil:
			p.delivery(step.Delivery)
		case step.Workflow != nil:
			p.workflow(step.Workflow)
		}
	}
	_, err := w.Write(p.out.Bytes())
	return err
}

type printer struct{ out bytes.Buffer }

func (p *printer) line(depth int, format string, args ...any) {
	text := strings.Repeat("  ", depth) + terminal.Sprintf(format, args...)
	p.out.WriteString(strings.TrimRight(text, " ") + "\n")
}

// block writes a text or a value as indented YAML.
func (p *printer) block(depth int, value any) {
	text, ok := value.(string)
	if !ok {
		data, err := encoded(value)
		if err != nil {
			data = []byte(err.Error())
		}
		text = string(data)
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		p.line(depth, "%s", strings.TrimRight(line, "\n"))
	}
}

func encoded(value any) ([]byte, error) {
	if fields, ok := value.(map[string]any); ok {
		return output.YAML(fields)
	}
	return yaml.Marshal(value)
}

func (p *printer) delivery(d *Delivery) {
	p.line(1, "Sensor %s, dependency %s, trigger %s", d.Sensor, d.Dependency, d.Trigger)
	if d.Transformed != nil {
		p.line(2, "transform")
		p.block(3, outline(d.Transformed, d.Stopped == ""))
	}
	if d.Stopped != "" {
		p.line(2, "%s", d.Stopped)
		return
	}
	for i, a := range d.Attempts {
		if i > 0 && reflect.DeepEqual(a, d.Attempts[i-1]) {
			p.line(2, "retried: same response")
			continue
		}
		if a.Trigger != d.Trigger {
			p.line(2, "trigger %s", a.Trigger)
		} else if i > 0 {
			p.line(2, "retried")
		}
		p.attempt(a)
	}
}

// outline replaces nested objects and lists by their sizes, because the requests
// show what matters of them. It decodes base64 objects if the event passed the
// filter.
func outline(fields map[string]any, passed bool) map[string]any {
	out := map[string]any{}
	for name, value := range fields {
		switch v := value.(type) {
		case map[string]any:
			value = fmt.Sprintf("an object with %d fields", len(v))
		case []any:
			value = fmt.Sprintf("a list of %d", len(v))
		case string:
			if inner, ok := unpacked(v); ok && passed {
				name, value = name+" (base64)", inner
			} else if ok {
				value = "an object in base64"
			}
		}
		out[name] = value
	}
	return out
}

// unpacked decodes an object in base64.
func unpacked(text string) (map[string]any, bool) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	var fields map[string]any
	return fields, json.Unmarshal(data, &fields) == nil && fields != nil
}

func (p *printer) attempt(a Attempt) {
	p.calls(2, a.Calls)
	if a.Note != "" {
		p.line(2, "%s: %s", a.Trigger, a.Note)
	}
	if a.Failure != "" {
		p.line(2, "failed: %s", a.Failure)
	}
}

// calls prints requests in full and answers only with their outcome.
func (p *printer) calls(depth int, calls []cluster.Call) {
	for _, c := range calls {
		p.line(depth, "%s %s", c.Method, c.Path)
		if c.Body != nil {
			p.line(depth+1, "Content-Type: %s", c.ContentType)
			p.block(depth+1, c.Body)
		}
		p.line(depth, "-> %s", c.Outcome())
	}
}

func (p *printer) workflow(w *Workflow) {
	if w.Reconciles() {
		p.line(1, "%s", w.Title())
	} else {
		p.line(1, "%s from %s %s", w.Title(), w.Origin.Kind, w.Origin.Name)
	}
	for _, c := range w.Containers {
		name := c.Template
		if c.Name != "" && c.Name != c.Template {
			name += ", container " + c.Name
		}
		if c.Skipped != "" {
			p.line(2, "%s did not run: %s", name, c.Skipped)
			continue
		}
		p.line(2, "%s: %s", name, strings.Join(c.Command, " "))
		for _, missing := range c.Missing {
			p.line(3, "skipped, does not exist: %s", missing)
		}
		p.calls(3, c.Calls)
		if c.Output != "" {
			p.line(3, "output")
			p.block(4, c.Output)
		}
		if c.Killed != "" {
			p.line(3, "%s", c.Killed)
			continue
		}
		p.line(3, "exit code %d", c.ExitCode)
	}
	if w.Failure != "" {
		p.line(2, "failed: %s", w.Cause()) // the output above shows all of it
	}
}
