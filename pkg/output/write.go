package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteDir writes files into a directory, which is made where it is missing.
// It is all or nothing: the files are written beside their places first and
// then renamed. Files of other names are left alone.
func WriteDir(dir string, files []File) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w", err)
	}
	stage, err := os.MkdirTemp(dir, ".argoperator-*")
	if err != nil {
		return fmt.Errorf("preparing the output directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(stage, f.Name), f.Data, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
	}
	for _, f := range files {
		if err := os.Rename(filepath.Join(stage, f.Name), filepath.Join(dir, f.Name)); err != nil {
			return fmt.Errorf("moving %s into place: %w", f.Name, err)
		}
	}
	return nil
}
