package sample

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

const (
	width   = 100 // of a comment line, including its indentation
	longest = 400 // of the description of one field
	many    = 12  // maximum number of enum values
)

// comment returns the description of a field.
func comment(p resource.Place, required bool) string {
	var parts []string
	paragraph, _, _ := strings.Cut(p.Description(), "\n\n")
	if text := shortened(plain(paragraph)); text != "" {
		if !strings.ContainsRune(".!?…:", lastRune(text)) {
			text += "."
		}
		parts = append(parts, text)
	}
	if enum := p.Enum(); len(enum) > 1 && len(enum) <= many {
		parts = append(parts, "One of "+list(enum)+".")
	}
	if limits := limits(p.Limits()); limits != "" {
		parts = append(parts, limits)
	}
	if value := p.Default(); value != nil {
		parts = append(parts, "Default: "+shortened(plain(shown(value)))+".")
	} else if required {
		parts = append(parts, "Required.")
	}
	return strings.Join(parts, " ")
}

func limits(low, high *float64) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf("From %v to %v.", *low, *high)
	case low != nil:
		return fmt.Sprintf("At least %v.", *low)
	case high != nil:
		return fmt.Sprintf("At most %v.", *high)
	}
	return ""
}

func list(values []any) string {
	var out []string
	for _, value := range values {
		out = append(out, plain(shown(value)))
	}
	return strings.Join(out, ", ")
}

// shown formats a value for a sentence: words have no quotes.
func shown(value any) string {
	if text, ok := value.(string); ok && text != "" && !strings.ContainsFunc(text, unicode.IsSpace) {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// plain converts a text to one line that is valid in a comment.
func plain(text string) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
}

// shortened truncates a text after a sentence or, if the first one is too long, after a
// word.
func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= longest {
		return text
	}
	head := string(runes[:longest])
	if i := strings.LastIndex(head, ". "); i > 0 {
		return head[:i+1]
	}
	if i := strings.LastIndex(head, " "); i > 0 {
		return head[:i] + " …"
	}
	return head + "…"
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// wrapped breaks a text into lines between words.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
