package output

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// sameYAML compares the YAML of block with that of sigs.k8s.io/yaml, which kubectl and
// controller-gen use.
func sameYAML(t *testing.T, data []byte) {
	t.Helper()
	value, err := viaJSON(json.RawMessage(data))
	fields, ok := value.(map[string]any)
	if err != nil || !ok || fields == nil {
		return // not an object, or a number that no type can represent
	}
	plain, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var b block
	got, err := b.document(fields)
	if err != nil {
		t.Fatal(err)
	}
	meant, _ := readBack(plain)
	if b.odd && strings.Contains(meant, `"\u003c\u003c":`) {
		return // neither of the libraries quotes that key
	}
	if read, ok := readBack(got); !ok || read != meant {
		t.Errorf("%s is read back as %s:\n%s", meant, read, got)
	}
	want, err := yaml.JSONToYAML(plain)
	if read, ok := readBack(want); err != nil || !ok || read != meant {
		return // it treats U+0085 as a line break, and a key << as a merge key
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" && decided(plain, want) {
		t.Errorf("%s (-sigs.k8s.io/yaml +ours):\n%s", data, diff)
	}
}

// decided reports whether sigs.k8s.io/yaml always writes the keys in the same order.
func decided(data, as []byte) bool {
	for range 50 {
		if again, err := yaml.JSONToYAML(data); err != nil || !bytes.Equal(again, as) {
			return false
		}
	}
	return true
}

// readBack returns YAML or JSON as JSON with sorted keys.
func readBack(data []byte) (string, bool) {
	var value any
	if json.Unmarshal(data, &value) != nil && yaml.Unmarshal(data, &value) != nil {
		return "", false
	}
	ordered, err := json.Marshal(value)
	return string(ordered), err == nil
}

// sameManifests compares the manifests of a file, and returns their number.
func sameManifests(t *testing.T, file string) (count int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		text, err := yaml.YAMLToJSON(document)
		if err != nil || string(text) == "null" {
			continue
		}
		sameYAML(t, text)
		count++
	}
	return count
}

// TestYAMLOfArgo covers all manifests in Argo's modules.
func TestYAMLOfArgo(t *testing.T) {
	for _, module := range []string{"github.com/argoproj/argo-workflows/v3", "github.com/argoproj/argo-events"} {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		err = filepath.WalkDir(strings.TrimSpace(string(out)), func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".yaml" {
				count += sameManifests(t, path)
			}
			return err
		})
		if err != nil || count < 100 {
			t.Fatalf("%s: %d manifests, %v", module, count, err)
		}
		t.Logf("%s: %d manifests", module, count)
	}
}

// oddJSON has values that block must quote, and numbers.
var oddJSON = []string{
	`{"a": 1, "b": -0, "c": 1.0, "d": 1e3, "e": 9007199254740993, "f": 18446744073709551615, "g": 1e21, "h": 0.1, "i": -1.5e-9, "j": 1e7, "k": -0.0, "l": 1e19, "m": -9.3e18, "n": 1e20}`,
	`{"a": "0b-1", "b": "-0b+1", "c": "0_", "d": "+.5", "e": ".5_", "f": ".0x1", "g": "1:2:3.", "h": "1_:59", "i": "+-1:2", "j": "1:60", "k": "2001-1-1t1:2:3Z"}`,
	`{"k10": "---", "k9": "...a", "k09": "- ", "k009": "-", "ä": "?", "z": "? a", "K": "a #b", "#": "a# b", "b:": "it's", ": ": "\"", "y": "\\ \"\n ", "cr\r": "\r", "nel": "\ufeffall \u00a0"}`,
	`{"a": "\n", "b": "\n\n", "c": "a\n\nb\n\n", "d": " a\nb", "e": "a \nb", "f": "a\nb ", "g": "a\n b\n", "h": ["x\ny", ["x\ny\n"], {"i": "x\ny"}]}`,
	`{"a": "1", "b": "0x10", "c": "1e3", "d": "yes", "e": "NO", "f": "~", "g": "null", "h": "2001-01-01", "i": "1:30", "j": ".inf", "k": "="}`,
	`{"a": "", "b": " lead", "c": "trail ", "d": "two\nlines\n", "e": "\ttab", "f": "# no comment", "g": "key: value", "h": "- item", "i": "{{x}}"}`,
	`{"a": "\u0085\u2028\u2029\ufeff\uffff", "b": "\u0000\u0007", "c": "\ud83d\ude00", "d": "é", "<&>": "<&>"}`,
	`{"<<": "<<", "a": ["<<", {"<<": {"a": 1}}]}`,
	`{"b": [], "a": {}, "a10": [[1], [[2]]], "a2": [{"x": [{"y": null}]}], "A": true, "1": false, "": "empty"}`,
}

func TestYAMLOfOddText(t *testing.T) {
	for _, one := range oddJSON {
		sameYAML(t, []byte(one))
	}
}

func TestYAMLIsDecided(t *testing.T) {
	fields := map[string]any{"k0A": "a", "k1": "b", "k01": "c"} // each sorts before the next, in a cycle
	first, err := new(block).document(fields)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, _ := new(block).document(fields); !bytes.Equal(again, first) {
			t.Fatalf("%s and then %s", first, again)
		}
	}
}

func FuzzYAML(f *testing.F) {
	for _, one := range oddJSON {
		f.Add([]byte(one))
	}
	f.Fuzz(sameYAML)
}

// FuzzYAMLText varies text in every position, also in the middle of long lines.
func FuzzYAMLText(f *testing.F) {
	for _, one := range oddJSON {
		var texts map[string]any
		if err := json.Unmarshal([]byte(one), &texts); err != nil {
			f.Fatal(err)
		}
		for key, value := range texts {
			if s, ok := value.(string); ok {
				f.Add(s, key)
			}
		}
	}
	long := strings.Repeat("some words ", 8)
	f.Fuzz(func(t *testing.T, s, key string) {
		data, err := json.Marshal(map[string]any{
			"value": s, "list": []any{s, []any{s}, map[string]any{key: s}}, "long": long + s, "quoted": long + "\": " + s + long,
			"more": map[string]any{key: map[string]any{"a": s + s}, s: 1}, "lines": s + "\n" + s,
		})
		if err != nil {
			t.Fatal(err)
		}
		sameYAML(t, data)
	})
}
