package manifest

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/plan"
)

// tokenVariable holds the Sensor's token: a text template can read nothing but
// the environment.
const tokenVariable = "API_TOKEN"

// apiServer is where pods find the API server, with an address of IPv6 in
// brackets. It does not depend on the cluster's DNS.
const apiServer = `{{ $host := env "KUBERNETES_SERVICE_HOST" }}https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host }}{{ end }}:{{ env "KUBERNETES_SERVICE_PORT" }}`

// callTimeout in seconds. Argo Events never closes the body of an answer; what
// the answer holds is freed then at the latest.
const callTimeout = 5

// tokenSecrets hold the token by which the Sensors of the direct engine call the
// API server. Kubernetes fills one that names a service account, which has to be
// there first, with a token that does not expire; one with tokens that do is
// filled by a CronWorkflow.
func tokenSecrets(p *plan.Plan) []Object {
	if !p.Reconcile.Execution.HTTPTriggers {
		return nil
	}
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: meta(p, p.Names.TokenSecret),
		Type:       corev1.SecretTypeOpaque,
	}
	if !p.RotatesToken() {
		if secret.Annotations == nil {
			secret.Annotations = map[string]string{}
		}
		secret.Annotations[corev1.ServiceAccountNameKey] = p.ServiceAccount(plan.SensorAccount)
		secret.Type = corev1.SecretTypeServiceAccountToken
	}
	return []Object{secret}
}

// sensorPod is the pod of a Sensor, with its token where it calls the API server
// by itself.
func sensorPod(p *plan.Plan, s plan.Sensor) *eventsv1.Template {
	pod := eventsPod(p, plan.SensorAccount, s.Pod)
	if !p.Reconcile.Execution.RunsPods {
		pod.Container.Env = append(pod.Container.Env, rareCollection)
	}
	if !p.Reconcile.Execution.HTTPTriggers {
		return pod
	}
	pod.Container.Env = append([]corev1.EnvVar{{Name: "SSL_CERT_DIR", Value: serviceAccountDir}}, pod.Container.Env...)
	if p.RotatesToken() {
		pod.Volumes = append(pod.Volumes, firstToken(p))
		pod.Container.VolumeMounts = append(pod.Container.VolumeMounts, readOnly("first-token", "/operator/token"))
		return pod
	}
	pod.Container.Env = append([]corev1.EnvVar{
		{Name: tokenVariable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: fromSecret(p, corev1.ServiceAccountTokenKey)}},
	}, pod.Container.Env...)
	return pod
}

func fromSecret(p *plan.Plan, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: p.Names.TokenSecret}, Key: key}
}

// firstToken keeps the pod from starting before there is a token: a volume of
// which a key is named waits for that key. Argo Events itself mounts the Secret
// as it is, empty or not.
func firstToken(p *plan.Plan) corev1.Volume {
	return corev1.Volume{Name: "first-token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: p.Names.TokenSecret,
		Items:      []corev1.KeyToPath{{Key: plan.AuthorizationKey, Path: plan.AuthorizationKey}},
	}}}
}

// rareCollection makes the Go runtime of a Sensor collect garbage less often. It
// keeps some ten MiB and throws half of one away for each event, the jq that it
// compiles, so that by default a fifth of its CPU goes there.
var rareCollection = corev1.EnvVar{Name: "GOGC", Value: "400"}

// serviceAccountDir has the cluster's own certificate authority in every pod. As
// a directory of trusted certificates it leaves the trigger without a tls of its
// own: Argo Events then uses Go's default client, which speaks HTTP/2 and keeps
// one connection. With a tls it opens one for every call, and leaks it.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// call makes the request that the dependency has computed. It tries three times
// in quick succession; what then fails is noted on the custom resource, whose
// change is the next event, so that no failure holds up the others for long.
func call(p *plan.Plan, t plan.Trigger) eventsv1.Trigger {
	made := requested
	if t.Call.K8s {
		made = patched
	}
	out := made(p, t, t.Name, "call", t.Call.Allow, backoff(3, "100ms"))
	out.DlqTrigger = deadLetter(t.Name + "-failed")
	if t.Call.Fallback != nil {
		fallback := made(p, t, t.Name+"-failed", "failed", t.Call.Fallback, backoff(7, "1s"))
		out.DlqTrigger = &fallback
	}
	return out
}

const authorization = "Authorization"

// requested makes the request by an http trigger.
func requested(p *plan.Plan, t plan.Trigger, name, request string, allow []int32, retry *eventsv1.Backoff) eventsv1.Trigger {
	http := &eventsv1.HTTPTrigger{
		URL:     "https://kubernetes.default.svc",
		Method:  "PATCH",
		Timeout: callTimeout,
	}
	if p.RotatesToken() { // Argo Events reads the volume for each request, and Kubernetes keeps it up to date
		http.SecureHeaders = []*eventsv1.SecureHeader{{
			Name: authorization, ValueFrom: &eventsv1.ValueFromSource{SecretKeyRef: fromSecret(p, plan.AuthorizationKey)},
		}}
	}
	for _, dependency := range t.On {
		http.Parameters = append(http.Parameters,
			rendered(dependency, apiServer+"{{ .Input."+request+".path }}", "url"),
			parameter(dependency, request+".method", "method"))
		// no dynamicHeaders: Argo Events crashes on one whose dependency has no event
		if !p.RotatesToken() {
			http.Parameters = append(http.Parameters, rendered(dependency, `Bearer {{ env "`+tokenVariable+`" }}`, "headers."+authorization))
		}
		http.Parameters = append(http.Parameters, parameter(dependency, request+".type", "headers.Content-Type"))
		http.Payload = append(http.Payload, parameter(dependency, request+".body", ""))
	}
	return eventsv1.Trigger{
		Template: &eventsv1.TriggerTemplate{
			Name:       name,
			Conditions: strings.Join(t.On, " || "),
			HTTP:       http,
		},
		AtLeastOnce:   true,
		RetryStrategy: retry,
		Policy:        &eventsv1.TriggerPolicy{Status: &eventsv1.StatusPolicy{Allow: slices.Clone(allow)}},
	}
}

func rendered(dependency, template, dest string) eventsv1.TriggerParameter {
	return eventsv1.TriggerParameter{
		Src:  &eventsv1.TriggerParameterSource{DependencyName: dependency, DataTemplate: template},
		Dest: dest,
	}
}

// patched writes the manifest by a k8s trigger, which knows no codes to allow.
func patched(_ *plan.Plan, t plan.Trigger, name, request string, _ []int32, retry *eventsv1.Backoff) eventsv1.Trigger {
	source := eventsv1.NewK8SResource(metav1.PartialObjectMetadata{})
	out := eventsv1.Trigger{
		Template: &eventsv1.TriggerTemplate{
			Name:       name,
			Conditions: strings.Join(t.On, " || "),
			K8s: &eventsv1.StandardK8STrigger{
				Operation: eventsv1.Patch,
				Source:    &eventsv1.ArtifactLocation{Resource: &source},
			},
		},
		AtLeastOnce:   true,
		RetryStrategy: retry,
	}
	for _, dependency := range t.On {
		manifest := parameter(dependency, request+".manifest", "k8s.source.resource")
		manifest.Src.UseRawData = true
		out.Parameters = append(out.Parameters, manifest, parameter(dependency, request+".operation", "k8s.operation"))
	}
	return out
}
