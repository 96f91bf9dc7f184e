//go:build !unix

package main

import "syscall"

// raise does nothing: a process cannot send itself a signal here.
func raise(syscall.Signal) {}
