//go:build unix

package cmd

import (
	"syscall"
	"time"
)

// raise sends a signal to the process itself and waits for it.
func raise(s syscall.Signal) {
	if syscall.Kill(syscall.Getpid(), s) == nil {
		time.Sleep(time.Second)
	}
}
