package source

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// rareYAML are texts that the two YAML libraries might read differently.
var rareYAML = []string{
	"a: [y, n, yes, NO, on, Off, ~, null, Null, true, True, TRUE, falser, nulls, <<, =, ., .., -, +]\n",
	"a: [1, -1, +1, 0, -0, 01, 0o7, 0x1F, 0b11, -0b11, 1_000, _1, -_1, 1e3, 1.5, .5, 5., -.5e-3, 1.e3, 18446744073709551615, 1e400]\n",
	"a: [.inf, -.INF, .nan, .NaN, inf, nan, Infinity, 1:30, 190:20:30, 2001-01-01, 2001-1-1T1:2:3Z, 2001-12-14 21:59:43.10 -5, 1-1]\n",
	"a: [10s, -c, --flag, -1x, 1.2.3, 3.7-alpine, 08, 0.1.0, 1e, 0x, 123456789012345678, 1234567890123456789, -e, +, -., 1 2]\n",
	"1: a\ntrue: b\n2.5: c\n", "y: a\n", "~: a\n", "'1': a\n\"\": b\n", "a: 1\n<<: {b: 2}\n", "'<<': {b: 2}\n", "? a\n: b\n? - c\n: d\n",
	"a: &x {b: 1}\nc: *x\n", "a: !!str 1\nb: !!int \"3\"\nc: ! \"4\"\nd: ! 5\ne: !x y\nf: !!binary aGk=\n",
	"a: |\n  x\n\n  y\n\nb: >-\n  x\n  y\n\n   z\nc: |2+\n    x\n\n", "a: 'it''s\n\n  two'\nb: \"x\\ty\\u0085\\\n  z\\x41 \"\nc: x\n  y\n\n  z\n",
	"a: 1\n  2\nb: 1\n\n  2\n", "--- # c\na: b # d\n# e\n", "%YAML 1.1\n---\na: b\n", "%YAML 1.2\n---\na: b\n", "a: b\n...\nc: d\n", "null\n...\na: b\n",
	"a:\tb\n", "a: b\r\nc: d\r\n", "a: b\u0085c: d\n", "a: \"b\u2028c\"\n", "\ufeffa: b\n", "a: b\ufeff\n", "a: é\nb: 😀\n",
	"a: {b, c: , d: e}\nf: [g: h, [i], {}]\nj: []\nk: {}\nl:\n- m\n-\n- - n\n  - o\n", "a: {b: c}, d\n", "a: b: c\n", "- a\n", "a\n", "", "# a\n", "a: -\nb: - c\n",
	"a: 'b\nc'\n", "a: [b,\nc]\n", "a: ...\nb: ---\nc: ---x\n", "a: \"\\ud83d\"\n", "a: \"\\0\"\n", "a: b #c\nd: e#f\n", "? |\n  a\n: b\n", "a: @b\n", "a: `b\n", "a: %b\n",
}

func TestPlainFields(t *testing.T) {
	for _, text := range rareYAML {
		samePlain(t, text)
	}
}

// FuzzPlainFields compares the values of plain documents with kubectl's library.
func FuzzPlainFields(f *testing.F) {
	for _, text := range rareYAML {
		f.Add(text)
	}
	f.Fuzz(samePlain)
}

func samePlain(t *testing.T, text string) {
	t.Helper()
	docs, _ := loadObjects(Input{Name: "a.yaml", Data: []byte(text)}, NotEmpty)
	for _, doc := range docs {
		if !doc.plain || doc.json {
			continue
		}
		got, ok := plainFields(doc.Root)
		if !ok {
			continue
		}
		var want map[string]any
		data, err := sigsyaml.YAMLToJSON([]byte(doc.text))
		if err == nil {
			err = json.Unmarshal(data, &want)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%#v\n%#v, %v", strings.TrimSpace(doc.text), got, want, err)
		}
	}
}
