package childcheck

import (
	"strings"
	"testing"
)

// TestShellRuns covers where a shell runs what a text has.
func TestShellRuns(t *testing.T) {
	const substitution = "$(b)"
	const text, apart = "a" + substitution, "a'" + substitution
	quoted := "'" + strings.ReplaceAll(apart, "'", `'\''`) + "'"
	for _, tt := range []struct {
		reason, script string
		want           bool
	}{
		{"a word", "echo " + text, true},
		{"double quotes", `echo "` + text + `"`, true},
		{"single quotes", "echo '" + text + "'", false},
		{"single quotes, which the text ends", "echo '" + apart + "'", true},
		{"@sh", "echo " + quoted, false},
		{"@sh after a word with quotes", `echo "it's" ` + quoted, false},
		{"@sh in double quotes", `echo "` + quoted + `"`, true},
		{"@sh in a substitution in double quotes", `echo "$(echo ` + quoted + `)"`, false},
		{"a word in a substitution", "echo $(echo " + text + ")", true},
		{"a comment", "# " + text + "\necho", false},
		{"after a comment with an apostrophe", "# don't\necho " + quoted, false},
		{"after a comment with an apostrophe, unquoted", "# don't\necho \"" + text + "\"", true},
		{"a here-document", "cat <<EOF\n" + text + "\nEOF\n", true},
		{"a quoted here-document", "cat <<'EOF'\nit's " + text + "\nEOF\necho", false},
		{"after a here-document", "cat <<'EOF'\nit's\nEOF\necho \"" + text + `"`, true},
		{"@sh after a here-document with tabs", "cat <<-EOF\n\tit's\n\tEOF\necho " + quoted, false},
		{"a pattern of case", "case $1 in\na) echo " + quoted + ";;\nesac", false},
		{"no text", "echo $HOME", false},
	} {
		if got := shellRuns(tt.script, substitution, false); got != tt.want {
			t.Errorf("%s: %q: %v, want %v", tt.reason, tt.script, got, tt.want)
		}
	}
}

// TestShellRunsAlone covers where a shell runs what follows a separator in a text.
func TestShellRunsAlone(t *testing.T) {
	for _, tt := range []struct {
		reason, script string
		want           bool
	}{
		{"a word", "echo a;b", true},
		{"double quotes", `echo "a;b"`, false},
		{"single quotes", "echo 'a;b'", false},
		{"a word in a substitution in double quotes", `echo "$(echo a;b)"`, true},
		{"a comment", "# a;b\necho", false},
		{"a here-document", "cat <<EOF\na;b\nEOF\n", false},
		{"quotes that the text ends", `echo "a";b"`, true},
	} {
		if got := shellRuns(tt.script, ";b", true); got != tt.want {
			t.Errorf("%s: %q: %v, want %v", tt.reason, tt.script, got, tt.want)
		}
	}
}

// TestScripts covers which word of a command is a program.
func TestScripts(t *testing.T) {
	list := func(text string) []any {
		var out []any
		for word := range strings.FieldsSeq(text) {
			out = append(out, word)
		}
		return out
	}
	for _, tt := range []struct{ command, args, want string }{
		{"sh -c X", "", "sh X"},
		{"/bin/bash -lc X", "", "bash X"},
		{"bash -euo pipefail -c X", "", "bash X"},
		{"bash -euc X", "", "bash X"},
		{"sh -c X Y", "", "sh X"},
		{"sh -c", "X", "sh X"},
		{"", "sh -c X", "sh X"},
		{"/usr/bin/env bash -c X", "", "bash X"},
		{"busybox sh -c X", "", "sh X"},
		{"su postgres -c X", "", "su X"},
		{"python3.12 -u -c X", "", "python3.12 X"},
		{"node --eval X", "", "node X"},
		{"perl -ne X", "", "perl X"},
		{"sh X", "", ""},
		{"sh /run.sh -c X", "", ""},
		{"grep -c X", "", ""},
		{"", "-c X", ""},
		{"python3 main.py -c", "", ""},
		{"sh -c", "", ""},
	} {
		fields := map[string]any{"containers": []any{map[string]any{"command": list(tt.command), "args": list(tt.args)}}}
		got := ""
		for _, s := range scriptsIn(fields) {
			got = s.interpreter + " " + s.text
		}
		if got != tt.want {
			t.Errorf("command %q, args %q: %q, want %q", tt.command, tt.args, got, tt.want)
		}
	}
}
