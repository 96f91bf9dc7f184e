package scaffold_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

func TestProblems(t *testing.T) {
	good := scaffold.Options{Name: "a", Group: "example.com", Kind: "Thing"}
	tests := []struct {
		name, reason string
		change       func(o *scaffold.Options)
		want         []string // option: what the message holds
	}{
		{name: "none", reason: "what is not said has a default", change: func(*scaffold.Options) {}},
		{name: "nothing said", reason: "that something is missing is for others to say", change: func(o *scaffold.Options) { *o = scaffold.Options{} }},
		{
			name: "everything said", reason: "every option may be other than its default",
			change: func(o *scaffold.Options) {
				*o = scaffold.Options{Name: "my-app", Group: "a.b", Kind: "X", Plural: "xen", Version: "v2beta3", Scope: "Cluster", Namespace: "platform", Child: "configmap", Logic: "go"}
			},
		},
		{
			name: "everything wrong", reason: "all errors at once",
			change: func(o *scaffold.Options) {
				*o = scaffold.Options{Name: "My.App", Group: "example", Kind: "thing", Version: "1", Scope: "cluster", Namespace: "A", Child: "pod", Logic: "ruby"}
			},
			want: []string{
				`Scope: "cluster" is not one of`, `Child: "pod" is not one of`, `Logic: "ruby" is not one of`, `Name: "My.App" is not a DNS label`,
				`Group: "example" has no dot`, `Kind: the kind thing begins with a small letter`, `Version: "1" is not a version`, `Namespace: "A" is not a DNS label`,
			},
		},
		{
			name: "long name", reason: "the names derived from it have limits", change: func(o *scaffold.Options) { o.Name = strings.Repeat("a", 41) },
			want: []string{"Name: the EventSource would be named"},
		},
		{
			name: "group of Kubernetes", reason: "the API server refuses it", change: func(o *scaffold.Options) { o.Group = "apps.k8s.io" },
			want: []string{"Group: the group apps.k8s.io belongs"},
		},
		{name: "plural", reason: "it is part of a URL", change: func(o *scaffold.Options) { o.Plural = "A_b" }, want: []string{`Plural: "A_b" is not a DNS label`}},
		{
			name: "quotes", reason: "nothing leaves its place in the definition that is tried", change: func(o *scaffold.Options) { o.Name, o.Group = "a\"}\nkind: b", "x.y\", kind: \"Z" },
			want: []string{`Name: "a\"}\nkind: b" is not`, `Group: "x.y\", kind: \"Z" is not`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := good
			tt.change(&o)
			var got []string
			for i, p := range o.Problems() {
				text := p.Option + ": " + p.Message
				if i < len(tt.want) && strings.HasPrefix(text, tt.want[i]) {
					text = tt.want[i]
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
