package lint

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// versionRules check the versions of EventBuses.
func versionRules() []Rule {
	return []Rule{
		{
			Code:    "unknown-bus-version",
			Warning: true,
			Summary: "The version of a JetStream EventBus does not look like one of Argo Events.",
			Why: "Argo Events looks for exactly this text in the configuration of its controller, whose default has latest and versions " +
				"such as 2.10.29. If it is not there, the EventBus never starts.",
			Fix:   "write latest, or a version with three numbers",
			check: on(unknownBusVersion),
		},
	}
}

// busVersion matches the versions in the default configurations of the controller.
var busVersion = lazily(`^(latest|\d+\.\d+\.\d+(-[-.\w]+)?)$`)

func unknownBusVersion(i *inspection, b *eventsv1.EventBus) {
	if js := b.Spec.JetStream; js != nil && js.Version != "" && !fromTemplate(js.Version) && !busVersion().MatchString(js.Version) {
		i.report(field.NewPath("spec", "jetstream", "version"), "the default configuration of Argo Events has no version %s", js.Version)
	}
}
