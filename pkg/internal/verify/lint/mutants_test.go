package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// mutantKind is one kind of mistake, with the share of its mutants that lint finds at least.
type mutantKind struct {
	name  string
	floor int // in percent
	of    func(site) []mutant
}

// mutant is a manifest with one mistake: do makes it, and undo removes it.
type mutant struct {
	file     *valid
	what     string
	do, undo func()
}

// valid is a file in which lint finds no error.
type valid struct {
	name   string
	roots  []*yaml.Node
	before map[string]bool // what it finds
}

// site is an entry of a mapping, or an element of a list.
type site struct {
	file       *valid
	path       string // with [] for each index
	key, value *yaml.Node
	parent     *yaml.Node
	index      int // of the value in its parent
	root       *yaml.Node
}

// each calls do for every entry and element below a node.
func (f *valid) each(root, n *yaml.Node, path string, do func(site)) {
	for n.Kind == yaml.AliasNode {
		return
	}
	for k := 0; k < len(n.Content); k++ {
		s := site{file: f, parent: n, index: k, value: n.Content[k], path: path + "[]", root: root}
		if n.Kind == yaml.MappingNode {
			s.key, s.value, s.index, s.path = n.Content[k], n.Content[k+1], k+1, path+"."+n.Content[k].Value
			k++
		}
		s.path = strings.TrimPrefix(s.path, ".")
		do(s)
		f.each(root, s.value, s.path, do)
	}
}

// text returns the file as YAML.
func (f *valid) text() []byte {
	var out bytes.Buffer
	for _, root := range f.roots {
		out.WriteString("---\n")
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		_ = encoder.Encode(root)
		_ = encoder.Close()
	}
	return out.Bytes()
}

// findings returns what lint finds in the file.
func (f *valid) findings(t *testing.T) (list diag.List, keys map[string]bool) {
	t.Helper()
	list, _ = Manifests([]source.Input{{Name: f.name, Data: f.text()}}, nil)
	keys = map[string]bool{}
	for _, found := range list {
		keys[found.Code+" "+found.Message] = true
	}
	return list, keys
}

// validFiles returns the files without errors in directories.
func validFiles(t *testing.T, directories ...string) []*valid {
	t.Helper()
	var out []*valid
	for _, root := range directories {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			f := &valid{name: filepath.ToSlash(name)}
			decoder := yaml.NewDecoder(bytes.NewReader(data))
			for {
				var node yaml.Node
				if decoder.Decode(&node) != nil {
					break
				}
				if len(node.Content) == 1 && node.Content[0].Kind == yaml.MappingNode {
					f.roots = append(f.roots, node.Content[0])
				}
			}
			list, keys := f.findings(t)
			if f.before = keys; len(f.roots) > 0 && !list.HasErrors() {
				out = append(out, f)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// examplesOf returns the folder with the examples of a Go module; "" if it is not there.
func examplesOf(t *testing.T, module string) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return ""
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "examples")
	if _, err := os.Stat(root); err != nil {
		return ""
	}
	return root
}

// changed returns the mutant with another text in a scalar.
func (s site) changed(text string) []mutant {
	n, old := s.value, *s.value
	if text == old.Value {
		return nil
	}
	return []mutant{{
		s.file, fmt.Sprintf("%s: %s -> %s", s.path, short(old.Value), short(text)),
		func() { n.Value, n.Style, n.Tag = text, yaml.DoubleQuotedStyle, "!!str" }, func() { *n = old },
	}}
}

// replaced returns the mutant with another value.
func (s site) replaced(by yaml.Node, what string) []mutant {
	n, old := s.value, *s.value
	return []mutant{{s.file, s.path + ": " + what, func() { *n = by }, func() { *n = old }}}
}

// renamed returns the mutant with another key.
func (s site) renamed(key string) []mutant {
	n, old := s.key, *s.key
	if key == old.Value {
		return nil
	}
	return []mutant{{s.file, s.path + " -> " + key, func() { n.Value = key }, func() { *n = old }}}
}

// removed returns the mutant without the entry or the element.
func (s site) removed() []mutant {
	from := s.index
	if s.key != nil {
		from--
	}
	return s.contents(slices.Concat(s.parent.Content[:from], s.parent.Content[s.index+1:]), "removed")
}

// contents returns the mutant with other contents of the parent.
func (s site) contents(by []*yaml.Node, what string) []mutant {
	p, old := s.parent, s.parent.Content
	return []mutant{{s.file, s.path + ": " + what, func() { p.Content = by }, func() { p.Content = old }}}
}

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 90)]
}

// misspelled returns a word with two letters swapped, or with another one at its end.
func misspelled(word string) string {
	for n := len(word) / 2; n+1 < len(word); n++ {
		if word[n] != word[n+1] && isLetter(word[n]) && isLetter(word[n+1]) {
			return word[:n] + word[n+1:n+2] + word[n:n+1] + word[n+2:]
		}
	}
	return word + "x"
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// at returns a mutation of the entries whose path ends with an expression.
func at(pattern string, of func(site) []mutant) func(site) []mutant {
	matcher := regexp.MustCompile(`(?:^|[.\]])(?:` + pattern + `)$`)
	return func(s site) []mutant {
		if !matcher.MatchString(s.path) {
			return nil
		}
		return of(s)
	}
}

// misspelledAt returns the mutation that misspells a text.
func misspelledAt(pattern string) func(site) []mutant {
	return at(pattern, func(s site) []mutant {
		if s.value.Kind != yaml.ScalarNode || strings.Contains(s.value.Value, "{{") || s.value.Value == "" {
			return nil
		}
		return s.changed(misspelled(s.value.Value))
	})
}

// inTag returns the mutation that misspells the last group of a pattern in texts.
func inTag(pattern string) func(site) []mutant {
	matcher := regexp.MustCompile(pattern)
	return func(s site) []mutant {
		if s.value.Kind != yaml.ScalarNode || s.key == nil && s.parent.Kind != yaml.SequenceNode {
			return nil
		}
		var out []mutant
		text := s.value.Value
		for _, m := range matcher.FindAllStringSubmatchIndex(text, -1) {
			from, to := m[2], m[3]
			out = append(out, s.changed(text[:from]+misspelled(text[from:to])+text[to:])...)
		}
		return out
	}
}

// free matches the places with keys that users choose, and freeInSource also those of an EventSource with its events.
var (
	free = regexp.MustCompile(
		`(labels|annotations|nodeSelector|matchLabels|limits|requests|data|stringData|withItems\[\]|hooks|body|headers|secureHeaders|` +
			`labelsFrom|custom\.spec)$|\.value\b|withItems`)
	freeInSource = regexp.MustCompile(`^spec\.\w+$`)
)

// inArgo reports whether an entry is in the spec of an object of Argo.
func inArgo(s site) bool {
	return strings.HasPrefix(s.path, "spec.") && slices.Contains(argoKinds, kindOfRoot(s.root))
}

// beside returns a mutation of names only where the file has an object of a kind with the name.
func beside(kinds string, of func(site) []mutant) func(site) []mutant {
	return func(s site) []mutant {
		for _, root := range s.file.roots {
			if strings.Contains(kinds, kindOfRoot(root)) && nameOfRoot(root) == s.value.Value {
				return of(s)
			}
		}
		return nil
	}
}

// besideKind returns a mutation only of files that have an object of a kind.
func besideKind(kind string, of func(site) []mutant) func(site) []mutant {
	return func(s site) []mutant {
		if !slices.ContainsFunc(s.file.roots, func(root *yaml.Node) bool { return kindOfRoot(root) == kind }) {
			return nil
		}
		return of(s)
	}
}

func nameOfRoot(root *yaml.Node) string {
	for k := 0; k+1 < len(root.Content); k += 2 {
		if root.Content[k].Value == "metadata" {
			for n, of := 0, root.Content[k+1]; n+1 < len(of.Content); n += 2 {
				if of.Content[n].Value == "name" {
					return of.Content[n+1].Value
				}
			}
		}
	}
	return ""
}

// typed returns a mutation of entries whose value Argo gives a type.
func typed(of func(site) []mutant) func(site) []mutant {
	return func(s site) []mutant {
		in := parentPath(s.path)
		if s.key == nil || !inArgo(s) || free.MatchString(in) || s.key.Value == "value" ||
			kindOfRoot(s.root) == "EventSource" && freeInSource.MatchString(in) {
			return nil
		}
		return of(s)
	}
}

func kindOfRoot(root *yaml.Node) string {
	for k := 0; k+1 < len(root.Content); k += 2 {
		if root.Content[k].Value == "kind" {
			return root.Content[k+1].Value
		}
	}
	return ""
}

func parentPath(path string) string { return path[:max(0, strings.LastIndex(path, "."))] }

const templates = `templates\[\]`

// TestMutants makes one mistake in each of many valid manifests, and requires that lint finds most mistakes of each kind. With
// LINT_MUTANTS=1000 it makes more of them, and requires nothing. With -v it prints those that lint does not find.
func TestMutants(t *testing.T) {
	directories := []string{samples}
	for _, module := range []string{"github.com/argoproj/argo-events", "github.com/argoproj/argo-workflows/v3"} {
		root := examplesOf(t, module)
		if root == "" {
			t.Skip("the examples of " + module + " are not there")
		}
		directories = append(directories, root)
	}
	files := validFiles(t, directories...)
	limit, more := 0, os.Getenv("LINT_MUTANTS")
	if _, err := fmt.Sscan(cmp.Or(more, "25"), &limit); err != nil {
		t.Fatal(err)
	}
	table := fmt.Sprintf("%d files\n", len(files))
	for _, kind := range mutantKinds() {
		var all []mutant
		for _, f := range files {
			for _, root := range f.roots {
				f.each(root, root, "", func(s site) { all = append(all, kind.of(s)...) })
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		all = all[:min(len(all), limit)]
		found := 0
		for _, m := range all {
			if m.isFound(t) {
				found++
			} else {
				t.Logf("%s: %s: %s", kind.name, m.file.name, m.what)
			}
		}
		share := 0
		if len(all) > 0 {
			share = 100 * found / len(all)
		}
		table += fmt.Sprintf("%-45s %4d mutants, %4d found, %4d missed: %3d %%\n", kind.name, len(all), found, len(all)-found, share)
		if more == "" && (share < kind.floor || len(all) == 0) {
			t.Errorf("%s: lint finds %d of %d, which is less than %d %%", kind.name, found, len(all), kind.floor)
		}
	}
	t.Log(table)
}

// isFound reports whether lint finds something new in the mutant.
func (m mutant) isFound(t *testing.T) bool {
	t.Helper()
	m.do()
	defer m.undo()
	_, after := m.file.findings(t)
	for key := range after {
		if !m.file.before[key] {
			return true
		}
	}
	return false
}

// node returns a node of a text.
func node(text string) yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		panic(err)
	}
	return *n.Content[0]
}

// mutantKinds are the kinds of mistakes for which there are rules.
func mutantKinds() []mutantKind {
	return []mutantKind{
		{"a misspelled field", 95, typed(func(s site) []mutant { return s.renamed(misspelled(s.key.Value)) })},
		{"a field one level too high", 95, typed(func(s site) []mutant {
			inner, p, old, oldInner := s.value, s.parent, s.parent.Content, s.value.Content
			if s.value.Kind != yaml.MappingNode || len(oldInner) < 2 {
				return nil
			}
			return []mutant{{s.file, s.path + "." + oldInner[0].Value + ": moved up", func() {
				p.Content, inner.Content = append(slices.Clone(old), oldInner[:2]...), oldInner[2:]
			}, func() { p.Content, inner.Content = old, oldInner }}}
		})},
		{"a list in place of a value", 95, typed(func(s site) []mutant {
			if s.value.Kind != yaml.ScalarNode {
				return nil
			}
			return s.replaced(node("[one, two]"), "a list")
		})},
		{"a text in place of an object or a list", 95, typed(func(s site) []mutant {
			if s.value.Kind == yaml.ScalarNode {
				return nil
			}
			return s.replaced(node("text"), "a text")
		})},
		{"a text in place of a number", 90, typed(func(s site) []mutant {
			if s.value.Tag != "!!int" {
				return nil
			}
			return s.replaced(node("many"), "many")
		})},
		{"a text in place of a boolean", 95, typed(func(s site) []mutant {
			if s.value.Tag != "!!bool" {
				return nil
			}
			return s.replaced(node(`"yes"`), "yes")
		})},
		{"a missing field", 90, at(
			templates+`\.(container|script)\.image|`+templates+`\.name|steps\[\]\[\]\.(name|template)|tasks\[\]\.(name|template)`+
				`|(inputs|arguments|outputs)\.(parameters|artifacts)\[\]\.name|volumeMounts\[\]\.(name|mountPath)|env\[\]\.name|volumes\[\]\.name`+
				`|resource\.action|http\.url|spec\.entrypoint|dependencies\[\]\.(name|eventSourceName|eventName)|triggers\[\]\.template\.name`+
				`|parameters\[\]\.(dest|src)|prometheus\[\]\.(name|help)|spec\.schedules|templateRef\.(name|template)|backoff\.duration`+
				`|webhook\.\w+\.(endpoint|port|method)|outputs\.(parameters\[\]\.valueFrom|artifacts\[\]\.path)|inputs\.artifacts\[\]\.path`, site.removed)},
		{"a misspelled value of an enumeration", 90, misspelledAt(
			`retryPolicy|imagePullPolicy|podGC\.strategy|concurrencyPolicy|resource\.action|mergeStrategy|k8s\.operation|argoWorkflow\.operation` +
				`|eventTypes\[\]|artifactGC\.strategy|volumeClaimGC\.strategy|gauge\.operation|data\[\]\.(type|comparator)|webhook\.\w+\.method` +
				`|accessModes\[\]|protocol|dependenciesLogicalOperator|exchangeType|contentType`)},
		{"a misspelled input in a tag", 95, inTag(`\{\{\s*inputs\.parameters\.([-\w]+)`)},
		{"a misspelled argument in a tag", 90, inTag(`\{\{\s*workflow\.parameters\.([-\w]+)`)},
		{"a misspelled step in a tag", 95, inTag(`\{\{\s*(?:steps|tasks)\.([-\w]+)\.`)},
		{"a misspelled output in a tag", 95, inTag(`\{\{\s*(?:steps|tasks)\.[-\w]+\.outputs\.(?:parameters|artifacts)\.([-\w]+)`)},
		{"a misspelled key of an item", 85, inTag(`\{\{\s*item\.([-\w]+)`)},
		{"a misspelled word of a tag", 95, inTag(`\{\{\s*(?:steps\.[-\w]+\.|tasks\.[-\w]+\.)?(steps|tasks|inputs|outputs|workflow|item|pod|node)\b`)},
		{"a misspelled second word of a tag", 95, inTag(`\{\{\s*(?:steps\.[-\w]+|tasks\.[-\w]+|inputs|workflow|pod)\.(\w+)`)},
		{"a tag without its last brace", 95, func(s site) []mutant {
			if s.value.Kind != yaml.ScalarNode || !strings.Contains(s.value.Value, "}}") || !inArgo(s) {
				return nil
			}
			return s.changed(strings.Replace(s.value.Value, "}}", "}", 1))
		}},
		{"a misspelled name in an expression", 90, inTag(`\{\{=[^}]*\b(?:inputs|workflow)\.parameters\.(\w+)`)},
		{"a misspelled function in an expression", 95, inTag(`\{\{=[^}]*?\b(\w+)\(`)},
		{"an expression without a parenthesis", 95, func(s site) []mutant {
			m := expressionTag().FindStringSubmatchIndex(s.value.Value)
			if s.value.Kind != yaml.ScalarNode || m == nil || !strings.Contains(s.value.Value[m[2]:m[3]], ")") {
				return nil
			}
			end := m[2] + strings.LastIndex(s.value.Value[m[2]:m[3]], ")")
			return s.changed(s.value.Value[:end] + s.value.Value[end+1:])
		}},
		{"a condition without an operator", 95, at(`when`, func(s site) []mutant {
			return s.changed(strings.NewReplacer("==", "", "!=", "", ">", "", "<", "", "&&", "").Replace(s.value.Value))
		})},
		{"a misspelled template", 95, misspelledAt(
			`(steps\[\]\[\]|tasks\[\]|hooks\.\w+)\.template|spec\.(entrypoint|onExit)|workflowSpec\.(entrypoint|onExit)`)},
		{"a misspelled argument", 90, misspelledAt(`(steps\[\]\[\]|tasks\[\])\.arguments\.(parameters|artifacts)\[\]\.name`)},
		{"a missing argument", 85, at(`(steps\[\]\[\]|tasks\[\])\.arguments\.(parameters|artifacts)\[\]`, site.removed)},
		{"a misspelled dependency", 90, misspelledAt(
			`tasks\[\]\.dependencies\[\]|src\.dependencyName|template\.conditions`)},
		{"a misspelled task in depends", 95, at(`tasks\[\]\.depends`, inTag(`\b([a-z][-\w]*)\b`))},
		{"a misspelled result in depends", 90, at(`tasks\[\]\.depends`, inTag(`\.([A-Z]\w+)`))},
		{"a misspelled volume", 95, misspelledAt(`volumeMounts\[\]\.name|volumes\[\]\.name`)},
		{"a name twice", 90, at(
			templates+`|steps\[\]\[\]|tasks\[\]|(inputs|outputs|arguments)\.(parameters|artifacts)\[\]|volumes\[\]|spec\.dependencies\[\]|triggers\[\]`,
			func(s site) []mutant { return s.contents(append(slices.Clone(s.parent.Content), s.value), "twice") })},
		{"a key twice", 95, func(s site) []mutant {
			if s.key == nil || !inArgo(s) || s.parent.Style == yaml.FlowStyle {
				return nil
			}
			return s.contents(append(slices.Clone(s.parent.Content), s.key, s.value), "twice")
		}},
		{"a misspelled kind or version", 95, func(s site) []mutant {
			if s.path != "kind" && s.path != "apiVersion" || !strings.Contains(strings.Join(argoKinds, " "), kindOfRoot(s.root)) {
				return nil
			}
			return s.changed(misspelled(s.value.Value))
		}},
		{"a duration without a unit", 90, at(
			`(backoff\.(duration|maxDuration)|suspend\.duration|memoize\.maxAge|deleteDelayDuration|timeout|interval|retryStrategy\.duration)`,
			func(s site) []mutant { return s.changed("5 minutes") })},
		{"an impossible schedule", 90, at(`schedule|schedules\[\]`, func(s site) []mutant {
			if s.value.Kind != yaml.ScalarNode {
				return nil
			}
			return s.changed("61 " + s.value.Value)
		})},
		{"a misspelled path in an event", 90, besideKind("EventSource", at(
			`src\.dataKey|filters\.data\[\]\.path|fields\[\]\.path`, inTag(`^(\w+)`)))},
		{"a misspelled event", 85, besideKind("EventSource", misspelledAt(`dependencies\[\]\.(eventName|eventSourceName)`))},
		{"a misspelled destination", 80, misspelledAt(`parameters\[\]\.dest`)},
		{"a misspelled name of another object", 90, beside("ConfigMap Secret WorkflowTemplate ClusterWorkflowTemplate ServiceAccount", misspelledAt(
			`(configMapKeyRef|secretKeyRef|\w+Secret|configMap|workflowTemplateRef|templateRef)\.name|serviceAccountName`))},
		{"a misspelled resource or verb", 95, func(s site) []mutant {
			if !strings.HasPrefix(s.path, "rules[]") || s.key != nil || s.value.Kind != yaml.ScalarNode || s.value.Value == "" || s.value.Value == "*" {
				return nil
			}
			if s.value.Value == "things" || s.value.Value == "example.com" || strings.Contains(s.path, "resourceNames") {
				return nil // lint does not know them
			}
			return s.changed(misspelled(s.value.Value))
		}},
		{"a step in place of a task", 95, func(s site) []mutant {
			swapped := regexp.MustCompile(`(\{\{=?\s*)(steps|tasks)\.`).ReplaceAllStringFunc(s.value.Value, func(found string) string {
				if strings.HasSuffix(found, "steps.") {
					return strings.TrimSuffix(found, "steps.") + "tasks."
				}
				return strings.TrimSuffix(found, "tasks.") + "steps."
			})
			if s.value.Kind != yaml.ScalarNode || swapped == s.value.Value {
				return nil
			}
			return s.changed(swapped)
		}},
		{"steps in another order", 95, at(templates+`\.steps`, func(s site) []mutant {
			v, old := s.value, s.value.Content
			if len(old) < 2 || !strings.Contains(textOfNode(old[1]), "{{steps.") {
				return nil
			}
			by := slices.Clone(old)
			by[0], by[1] = by[1], by[0]
			return []mutant{{s.file, s.path + ": swapped", func() { v.Content = by }, func() { v.Content = old }}}
		})},
		{"a task without its dependency", 95, at(`tasks\[\]\.(depends|dependencies)`, func(s site) []mutant {
			if !strings.Contains(textOfNode(s.parent), "{{tasks.") {
				return nil
			}
			return s.removed()
		})},
		{"a wrong quantity", 90, at(`(requests|limits)\.(cpu|memory|storage)`, func(s site) []mutant {
			if strings.Contains(s.value.Value, "{{") || s.value.Kind != yaml.ScalarNode {
				return nil
			}
			return s.changed(s.value.Value + "B")
		})},
		{"a missing field of an event", 95, func(s site) []mutant {
			steps := strings.Split(s.path, ".")
			if len(steps) != 4 || steps[0] != "spec" || kindOfRoot(s.root) != "EventSource" {
				return nil
			}
			if !slices.Contains(needs[steps[1]], steps[3]) {
				return nil
			}
			return s.removed()
		}},
		{"a broken JSONPath or jq program", 95, at(`valueFrom\.(jsonPath|jqFilter)|transform\.jq`, func(s site) []mutant {
			return s.changed(s.value.Value + " | {")
		})},
		{"a broken regular expression", 95, at(`filters\.data\[\]\.value\[\]`, func(s site) []mutant {
			return s.changed(s.value.Value + "(")
		})},
		{"a broken text template", 95, at(`(dataTemplate|contextTemplate)|filters\.data\[\]\.template`, func(s site) []mutant {
			return s.changed(strings.Replace(s.value.Value, "}}", "}", 1))
		})},
		{"a broken script", 95, at(`(transform|filters)\.script`, func(s site) []mutant {
			return s.changed(s.value.Value + "\nend end")
		})},
		{"a broken condition of a resource", 95, at(`(successCondition|failureCondition)`, func(s site) []mutant {
			if strings.Contains(s.path, "http") {
				return nil
			}
			return s.changed(strings.NewReplacer(">", "= >", "==", "===", "=", "==>").Replace(s.value.Value))
		})},
		{"a misspelled field of a resource", 85, at(`resource\.manifest`, func(s site) []mutant {
			return s.changed(strings.NewReplacer("metadata:", "metdata:", "spec:", "spce:").Replace(s.value.Value))
		})},
		{"an address with or without a scheme", 80, at(`http\.url|s3\.endpoint|(kafka|redis|amqp)\.\w+\.(url|hostAddress)`, func(s site) []mutant {
			if strings.Contains(s.value.Value, "{{") {
				return nil
			}
			if _, address, has := strings.Cut(s.value.Value, "://"); has {
				return s.changed(address)
			}
			return s.changed("https://" + s.value.Value)
		})},
		{"a hidden path", 90, at(templates+`\.(inputs|outputs)\.artifacts\[\]\.path`, func(s site) []mutant {
			return s.changed("~" + s.value.Value)
		})},
		{"a script without a command", 90, at(`script\.command`, site.removed)},
		{"a condition of a text with a hyphen", 95, at(`when`, func(s site) []mutant {
			m := regexp.MustCompile(`(==|!=) ['"]?([a-z]\w+)['"]?$`).FindStringSubmatchIndex(s.value.Value)
			if m == nil {
				return nil
			}
			return s.changed(s.value.Value[:m[3]] + " not-so-" + s.value.Value[m[4]:m[5]])
		})},
		{"one sign of equality", 95, at(`when|expression|http\.successCondition`, func(s site) []mutant {
			return s.changed(strings.Replace(s.value.Value, "==", "=", 1))
		})},
		{"a misspelled name outside of tags", 90, at(`retryStrategy\.expression|http\.successCondition|hooks\.\w+\.expression|fromExpression`+
			`|valueFrom\.expression|filter\.expression|event\.selector|valueFrom\.event`, inTag(`\b([a-zA-Z]+)[.\[]`))},
		{"a misspelled dependency of a container", 95, misspelledAt(`containers\[\]\.dependencies\[\]`)},
		{"a misspelled time zone", 95, misspelledAt(`spec\.timezone|calendar\.\w+\.timezone`)},
		{"a list of items that is none", 95, at(`withParam`, func(s site) []mutant { return s.changed("a, b") })},
		{"a misspelled key of a cache or a lock", 90, at(`memoize\.key|mutexes\[\]\.name`, inTag(`\{\{\s*[a-z]+\.[a-z]+\.([-\w]+)`))},
		{"a misspelled condition of a trigger", 95, at(`template\.conditions`, inTag(`([-\w]+)`))},
		{"a misspelled field in a filter of objects", 85, at(`filter\.fields\[\]\.key`, inTag(`(\w+)$`))},
		{"a missing event type", 95, at(`eventTypes`, site.removed)},
		{"a text in place of an integer that may be one", 90, at(`(retryStrategy\.limit|backoff\.factor|withSequence\.(count|start|end))`,
			func(s site) []mutant { return s.changed("several") })},
		{"a deadline of zero", 95, at(`activeDeadlineSeconds`, func(s site) []mutant { return s.replaced(node("0"), "0") })},
		{"a default beside valueFrom", 95, at(templates+`\.outputs\.parameters\[\]\.valueFrom`, func(s site) []mutant {
			key, value := node("default"), node("none")
			return s.contents(append(slices.Clone(s.parent.Content), &key, &value), "a default")
		})},
		{"a metric with a unit", 95, at(`(gauge|histogram|counter)\.value`, func(s site) []mutant {
			return s.changed(s.value.Value + "s")
		})},
		{"a result that a task never has", 60, at(`tasks\[\]\.depends`, func(s site) []mutant {
			if !regexp.MustCompile(`^[-\w]+$`).MatchString(s.value.Value) {
				return nil
			}
			return s.changed(s.value.Value + ".Omitted")
		})},
		{"a role without a verb", 45, at(`rules\[\]\.verbs\[\]`, site.removed)},
		{"a repository with a level too many", 90, func(s site) []mutant {
			if s.path != "data" && !strings.HasPrefix(s.path, "data.") || nameOfRoot(s.root) != artifactRepositories || s.value.Kind != yaml.ScalarNode {
				return nil
			}
			return s.changed("artifactRepository:\n  " + strings.ReplaceAll(s.value.Value, "\n", "\n  "))
		}},
	}
}

func textOfNode(n *yaml.Node) string {
	data, _ := yaml.Marshal(n)
	return string(data)
}
