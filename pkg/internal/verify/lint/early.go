package lint

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	// stepTag matches a tag with an output of a step, and taskTag one of a task but for its status, which Argo checks.
	stepTag = lazily(`\{\{\s*steps\.([-\w]+)\.(?:outputs\.|ip\b|status\b|exitCode\b)[^}]*\}\}`)
	taskTag = lazily(`\{\{\s*tasks\.([-\w]+)\.(?:outputs\.|ip\b|exitCode\b)[^}]*\}\}`)
	// inExpression matches an output of a step or a task in an expression.
	inExpression = lazily(`\b(?:steps|tasks)(?:\.([A-Za-z_]\w*)|\[['"]([-\w]+)['"]\])\.(?:outputs|ip|status|exitCode)\b`)
)

// readIn returns the names of the steps or tasks whose outputs a text needs.
func readIn(text string, simple func(string) [][]string) []string {
	var out []string
	for _, m := range simple(text) {
		out = append(out, m[1])
	}
	for _, m := range expressionTag().FindAllStringSubmatch(text, -1) {
		if guarded().MatchString(m[1]) {
			continue
		}
		for _, of := range inExpression().FindAllStringSubmatch(m[1], -1) {
			out = append(out, of[1]+of[2])
		}
	}
	return out
}

// tooEarly reports steps and tasks that take an output of one that has not run.
func tooEarly(i *inspection, f flow) {
	for _, t := range f.templates() {
		i.earlySteps(t)
		if t.DAG != nil {
			i.earlyTasks(t)
		}
	}
}

// earlySteps reports outputs of steps of the same group, and in expressions also those of later ones: Argo's validation
// finds these only in other tags.
func (i *inspection) earlySteps(t template) {
	later := map[string]bool{}
	for j := len(t.Steps) - 1; j >= 0; j-- {
		beside := map[string]bool{}
		for _, s := range t.Steps[j].Steps {
			beside[s.Name] = true
		}
		for k, s := range t.Steps[j].Steps {
			s.Inline, s.Hooks = nil, nil
			texts := map[*field.Path]string{}
			taggedBelow(t.path.Child("steps").Index(j).Index(k), s, texts)
			for at, text := range texts {
				simple := func(text string) [][]string { return stepTag().FindAllStringSubmatch(text, -1) }
				for _, name := range readIn(text, simple) {
					if beside[name] {
						i.report(at, "step %s runs at the same time as %s, and has no output yet", name, s.Name)
					} else if later[name] && !stepTag().MatchString(text) {
						i.report(at, "step %s runs after %s, and has no output yet", name, s.Name)
					}
				}
			}
		}
		for name := range beside {
			later[name] = true
		}
	}
}

// earlyTasks reports outputs of tasks for which a task does not wait. Argo's validation finds those that are a whole argument.
func (i *inspection) earlyTasks(t template) {
	all := tasks{}
	for n := range t.DAG.Tasks {
		all[t.DAG.Tasks[n].Name] = &t.DAG.Tasks[n]
	}
	for n, task := range t.DAG.Tasks {
		if strings.Contains(task.Depends, "{{") || task.When != "" && !strings.Contains(task.When, "{{") {
			continue
		}
		ancestors := all.ancestors(task.Name)
		own := task
		own.Inline, own.Hooks, own.Depends = nil, nil, ""
		texts := map[*field.Path]string{}
		taggedBelow(t.path.Child("dag", "tasks").Index(n), own, texts)
		for at, text := range texts {
			if strings.HasPrefix(text, "{{tasks.") && strings.Contains(at.String(), ".arguments.") {
				continue // invalid-manifest reports it
			}
			simple := func(text string) [][]string { return taskTag().FindAllStringSubmatch(text, -1) }
			for _, name := range readIn(text, simple) {
				if all[name] != nil && !ancestors[name] {
					i.reportHint(at, "add "+name+" to depends of the task",
						"task %s does not wait for %s, and gets no output of it", task.Name, name)
				}
			}
		}
	}
}
