package resource

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// purse limits what the search for samples of a schema may spend on CEL rules, in the units of
// the API server: it asks for hundreds of evaluations, of which the API server would allow
// each to take long.
type purse struct{ left atomic.Int64 }

// samplesBudget is what the API server allows for two objects.
const samplesBudget = 2 * celconfig.RuntimeCELCostBudget

func newPurse() *purse {
	p := &purse{}
	p.left.Store(samplesBudget)
	return p
}

// pay evaluates rules. If nothing is left, they do not hold.
func (p *purse) pay(validate func(budget int64) (errs field.ErrorList, left int64)) field.ErrorList {
	if p.left.Load() <= 0 {
		return field.ErrorList{field.InternalError(nil, errCostly)}
	}
	errs, left := validate(celconfig.RuntimeCELCostBudget)
	p.left.Add(max(left, 0) - celconfig.RuntimeCELCostBudget)
	return errs
}

type costly struct{}

func (costly) Error() string { return "its validation rules take too long" }

var errCostly = costly{}

// Costly reports whether the search for samples gave up because the rules take too long.
func (s *Schema) Costly() bool { return s.purse.left.Load() <= 0 }
