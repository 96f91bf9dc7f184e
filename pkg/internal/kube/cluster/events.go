package cluster

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// EventsResource is the resource of Kubernetes Events, which are not part of an
// operator's output.
var EventsResource = schema.GroupResource{Resource: "events"}

// decodeEvent decodes an Event as the API server does, with its time formats.
func decodeEvent(o Object) (corev1.Event, error) {
	var e corev1.Event
	data, err := o.MarshalJSON()
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, apierrors.NewBadRequest("Event in version \"v1\" cannot be handled as an Event: " + err.Error())
	}
	return e, nil
}

// Limits of the API server, in bytes.
const (
	maxEventField   = 128
	maxEventMessage = 1024
)

// validateEvent restates the API server's validation of core/v1 Events, which is
// stricter for those with eventTime.
func validateEvent(e corev1.Event) field.ErrorList {
	var out field.ErrorList
	fresh, about := !e.EventTime.IsZero(), e.InvolvedObject.Namespace
	inDefault := about == "" && (e.Namespace == metav1.NamespaceDefault || fresh && e.Namespace == metav1.NamespaceSystem)
	if e.Namespace != about && !inDefault && (!fresh || about == "") {
		out = append(out, field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace"))
	}
	if !fresh {
		return out
	}
	for name, word := range map[string]string{"reportingInstance": e.ReportingInstance, "action": e.Action, "reason": e.Reason} {
		switch {
		case word == "":
			out = append(out, field.Required(field.NewPath(name), ""))
		case len(word) > maxEventField:
			out = append(out, field.TooLong(field.NewPath(name), word, maxEventField))
		}
	}
	for _, wrong := range validation.IsQualifiedName(e.ReportingController) {
		out = append(out, field.Invalid(field.NewPath("reportingController"), e.ReportingController, wrong))
	}
	if len(e.Message) > maxEventMessage {
		out = append(out, field.TooLong(field.NewPath("message"), e.Message, maxEventMessage))
	}
	return out
}
