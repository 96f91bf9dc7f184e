package cmd

import (
	"bytes"
	"os"
	"testing"
)

// TestSpool spools more than fits into memory, and requires that no file remains.
func TestSpool(t *testing.T) {
	for name, dir := range map[string]string{"in a file": t.TempDir(), "in memory, because no file can be created": "/nonexistent"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", dir)
			var s spool
			var want bytes.Buffer
			for i := range 5 {
				piece := bytes.Repeat([]byte{byte('a' + i)}, maxHeld/2-1)
				want.Write(piece)
				if _, err := s.Write(piece); err != nil {
					t.Fatal(err)
				}
			}
			var got bytes.Buffer
			if err := s.copyTo(&got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want.Bytes(), got.Bytes()) {
				t.Errorf("got %d of %d bytes, or other content", got.Len(), want.Len())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if files, err := os.ReadDir(dir); err == nil && len(files) > 0 {
				t.Errorf("%s remains", files[0].Name())
			}
		})
	}
}
