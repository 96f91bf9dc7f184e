package adopt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// FromTutorial creates a project from a hand-written Argo operator: an EventSource
// that watches a kind, a Sensor that starts Workflows of a WorkflowTemplate, in
// which a script renders a manifest and a resource template applies it. It
// recognizes the files by their content. Findings refer to them by name.
func FromTutorial(o scaffold.Options, files []source.Input) (scaffold.Project, diag.List) {
	t := &tutorial{o: o, used: map[string]bool{}}
	for _, in := range files {
		objects, found := source.Objects(in, source.NotEmpty)
		t.found = append(t.found, found...)
		for _, object := range objects {
			t.all = append(t.all, part{object, in})
		}
	}
	if t.found.HasErrors() || !t.follow() || !t.program() {
		return scaffold.Project{}, t.found.Sorted()
	}
	t.name()
	t.sample()
	t.rest()
	return t.project, t.found.Sorted()
}

// tutorial is a hand-written operator to convert into a project.
type tutorial struct {
	o       scaffold.Options
	all     []part
	used    map[string]bool // objects that were converted, by kind and name
	project scaffold.Project
	found   diag.List

	source, sensor, workflow, template part // workflow is the trigger's
	config                             part
	flag                               string // the flag that passes the custom resource to the program
}

// part is an object and its file.
type part struct {
	source.Object
	file source.Input
}

func (p part) name() string { return p.Text("metadata", "name") }

// is reports whether the object is of a kind and group.
func (p part) is(kind, group string) bool { return p.Text("kind") == kind && p.Group() == group }

const argo = schema.ArgoGroup

// of returns the objects of a kind.
func (t *tutorial) of(kind, group string) []part {
	return slices.DeleteFunc(slices.Clone(t.all), func(p part) bool { return !p.is(kind, group) })
}

func (t *tutorial) use(p part) { t.used[p.Text("kind")+" "+p.name()] = true }

// fail reports something that prevents the conversion.
func (t *tutorial) fail(pos diag.Position, message, hint string) bool {
	t.found.Add(pos, diag.NotImported, message, hint)
	return false
}

// anywhere returns a position for findings about missing objects.
func (t *tutorial) anywhere() diag.Position {
	if len(t.all) == 0 {
		return diag.Position{}
	}
	return diag.Position{File: t.all[0].file.Name}
}

// follow goes from the EventSource through the Sensor to the WorkflowTemplate.
func (t *tutorial) follow() bool {
	event, ok := t.watched()
	if !ok {
		return false
	}
	for _, sensor := range t.of("Sensor", argo) {
		for _, dependency := range List(sensor.Fields, "spec", "dependencies") {
			d, _ := dependency.(map[string]any)
			if d["eventSourceName"] == t.source.name() && d["eventName"] == event {
				t.sensor = sensor
			}
		}
	}
	if t.sensor.Fields == nil {
		return t.fail(
			t.source.Position("kind"),
			fmt.Sprintf("no Sensor depends on the event %s of EventSource %s", event, t.source.name()),
			"",
		)
	}
	t.use(t.sensor)
	name := ""
	ForEachMap(t.sensor.Fields["spec"], func(key string, object map[string]any) {
		if key == "workflowTemplateRef" || key == "templateRef" {
			name, _ = object["name"].(string)
		}
		if object["kind"] == "Workflow" && object["spec"] != nil {
			t.workflow = part{source.Object{Fields: object}, t.sensor.file}
		}
	})
	for _, template := range t.of("WorkflowTemplate", argo) {
		if template.name() == name {
			t.template = template
		}
	}
	if t.template.Fields == nil {
		return t.fail(
			t.sensor.Position("spec.triggers"),
			fmt.Sprintf("no trigger of Sensor %s starts a Workflow of a WorkflowTemplate in these files", t.sensor.name()),
			"pass the WorkflowTemplate; a trigger must create or submit a Workflow with workflowTemplateRef, or with templateRef in a step",
		)
	}
	t.use(t.template)
	return true
}

// watched finds the EventSource and event of a kind with a CustomResourceDefinition
// among the files, and starts the project with it.
func (t *tutorial) watched() (event string, ok bool) {
	for _, source := range t.of("EventSource", argo) {
		resources := Mapping(source.Fields, "spec", "resource")
		for _, name := range slices.Sorted(maps.Keys(resources)) {
			r, _ := resources[name].(map[string]any)
			for _, crd := range t.of("CustomResourceDefinition", "apiextensions.k8s.io") {
				names := Mapping(crd.Fields, "spec", "names")
				if Mapping(crd.Fields, "spec")["group"] != r["group"] || names["plural"] != r["resource"] {
					continue
				}
				t.source = source
				t.use(source)
				t.use(crd)
				o := t.o
				o.Kind, _ = names["kind"].(string)
				p, found := ofCRD(o, crd.file.Name, crd.file.Data)
				t.found = append(t.found, found...)
				t.project = p
				if !strings.Contains(string(crd.file.Data), "subresources") {
					t.project.Notes = append(
						t.project.Notes,
						fmt.Sprintf(
							"%s has no status; to let the operator write one, add `subresources: {status: {}}` and status fields to "+
								"crd.yaml",
							o.Kind,
						),
					)
				}
				return name, !found.HasErrors()
			}
		}
	}
	return "", t.fail(
		t.anywhere(),
		"no EventSource watches a kind whose CustomResourceDefinition is in these files",
		"pass an EventSource with spec.resource, and the CustomResourceDefinition of its group and resource",
	)
}

var output = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{ *(?:steps|tasks)\.([\w-]+)\.outputs\.(result|parameters\.[\w-]+) *\}\}`)
})

// program finds the resource template, the step whose output it applies, and the
// program of that step.
func (t *tutorial) program() bool {
	at, step, kind := "", "", ""
	templates := List(t.template.Fields, "spec", "templates")
	for i, template := range templates {
		template, _ := template.(map[string]any)
		name, _ := template["name"].(string)
		manifest, _ := Mapping(template, "resource")["manifest"].(string)
		if manifest == "" {
			continue
		}
		at = fmt.Sprintf("spec.templates[%d].resource", i)
		for _, text := range append(t.given(name), manifest) {
			if parts := output().FindStringSubmatch(text); parts != nil {
				step, kind = parts[1], parts[2]
			}
		}
	}
	switch {
	case at == "":
		return t.fail(
			t.template.Position("spec.templates"),
			fmt.Sprintf("WorkflowTemplate %s has no resource template that applies a manifest", t.template.name()),
			"",
		)
	case step == "":
		return t.fail(t.template.Position(at), "the manifest is not the output of another step",
			"for a manifest of fixed text, use argoperator init --from-manifest")
	}
	called := ""
	ForEachMap(t.template.Fields["spec"], func(_ string, object map[string]any) {
		if object["name"] == step && object["template"] != nil {
			called, _ = object["template"].(string)
		}
	})
	for i, template := range templates {
		if template, ok := template.(map[string]any); ok && template["name"] == called {
			return t.take(fmt.Sprintf("spec.templates[%d]", i), template, kind)
		}
	}
	return t.fail(
		t.template.Position(at),
		fmt.Sprintf("the step %s runs a template %q, which WorkflowTemplate %s does not have", step, called, t.template.name()),
		"",
	)
}

// given returns the arguments of a template's calls.
func (t *tutorial) given(template string) []string {
	var out []string
	ForEachMap(t.template.Fields["spec"], func(_ string, object map[string]any) {
		if object["template"] != template {
			return
		}
		for _, parameter := range List(object, "arguments", "parameters") {
			if value, ok := Mapping(map[string]any{"p": parameter}, "p")["value"].(string); ok {
				out = append(out, value)
			}
		}
	})
	return out
}

// rest reports unconverted objects and differences of the new operator.
func (t *tutorial) rest() {
	for _, p := range t.all {
		kind := p.Text("kind")
		if t.used[kind+" "+p.name()] {
			continue
		}
		why, hint := "the EventSource, Sensor and WorkflowTemplate do not use it", "apply it separately if you need it"
		switch {
		case slices.Contains([]string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount"}, kind):
			why, hint = "argoperator derives the permissions from the definition", "run argoperator explain -f . to list them with "+
				"their reasons"
		case kind == "EventBus":
			why, hint = "the operator uses the EventBus named default in its namespace", "write install: {eventBus: {mode: managed}} to "+
				"install one with the operator"
		}
		t.found.Warn(p.Position("kind"), diag.NotImported, fmt.Sprintf("%s is left out: %s", called(kind, p.name()), why), hint)
	}
	t.project.Notes = append(
		t.project.Notes,
		"the new operator differs in these points; "+
			"https://github.com/argoperator/argoperator/blob/main/docs/explanation/tutorial-differences.md has the reasons",
		"  the name of a child begins with that of its custom resource, which owns it: Kubernetes deletes them together",
		"  the program gets the current custom resource, not that of the event, and no operation",
		"  in the old namespace, it replaces the objects that have the same names; in another, delete the old operator, or both run",
		"  the old roles and service accounts remain until you delete them",
	)
}

// sample converts an existing custom resource.
func (t *tutorial) sample() {
	for _, p := range t.all {
		if p.Text("kind") != t.project.API.Kind || p.Group() != t.project.API.Group || p.name() == "" || t.project.API.SampleFile != nil {
			continue
		}
		t.use(p)
		fields, _ := plain(p.Fields).(map[string]any)
		removeServerMetadata(fields)
		t.project.API.Sample = p.name()
		t.project.API.SampleFile = encoded(write(fields, p.Node(), false))
	}
	for i := range t.project.Children {
		if c := &t.project.Children[i]; t.project.API.Sample != "" && c.Called != "" && c.Called != t.project.API.Sample &&
			!strings.HasPrefix(c.Called, t.project.API.Sample+"-") {
			c.Called = t.project.API.Sample + "-" + c.Called
		}
	}
	if t.project.API.SampleFile == nil {
		t.project.Parts = nil // the names of the children depend on an unknown name
	}
}

// name keeps the names of the operator's own objects.
func (t *tutorial) name() {
	names := []scaffold.Field{{Name: "eventSource", Value: t.source.name()}, {Name: "sensor", Value: t.sensor.name()}}
	if t.config.Fields != nil {
		names = append(names, scaffold.Field{Name: "configMap", Value: t.config.name()})
	}
	names = append(names, scaffold.Field{Name: "workflowTemplate", Value: t.template.name()})
	account, _ := Mapping(t.workflow.Fields, "spec")["serviceAccountName"].(string)
	if account == "" {
		account, _ = Mapping(t.template.Fields, "spec")["serviceAccountName"].(string)
	}
	if account != "" {
		names = append(names, scaffold.Field{Name: "workflowServiceAccount", Value: account})
	}
	t.project.Names, t.project.Engine = names, "steps"
}

// objectOf parses an object in YAML or JSON.
func objectOf(text string) map[string]any {
	var object map[string]any
	if yaml.Unmarshal([]byte(text), &object) != nil || object["kind"] == nil || object["apiVersion"] == nil {
		return nil
	}
	return object
}
