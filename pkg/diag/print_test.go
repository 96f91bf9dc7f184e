package diag

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func finding(file string, line, column int, message, hint string) Finding {
	return Finding{Position: Position{file, line, column}, Severity: Error, Code: "wrong-type", Message: message, Hint: hint}
}

func TestText(t *testing.T) {
	source := map[string]string{
		"a.yaml": "first: 1\n\ttabs: \tx\r\nwide: 漢字 x\ncombined: e\u0301 x\nesc: \x1b[31m x\n\n" + strings.Repeat("a", 300) + "\nlast",
		"b.yaml": "\ufefffirst: 1",
	}
	for _, tt := range []struct {
		reason string
		in     Finding
		want   string
	}{
		{
			"a caret under the column", finding("a.yaml", 1, 8, "is wrong", "write 2"),
			"a.yaml:1:8: error: is wrong [wrong-type]\n   1 | first: 1\n     |        ^\n  hint: write 2\n",
		},
		{
			"tabs stay tabs", finding("a.yaml", 2, 9, "m", ""),
			"a.yaml:2:9: error: m [wrong-type]\n   2 | \ttabs: \tx\n     | \t      \t^\n",
		},
		{
			"wide characters take two columns", finding("a.yaml", 3, 10, "m", ""),
			"a.yaml:3:10: error: m [wrong-type]\n   3 | wide: 漢字 x\n     |            ^\n",
		},
		{
			"combining marks take none", finding("a.yaml", 4, 14, "m", ""),
			"a.yaml:4:14: error: m [wrong-type]\n   4 | combined: e\u0301 x\n     |             ^\n",
		},
		{
			"escapes do not reach the terminal", finding("a.yaml", 5, 12, "m\x1b", ""),
			"a.yaml:5:12: error: m\\x1b [wrong-type]\n   5 | esc: \ufffd[31m x\n     |            ^\n",
		},
		{"an empty line has no excerpt", finding("a.yaml", 6, 1, "m", ""), "a.yaml:6:1: error: m [wrong-type]\n"},
		{
			"a long line is cut", finding("a.yaml", 7, 250, "m", ""),
			"a.yaml:7:250: error: m [wrong-type]\n   7 | …" + strings.Repeat("a", 111) + "\n     | " + strings.Repeat(" ", 61) + "^\n",
		},
		{"a column behind the end", finding("a.yaml", 8, 99, "m", ""), "a.yaml:8:99: error: m [wrong-type]\n   8 | last\n     |     ^\n"},
		{"a line behind the end", finding("a.yaml", 99, 1, "m", ""), "a.yaml:99:1: error: m [wrong-type]\n"},
		{"a byte order mark is not shown", finding("b.yaml", 1, 1, "m", ""), "b.yaml:1:1: error: m [wrong-type]\n   1 | first: 1\n     | ^\n"},
		{"no column", finding("a.yaml", 1, 0, "m", ""), "a.yaml:1: error: m [wrong-type]\n   1 | first: 1\n"},
		{"a file as a whole", finding("a.yaml", 0, 0, "m", ""), "a.yaml: error: m [wrong-type]\n"},
		{"no file", finding("", 0, 0, "m", ""), "error: m [wrong-type]\n"},
		{
			"an object of a stream by its name",
			Finding{Position: Position{"a.yaml", 1, 8}, Severity: Error, Code: "wrong-type", Message: "m", Object: "sensor/a"},
			"sensor/a: error: m [wrong-type]\n   1 | first: 1\n     |        ^\n",
		},
		{"an unknown file", finding("c.yaml", 1, 1, "m", "two\nlines"), "c.yaml:1:1: error: m [wrong-type]\n  hint: two\n        lines\n"},
	} {
		var b bytes.Buffer
		if err := Text(&b, List{tt.in}, func(file string) []byte { return []byte(source[file]) }); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", tt.reason, b.String(), tt.want)
		}
	}
}

func TestColour(t *testing.T) {
	var b bytes.Buffer
	list := List{{Position: Position{"a", 1, 1}, Severity: Warning, Code: "bad-value", Message: "m", Hint: "h"}}
	if err := (Printer{Colour: true, Source: func(string) []byte { return []byte("x") }}).Print(&b, list); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1ma:1:1:\x1b[0m \x1b[1;33mwarning:\x1b[0m m \x1b[2m[bad-value]\x1b[0m\n" +
		"\x1b[2m   1 | \x1b[0mx\n\x1b[2m     | \x1b[0m\x1b[1;33m^\x1b[0m\n  \x1b[1mhint:\x1b[0m h\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	for _, tt := range []struct {
		list List
		want string
	}{
		{nil, `{"apiVersion":"argoperator.dev/v1alpha1","kind":"FindingList","items":[]}`},
		{List{finding("a", 1, 2, "<m>", "")}, `{"apiVersion":"argoperator.dev/v1alpha1","kind":"FindingList","items":[` +
			`{"file":"a","line":1,"column":2,"severity":"error","code":"wrong-type","message":"<m>","hint":""}]}`},
		{List{{Position: Position{"-", 1, 2}, Severity: Warning, Code: "c", Message: "m", Object: "sensor/a"}}, `{"apiVersion":"argoperator.dev/v1alpha1","kind":"FindingList","items":[` +
			`{"file":"-","line":1,"column":2,"severity":"warning","code":"c","message":"m","hint":"","object":"sensor/a"}]}`},
	} {
		var b bytes.Buffer
		if err := JSON(&b, tt.list); err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer("\n", "", "  ", "", `": `, `":`).Replace(b.String())
		if got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestURI(t *testing.T) {
	for file, want := range map[string]string{
		"a/b.yaml": "a/b.yaml", "a b.yaml": "a%20b.yaml", "a:b.yaml": "./a:b.yaml", "/a/b.yaml": "file:///a/b.yaml", "-": "-",
	} {
		if got := uri(file); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestPrintersReportWriteErrors(t *testing.T) {
	if Text(full{}, List{finding("a", 1, 1, "m", "")}, nil) == nil {
		t.Error("Text hides a write error")
	}
	if JSON(full{}, nil) == nil {
		t.Error("JSON hides a write error")
	}
}

func TestSorted(t *testing.T) {
	list := List{finding("b", 1, 1, "3", ""), finding("a", 2, 1, "2", ""), finding("a", 1, 5, "1", ""), finding("a", 2, 1, "2", "")}
	var got strings.Builder
	for _, f := range list.Sorted() {
		got.WriteString(f.Message)
	}
	if got.String() != "123" {
		t.Errorf("order %s, want 123", got.String())
	}
}
