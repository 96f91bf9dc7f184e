package manifest

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// tokenVariable holds the Sensor's token. A text template can only read environment
// variables.
const tokenVariable = "API_TOKEN"

// apiServer is the URL of the API server from a pod, with brackets for IPv6. It does
// not depend on the cluster's DNS.
const apiServer = `{{ $host := env "KUBERNETES_SERVICE_HOST" }}https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host }}{{ ` +
	`end }}:{{ env "KUBERNETES_SERVICE_PORT" }}`

// callTimeout in seconds. Argo Events never closes a response body; its resources are
// freed after this time at the latest.
const callTimeout = 5

// tokenSecrets returns the Secret with the token of the direct engine's Sensors.
// Kubernetes fills a Secret of a service account, which must exist before, with a token
// that does not expire. A CronWorkflow fills one with a rotated token.
func tokenSecrets(p *plan.Plan) []Object {
	if p.Reconcile.Execution.RunsPods {
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

// sensorPod returns the pod of a Sensor, with its token if it calls the API server
// itself.
func sensorPod(p *plan.Plan, s plan.Sensor) *eventsv1.Template {
	pod := eventsPod(p, plan.SensorAccount, s.Pod)
	if p.Reconcile.Execution.RunsPods {
		return pod
	}
	pod.Container.Env = append(pod.Container.Env, rareCollection)
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

// firstToken returns a volume that delays the start of the pod until there is a token:
// a volume that names a key of a Secret waits for that key. The volume of Argo Events
// mounts the Secret even if it is empty.
func firstToken(p *plan.Plan) corev1.Volume {
	return corev1.Volume{Name: "first-token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: p.Names.TokenSecret,
		Items:      []corev1.KeyToPath{{Key: plan.AuthorizationKey, Path: plan.AuthorizationKey}},
	}}}
}

// rareCollection makes a Sensor's Go runtime collect garbage less often. Its heap is
// about ten MiB, and compiling jq for an event allocates half of that, so by default
// garbage collection takes a fifth of its CPU.
var rareCollection = corev1.EnvVar{Name: "GOGC", Value: "400"}

// serviceAccountDir contains the cluster's certificate authority in every pod. As a
// directory of trusted certificates it makes a tls setting of the trigger unnecessary:
// Argo Events then uses Go's default client, which speaks HTTP/2 over one connection.
// With a tls setting it opens, and leaks, a connection for every call.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// call sends the request that the dependency has computed. It tries a few times in quick
// succession and then records the failure on the custom resource, whose change is the next
// event. A failure therefore does not delay other events for long.
func call(p *plan.Plan, t plan.Trigger) eventsv1.Trigger {
	made := requested
	if t.Call.K8s {
		made = patched
	}
	out := made(p, t, t.Name, "call", t.Call.Allow, backoff(plan.CallTries, "100ms"))
	out.DlqTrigger = deadLetter(t.Name + "-failed")
	if t.Call.Fallback != nil {
		fallback := made(p, t, t.Name+"-failed", "failed", t.Call.Fallback, backoff(7, "1s"))
		if t.Call.Asks {
			askWhy(p, fallback.Template.HTTP)
		}
		out.DlqTrigger = &fallback
	}
	return out
}

// askWhy makes the request after a failure one that can start a Workflow.
func askWhy(p *plan.Plan, http *eventsv1.HTTPTrigger) {
	templates := DiagnosisTemplates(p.DiagnosisName(), p.Shared.Namespace)
	for _, list := range [][]eventsv1.TriggerParameter{http.Parameters, http.Payload} {
		for i, parameter := range list {
			if template, ok := templates[parameter.Dest]; ok {
				list[i] = rendered(parameter.Src.DependencyName, template, parameter.Dest)
			}
		}
	}
}

const authorization = "Authorization"

// requested sends the request by an http trigger.
func requested(p *plan.Plan, t plan.Trigger, name, request string, allow []int32, retry *eventsv1.Backoff) eventsv1.Trigger {
	http := &eventsv1.HTTPTrigger{
		URL:     "https://kubernetes.default.svc",
		Method:  "PATCH",
		Timeout: callTimeout,
	}
	if p.RotatesToken() { // Argo Events reads the volume for each request, and Kubernetes updates it
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
			http.Parameters = append(
				http.Parameters,
				rendered(dependency, `Bearer {{ env "`+tokenVariable+`" }}`, "headers."+authorization),
			)
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

// patched writes the manifest by a k8s trigger, which has no list of accepted status
// codes.
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
