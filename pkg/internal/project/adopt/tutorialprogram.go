package adopt

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// resultFile is the file from which the steps engine reads the program's result.
const resultFile = "/output-manifest.json"

// take converts the program of a template to that of the project.
func (t *tutorial) take(at string, template map[string]any, output string) bool {
	container, at2 := Mapping(template, "container"), at+".container"
	if container == nil {
		container, at2 = Mapping(template, "script"), at+".script"
	}
	if container == nil {
		return t.fail(
			t.template.Position(at),
			fmt.Sprintf("the template %v runs no program", template["name"]),
			"use a container or script template",
		)
	}
	image, _ := container["image"].(string)
	logic := &scaffold.Logic{Image: image}
	t.project.Logic = logic
	var words []string
	for _, key := range []string{"command", "args"} {
		for _, word := range List(container, key) {
			words = append(words, fmt.Sprint(word))
		}
	}
	kept := t.words(at2, words, container)
	if source, ok := container["source"].(string); ok {
		file := "main" + ending(kept)
		t.file(file, source, at2+".source")
		kept = append(kept, file)
	}
	if len(logic.Files) == 0 {
		return t.fail(
			t.template.Position(at2),
			"the container has no script to copy",
			"put the script into a ConfigMap that is mounted or passed to an interpreter, or into the source of a script template",
		)
	}
	for i, word := range kept {
		if quoted, err := scaffold.Flow(word); err == nil {
			kept[i] = quoted
		}
	}
	logic.Command = "[" + strings.Join(kept, ", ") + "]"
	t.contract(at, template, output)
	return t.children(at2)
}

// contract reports what to change in the program for the steps engine.
func (t *tutorial) contract(at string, template map[string]any, output string) {
	api := t.project.API
	want := strings.ToLower(api.Kind) + "-manifest"
	for _, crd := range t.of("CustomResourceDefinition", "apiextensions.k8s.io") {
		if names := Mapping(crd.Fields, "spec", "names"); names["kind"] == api.Kind {
			singular, _ := names["singular"].(string)
			want = cmp.Or(singular, strings.ToLower(api.Kind)) + "-manifest"
		}
	}
	if t.flag != want {
		message := "argoperator passes the custom resource as --" + want
		if t.flag != "" {
			message += ", not as --" + t.flag
		}
		t.found.Warn(t.template.Position(at), diag.ChangedOnImport, message, "read --"+want+" in "+t.project.Logic.Files[0])
	}
	where := ""
	for _, parameter := range List(template, "outputs", "parameters") {
		parameter, _ := parameter.(map[string]any)
		if file, ok := Mapping(parameter, "valueFrom")["path"].(string); ok && "parameters."+fmt.Sprint(parameter["name"]) == output {
			where = file
		}
	}
	if where != resultFile {
		t.found.Warn(
			t.template.Position(at),
			diag.ChangedOnImport,
			fmt.Sprintf("argoperator reads the result from %s, not from %s", resultFile, cmp.Or(where, "standard output")),
			"write to "+resultFile+" in "+t.project.Logic.Files[0],
		)
	}
}

var filledIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{ *(?:workflow|inputs)\.parameters\.([\w-]+) *\}\}`)
})

// words returns the words of the command without the parameters, and converts these
// to files of the program.
func (t *tutorial) words(at string, words []string, container map[string]any) []string {
	var kept []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		flag, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch parts := filledIn().FindStringSubmatch(word); {
		case parts != nil && parts[0] == word && len(kept) > 0 && isCode(kept[len(kept)-1]):
			kept = append(kept[:len(kept)-1], t.script(at, parts[1])...)
		case parts != nil && assigned && value == parts[0] && strings.HasPrefix(word, "--"):
			t.parameter(at, flag, parts[1])
		case parts != nil && parts[0] == word && len(kept) > 0 && strings.HasPrefix(kept[len(kept)-1], "--"):
			t.parameter(at, strings.TrimPrefix(kept[len(kept)-1], "--"), parts[1])
			kept = kept[:len(kept)-1]
		case strings.Contains(word, "{{"):
			t.found.Warn(
				t.template.Position(at),
				diag.NotImported,
				fmt.Sprintf("%q of the command is left out: Argo no longer replaces its braces", word),
				"",
			)
		default:
			kept = append(kept, t.mounted(word, container))
		}
	}
	return kept
}

// isCode reports whether an interpreter's flag is followed by a program.
func isCode(flag string) bool {
	return slices.Contains([]string{"-c", "-e", "--eval", "-ec", "-lc"}, flag)
}

// script converts a parameter with a program's text to a file.
func (t *tutorial) script(at, parameter string) []string {
	key, text, ok := t.text(parameter)
	if !ok {
		t.found.Warn(
			t.template.Position(at),
			diag.NotImported,
			fmt.Sprintf("the parameter %s does not come from a ConfigMap in these files", parameter),
			"",
		)
		return nil
	}
	t.file(key, text, at)
	return []string{key}
}

// parameter converts a flag of the program: the custom resource, or a file.
func (t *tutorial) parameter(at, flag, parameter string) {
	key, text, ok := t.text(parameter)
	if ok {
		file := "logic/" + key
		if path.Ext(key) == "" && strings.HasPrefix(strings.TrimSpace(text), "{") {
			file += ".json"
		}
		t.project.Files = append(t.project.Files, scaffold.File{Path: file, Data: []byte(text)})
		t.project.Logic.Parameters = append(t.project.Logic.Parameters, scaffold.Parameter{Name: flag, File: file})
		t.child(text)
		return
	}
	switch t.event(parameter) {
	case "body":
		t.flag = flag
	case "type":
		t.found.Warn(
			t.template.Position(at),
			diag.ChangedOnImport,
			fmt.Sprintf("--%s, the operation, is no longer passed: every event means apply", flag),
			"remove it from the program; Kubernetes deletes the children with their custom resource",
		)
	default:
		t.found.Warn(
			t.template.Position(at),
			diag.NotImported,
			fmt.Sprintf("--%s is left out: the origin of the parameter %s is unknown", flag, parameter),
			"",
		)
	}
}

// text returns the ConfigMap entry that a parameter reads.
func (t *tutorial) text(parameter string) (key, text string, ok bool) {
	for _, from := range []map[string]any{t.template.Fields, t.workflow.Fields} {
		for _, p := range List(from, "spec", "arguments", "parameters") {
			p, _ := p.(map[string]any)
			ref := Mapping(p, "valueFrom", "configMapKeyRef")
			if p["name"] != parameter || ref == nil {
				continue
			}
			for _, config := range t.of("ConfigMap", "") {
				key, _ = ref["key"].(string)
				if text, ok = Mapping(config.Fields, "data")[key].(string); ok && config.name() == ref["name"] {
					t.config = config
					t.use(config)
					return key, text, true
				}
			}
		}
	}
	return "", "", false
}

var argument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`spec\.arguments\.parameters\.([0-9]+)\.value$`) })

// event returns the part of the event that the Sensor writes into a parameter: body
// or type.
func (t *tutorial) event(parameter string) string {
	parameters := List(t.workflow.Fields, "spec", "arguments", "parameters")
	found := ""
	ForEachMap(t.sensor.Fields["spec"], func(_ string, object map[string]any) {
		dest, _ := object["dest"].(string)
		parts := argument().FindStringSubmatch(dest)
		if parts == nil {
			return
		}
		for i, p := range parameters {
			if p, _ := p.(map[string]any); fmt.Sprint(i) == parts[1] && p["name"] == parameter {
				found, _ = Mapping(object, "src")["dataKey"].(string)
			}
		}
	})
	return found
}

// mounted returns a word of the command, or the program's file if the word is its
// path in a ConfigMap's volume.
func (t *tutorial) mounted(word string, container map[string]any) string {
	for _, mount := range List(container, "volumeMounts") {
		mount, _ := mount.(map[string]any)
		dir, _ := mount["mountPath"].(string)
		if dir == "" || path.Dir(word) != path.Clean(dir) {
			continue
		}
		ForEachMap(t.template.Fields["spec"], func(key string, volume map[string]any) {
			if key != "volumes" || volume["name"] != mount["name"] {
				return
			}
			for _, config := range t.of("ConfigMap", "") {
				text, ok := Mapping(config.Fields, "data")[path.Base(word)].(string)
				if ok && config.name() == Mapping(volume, "configMap")["name"] {
					t.config = config
					t.use(config)
					t.file(path.Base(word), text, "spec")
					word = path.Base(word)
				}
			}
		})
	}
	return word
}

// file adds a file of the program.
func (t *tutorial) file(name, text, at string) {
	if braces := regexp.MustCompile(`\{\{ *(workflow|inputs|steps|tasks)\.`).FindString(text); braces != "" {
		t.found.Warn(
			t.template.Position(at),
			diag.ChangedOnImport,
			fmt.Sprintf("the program contains %s…, which Argo no longer replaces", braces),
			"read the value from a flag",
		)
	}
	file := "logic/" + name
	t.project.Logic.Files = append(t.project.Logic.Files, file)
	t.project.Files = append(t.project.Files, scaffold.File{Path: file, Data: []byte(text)})
}

// ending returns the file name extension for an interpreter.
func ending(command []string) string {
	if len(command) == 0 {
		return ".sh"
	}
	switch name := path.Base(command[0]); {
	case strings.HasPrefix(name, "python"):
		return ".py"
	case strings.HasPrefix(name, "node"):
		return ".js"
	}
	return ".sh"
}

// child adds the kind of a manifest in the program's files.
func (t *tutorial) child(text string) {
	object := objectOf(text)
	if object == nil {
		return
	}
	kind, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	called, _ := Mapping(object, "metadata")["name"].(string)
	t.project.Children = append(
		t.project.Children,
		scaffold.Child{Name: strings.ToLower(kind), APIVersion: version, Kind: kind, Called: called},
	)
}

// children returns the kinds that the program renders.
func (t *tutorial) children(at string) bool {
	if len(t.project.Children) == 0 {
		return t.fail(t.template.Position(at), "the kind of the program's object is unknown: none of its parameters is a manifest",
			"run argoperator init --from-crd FILE --logic LANGUAGE, and copy the program into the project")
	}
	var kinds []string
	for _, c := range t.project.Children {
		kinds = append(kinds, c.Kind)
	}
	t.project.Kept = counted(kinds)
	t.project.Parts = []scaffold.Part{{Path: "tests/first-steps.yaml", Template: "tests/children.yaml"}}
	return true
}
