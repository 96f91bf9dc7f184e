package simulate

import (
	"context"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Upgrade applies the manifests of other versions of the operators, as kubectl apply does:
// an object that they do not contain stays, and goes on. The pods of objects that they
// contain start again, and each EventSource lists its objects. The next Run handles the
// resulting changes.
func (s *Simulation) Upgrade(ctx context.Context, objects []manifest.Object, kinds []*apiextensionsv1.CustomResourceDefinition) error {
	contains := func(o manifest.Object) bool {
		return slices.ContainsFunc(objects, func(now manifest.Object) bool { return sameObject(o, now) })
	}
	leftovers := slices.DeleteFunc(slices.Clone(s.objects), contains)
	if err := s.endReplaced(contains); err != nil {
		return err
	}
	s.objects, s.kinds = append(leftovers, objects...), append(slices.Clone(kinds), s.kinds...)
	s.watches, s.subscriptions, s.crons, s.sources, s.cluster.Policies = nil, nil, nil, nil, nil
	s.watched = cluster.Watched(s.objects)
	s.prepared = NewPrepared()
	if err := s.cluster.Serve(cluster.CustomKinds(s.objects, s.kinds), s.prepared.cache()); err != nil {
		return err
	}
	for _, o := range s.objects {
		if _, pod := o.(*appsv1.Deployment); pod && !contains(o) {
			continue // it runs
		}
		if err := s.install(o); err != nil {
			return err
		}
	}
	return s.Relist(ctx)
}

// endReplaced ends the workers whose Deployments are replaced.
func (s *Simulation) endReplaced(replaced func(manifest.Object) bool) error {
	var errs []error
	s.workers = slices.DeleteFunc(s.workers, func(w *worker) bool {
		if !replaced(w.deployment) {
			return false
		}
		errs = append(errs, w.end())
		return true
	})
	return errors.Join(errs...)
}

func sameObject(a, b manifest.Object) bool {
	return a.GetObjectKind().GroupVersionKind().GroupKind() == b.GetObjectKind().GroupVersionKind().GroupKind() &&
		a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}
