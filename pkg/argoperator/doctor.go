package argoperator

import (
	"github.com/argoperator/argoperator/pkg/internal/doctor"
	"github.com/argoperator/argoperator/pkg/internal/output"
)

// Needs returns the operators' requirements on a cluster.
func (r Result) Needs() ([]doctor.Needs, error) {
	var out []doctor.Needs
	for _, o := range r.Operators {
		stream, err := output.Stream(o.Objects)
		if err != nil {
			return nil, err
		}
		install := o.plan.Install
		out = append(out, doctor.Needs{
			Operator: o.Name, Namespace: install.Namespace, EventBus: install.EventBus.Name, Brings: install.EventBus.Managed, Manifests: stream,
		})
	}
	return out, nil
}
