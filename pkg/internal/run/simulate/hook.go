package simulate

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// hook is the server of a worker's logic, which has no other container. It runs as long as the worker does, or until it
// ends itself; the next call starts it again, as the kubelet would.
type hook struct {
	port    int  // on this machine
	listens bool // it has accepted a connection
	stop    context.CancelFunc
	ended   chan struct{}
	failure string // set when it has ended
	release func() // gives the port to another server
}

// hookCall is what a worker needs to know to call its hook.
type hookCall struct {
	Port    int    `json:"port"`
	Failure string `json:"failure,omitempty"` // why it does not answer
}

// serveHook makes sure that the server of the logic answers on its port.
func (w *worker) serveHook() hookCall {
	ctx, stop := withDeadline(w.ctx, w.config().Logic.Seconds)
	defer stop()
	if w.hook != nil && w.hook.hasEnded() {
		w.endHook()
	}
	if w.hook == nil {
		var err error
		if w.hook, err = w.startHook(ctx); err != nil {
			return w.noteHook(hookCall{Failure: err.Error()})
		}
	}
	return w.noteHook(hookCall{Port: w.hook.port, Failure: w.hook.wait(ctx)})
}

// lostHook tells, after a request without an answer, whether the server has ended.
func (w *worker) lostHook() hookCall {
	const patience = time.Second // until the end of a process is known
	select {
	case <-w.hook.ended:
		return hookCall{Failure: w.hook.failure}
	case <-time.After(patience):
		return hookCall{Port: w.hook.port}
	}
}

// noteHook adds a call to the trace.
func (w *worker) noteHook(call hookCall) hookCall {
	record := Container{Template: w.record.Name, Name: w.logic[0].Name, Command: w.logic[0].Command, Output: call.Failure}
	if call.Failure != "" {
		record.ExitCode = 1
	}
	w.records = append(w.records, record)
	return call
}

// startHook starts the server in the container of the logic.
func (w *worker) startHook(ctx context.Context) (*hook, error) {
	inside := int(w.logic[0].Ports[0].ContainerPort)
	port, release, err := portFor(ctx, inside, w.s.runner.Isolated())
	if err != nil {
		return nil, err
	}
	program := w.logicProgram(w.logic[0])
	program.Publish = &Published{Port: inside, On: port}
	running, stop := context.WithCancel(context.Background())
	h := &hook{port: port, stop: stop, ended: make(chan struct{}), release: release}
	go func() {
		defer close(h.ended)
		output, code, err := w.s.runner.Run(running, program)
		if err != nil {
			h.failure = err.Error()
			return
		}
		h.failure = fmt.Sprintf("the server ended (exit code %d)", code)
		if text := bytes.TrimSpace(output); len(text) > 0 {
			h.failure += ": " + withMountPaths(string(text), program.Mounts)
		}
	}()
	return h, nil
}

// wait waits until the server accepts connections. It returns why it does not.
func (h *hook) wait(ctx context.Context) string {
	const pause = 10 * time.Millisecond
	for !h.listens {
		if c, err := net.DialTimeout("tcp", loopback(h.port), time.Second); err == nil {
			_ = c.Close()
			h.listens = true
			break
		}
		select {
		case <-h.ended:
			return h.failure
		case <-ctx.Done():
			return "the server does not listen"
		case <-time.After(pause):
		}
	}
	return ""
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func (h *hook) hasEnded() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// endHook kills the server of the logic, as far as it runs.
func (w *worker) endHook() {
	if w.hook == nil {
		return
	}
	w.hook.stop()
	<-w.hook.ended
	w.hook.release()
	w.hook = nil
}

// ports has, for each port of this machine that servers of hooks use, a semaphore: programs
// without a container of their own share the ports, and each of these servers insists on one.
var ports sync.Map

// portFor returns the port of this machine for a server, when no other one of this process
// has it, and what gives it back.
func portFor(ctx context.Context, port int, isolated bool) (int, func(), error) {
	release := func() {}
	if isolated {
		port = 0 // any
	} else {
		free, _ := ports.LoadOrStore(port, make(chan struct{}, 1))
		select {
		case free.(chan struct{}) <- struct{}{}:
			release = func() { <-free.(chan struct{}) }
		case <-ctx.Done():
			return 0, nil, fmt.Errorf("another simulation has its port %d", port)
		}
	}
	l, err := net.Listen("tcp", loopback(port))
	if err == nil {
		port = l.Addr().(*net.TCPAddr).Port
		err = l.Close()
	}
	if err != nil {
		release()
		return 0, nil, fmt.Errorf("its port is not free on this machine: %w", err)
	}
	return port, release, nil
}
