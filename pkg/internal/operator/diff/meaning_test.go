package diff

import (
	"bytes"
	"strings"
	"testing"
)

func TestDefinitions(t *testing.T) {
	const before = `{metadata: {name: a}, spec: {children: [{name: web, template: {kind: Deployment, spec: {replicas: 1, ports: [80]}}}, {name: old}],
		status: {ready: one}, api: {"a.b/c": x}}}`
	for _, tt := range []struct {
		name, now string
		renamed   map[string]string
		want      []string
	}{
		{name: "nothing", now: before},
		{
			name: "a field of an item, another item, and a list without names",
			now: `{metadata: {name: a}, spec: {children: [{name: new}, {name: web, template: {kind: Deployment, spec: {replicas: 2, ports: [80, 81]}}}],
				status: {ready: one}, api: {"a.b/c": z}}}`,
			want: []string{
				`spec.api["a.b/c"]: x → z`, "spec.children.new", "spec.children.old", "spec.children.web.template.spec.ports",
				"spec.children.web.template.spec.replicas: 1 → 2",
			},
		},
		{
			name: "a renamed child", renamed: map[string]string{"web": "site"},
			now: `{metadata: {name: a}, spec: {children: [{name: site, template: {kind: Deployment, spec: {replicas: 1, ports: [80]}}}, {name: old}],
				status: {ready: one}, api: {"a.b/c": x}}}`,
			want: []string{"spec.children.site.name: web → site"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := (Printer{}).PrintDefinitions(&out, Definitions("a", object(t, before), object(t, tt.now), tt.renamed)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				if line, ok := strings.CutPrefix(line, "a: "); ok {
					got = append(got, strings.TrimSuffix(line, "\n"))
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got:\n%s", out.String())
			}
		})
	}
}

func TestSensors(t *testing.T) {
	sensor := func(text string) map[string]any {
		return object(t, "{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: s}, spec: "+text+"}")
	}
	old := sensor(`{dependencies: [{name: a, transform: {jq: "one\ntwo\nthree"}}, {name: b, transform: {jq: x}}, {name: c, transform: {jq: x}}],
		triggers: [{template: {name: a}}, {template: {name: b}}, {template: {name: c}, retryStrategy: {steps: 3}}], replicas: 1}`)
	now := sensor(`{dependencies: [{name: a, transform: {jq: "one\n2\nthree"}}, {name: c, transform: {jq: x}}, {name: d, transform: {jq: x}}],
		triggers: [{template: {name: a}}, {template: {name: c}, retryStrategy: {steps: 4}}, {template: {name: d}}], replicas: 2}`)
	changes, err := Objects([]map[string]any{old}, []map[string]any{now})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (Printer{}).Print(&out, changes); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  trigger a: program, 1 of 3 lines\n  trigger b: gone\n  trigger c: filter, request or retries\n  trigger d: new\n",
		"  -  replicas: 1\n  +  replicas: 2\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := (Printer{Programs: true}).Print(&out, changes); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "  -        two\n  +        2\n") {
		t.Errorf("with programs:\n%s", out.String())
	}
}

func TestConfigurations(t *testing.T) {
	config := func(version, other string) map[string]any {
		return object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {
			config.json: "{\"operator\": \"a\",\n\"engine\": \"worker\",\n\"digest\": \"`+version+`\"}\n", other.json: "{\"a\": `+other+`}"}}`)
	}
	for _, tt := range []struct {
		reason   string
		now      map[string]any
		programs bool
		want     string
	}{
		{"the configuration", config("2", "1"), false, "  config.json: configuration, 1 of 3 lines\n0 created"},
		{"another text, too", config("2", "2"), false, "  config.json: configuration, 1 of 3 lines\n  @@"},
		{"with programs", config("2", "1"), true, `+    "digest": "2"}`},
	} {
		changes, err := Objects([]map[string]any{config("1", "1")}, []map[string]any{tt.now})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := (Printer{Programs: tt.programs}).Print(&out, changes); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: without %q:\n%s", tt.reason, tt.want, out.String())
		}
	}
}
