package lint

import (
	"regexp"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// ownNamespaces match the places at which the Sensor of a generated operator names its own
// namespace: the EventSource that it writes to, and the Service of its worker.
var ownNamespaces = []func() *regexp.Regexp{
	lazily(`/apis/argoproj\.io/v1alpha1/namespaces/([a-z0-9-]+)/eventsources/`),
	lazily(`namespace: "([a-z0-9-]+)", annotations: \{"argoperator\.dev/last-received-`),
	lazily(`^http://[a-z0-9-]+-worker[a-z0-9-]*\.([a-z0-9-]+)\.svc:`),
}

// movedOperator reports a Sensor that argoperator generated for another namespace or another name: what changes
// those of its objects afterwards, such as kustomize, changes no program.
func movedOperator(i *inspection, s *eventsv1.Sensor) {
	if s.Labels[plan.ManagedBy] != plan.Generator || i.renamed(s) || s.Namespace == "" {
		return
	}
	check := func(at *field.Path, text string) bool {
		for _, pattern := range ownNamespaces {
			if found := pattern().FindStringSubmatch(text); found != nil && found[1] != s.Namespace {
				i.reportHint(at, "set install.namespace: "+s.Namespace+" in the definition, or use generate --namespace "+s.Namespace,
					"the operator was generated for the namespace %s, not for %s", found[1], s.Namespace)
				return true
			}
		}
		return false
	}
	at := field.NewPath("spec", "dependencies")
	for n, d := range s.Spec.Dependencies {
		if d.Transform != nil && check(at.Index(n).Child("transform", "jq"), d.Transform.JQ) {
			return
		}
	}
	for n, t := range s.Spec.Triggers {
		if t.Template != nil && t.Template.HTTP != nil &&
			check(field.NewPath("spec", "triggers").Index(n).Child("template", "http", "url"), t.Template.HTTP.URL) {
			return
		}
	}
}

// renamed reports a Sensor whose EventSource has another name than when both were generated.
func (i *inspection) renamed(s *eventsv1.Sensor) bool {
	const label = "app.kubernetes.io/name"
	var names []string
	for _, source := range argo.All[*eventsv1.EventSource](i.set.all) {
		ours := source.Labels[plan.ManagedBy] == plan.Generator && source.Labels[label] == s.Labels[label]
		if ours && sameNamespace(source.Namespace, s.Namespace) {
			names = append(names, source.Name)
		}
	}
	for n, d := range s.Spec.Dependencies {
		if len(names) == 1 && names[0] != d.EventSourceName {
			i.reportHint(field.NewPath("spec", "dependencies").Index(n).Child("eventSourceName"),
				"change metadata.name in the definition instead: no tool changes the names in the programs",
				"the operator was generated for the EventSource %s, not for %s", d.EventSourceName, names[0])
			return true
		}
	}
	return false
}
