package cmd

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// watchInterval is the polling interval: fast enough for users, with little load.
// Polling works on every file system, notifications do not.
const watchInterval = 300 * time.Millisecond

// watch calls do now, and again whenever a file below one of the names changes,
// until it is interrupted.
func watch(s streams, names []string, do func(ctx context.Context) error) error {
	err := interruptible(context.Background(), func(ctx context.Context) error { return again(ctx, s, names, do) })
	if errors.As(err, new(interrupted)) { // the usual way to end it
		return nil
	}
	return err
}

func again(ctx context.Context, s streams, names []string, do func(ctx context.Context) error) error {
	for {
		seen, err := fingerprint(names)
		if err != nil {
			return err
		}
		if takesSequences(s.out) {
			terminal.Fprintf(s.out, "%s", terminal.ClearScreen)
		}
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.say("%v", err)
		}
		s.say("waiting for a change in %s", strings.Join(names, ", "))
		if changed, err := awaitChange(ctx, names, seen); err != nil || !changed {
			return err
		}
	}
}

// awaitChange waits until the files differ from a fingerprint; it returns false if
// the context ends first.
func awaitChange(ctx context.Context, names []string, seen uint64) (bool, error) {
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-time.After(watchInterval):
		}
		now, err := fingerprint(names)
		if err != nil || now != seen {
			return err == nil, err
		}
	}
}

// fingerprint hashes the names, sizes and times of the files below the directories
// of the names, except hidden directories.
func fingerprint(names []string) (uint64, error) {
	sum := fnv.New64a()
	for _, name := range names {
		dir := name
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			dir = filepath.Dir(name)
		}
		if above, err := definitionAbove(dir); err == nil && above != "" {
			dir = above
		}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it was deleted meanwhile: the next poll sees that
			}
			if entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			if info, err := entry.Info(); err == nil && !entry.IsDir() {
				sum.Write(fmt.Appendln(nil, path, info.Size(), info.ModTime().UnixNano()))
			}
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("watching %s: %w", dir, err)
		}
	}
	return sum.Sum64(), nil
}
