package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/expression"
)

// selected is the jq of whether the operator is for an object of an existing
// kind; empty: for every one. What it has made for one goes when the object is
// no longer picked, so the API server cannot do the picking: it would not tell
// of one that is picked no more.
func selected(e *v1alpha1.Existing) string {
	terms := slices.Concat(selectorJQ(e.LabelSelector, "labels"), selectorJQ(e.AnnotationSelector, "annotations"))
	return strings.Join(terms, " and ")
}

func selectorJQ(s *v1alpha1.Selector, field string) []string {
	if s == nil {
		return nil
	}
	var terms []string
	value := func(key string) string { return fmt.Sprintf(".metadata.%s[%s]", field, quote(key)) }
	among := func(key string, values []string) string {
		list := make([]string, len(values))
		for i, v := range values {
			list[i] = fmt.Sprintf("%s == %s", value(key), quote(v))
		}
		return "(" + strings.Join(list, " or ") + ")"
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		terms = append(terms, among(key, []string{s.MatchLabels[key]}))
	}
	for _, r := range s.MatchExpressions {
		switch r.Operator {
		case "In":
			terms = append(terms, among(r.Key, r.Values))
		case "NotIn":
			terms = append(terms, "("+among(r.Key, r.Values)+" | not)")
		case "Exists":
			terms = append(terms, "("+value(r.Key)+" != null)")
		case "DoesNotExist":
			terms = append(terms, "("+value(r.Key)+" == null)")
		}
	}
	return terms
}

// selectedInPod is the same for the pod.
func selectedInPod(p *Plan) json.RawMessage {
	if p.API.Selected == "" {
		return nil
	}
	node, problems := expression.BareForPod(p.API.Selected)
	if len(problems) > 0 {
		panic(fmt.Sprintf("plan: a selector of ours is not for the pod: %v", problems)) // unreachable
	}
	return encode(node)
}
