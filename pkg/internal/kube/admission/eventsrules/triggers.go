package eventsrules

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
)

func k8sTrigger(t *eventsv1.StandardK8STrigger) error {
	return cmp.Or(
		require(t.Source != nil, "k8s trigger does not contain an absolute action"),
		oneOf("unknown operation type %s", t.Operation, "", eventsv1.Create, eventsv1.Patch, eventsv1.Update, eventsv1.Delete),
		each("resource parameter", t.Parameters, parameter),
	)
}

func workflowTrigger(t *eventsv1.ArgoWorkflowTrigger) error {
	return cmp.Or(
		require(t.Source != nil, "argoWorkflow trigger does not contain an absolute action"),
		oneOf("unknown operation type %s", t.Operation, eventsv1.Submit, eventsv1.SubmitFrom, eventsv1.Suspend, eventsv1.Retry,
			eventsv1.Resume, eventsv1.Resubmit, eventsv1.Terminate, eventsv1.Stop),
		each("resource parameter", t.Parameters, parameter),
	)
}

func httpTrigger(t *eventsv1.HTTPTrigger) error {
	methods := []string{"", http.MethodGet, http.MethodDelete, http.MethodPatch, http.MethodPost, http.MethodPut}
	return cmp.Or(
		require(t.URL != "", "server URL is not specified"),
		require(slices.Contains(methods, t.Method), "only GET, DELETE, PATCH, POST and PUT methods are supported"),
		each("resource parameter", t.Parameters, parameter),
		each("payload", t.Payload, wholePayload),
	)
}

func lambdaTrigger(t *eventsv1.AWSLambdaTrigger) error {
	return cmp.Or(
		require(t.FunctionName != "", "function name is not specified"),
		require(t.Region != "", "region in not specified"),
		require(t.Payload != nil, "payload parameters are not specified"),
		each("resource parameter", t.Parameters, parameter),
		each("payload", t.Payload, parameter),
	)
}

func kafkaTrigger(t *eventsv1.KafkaTrigger) error {
	return cmp.Or(
		require(t.URL != "", "broker url must not be empty"),
		require(t.Payload != nil, "payload must not be empty"),
		require(t.Topic != "", "topic must not be empty"),
		each("payload", t.Payload, parameter),
	)
}

func natsTrigger(t *eventsv1.NATSTrigger) error {
	return cmp.Or(
		require(t.URL != "", "nats server url can't be empty"),
		require(t.Subject != "", "nats subject can't be empty"),
		require(t.Payload != nil, "payload can't be nil"),
		each("payload", t.Payload, parameter),
	)
}

func slackTrigger(t *eventsv1.SlackTrigger) error {
	return cmp.Or(
		require(t.SlackToken != nil, "slack token can't be empty"),
		each("resource parameter", t.Parameters, parameter),
	)
}

func openWhiskTrigger(t *eventsv1.OpenWhiskTrigger) error {
	return cmp.Or(
		require(t.ActionName != "", "action name is not specified"),
		require(t.Host != "", "host URL is not specified"),
		require(t.AuthToken == nil || t.AuthToken.Name != "" && t.AuthToken.Key != "", "auth token key and name must be specified"),
		each("resource parameter", t.Parameters, parameter),
		require(t.Payload != nil, "payload parameters are not specified"),
		each("resource parameter", t.Payload, parameter),
	)
}

func customTrigger(t *eventsv1.CustomTrigger) error {
	return cmp.Or(
		require(t.ServerURL != "", "custom trigger gRPC server url is not defined"),
		require(t.Spec != nil, "trigger body can't be empty"),
		require(!t.Secure || t.CertSecret != nil, "certSecret can't be nil when the trigger server connection is secure"),
		each("resource parameter", t.Parameters, parameter),
	)
}

func emailTrigger(t *eventsv1.EmailTrigger) error {
	return cmp.Or(
		require(t.Host != "", "host can't be empty"),
		require(0 <= t.Port && t.Port <= 65535, "port: %v, port should be between 0-65535", t.Port),
		each("resource parameter", t.Parameters, parameter),
	)
}

// each returns the first error of a list of parameters, with its index.
func each(list string, parameters []eventsv1.TriggerParameter, check func(eventsv1.TriggerParameter) error) error {
	for i, p := range parameters {
		if err := check(p); err != nil {
			return fmt.Errorf("%s index: %d. err: %w", list, i, err)
		}
	}
	return nil
}

func parameter(p eventsv1.TriggerParameter) error {
	return cmp.Or(from(p), require(p.Dest != "", "parameter destination can't be empty"), operation(p))
}

// wholePayload checks a parameter without a destination: it replaces the payload.
func wholePayload(p eventsv1.TriggerParameter) error { return cmp.Or(from(p), operation(p)) }

func from(p eventsv1.TriggerParameter) error {
	return cmp.Or(
		require(p.Src != nil, "parameter source can't be empty"),
		require(p.Src == nil || p.Src.DependencyName != "", "parameter dependency name can't be empty"),
	)
}

func operation(p eventsv1.TriggerParameter) error {
	return oneOf("parameter operation %s is invalid", p.Operation, eventsv1.TriggerParameterOpAppend, eventsv1.TriggerParameterOpOverwrite,
		eventsv1.TriggerParameterOpPrepend, eventsv1.TriggerParameterOpNone)
}
