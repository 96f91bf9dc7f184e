package cmd

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxHeld limits in bytes how much of the output is kept in memory until all of it
// is complete; the rest is written to a temporary file.
const maxHeld = 1 << 20

// spool buffers output. The zero value is usable; Close removes the temporary file.
type spool struct {
	held bytes.Buffer
	file *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.held.Len()+len(p) > maxHeld {
		file, err := os.CreateTemp("", "argoperator-")
		if err != nil {
			return s.held.Write(p) // no writable directory, as in some containers
		}
		s.file = file
		_ = os.Remove(file.Name()) // unlinked at once where the system allows it; Close tries again
		if _, err := s.held.WriteTo(file); err != nil {
			return 0, err
		}
		s.held = bytes.Buffer{}
	}
	if s.file != nil {
		return s.file.Write(p)
	}
	return s.held.Write(p)
}

// copyTo writes the buffered output.
func (s *spool) copyTo(w io.Writer) error {
	if s.file == nil {
		_, err := s.held.WriteTo(w)
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
