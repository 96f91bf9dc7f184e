package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Values of --run-logic.
const (
	askLogic     = "ask"     // on a terminal, else none
	currentLogic = "current" // what the files contain at the start
	anyLogic     = "any"     // also what they contain later
)

// programFlags say which programs of definitions a command runs, and where.
type programFlags struct {
	logic   string
	runner  string
	network bool
}

func (f *programFlags) register(cmd *cobra.Command) {
	f.logic, f.runner = askLogic, "local"
	enumVar(cmd, &f.logic, "run-logic", "", []string{askLogic, currentLogic, anyLogic}, "run the programs of the definition as they are "+
		"now, or also after they change")
	cmd.Flags().Lookup("run-logic").NoOptDefVal = currentLogic
	enumVar(cmd, &f.runner, "runner", "", []string{"local", "docker"}, "run programs on this machine or in their images")
	cmd.Flags().BoolVar(&f.network, "logic-network", false, "with --runner docker, let the programs of the definition use the network")
}

// consent runs the programs that the user has allowed, and no others. What is allowed is
// the content of a program: another branch may have another one with the same name. It
// implements simulate.Runner.
type consent struct {
	simulate.Runner
	s     streams
	logic string
	input *bufio.Reader // of answers

	noted []simulate.Code // of the operators that are about to run
	asked bool

	mu      sync.Mutex
	allowed map[string]bool // by digest
}

// consent returns the runner of a command for the files of definitions.
func (f programFlags) consent(s streams, from *sourceFlags) *consent {
	c := &consent{s: s, logic: f.logic, allowed: map[string]bool{}}
	c.Runner = simulate.Local{Env: machineEnv(), Projects: from.projects()}
	if f.runner == "docker" {
		c.Runner = simulate.Docker{Env: machineEnv(), Projects: from.projects(), Network: f.network}
	}
	if isTerminal(s.in) {
		c.input = bufio.NewReader(s.in)
	}
	return c
}

// exitNotAllowed is a shell's exit code for a program that may not be executed.
const exitNotAllowed = 126

// Run implements simulate.Runner.
func (c *consent) Run(ctx context.Context, p simulate.Program) ([]byte, int, error) {
	c.mu.Lock()
	allowed := p.Digest == "" || c.logic == anyLogic || c.allowed[p.Digest]
	c.mu.Unlock()
	if !allowed {
		return []byte("argoperator runs programs of a definition only with --run-logic\n"), exitNotAllowed, nil
	}
	return c.Runner.Run(ctx, p)
}

// note adds the programs of operators that are about to run.
func (c *consent) note(objects []manifest.Object) {
	c.noted = append(c.noted, simulate.UserPrograms(objects, c.Runner)...)
}

// given reports whether the noted programs may run. It asks for those that it does not know.
func (c *consent) given(ctx context.Context) (bool, error) {
	unknown := slices.DeleteFunc(c.noted, func(code simulate.Code) bool { return c.logic == anyLogic || c.allowed[code.Digest] })
	first := !c.asked
	c.noted, c.asked = nil, true
	given := len(unknown) == 0 || c.logic == currentLogic && first
	if !given {
		var err error
		if given, err = c.ask(ctx, unknown, first); err != nil || !given {
			return false, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, code := range unknown {
		c.allowed[code.Digest] = true
	}
	return true, nil
}

// ask asks whether programs may run on this machine. Without a terminal they may not.
func (c *consent) ask(ctx context.Context, programs []simulate.Code, first bool) (bool, error) {
	heading := "the definition has programs"
	if !first {
		heading = "the definition has other programs now"
	}
	var names []string
	for _, code := range programs {
		names = append(names, code.Name)
	}
	c.s.list(heading, slices.Compact(names))
	if c.input == nil {
		return false, nil
	}
	where := "on this machine, with your permissions"
	if c.Isolated() {
		where = "in these images"
	}
	terminal.Fprintf(c.s.err, "Run them %s? [y/N] ", where)
	answer, err := c.answer(ctx)
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), err
}

// answer reads a line, or ends with the context.
func (c *consent) answer(ctx context.Context) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := c.input.ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-read:
		if l.err != nil && l.err != io.EOF {
			return "", fmt.Errorf("reading the answer: %w", l.err)
		}
		return l.text, nil
	}
}

// required reports programs that may not run as a wrong command line.
func (c *consent) required(ctx context.Context) error {
	given, err := c.given(ctx)
	if err == nil && !given {
		err = usagef("they run only with your consent: read them, then add %s", c.flag())
	}
	return err
}

// optional says that programs do not run, and reports whether they do.
func (c *consent) optional(ctx context.Context) (bool, error) {
	given, err := c.given(ctx)
	if err == nil && !given {
		c.s.say("they do not run without %s", c.flag())
	}
	return given, err
}

// flag returns the flag that gives consent.
func (c *consent) flag() string {
	if c.logic == currentLogic { // what it gave consent to has changed
		return "--run-logic=" + anyLogic
	}
	return "--run-logic"
}
