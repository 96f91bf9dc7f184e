package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Two operators that make each other's custom resources would make more without an end.
// lint sees that only if it reads both definitions. So a child of a kind that another
// operator may serve has the number of those before it in an annotation, and there is a
// last one.

// depthAnnotation is the annotation of a child with its number in such a chain.
const depthAnnotation = "argoperator.dev/depth"

// MaxDepth limits how many custom resources operators make, each for the one before.
const MaxDepth = 8

// tooDeep is the message that reports it.
var tooDeep = fmt.Sprintf("operators make at most %d resources, each for the one before: annotation %s of this one is not below %[1]d",
	MaxDepth, depthAnnotation)

// depthsJQ returns the list of the values of the annotation of which a next one is made.
func depthsJQ() string {
	var all []string
	for n := range MaxDepth {
		all = append(all, strconv.Quote(strconv.Itoa(n)))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// Custom reports whether an operator may serve the kind: Kubernetes does not have it.
func (k Kind) Custom() bool {
	_, builtin := schema.Builtin(k.APIVersion(), k.Kind)
	return !builtin
}
