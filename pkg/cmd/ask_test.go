package cmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

func TestAsk(t *testing.T) {
	usual := scaffold.Options{Child: "deployment"}
	tests := []struct {
		name, reason string
		flags        initFlags
		flagsGiven   string
		answers      string
		want         scaffold.Options
		output       []string // expected output, in this order
	}{
		{
			name: "all", reason: "an empty line accepts the default in brackets", flags: initFlags{options: usual},
			answers: "my-app\n\n\n\n\n",
			want:    scaffold.Options{Name: "my-app", Group: "example.com", Kind: "MyApp", Child: "deployment"},
			output: []string{
				"Name of the operator: ", "API group, a DNS name that you own [example.com]: ", "Kind of the custom resources [MyApp]: ",
				"Object to keep for each custom resource (deployment, configmap) [deployment]: ",
				"Make the object with a template or a program (template, python, node, sh, go) [template]: ",
			},
		},
		{
			name: "other answers", reason: "surrounding blanks are removed, and the last newline is optional", flags: initFlags{options: usual},
			answers: " a \r\n a.io\nB\nconfigmap\nsh",
			want:    scaffold.Options{Name: "a", Group: "a.io", Kind: "B", Child: "configmap", Logic: "sh"},
		},
		{
			name: "invalid answers", reason: "the question is repeated with the reason", flags: initFlags{options: usual},
			answers: "\nA b\na\nexample\n\nfoo\nFoo\npod\n\nruby\n\n",
			want:    scaffold.Options{Name: "a", Group: "example.com", Kind: "Foo", Child: "deployment"},
			output:  []string{"an answer is required\n", `"A b" is not a DNS label`, `"example" has no dot`, `the kind foo begins with a small letter`, "choose one of deployment, configmap\n", "choose one of template, python"},
		},
		{
			name: "the rest", reason: "answers given as flags are not requested", flagsGiven: "child logic",
			flags:   initFlags{options: scaffold.Options{Name: "a", Group: "example.com", Child: "configmap", Logic: "go"}},
			answers: "B\n", want: scaffold.Options{Name: "a", Group: "example.com", Kind: "B", Child: "configmap", Logic: "go"},
		},
		{
			name: "with a CustomResourceDefinition", reason: "the file defines the kind", flags: initFlags{crd: "crd.yaml", options: usual},
			answers: "a\n\n", want: scaffold.Options{Name: "a", Child: "deployment"},
		},
		{
			name: "with manifests", reason: "the manifests define the children", flags: initFlags{objects: []string{"web.yaml"}, options: usual},
			answers: "a\n\n\n", want: scaffold.Options{Name: "a", Group: "example.com", Kind: "A", Child: "deployment"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var output bytes.Buffer
			s := streams{in: strings.NewReader(tt.answers), err: &output}
			got, err := ask(s, tt.flags, func(flag string) bool { return strings.Contains(tt.flagsGiven, flag) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			rest, found := output.String(), true
			for _, text := range tt.output {
				if _, rest, found = strings.Cut(rest, text); !found {
					t.Errorf("%s: %q is missing or out of order:\n%s", tt.reason, text, output.String())
				}
			}
		})
	}
}

// TestAskEndOfInput requires that the command stops at the end of the input and
// names the missing answer.
func TestAskEndOfInput(t *testing.T) {
	for _, answers := range []string{"", "a\n", "a\n\nfoo\n"} {
		var output bytes.Buffer
		_, err := ask(streams{in: strings.NewReader(answers), err: &output}, initFlags{}, func(string) bool { return false })
		if err == nil || !strings.Contains(err.Error(), "no answer to ") {
			t.Errorf("%q: %v", answers, err)
		}
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a/b-c.d": "a/b-c.d", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := quoted(word); got != want {
			t.Errorf("%s becomes %s, want %s", word, got, want)
		}
	}
}

func TestPinned(t *testing.T) {
	tests := map[release.Facts]string{
		{Version: "v1.2.3"}:                                    "v1.2.3",
		{Version: "v1.2.3-rc.1"}:                               "v1.2.3-rc.1",
		{Version: "v0.0.0-20250101000000-0123456789ab"}:        "v0.0.0-20250101000000-0123456789ab",
		{Version: "v1.2.3", Modified: true}:                    "latest",
		{Version: "v0.0.0-20250101000000-0123456789ab+dirty"}:  "latest",
		{Version: "(devel)"}:                                   "latest",
		{Version: "(devel)", Commit: strings.Repeat("a1", 20)}: strings.Repeat("a1", 20),
		{Version: "v1.2.3", Commit: strings.Repeat("a1", 20)}:  "v1.2.3",
		{Commit: strings.Repeat("a1", 20), Modified: true}:     "latest",
		{Commit: "main"}:                                       "latest",
		{}:                                                     "latest",
	}
	for f, want := range tests {
		if got := pinned(f); got != want {
			t.Errorf("%+v installs %s, want %s", f, got, want)
		}
	}
}
