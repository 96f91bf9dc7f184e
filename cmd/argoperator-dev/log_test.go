package main

import (
	"errors"
	"testing"

	"k8s.io/klog/v2"
)

func TestQuiet(t *testing.T) {
	failed := make(chan error, 1)
	quiet(func(err error) { failed <- err })
	go func() {
		klog.ErrorS(errors.New("no connection"), "Starting failed")
		klog.InfoS("Stopping")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}()
	if err := <-failed; err.Error() != `"Starting failed" err="no connection"` {
		t.Errorf("the reason is %v", err)
	}
}
