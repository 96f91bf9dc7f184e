//go:build unix

// Command client is the python3 that package pythontest puts on PATH: it lets a
// server run the program with its arguments, environment, directory and files, in
// its process group, and ends as the program does.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "pythontest: %v\n", err)
		code = 1
	}
	if code < 0 { // a signal
		_ = syscall.Kill(os.Getpid(), syscall.Signal(-code))
	}
	os.Exit(code)
}

// run returns the exit code of the program, or the negative number of the signal
// that ended it.
func run() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	server, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	// pythontest starts two servers
	address := filepath.Join(filepath.Dir(self), strconv.Itoa(os.Getpid()%2))
	if err := syscall.Connect(server, &syscall.SockaddrUnix{Name: address}); err != nil {
		return 0, fmt.Errorf("connecting to %s: %w", address, err)
	}
	if err := send(server, request(dir)); err != nil {
		return 0, fmt.Errorf("asking %s: %w", address, err)
	}
	answer, err := io.ReadAll(os.NewFile(uintptr(server), address))
	if err != nil {
		return 0, err
	}
	code, err := strconv.Atoi(string(answer))
	if err != nil {
		return 0, fmt.Errorf("the server ended: %w", err)
	}
	return code, nil
}

// request is what the server needs to know, as fields separated by NUL.
func request(dir string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d\x00%s\x00%d", syscall.Getpgrp(), dir, len(os.Args)-1)
	for _, word := range append(os.Args[1:], os.Environ()...) {
		out.WriteString("\x00" + word)
	}
	return out.Bytes()
}

// send writes the request, and the standard streams with its first byte.
func send(server int, data []byte) error {
	streams := syscall.UnixRights(0, 1, 2)
	for len(data) > 0 {
		n, err := syscall.SendmsgN(server, data, streams, nil, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		data, streams = data[n:], nil
	}
	return syscall.Shutdown(server, syscall.SHUT_WR)
}
