package argoperator

import (
	"github.com/argoperator/argoperator/pkg/internal/doctor"
	"github.com/argoperator/argoperator/pkg/internal/output"
)

// Requirements returns the operators' requirements on a cluster.
func (r Result) Requirements() ([]doctor.Requirements, error) {
	var out []doctor.Requirements
	for _, o := range r.Operators {
		stream, err := output.Stream(o.Objects)
		if err != nil {
			return nil, err
		}
		install := o.plan.Install
		out = append(out, doctor.Requirements{
			Operator: o.Name, Namespace: install.Namespace, EventBus: install.EventBus.Name, IncludesBus: install.EventBus.Managed, Manifests: stream,
		})
	}
	return out, nil
}
