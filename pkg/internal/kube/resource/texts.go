package resource

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Texts that reveal missing quotes, missing escapes or wrong lengths.
var oddTexts = []string{
	"Ünïcödé ☃ 漢字 😀",
	`quotes " ' and \ back`,
	"{{workflow.name}} ${ .x } $(id) %s",
	"two\nlines",
	"true",
	"null",
	"0123",
	"1e3",
	"- a: b # c",
	" spaces ",
}

// text generates a text that satisfies the demand. It derives the text from the field's
// name, unless the demand requires another.
func (m *maker) text(d *demand, name string) (any, error) {
	var tries []string
	switch m.taste {
	case random:
		tries = m.hintTexts()
	case typical:
		tries = append(likely(name), name)
		if len(d.patterns) > 0 {
			tries = append(tries, plainTexts...)
		}
	}
	for _, format := range d.formats {
		tries = append(tries, m.shuffled(formatTexts[normal(format)])...)
	}
	if len(d.patterns) > 0 {
		tries = append(tries, m.patternTexts(d)...)
	}
	tries = append(tries, m.freeTexts(d, name)...)
	for _, v := range tries {
		if m.fits(d, v) {
			return v, nil
		}
	}
	return nil, errors.New("no text matches " + strings.Join(append(d.patterns, d.formats...), " and "))
}

func (m *maker) freeTexts(d *demand, name string) []string {
	switch m.taste {
	case smallest:
		return []string{sized("a", max(1, d.short), d.long), ""}
	case typical:
		return []string{sized(name, max(1, d.short), d.long), sized("a", max(1, d.short), d.long), ""}
	}
	var out []string
	if m.r.IntN(4) == 0 {
		out = append(out, oddTexts[m.r.IntN(len(oddTexts))])
	}
	word := make([]byte, 1+m.r.IntN(10))
	for i := range word {
		word[i] = byte('a' + m.r.IntN(26))
	}
	if m.r.IntN(2) == 0 {
		word = word[:1]
	}
	return append(out, sized(string(word), d.short, d.long), sized("a", max(1, d.short), d.long), "")
}

// patternTexts tries the first pattern, and assumes that the others are similar.
func (m *maker) patternTexts(d *demand) []string {
	var out []string
	for _, text := range d.patterns {
		p := m.pattern(text)
		if p == nil {
			continue
		}
		for try := range 40 {
			more := try / 8
			if m.taste == random {
				more = m.r.IntN(8)
			}
			if try >= 20 {
				more += d.short
			}
			out = append(out, p.text(m.r, more))
		}
	}
	return out
}

// hintTexts returns constants of the parents' rules, in half of the cases.
func (m *maker) hintTexts() []string {
	var out []string
	if m.r.IntN(2) == 0 {
		return nil
	}
	for range 8 {
		switch h := m.hint().(type) {
		case string:
			out = append(out, h)
		case hint:
			if p := m.pattern(h.pattern); p != nil {
				out = append(out, p.text(m.r, m.r.IntN(4)))
			}
		case float64: // possibly a length
			if h >= 0 && h < 1024 && m.r.IntN(4) == 0 {
				out = append(out, sized("a", int(h), int(h)))
			}
		}
	}
	return out
}

func (m *maker) shuffled(texts []string) []string {
	if m.taste != random || len(texts) == 0 {
		return texts
	}
	first := m.r.IntN(len(texts))
	return append(append([]string{}, texts[first:]...), texts[:first]...)
}

// sized repeats or cuts a text until its length is within the limits. If it would be
// very long, the result is too short and therefore invalid.
func sized(text string, short, long int) string {
	if text == "" {
		text = "a"
	}
	count := utf8.RuneCountInString(text)
	if short > count && short < 1<<20 {
		text = strings.Repeat(text, short/count+1)
		long = min(long, short)
	}
	if runes := []rune(text); len(runes) > long {
		text = string(runes[:long])
	}
	return text
}
