package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// JSON writes machine-readable output. Terminals interpret some characters that JSON
// allows, such as U+009B. They are written as escape sequences, for example \u009b,
// which have the same meaning.
func JSON(w io.Writer, value any) error {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	out := make([]byte, 0, plain.Len())
	for _, r := range plain.String() {
		switch {
		case r == '\n' || !unprintable(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	_, err := w.Write(out)
	return err
}
