package differential

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

//go:embed server.py
var server string

// Python runs the operator's own programs in one interpreter, which has imported them. A
// life of an operator starts hundreds of pods, and starting Python for each takes longer
// than all the rest. Only a worker may run at the same time as another program.
type Python struct {
	in  io.WriteCloser
	cmd *exec.Cmd

	mu      sync.Mutex
	started int                 // programs
	waiting map[int]chan answer // by the number of the program; nil: the interpreter has ended
}

// answer is the end of a program.
type answer struct {
	Number int    `json:"number"`
	Code   int    `json:"code"`
	Output string `json:"output"`
}

// StartPython starts the interpreter. runtime is the directory of the programs.
func StartPython(runtime string) (*Python, error) {
	cmd := exec.Command("python3", "-B", "-c", server, runtime, string(simulate.Chance))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &Python{in: in, cmd: cmd, waiting: map[int]chan answer{}}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(json.NewDecoder(out))
	return p, nil
}

// read delivers the answers, until there are no more.
func (p *Python) read(answers *json.Decoder) {
	for {
		var one answer
		err := answers.Decode(&one)
		p.mu.Lock()
		if err != nil {
			for _, waiting := range p.waiting {
				close(waiting)
			}
			p.waiting = nil
			p.mu.Unlock()
			return
		}
		p.waiting[one.Number] <- one
		delete(p.waiting, one.Number)
		p.mu.Unlock()
	}
}

// start starts a program, and returns where its end arrives.
func (p *Python) start(request map[string]any) (<-chan answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		return nil, errEnded
	}
	p.started++
	request["number"] = p.started
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("asking Python: %w", err)
	}
	end := make(chan answer, 1)
	p.waiting[p.started] = end
	return end, nil
}

var errEnded = errors.New("Python has ended")

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

// Run implements simulate.Runner. A worker lives as long as the simulation.
func (p *Python) Run(ctx context.Context, program simulate.Program) (output []byte, exitCode int, err error) {
	env := map[string]string{}
	for _, pair := range program.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = cluster.LocalPaths(value, program.Mounts)
	}
	i := slices.IndexFunc(program.Command, func(word string) bool { return strings.HasSuffix(word, ".py") })
	if !program.API || i < 0 {
		return nil, 0, fmt.Errorf("%q is no program of argoperator", program.Command)
	}
	request := map[string]any{"arguments": program.Command[i+1:], "env": env}
	canceled := ctx.Done()
	if name := strings.TrimSuffix(filepath.Base(program.Command[i]), ".py"); name == "driver" {
		request["worker"] = cluster.LocalPaths(program.Command[i], program.Mounts)
	} else {
		request["program"], canceled = name, nil // it ends soon
	}
	end, err := p.start(request)
	if err != nil {
		return nil, 0, err
	}
	select {
	case one, ended := <-end:
		if !ended {
			return nil, 0, errEnded
		}
		return []byte(one.Output), one.Code, nil
	case <-canceled:
		return nil, 0, context.Cause(ctx)
	}
}
