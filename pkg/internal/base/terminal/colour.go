package terminal

// Styled is text that is written unescaped: escape sequences of argoperator itself.
type Styled string

// Colour is an ANSI escape sequence. Plain is empty.
type Colour string

// The colours of argoperator's output.
const (
	Plain      Colour = ""
	Bold       Colour = "\x1b[1m"
	Dim        Colour = "\x1b[2m"
	Red        Colour = "\x1b[31m"
	Green      Colour = "\x1b[32m"
	Cyan       Colour = "\x1b[36m"
	BoldRed    Colour = "\x1b[1;31m"
	BoldYellow Colour = "\x1b[1;33m"

	reset = "\x1b[0m"
)

// Sequences that control a terminal. They have no meaning in a file.
const (
	ClearScreen Styled = "\x1b[H\x1b[2J\x1b[3J"
	ClearLine   Styled = "\r\x1b[K"
)

// Style escapes a text of the input and, if on, colours it.
func Style(on bool, colour Colour, text string) Styled {
	text = Escape(text)
	if !on || colour == Plain || text == "" {
		return Styled(text)
	}
	return Styled(string(colour) + text + reset)
}
