package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/chart"
)

func metadata(name, more string) chart.File {
	return file("Chart.yaml", "name: "+name+"\n"+more)
}

func file(name, text string) chart.File { return chart.File{Path: name, Data: []byte(text)} }

// archive packs files as helm package does, below a directory.
func archive(t *testing.T, dir string, files ...chart.File) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	to := tar.NewWriter(zip)
	for _, f := range files {
		err := to.WriteHeader(&tar.Header{Name: dir + f.Path, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.Data))})
		if _, more := to.Write(f.Data); err != nil || more != nil {
			t.Fatal(err, more)
		}
	}
	if err := errors.Join(to.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func paths(files []chart.File) string {
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
	}
	return strings.Join(out, " ")
}

func TestArchivesInsideAreUnpacked(t *testing.T) {
	inner := chart.File{Path: "charts/deep-0.1.0.tgz", Data: archive(t, "deep/", metadata("deep", ""))}
	files := []chart.File{
		metadata("shop", "dependencies: [{name: db}, {name: cache}]\n"),
		{Path: "charts/db-1.2.3.tgz", Data: archive(t, "db/", metadata("db", ""), file("templates/db.yaml", ""), inner)},
		file("files/data.tgz", "no chart"),
	}
	got, err := chart.New(files, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := "Chart.yaml charts/db/Chart.yaml charts/db/charts/deep/Chart.yaml charts/db/templates/db.yaml files/data.tgz"
	if paths(got.Files) != want {
		t.Errorf("got %s\nwant %s", paths(got.Files), want)
	}
	if missing := got.Missing(); !slices.Equal(missing, []string{"charts/cache"}) {
		t.Errorf("missing dependencies: %v", missing)
	}
}

func TestMissingDependenciesOfPartsAndOfOldCharts(t *testing.T) {
	got, err := chart.New([]chart.File{
		metadata("shop", ""),
		file("requirements.yaml", "dependencies: [{name: old}]"),
		file("charts/db/Chart.yaml", "name: db\ndependencies: [{name: backup}]"),
	}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if missing := got.Missing(); !slices.Equal(missing, []string{"charts/old", "charts/db/charts/backup"}) {
		t.Errorf("missing dependencies: %v", missing)
	}
}

// TestHostileArchives tries archives that write elsewhere, or that become large.
func TestHostileArchives(t *testing.T) {
	files, err := chart.Unpack(archive(t, "", file("shop/../../etc/passwd", "x"), file("/etc/passwd", "x"), file("shop/a", "x")), 10)
	if err != nil || strings.Contains(paths(files), "..") || !strings.Contains(paths(files), "a") {
		t.Errorf("files %q, error %v", paths(files), err)
	}
	large := archive(t, "shop/", file("zeros", strings.Repeat("0", 1<<20)))
	if _, err := chart.Unpack(large, 1000); !errors.Is(err, chart.ErrTooLarge) {
		t.Errorf("an archive of %d bytes with 1 MiB: %v", len(large), err)
	}
	for _, name := range []string{"..", "a/b", ""} {
		if _, err := chart.New([]chart.File{metadata(fmt.Sprintf("%q", name), "")}, 1000); err == nil {
			t.Errorf("accepts a chart with the name %q", name)
		}
	}
}

func TestIgnores(t *testing.T) {
	rules := "# comment\n*.md\n/ci/\n.git/\ndocs/*.txt\n"
	for name, want := range map[string]bool{
		"README.md": true, "templates/a.md": true, "ci/values.yaml": true, "templates/ci/a.yaml": false, "sub/.git/config": true,
		"docs/a.txt": true, "templates/docs/a.txt": false, "values.yaml": false, "# comment": false,
	} {
		if got := chart.Ignores([]byte(rules))(name); got != want {
			t.Errorf("excludes %s: %v, want %v", name, got, want)
		}
	}
}

func TestUses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a function", "a: {{ randAlphaNum 8 }}", "random randAlphaNum:1"},
		{"in a pipe, below", "\n{{- $a := 8 | int | randAlpha -}}", "random randAlpha:2"},
		{"in parentheses", "{{ (lookup \"v1\" \"Secret\" \"a\" \"b\").data }}", "lookup lookup:1"},
		{"twice", "{{ now }}\n{{ now }}", "random now:1"},
		{"over lines", "{{ if true\n  | ternary (uuidv4) }}", "random uuidv4:2"},
		{"a value", "{{ .Values.now }} {{ $now }} {{ .lookup }}", ""},
		{"a text", `{{ "now" | quote }} {{ ` + "`lookup`" + ` }} now`, ""},
		{"a comment", "{{- /* now */ -}}", ""},
		{"a longer name", "{{ nowhere }} {{ randAlphaNumber }} {{ my-now }}", ""},
		{"the release", "{{ if .Release.IsUpgrade }}{{ $.Release.Revision }}", "release .Release.IsUpgrade:1 release .Release.Revision:1"},
		{"a name of the release", "{{ .Release.Name }}", ""},
		{"kinds", "kind: Service\n---\nkind: \"Job\"\n---\n  kind: Pod\n---\nkind: {{ .Values.kind }}", "kind Service:1 kind Job:3"},
		{"a version", "apiVersion: apps/v1\nkind: Deployment\n---\napiVersion: {{ .Values.v }}\nkind: Job", "kind Deployment:2 apps/v1 kind Job:5"},
		{
			"a version of two", "{{ if .Values.a }}\napiVersion: a/v1\n{{ else }}\napiVersion: a/v2\n{{ end }}\nkind: Thing",
			"kind Thing:6",
		},
		{"a hook", "kind: Service\n---\nkind: Job\nmetadata:\n  annotations:\n    'helm.sh/hook': post-install", "hook post-install:6 kind Service:1"},
		{"a test", "kind: Pod\nmetadata: {annotations: {helm.sh/hook: test}}", ""},
		{"a hook in flow style", "kind: Job\nmetadata: {annotations: {\"helm.sh/hook\": pre-install, helm.sh/hook-weight: \"1\"}}", "hook pre-install:2"},
		{"two hooks", "kind: Job\nmetadata:\n  annotations:\n    helm.sh/hook: \"post-install,post-upgrade\"", "hook post-install,post-upgrade:4"},
		{"a computed hook", "kind: Job\nmetadata:\n  annotations:\n    helm.sh/hook: {{ .Values.hook }}", "hook {{ .Values.hook }}:4"},
		{"a kept object", "kind: Secret\nmetadata:\n  annotations:\n    \"helm.sh/resource-policy\": keep", "kept Secret:4 kind Secret:1"},
		{"a kept object of an unknown kind", "annotations: {helm.sh/resource-policy: 'keep'}", "kept :1"},
		{"keys", "{{ range keys .Values.a }}{{ end }}\n{{ values .Values.a | join }}", "unsorted keys:1 unsorted values:2"},
		{"sorted keys", "{{ range $k := keys .Values.a | sortAlpha }}{{ end }}{{ if has 1 (values .Values.a) }}{{ end }}{{ .Values.keys }}", ""},
		{"a weight", "kind: Pod\nmetadata: {annotations: {helm.sh/hook-weight: 1}}", "kind Pod:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chart.New([]chart.File{metadata("shop", ""), file("templates/a.yaml", tt.text), file("files/a.yaml", tt.text)}, 1000)
			if err != nil {
				t.Fatal(err)
			}
			uses := got.Uses()
			var found []string
			for _, one := range []struct {
				what   string
				places []chart.Place
			}{
				{"random", uses.Random},
				{"unsorted", uses.Unsorted},
				{"lookup", uses.Lookup},
				{"release", uses.Release},
				{"hook", uses.Hooks},
			} {
				for _, p := range one.places {
					found = append(found, fmt.Sprintf("%s %s:%d", one.what, p.What, p.Line))
				}
			}
			for _, k := range uses.Kept {
				found = append(found, fmt.Sprintf("kept %s:%d", k.What, k.Line))
			}
			for _, k := range uses.Kinds {
				found = append(found, strings.TrimSpace(fmt.Sprintf("kind %s:%d %s", k.What, k.Line, k.APIVersion)))
			}
			if diff := cmp.Diff(tt.want, strings.Join(found, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
