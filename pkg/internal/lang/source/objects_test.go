package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func keepAll([]byte) bool { return true }

func TestObjectsLikeKubectl(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		want         []map[string]any
		codes        []string
	}{
		{"YAML 1.1 has more booleans and octals", "a: yes\nb: off\nc: 0644\nd: 1e3\n", []map[string]any{{"a": true, "b": false, "c": int64(420), "d": int64(1000)}}, nil},
		{"text stays text", "a: \"yes\"\nb: 1.2.3\nc: 2026-01-02\n", []map[string]any{{"a": "yes", "b": "1.2.3", "c": "2026-01-02"}}, nil},
		{"merge keys", "x: &x {a: 1}\nz: {<<: *x, b: 2}\n", []map[string]any{{"x": map[string]any{"a": int64(1)}, "z": map[string]any{"a": int64(1), "b": int64(2)}}}, nil},
		{"JSON in YAML's way", `{"a": "\/", "b": 3.0}`, []map[string]any{{"a": "/", "b": float64(3)}}, nil},
		{"JSON one after the other", "{\"a\": 1}\n{\"a\": 2}", []map[string]any{{"a": int64(1)}, {"a": int64(2)}}, nil},
		{"YAML that begins as JSON does", "{a: 1}", []map[string]any{{"a": int64(1)}}, nil},
		{"documents, empty ones left out", "---\na: 1\n---\n# nothing\n---\nb: 2\n...\n", []map[string]any{{"a": int64(1)}, {"b": int64(2)}}, nil},
		{"a text that ends a document ends with its line", "a: |\n  x\n---\nb: |\n  y\n", []map[string]any{{"a": "x\n"}, {"b": "y\n"}}, nil},
		{"a list", "kind: List\nitems: [{a: 1}, {kind: ShopList, items: [{b: 2}]}]", []map[string]any{{"a": int64(1)}, {"b": int64(2)}}, nil},
		{
			"a list of the API server", "kind: ShopList\napiVersion: example.com/v1\nitems: [{b: 2}]",
			[]map[string]any{{"apiVersion": "example.com/v1", "kind": "Shop", "b": int64(2)}},
			nil,
		},
		{"items of its own", "kind: Shop\nitems: [{a: 1}]", []map[string]any{{"kind": "Shop", "items": []any{map[string]any{"a": int64(1)}}}}, nil},
		{"twice the same key", "a: 1\na: 2\n", []map[string]any{{"a": int64(2)}}, []string{"duplicate-key"}},
		{"twice in JSON", `{"a": 1, "a": 2}`, []map[string]any{{"a": int64(2)}}, []string{"duplicate-key"}},
		{"what follows the end is not read", "a: 1\n...\nb: 2\n", []map[string]any{{"a": int64(1)}}, []string{"yaml-syntax"}},
		{"a bomb", "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", nil, []string{"yaml-alias"}},
		{"no object", "[1]", nil, []string{"wrong-type"}},
		{"no JSON number", "a: .nan", nil, []string{"yaml-syntax"}},
	} {
		objects, list := Objects(Input{Name: "a.yaml", Data: []byte(test.text)}, keepAll)
		var got []map[string]any
		for _, o := range objects {
			got = append(got, o.Fields)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: objects (-want +got):\n%s", test.reason, diff)
		}
		var codes []string
		for _, f := range list {
			codes = append(codes, f.Code)
		}
		if diff := cmp.Diff(test.codes, codes); diff != "" {
			t.Errorf("%s: codes (-want +got):\n%s%v", test.reason, diff, list)
		}
	}
}

func TestIsList(t *testing.T) {
	for text, want := range map[string]bool{
		"kind: List\nitems: []\n": true, `{"kind": "RoleList", "items": [{}]}`: true,
		"kind: List\n": false, "kind: Pod\nitems: []\n": false, "kind: List\nitems: []\n---\nkind: Pod\n": false, "": false,
	} {
		if got := IsList(Input{Name: "a.yaml", Data: []byte(text)}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestPositionsOfObjects(t *testing.T) {
	yaml := "---\nkind: List\nitems:\n- spec:\n    ports:\n    - name: ü\n      port: 1\n    labels: {a.b/c: x}\n"
	json := "{\"kind\": \"List\",\n\t\"items\": [ {\"spec\": {\n\t\t\"ports\": [{\"name\": \"ü\", \"port\": 1}], \"labels\": {\"a.b/c\": \"x\"}}}]}"
	for _, test := range []struct {
		text, path  string
		key         bool
		line, place int
	}{
		{yaml, "spec.ports[0].name", false, 6, 13},
		{yaml, "spec.ports[0].name", true, 6, 7},
		{yaml, "spec.labels[a.b/c]", false, 8, 21},
		{yaml, "spec.labels.a.b/c", true, 8, 14},
		{yaml, "spec.none.deeper", false, 4, 3},
		{json, "spec.ports[0].name", false, 3, 22},
		{json, "spec.ports[0].port", true, 3, 27},
		{json, "spec.labels.a.b/c", false, 3, 60},
		{json, "", false, 2, 13},
	} {
		objects, list := Objects(Input{Name: "a", Data: []byte(test.text)}, keepAll)
		if len(objects) != 1 || len(list) > 0 {
			t.Fatalf("%d objects, %v", len(objects), list)
		}
		at := objects[0].Position(test.path)
		if test.key {
			at = objects[0].KeyPosition(test.path)
		}
		if at.Line != test.line || at.Column != test.place {
			t.Errorf("%q is at %d:%d, want %d:%d", test.path, at.Line, at.Column, test.line, test.place)
		}
	}
}

// FuzzObjects covers that reading any file ends, and that every problem has a position
// in the file.
func FuzzObjects(f *testing.F) {
	for _, seed := range []string{"a: 1\n---\nb: [", "{\"a\": [1, {\"b\": null}]}", "{\"a\"", "kind: List\nitems: [1, {}]", "a: &a {<<: *a}", "? [x]\n: y\n", "{}{}", "\xff", "---\n...\n---\n", "0: \f"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, list := Objects(Input{Name: "a", Data: data}, keepAll)
		for _, o := range objects {
			if at := o.Position(""); at.Line < 1 || at.Column < 1 {
				t.Errorf("an object stands at %v", at)
			}
		}
		for _, finding := range list {
			if finding.Line < 1 {
				t.Errorf("%q stands at line %d", finding.Message, finding.Line)
			}
		}
	})
}

// TestNodesOfObjects covers that nodes are kept as written, in a list, too.
func TestNodesOfObjects(t *testing.T) {
	text := "kind: List\nitems:\n- b: 1 # one\n  a: &x {c: 2}\n- d: *x\n"
	objects, list := Objects(Input{Name: "a.yaml", Data: []byte(text)}, keepAll)
	if len(objects) != 2 || len(list) > 0 {
		t.Fatalf("%d objects, %v", len(objects), list)
	}
	first, second := objects[0].Node(), objects[1].Node()
	if first.Content[0].Value != "b" || first.Content[1].LineComment != "# one" {
		t.Errorf("order or comment is lost: %+v", first.Content[1])
	}
	if inner := second.Content[1]; len(inner.Content) != 2 || inner.Content[0].Value != "c" {
		t.Errorf("an alias stays: %+v", inner)
	}
	if node := (Object{}).Node(); node != nil {
		t.Errorf("an object of nowhere has the node %+v", node)
	}
}

// TestLineEnds requires the same findings of files with the line ends of Windows. The files are cut
// off at many places, so that brackets and quotes stay open.
func TestLineEnds(t *testing.T) {
	files, err := filepath.Glob("../../../../testdata/lint/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for n, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for cut := range 12 {
			text := string(data[:len(data)*(cut+1)/13+n%7])
			_, unix := Objects(Input{Name: "a", Data: []byte(text + "\n")}, keepAll)
			_, windows := Objects(Input{Name: "a", Data: []byte(strings.ReplaceAll(text, "\n", "\r\n") + "\r\n")}, keepAll)
			if diff := cmp.Diff(unix, windows); diff != "" {
				t.Fatalf("%s, cut after %q: %s", file, text[max(0, len(text)-40):], diff)
			}
		}
	}
}
