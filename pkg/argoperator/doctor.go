package argoperator

import (
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/verify/doctor"
)

// Requirements returns the operators' requirements on a cluster.
func (r Result) Requirements() ([]doctor.Requirements, error) {
	var out []doctor.Requirements
	for _, o := range r.Bundles() {
		stream, err := output.Stream(o.Objects)
		if err != nil {
			return nil, err
		}
		settings, kind := o.plan.Shared, o.plan.API.Kind
		needs := doctor.Requirements{
			Operator: o.Name, Namespace: settings.Namespace, EventBus: settings.EventBus.Name, IncludesBus: settings.EventBus.Managed,
			Manifests: stream,
			Group:     kind.Group, Kind: kind.Kind, Plural: kind.Plural, ManagedBy: o.plan.Operator.Name,
		}
		for _, object := range o.Objects {
			needs.Objects = append(needs.Objects, doctor.Identity{
				GroupVersionKind: object.GetObjectKind().GroupVersionKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
			})
		}
		for _, c := range o.plan.Children {
			needs.Children = append(needs.Children, c.Name)
		}
		out = append(out, needs)
	}
	return out, nil
}
