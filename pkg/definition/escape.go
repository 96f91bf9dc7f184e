package definition

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quotedOffset returns where a byte of a quoted YAML scalar's value stands in
// its source text, -1 if that is not on this line.
func quotedOffset(text string, quote byte, offset int) int {
	start := strings.IndexByte(text, quote)
	if start < 0 {
		return -1
	}
	i, value := start+1, 0
	for i < len(text) && value < offset {
		if text[i] == quote && !strings.HasPrefix(text[i:], "''") {
			return -1
		}
		took, made := 1, 1
		switch {
		case quote == '"' && text[i] == '\\':
			took, made = escapeLength(text[i:])
		case text[i] == quote:
			took = 2
		}
		i, value = i+took, value+made
	}
	if i >= len(text) {
		return -1
	}
	return i
}

// escapeLength returns the length of an escape of a double-quoted YAML scalar
// in the source and in the value, in bytes.
func escapeLength(text string) (took, made int) {
	if len(text) < 2 {
		return 1, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	switch {
	case digits > 0 && len(text) >= 2+digits:
		code, err := strconv.ParseUint(text[2:2+digits], 16, 32)
		if err != nil {
			return 2 + digits, 1
		}
		return 2 + digits, utf8.RuneLen(rune(code))
	case strings.IndexByte("N_", text[1]) >= 0:
		return 2, 2
	case strings.IndexByte("LP", text[1]) >= 0:
		return 2, 3
	}
	return 2, 1
}
