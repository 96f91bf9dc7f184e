package differential

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// upgrade applies another definition, if all engines that are played support it: it has one child
// less, other labels on all of them, or another text in one.
func (j *player) upgrade(at string) error {
	next := j.c.changed(oneOf(j.c.drawing, at+".definition", "text", "labels", "remove"))
	if next == nil {
		return nil
	}
	result, err := argoperator.Generate([]argoperator.Source{next.Source("")}, argoperator.Options{})
	if err != nil {
		return err
	}
	var operators []operator
	for _, w := range j.worlds {
		o, findings := next.planned(w.engine)
		if findings.HasErrors() || result.Findings.HasErrors() {
			return nil
		}
		operators = append(operators, o)
	}
	j.c = next
	j.claims = j.claims && isSilent(result.Findings)
	err = j.play("another definition", normal, func(w *world) error {
		return w.become(next, operators[slices.Index(j.worlds, w)])
	})
	if err != nil || j.done() {
		return err
	}
	return j.settled("another definition") // of what was made anew, the status is not the same
}

// become makes the operator of a world another one.
func (w *world) become(c *Case, o operator) error {
	w.c, w.plan = c, o.plan
	w.setRights(o.objects)
	return errors.Join(w.Upgrade(context.Background(), o.objects, o.kinds), w.Run(context.Background()))
}

// changed returns the case with a changed definition; nil if it cannot be changed so.
func (c *Case) changed(what string) *Case {
	of := *c.definition
	of.spec = decoded[map[string]any](c.spec)
	children := of.spec["children"].([]any)
	switch what {
	case "remove":
		last := children[len(children)-1].(map[string]any)
		if len(children) == 1 || !c.removable(last) {
			return nil
		}
		of.spec["children"] = children[:len(children)-1]
		of.children = of.children[:len(of.children)-1]
		if strings.Contains(string(text(of.spec)), textAt(last, "name")) {
			return nil // others read it
		}
	case "labels":
		labels, _ := at(of.spec, "childMetadata", "labels").(map[string]any)
		if at(of.spec, "childMetadata", "labels") != nil && labels == nil {
			return nil // an expression
		}
		metadata, _ := of.spec["childMetadata"].(map[string]any)
		of.spec["childMetadata"] = with(metadata, "labels", with(labels, "round", "second"))
	case "text":
		if !slices.ContainsFunc(children, otherText) {
			return nil
		}
	}
	return &Case{definition: &of, schema: c.schema, kinds: c.kinds}
}

// removable reports whether the objects of a child go with the custom resource, also when the child
// is no longer in the definition: it owns them.
func (c *Case) removable(one map[string]any) bool {
	metadata, _ := at(one, "template", "metadata").(map[string]any)
	_, elsewhere := metadata["namespace"]
	kind := textAt(one, "template", "kind")
	return !c.cluster && !elsewhere && one["onDelete"] == nil && kind != "" && !(child{kind: kind}).clusterScoped()
}

// otherText writes another text into a child that can be changed.
func otherText(one any) bool {
	fields := one.(map[string]any)
	template, _ := fields["template"].(map[string]any)
	section := "data"
	if template["stringData"] != nil {
		section = "stringData"
	}
	content, constant := template[section].(map[string]any)
	holdsTexts := slices.Contains([]string{"ConfigMap", "Secret"}, textAt(template, "kind"))
	if !holdsTexts || !constant && template[section] != nil || template["immutable"] != nil || fields["update"] != nil {
		return false
	}
	template[section] = with(content, "added", "bGF0ZXI=")
	return true
}
