package cmd

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/place"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/project/registry"
)

func newLock(s streams) *cobra.Command {
	var from sourceFlags
	cmd := &cobra.Command{
		Use:   "lock [PATH]...",
		Short: "Pin the images of an operator to digests",
		Long: `Ask the registries for the current digests of the images in a definition: those
of the operator's pods and those of the containers in its templates. Write them
into the lock file that the definition names in install.imagesLock. All other
commands except test then use the images with these digests, without a registry.

Run lock again to update the digests. An image that an expression computes has no
digest; lock lists such images. Credentials come from docker login.`,
		Example: `  # Pin the images of the operator in the current directory
  argoperator lock -f .`,
		Args: from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sources, missing, err := from.read(s.in)
			if err != nil {
				return err
			}
			locks, findings := argoperator.Locks(sources)
			if err := report(s, sources, from.countWarnings(s, from.withMissing(findings, missing, sources))); err != nil {
				return err
			}
			return writeLocks(cmd.Context(), s, sources, locks)
		},
	}
	from.register(cmd)
	return cmd
}

// writeLocks resolves all digests before it writes the first file.
func writeLocks(ctx context.Context, s streams, sources []argoperator.Source, locks []argoperator.Lock) error {
	var findings diag.List
	digests := map[string]string{}
	files := make([][]byte, len(locks))
	for i, lock := range locks {
		locked := map[string]string{}
		for _, image := range lock.Images {
			if image.Computed || strings.Contains(image.Name, "@") || locked[image.Name] != "" {
				continue
			}
			if _, asked := digests[image.Name]; !asked {
				digest, err := registry.Digest(ctx, image.Name)
				if err != nil {
					findings.Add(
						image.At,
						diag.MissingImageDigest,
						fmt.Sprintf("no digest of the image %s: %v", image.Name, err),
						"check the name of the image; for a private registry, run docker login",
					)
				}
				digests[image.Name] = digest
			}
			locked[image.Name] = image.Name + "@" + digests[image.Name]
		}
		data, err := argoperator.MarshalLock(locked)
		if err != nil {
			return err
		}
		files[i] = data
	}
	if err := report(s, sources, findings); err != nil {
		return err
	}
	for i, lock := range locks {
		if err := writeLock(s, lock, files[i]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		terminal.Fprintf(s.out, "%s %s\n", name, digests[name])
	}
	return nil
}

// writeLock replaces the file if it changes, and reports images without a digest.
func writeLock(s streams, lock argoperator.Lock, data []byte) error {
	for _, image := range lock.Images {
		if image.Computed {
			s.say(
				"%s:%d:%d: no digest for the image %s, which an expression computes",
				image.At.File,
				image.At.Line,
				image.At.Column,
				image.Name,
			)
		}
	}
	name := filepath.FromSlash(lock.File)
	if before, err := readFile(name); err == nil && bytes.Equal(before, data) {
		s.say("%s is up to date", lock.File)
		return nil
	}
	if err := place.Replace(name, data); err != nil {
		return fmt.Errorf("writing the digests: %w", err)
	}
	s.say("wrote %s", lock.File)
	return nil
}
