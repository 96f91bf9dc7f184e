package plan

import (
	"encoding/json"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// commonMetadata checks the labels and annotations of all children, which become part of the
// templates. Those with an error become part of none.
func (c *compiler) commonMetadata() {
	common := c.d.ChildMetadata()
	if len(common) == 0 {
		return
	}
	scope := c.resourceOnly("childMetadata")
	program, problems := expression.Template(map[string]any{"metadata": common}, scope, schema.Resource(&apiextensionsv1.JSONSchemaProps{}))
	for i, p := range problems {
		problems[i].Path = p.Path[1:] // the words are those of a template
	}
	c.report(problems, "spec", "childMetadata")
	if program != nil {
		c.common = common
	}
}

// commonForPod compiles them for the children that logic makes.
func (c *compiler) commonForPod(children []Child) json.RawMessage {
	if len(c.common) == 0 || !slices.ContainsFunc(children, func(child Child) bool { return child.Object == nil }) {
		return nil
	}
	return c.forPod(c.common, c.resourceOnly("childMetadata"), "spec", "childMetadata")
}

// overCommon returns a template with those labels and annotations of all children that the
// definition could not add to it, because one of both is an expression; and the template's own.
func (c *compiler) overCommon(template map[string]any) (over, own map[string]any) {
	metadata, _ := template["metadata"].(map[string]any)
	own = map[string]any{}
	for field, common := range c.common {
		_, isMap := common.(map[string]any)
		_, mine := metadata[field].(map[string]any)
		same := !isMap && !mine && metadata[field] == common // the definition has put it there
		if metadata[field] != nil && !(isMap && mine) && !same {
			own[field] = metadata[field]
		}
	}
	if len(own) == 0 {
		return template, nil
	}
	metadata, over = maps.Clone(metadata), maps.Clone(template)
	for field := range own {
		metadata[field] = expression.Over(c.common[field], own[field])
	}
	over["metadata"] = metadata
	return over, own
}

// whereWritten returns the problems of a template, where those of what overCommon has added are
// those of the template's own: commonMetadata reports the others.
func whereWritten(problems []expression.Problem, own map[string]any, scope expression.Scope, want schema.Type) []expression.Problem {
	if len(own) == 0 {
		return problems
	}
	problems = slices.DeleteFunc(slices.Clone(problems), func(p expression.Problem) bool {
		return len(p.Path) > 1 && p.Path[0] == "metadata" && own[p.Path[1]] != nil
	})
	_, more := expression.Template(map[string]any{"metadata": own}, scope, want)
	return append(problems, slices.DeleteFunc(more, func(p expression.Problem) bool { return len(p.Path) < 2 })...)
}
