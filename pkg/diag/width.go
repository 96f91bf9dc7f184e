package diag

import "unicode"

// width returns the number of terminal columns of a character: none for combining
// marks, two for East Asian wide characters and emoji, otherwise one. It follows the
// blocks of Unicode's EastAsianWidth table, not every character.
func width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case within(r, 0x1100, 0x115f), within(r, 0x2e80, 0x303e), within(r, 0x3041, 0xa4cf),
		within(r, 0xac00, 0xd7a3), within(r, 0xf900, 0xfaff), within(r, 0xfe30, 0xfe6f),
		within(r, 0xff00, 0xff60), within(r, 0xffe0, 0xffe6), within(r, 0x1f300, 0x1f64f),
		within(r, 0x1f680, 0x1f6ff), within(r, 0x1f900, 0x1f9ff), within(r, 0x20000, 0x3fffd):
		return 2
	}
	return 1
}

func within(r, first, last rune) bool { return first <= r && r <= last }
