package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"runtime"
	"sync"

	"k8s.io/klog/v2"
)

// lastError is a log that keeps only the last error, which says why Kubernetes gave up.
type lastError struct {
	mu   sync.Mutex
	line string
}

// Write keeps the message of an error or of a fatal error, without the prefix of the log. It
// ignores the stacks that follow a fatal error.
func (l *lastError) Write(data []byte) (int, error) {
	_, message, ok := bytes.Cut(data, []byte("] "))
	if ok && (data[0] == 'E' || data[0] == 'F') {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.line = string(bytes.TrimSpace(message))
	}
	return len(data), nil
}

func (l *lastError) error() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.New(l.line)
}

// quiet discards what Kubernetes logs. When Kubernetes would exit the process, only the
// goroutine ends and fail is called with the reason.
func quiet(fail func(error)) {
	last := &lastError{}
	set := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(set)
	_ = set.Set("logtostderr", "false")
	_ = set.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity("ERROR", last)
	klog.OsExit = func(int) {
		fail(last.error())
		runtime.Goexit()
	}
}

// silence discards what libraries write to standard error, such as each request to etcd
// that was canceled, and returns the standard error for the program itself. Some keep
// os.Stderr from the start, so its content changes.
func silence() *os.File {
	stderr := *os.Stderr
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		*os.Stderr = *null
	}
	return &stderr
}
