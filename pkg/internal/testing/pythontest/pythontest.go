// Package pythontest makes Python programs cheap to start in tests. Start puts a
// python3 at the beginning of PATH that hands its arguments, environment and files
// to a server, which runs the program in a fork of an interpreter that has imported
// and compiled already what programs need.
//
// The rule of this package: a program cannot tell the difference. The server
// leaves to python3 what it cannot do exactly as python3 does.
package pythontest

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

const client = "github.com/argoperator/argoperator/pkg/internal/testing/pythontest/client"

// servers is the number of interpreters. Each has its own hash seed, as starts of
// Python have: a program that depends on the order of a set still shows it.
const servers = 2

//go:embed server.py
var server []byte

// Start starts the servers and changes PATH; what it returns undoes that. Where the
// servers cannot start, tests run python3 itself.
func Start() (stop func()) {
	dir, err := os.MkdirTemp("", "pythontest-*")
	if err != nil {
		return skipped(err)
	}
	stops := []func(){func() { _ = os.RemoveAll(dir) }}
	stop = func() {
		for i := range stops {
			stops[len(stops)-1-i]()
		}
	}
	python, err := exec.LookPath("python3")
	if err == nil {
		err = prepare(dir)
	}
	for i := 0; i < servers && err == nil; i++ {
		var end func()
		if end, err = serve(python, dir, i); err == nil {
			stops = append(stops, end)
		}
	}
	if err != nil {
		stop()
		return skipped(err)
	}
	path := os.Getenv("PATH")
	_ = os.Setenv("PATH", dir+string(os.PathListSeparator)+path) // fails for no name but an invalid one
	stops = append(stops, func() { _ = os.Setenv("PATH", path) })
	return stop
}

func skipped(err error) func() {
	if !errors.Is(err, exec.ErrNotFound) { // tests skip what needs a python3 that is missing
		fmt.Fprintf(os.Stderr, "pythontest: starting Python slowly: %v\n", err)
	}
	return func() {}
}

// prepare writes the client, as python3, and the server.
func prepare(dir string) error {
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "python3"), client)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the client: %w: %s", err, out)
	}
	return os.WriteFile(filepath.Join(dir, "server.py"), server, 0o600)
}

// serve starts one server; it ends with its standard input, and so with the tests.
func serve(python, dir string, i int) (end func(), err error) {
	cmd := exec.Command(python, "-B", filepath.Join(dir, "server.py"), filepath.Join(dir, strconv.Itoa(i)))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	end = func() { _ = errors.Join(in.Close(), cmd.Wait()) }
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		end()
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // it says no more
	return end, nil
}
