package manifest

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// maxPayload leaves room for an UPDATE event, which contains the object twice.
const maxPayload = "4MB"

func eventBuses(p *plan.Plan) []Object {
	bus := p.Shared.EventBus
	if !bus.Managed {
		return nil
	}
	more := p.Shared.PodTemplate
	size := resource.MustParse(bus.Storage)
	mode := corev1.ReadWriteOnce
	payload := maxPayload
	jetstream := &eventsv1.JetStreamBus{
		Version:  "latest", // in the configuration of the Argo Events controller
		Replicas: &bus.Replicas,
		Persistence: &eventsv1.PersistenceStrategy{
			AccessMode: &mode, VolumeSize: &size,
		},
		MaxPayload:        &payload,
		Metadata:          &eventsv1.Metadata{Labels: more.Labels, Annotations: more.Annotations},
		NodeSelector:      more.Spec.NodeSelector,
		Tolerations:       more.Spec.Tolerations,
		Affinity:          more.Spec.Affinity,
		ImagePullSecrets:  more.Spec.ImagePullSecrets,
		PriorityClassName: more.Spec.PriorityClassName,
	}
	if len(more.Labels) == 0 && len(more.Annotations) == 0 {
		jetstream.Metadata = nil
	}
	if bus.StorageClass != "" {
		jetstream.Persistence.StorageClassName = &bus.StorageClass
	}
	if bus.Replicas < 3 {
		// a stream has three replicas by default, which one server cannot provide
		config := "replicas: 1\n"
		jetstream.StreamConfig = &config
	}
	return []Object{&eventsv1.EventBus{
		TypeMeta:   metav1.TypeMeta{APIVersion: eventsv1.SchemeGroupVersion.String(), Kind: "EventBus"},
		ObjectMeta: meta(p, bus.Name),
		Spec:       eventsv1.EventBusSpec{JetStream: jetstream},
	}}
}
