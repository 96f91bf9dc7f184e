package cmd

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// progress is a status line on a terminal that appears after a second without
// output. Elsewhere it prints nothing. The zero value is usable; close ends it.
type progress struct {
	mu     sync.Mutex
	out    io.Writer // nil: not a terminal
	doing  string
	since  time.Time
	shown  bool
	closed chan struct{}
}

func newProgress(err io.Writer) *progress {
	p := &progress{}
	if !takesSequences(err) {
		return p
	}
	p.out, p.since, p.closed = err, time.Now(), make(chan struct{})
	go p.refresh()
	return p
}

func (p *progress) refresh() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-p.closed:
			return
		case <-tick.C:
			p.show()
		}
	}
}

// show writes the line, truncated to the width of the terminal.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.since).Round(time.Second)
	if p.doing == "" || took < time.Second {
		return
	}
	line := []rune(fmt.Sprintf("%s (%s)", p.doing, took))
	if file, ok := p.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 1 && len(line) >= width {
			line = append(line[:width-2], '…')
		}
	}
	terminal.Fprintf(p.out, "%s%s", terminal.ClearLine, string(line))
	p.shown = true
}

// set sets the status.
func (p *progress) set(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.since = fmt.Sprintf(format, args...), time.Now()
}

// aside writes other output with the line cleared.
func (p *progress) aside(write func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return write()
}

func (p *progress) clear() {
	if p.shown {
		terminal.Fprintf(p.out, "%s", terminal.ClearLine)
		p.shown = false
	}
}

func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	if p.closed != nil {
		close(p.closed)
		p.closed = nil
	}
	p.out, p.doing = nil, ""
}
