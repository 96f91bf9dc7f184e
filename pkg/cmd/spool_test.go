package cmd

import (
	"bytes"
	"os"
	"testing"
)

// TestSpool keeps back more than fits into memory, and leaves nothing behind.
func TestSpool(t *testing.T) {
	for name, dir := range map[string]string{"in a file": t.TempDir(), "in memory, as there is no place for a file": "/nonexistent"} {
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
				t.Errorf("%d bytes came back of %d, or others", got.Len(), want.Len())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
				t.Errorf("%s is left", left[0].Name())
			}
		})
	}
}
