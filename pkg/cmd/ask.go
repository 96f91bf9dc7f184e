package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// ask prompts for options without a flag; given reports which flags are set.
func ask(s streams, flags initFlags, given func(flag string) bool) (scaffold.Options, error) {
	d := dialogue{in: bufio.NewReader(s.in), out: s.err, options: flags.options}
	o := &d.options
	if o.Name == "" {
		d.ask("Name of the operator", "Name", &o.Name, "", nil)
	}
	if flags.crd == "" && o.Group == "" {
		d.ask("API group, a DNS name that you own", "Group", &o.Group, "example.com", nil)
	}
	if flags.crd == "" && o.Kind == "" {
		d.ask("Kind of the custom resources", "Kind", &o.Kind, kindOf(o.Name), nil)
	}
	if len(flags.objects) > 0 {
		return d.options, d.failed
	}
	if flags.crd == "" && !given("child") {
		d.ask("Object to keep for each custom resource", "Child", &o.Child, o.Child, scaffold.Children())
	}
	if !given("logic") {
		const template = "template"
		d.ask(
			"Make the object with a template or a program",
			"Logic",
			&o.Logic,
			template,
			append([]string{template}, scaffold.Languages()...),
		)
		if o.Logic == template {
			o.Logic = ""
		}
	}
	return d.options, d.failed
}

// dialogue prompts for one option after the other. The first failure ends it.
type dialogue struct {
	in      *bufio.Reader
	out     io.Writer
	options scaffold.Options
	failed  error
}

// ask reads the answer into a field of the options. An empty line selects the
// default; an invalid answer repeats the question.
func (d *dialogue) ask(question, option string, answer *string, usual string, allowed []string) {
	prompt := question
	if len(allowed) > 0 {
		prompt += " (" + strings.Join(allowed, ", ") + ")"
	}
	if usual != "" {
		prompt += " [" + usual + "]"
	}
	for d.failed == nil {
		terminal.Fprintf(d.out, "%s: ", prompt)
		line, err := d.in.ReadString('\n')
		if errors.Is(err, io.EOF) && strings.TrimSpace(line) == "" {
			terminal.Fprintf(d.out, "\n")
			d.failed = usagef("no answer to %q", question)
			return
		}
		if err != nil && !errors.Is(err, io.EOF) {
			d.failed = fmt.Errorf("reading an answer: %w", err)
			return
		}
		if *answer = strings.TrimSpace(line); *answer == "" {
			*answer = usual
		}
		if wrong := d.wrong(option, *answer, allowed); wrong != "" {
			terminal.Fprintf(d.out, "  %s\n", wrong)
			continue
		}
		return
	}
}

// wrong returns why an answer is invalid; empty if it is valid.
func (d *dialogue) wrong(option, answer string, allowed []string) string {
	switch {
	case answer == "":
		return "an answer is required"
	case allowed != nil && !slices.Contains(allowed, answer):
		return "choose one of " + strings.Join(allowed, ", ")
	case allowed != nil:
		return ""
	}
	for _, p := range d.options.Problems() {
		if p.Option == option {
			return explained(p)
		}
	}
	return ""
}

// kindOf derives a kind from a name: MyApp from my-app.
func kindOf(name string) string {
	var kind strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		if word != "" {
			kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return kind.String()
}
