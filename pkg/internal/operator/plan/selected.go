package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
)

// selectorJQ returns the jq that tells whether the operator manages an object of an
// existing kind; empty: it manages all. The watch cannot use the selector, because
// children must be deleted when an object no longer matches, and the API server would
// not send that event.
func selectorJQ(e *v1alpha1.Existing) string {
	terms := slices.Concat(selectorTerms(e.LabelSelector, "labels"), selectorTerms(e.AnnotationSelector, "annotations"))
	return strings.Join(terms, " and ")
}

func selectorTerms(s *v1alpha1.Selector, field string) []string {
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

// selectorInPod returns the same for the pod.
func selectorInPod(p *decided) json.RawMessage {
	if p.API.SelectorJQ == "" {
		return nil
	}
	node, problems := expression.BareForPod(p.API.SelectorJQ)
	if len(problems) > 0 {
		panic(fmt.Sprintf("plan: an embedded selector does not run in the pod: %v", problems)) // unreachable
	}
	return encode(node)
}
