//go:build !unix

package cmd

import "syscall"

// raise does nothing: a process cannot send itself a signal here.
func raise(syscall.Signal) {}
