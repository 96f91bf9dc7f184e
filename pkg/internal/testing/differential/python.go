package differential

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

//go:embed server.py
var server string

// Python runs the operator's own programs in one interpreter, which has imported them. A
// life of an operator starts hundreds of pods, and starting Python for each takes longer
// than all the rest. It must not be used concurrently.
type Python struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

// StartPython starts the interpreter. runtime is the directory of the programs.
func StartPython(runtime string) (*Python, error) {
	cmd := exec.Command("python3", "-B", "-c", server, runtime)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Python{in, bufio.NewReader(out), cmd}, cmd.Start()
}

// Close ends the interpreter.
func (p *Python) Close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// Isolated implements simulate.Runner. The programs read paths from their environment
// only, so no path in their files has to be rewritten.
func (*Python) Isolated() bool { return true }

// Run implements simulate.Runner.
func (p *Python) Run(ctx context.Context, program simulate.Program) (output []byte, exitCode int, err error) {
	env := map[string]string{}
	for _, pair := range program.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = cluster.LocalPaths(value, program.Mounts)
	}
	script := ""
	var arguments []string
	for i, word := range program.Command {
		if strings.HasSuffix(word, ".py") {
			script, arguments = strings.TrimSuffix(filepath.Base(word), ".py"), program.Command[i+1:]
			break
		}
	}
	if script == "worker" { // it lives as long as the simulation
		return simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH")}}.Run(ctx, program)
	}
	if !program.API || script == "" {
		return nil, 0, fmt.Errorf("%q is no program of argoperator", program.Command)
	}
	request, err := json.Marshal(map[string]any{"program": script, "arguments": arguments, "env": env})
	if err != nil {
		return nil, 0, err
	}
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		return nil, 0, fmt.Errorf("asking Python: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, 0, fmt.Errorf("the answer of Python: %w", err)
	}
	var answer struct {
		Code   int    `json:"code"`
		Output string `json:"output"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, 0, fmt.Errorf("the answer of Python: %w", err)
	}
	return []byte(answer.Output), answer.Code, nil
}
