package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ reason, in, want string }{
		{"plain text stays", "größe 漢字 e\u0301 😀 a\u00a0b\tc", "größe 漢字 e\u0301 😀 a\u00a0b\tc"},
		{"a line break would begin a line", "a\nb\r\n", `a\nb\r\n`},
		{"an escape sequence would act", "\x1b[31m", `\x1b[31m`},
		{"a C1 control character is one byte shorter", "\u009b31m", `\u009b31m`},
		{"line separators", "\u2028\u2029\u0085", `\u2028\u2029\u0085`},
		{"an override turns text around", "a\u202eb", `a\u202eb`},
		{"delete and backspace hide text", "ab\b\x7f", `ab\b\x7f`},
		{"what has no width hides", "a\u200bb\ufeff", `a\u200bb\ufeff`},
		{"a tag beyond the BMP", "a\U000e0041", `a\U000e0041`},
		{"bytes that are not UTF-8", "a\xff\x9b", `a\xff\x9b`},
		{"the replacement character is itself", "\ufffd", "\ufffd"},
	} {
		if got := Escape(tt.in); got != tt.want {
			t.Errorf("%s: Escape(%q) = %s, want %s", tt.reason, tt.in, got, tt.want)
		}
	}
}

type name string

func TestSprintfEscapesEveryKindOfArgument(t *testing.T) {
	got := Sprintf("%s %v %q %-4s| %5.1f%% %d %v %s\n", "a\x1b", errors.New("b\x1bc"), "c\x1b", "d", 1.25, 7, []string{"e\x1b"}, name("f\x1b")) +
		Sprintf("%s", Style(true, Bold, "g\x1b"))
	want := `a\x1b b\x1bc "c\x1b" d   |   1.2% 7 [e\x1b] f\x1b` + "\n\x1b[1m" + `g\x1b` + "\x1b[0m"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestStyleWithoutColour(t *testing.T) {
	if got := Style(false, Bold, "a\x1b"); got != `a\x1b` {
		t.Errorf("got %q", got)
	}
}

func TestLines(t *testing.T) {
	if got := Lines("a\r\nb\x1b\nc", "  "); got != "a\n  b\\x1b\n  c" {
		t.Errorf("got %q", got)
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	value := map[string]any{"k\u009b": "a\u009b31m\u202e\U000e0041\U0001f600\x7f\n<漢>"}
	var out bytes.Buffer
	if err := JSON(&out, value); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(strings.ReplaceAll(out.String(), "\n", ""), unprintable) || !strings.Contains(out.String(), "\U0001f600\\u007f\\n<漢>") {
		t.Errorf("printed %q", out.String())
	}
	var back map[string]any
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || !reflect.DeepEqual(back, value) {
		t.Errorf("read back as %q, %v", back, err)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[31m\n\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{Escape(text), Sprintf("%s", text), string(Style(false, "", text))} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, unprintable) {
				t.Errorf("%q is not printable", got)
			}
		}
		if masked := Mask(text); utf8.RuneCountInString(masked) != utf8.RuneCountInString(text) || strings.ContainsFunc(masked, unprintable) {
			t.Errorf("Mask(%q) = %q", text, masked)
		}
		if Escape(Escape(text)) != Escape(text) {
			t.Errorf("%q is escaped twice", text)
		}
	})
}
