package eventsrules

import (
	"cmp"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
)

// EventBus returns the error with which Argo Events refuses an EventBus.
func EventBus(bus *eventsv1.EventBus) error {
	s := bus.Spec
	return cmp.Or(
		require(s.NATS != nil || s.JetStream != nil || s.Kafka != nil || s.JetStreamExotic != nil,
			`invalid spec: either "nats", "jetstream", "jetstreamExotic", or "kafka" needs to be specified`),
		optional(s.NATS, natsBus),
		optional(s.JetStream, jetStreamBus),
		require(s.Kafka == nil || s.Kafka.URL != "", `"spec.kafka.url" is missing`),
		require(s.JetStreamExotic == nil || s.JetStreamExotic.URL != "", `"spec.jetstreamExotic.url" is missing`),
	)
}

func natsBus(b *eventsv1.NATSBus) error {
	return cmp.Or(
		require(b.Native == nil || b.Exotic == nil, `"spec.nats.native" and "spec.nats.exotic" can not be defined together`),
		require(b.Native != nil || b.Exotic != nil, `either "native" or "exotic" must be defined`),
		require(b.Exotic == nil || b.Exotic.ClusterID != nil, `"spec.nats.exotic.clusterID" is missing`),
		require(b.Exotic == nil || b.Exotic.URL != "", `"spec.nats.exotic.url" is missing`),
	)
}

func jetStreamBus(b *eventsv1.JetStreamBus) error {
	return cmp.Or(
		require(b.Version != "", "invalid spec: a version for jetstream needs to be specified"),
		require(
			b.Replicas == nil || *b.Replicas == 1 || *b.Replicas >= 3,
			"invalid spec: a jetstream eventbus requires 1 replica or >= 3 replicas",
		),
	)
}
