package selfcheck

import (
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// tokenVariable is the environment variable from which the text templates read the
// token.
const tokenVariable = "API_TOKEN"

// tokens requires that http triggers use a token of the Sensor's own service
// account, and that they trust only the cluster's API server.
func tokens(o objects) []problem.Problem {
	used := map[argo.Account]bool{}
	out := argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		for _, t := range o.Triggers(s) {
			if t.Template.HTTP == nil || keyOf(t) == "" {
				continue
			}
			secret := ""
			if header := secureHeader(t); header != nil {
				secret = checkRotatedToken(r, o, s, t, header)
			} else {
				secret = checkEnvToken(r, o, s)
			}
			used[argo.Account{Namespace: s.Namespace, Name: secret}] = true
			checkCertificate(r, o, s, t, secret)
		}
	})
	return append(out, argo.Each(o.Objects, func(r *problem.Report, secret *corev1.Secret) {
		if secret.Type != corev1.SecretTypeServiceAccountToken {
			return
		}
		checkTokenSecret(r, o, secret)
		if !used[argo.Account{Namespace: secret.Namespace, Name: secret.Name}] {
			r.Add(nil, codeToken, "remove it", "no Sensor uses this token, which does not expire")
		}
	})...)
}

// checkEnvToken returns the name of the Secret from which a Sensor's environment
// takes its token.
func checkEnvToken(r *problem.Report, o objects, s *eventsv1.Sensor) string {
	at := field.NewPath("spec", "template", "container", "env")
	found := envVars(s, tokenVariable)
	if len(found) != 1 || found[0].ValueFrom == nil || found[0].ValueFrom.SecretKeyRef == nil ||
		found[0].ValueFrom.SecretKeyRef.Key != corev1.ServiceAccountTokenKey {
		r.Add(
			at,
			codeToken,
			"take it from the key token of a Secret",
			"%s is not there, or not the token of a Secret",
			tokenVariable,
		)
		return ""
	}
	name := found[0].ValueFrom.SecretKeyRef.Name
	secret, ok := argo.Find[*corev1.Secret](o.Objects, s.Namespace, name)
	if account := argo.EventsAccount(s.Spec.Template); !ok || secret.Type != corev1.SecretTypeServiceAccountToken ||
		secret.Annotations[corev1.ServiceAccountNameKey] != account {
		r.Add(
			at,
			codeToken,
			"emit it, of the type "+string(corev1.SecretTypeServiceAccountToken),
			"Secret %q is not emitted as the token of service account %s",
			name,
			account,
		)
	}
	return name
}

// checkRotatedToken returns the name of the Secret from which a trigger takes its
// header. A script must rotate the token in it, and the pod must wait for the first
// token.
func checkRotatedToken(r *problem.Report, o objects, s *eventsv1.Sensor, t argo.Trigger, header *eventsv1.SecureHeader) string {
	at := t.Path.Child("template", "http", "secureHeaders").Index(0)
	if header.Name != "Authorization" || header.ValueFrom == nil || header.ValueFrom.SecretKeyRef == nil {
		r.Add(at, codeToken, "take the header Authorization from a Secret", "the header %q is no part of a request", header.Name)
		return ""
	}
	from, account := header.ValueFrom.SecretKeyRef, argo.EventsAccount(s.Spec.Template)
	secret, ok := argo.Find[*corev1.Secret](o.Objects, s.Namespace, from.Name)
	if !ok || secret.Type != corev1.SecretTypeOpaque || len(secret.Data)+len(secret.StringData) > 0 {
		r.Add(
			at,
			codeToken,
			"emit it, of the type Opaque and without data",
			"no Secret %q is emitted for a token to be put into",
			from.Name,
		)
	}
	want := argo.RuntimeToken{ServiceAccount: account, Secret: from.Name, Key: from.Key}
	if !slices.ContainsFunc(o.Launches(), func(l argo.Launch) bool { return rotates(o, l, want) }) {
		r.Add(
			at,
			codeToken,
			"emit a CronWorkflow that does",
			"nothing puts a token of service account %s under the key %s of Secret %q",
			account,
			from.Key,
			from.Name,
		)
	}
	if !mountsKey(s.Spec.Template, from) {
		r.Add(field.NewPath("spec", "template", "volumes"), codeToken, "mount the Secret with items: the pod waits for the key",
			"the pod starts before there is a token, and events are lost")
	}
	return from.Name
}

// mountsKey reports whether a pod mounts the key of a Secret by name.
func mountsKey(pod *eventsv1.Template, key *corev1.SecretKeySelector) bool {
	if pod == nil || pod.Container == nil {
		return false
	}
	return slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		mounted := slices.ContainsFunc(pod.Container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		return mounted && v.Secret != nil && v.Secret.SecretName == key.Name && (v.Secret.Optional == nil || !*v.Secret.Optional) &&
			slices.ContainsFunc(v.Secret.Items, func(i corev1.KeyToPath) bool { return i.Key == key.Key })
	})
}

// envVars returns the environment variables with a name in the Sensor's pod.
func envVars(s *eventsv1.Sensor, name string) []corev1.EnvVar {
	var found []corev1.EnvVar
	if pod := s.Spec.Template; pod != nil && pod.Container != nil {
		for _, e := range pod.Container.Env {
			if e.Name == name {
				found = append(found, e)
			}
		}
	}
	return found
}

// checkCertificate requires that the trigger verifies the API server's certificate
// with the cluster's certificate authority, which the trigger configures or every
// pod has.
func checkCertificate(r *problem.Report, o objects, s *eventsv1.Sensor, t argo.Trigger, secret string) {
	const why = "whoever answers as the API server would get the token"
	at, tls := t.Path.Child("template", "http", "tls"), t.Template.HTTP.TLS
	switch {
	case tls != nil && tls.InsecureSkipVerify:
		r.Add(at.Child("insecureSkipVerify"), codeToken, "leave it out", why)
	case tls != nil && (tls.CACertSecret == nil || tls.CACertSecret.Key != corev1.ServiceAccountRootCAKey || tls.CACertSecret.Name != secret):
		r.Add(at.Child("caCertSecret"), codeToken, "name the key ca.crt of the token's Secret", why)
	case tls == nil && !trustsClusterCA(o, s):
		r.Add(field.NewPath("spec", "template", "container", "env"), codeToken, trustVariable+"="+trustDirectory,
			"no call succeeds: the pod does not trust the cluster's certificate authority")
	}
}

// trustVariable is the variable from which Go reads its certificate directory;
// trustDirectory has the cluster's authority, unless the service account disables
// automounting.
const (
	trustVariable  = "SSL_CERT_DIR"
	trustDirectory = "/var/run/secrets/kubernetes.io/serviceaccount"
)

func trustsClusterCA(o objects, s *eventsv1.Sensor) bool {
	found := envVars(s, trustVariable)
	sa, ok := argo.Find[*corev1.ServiceAccount](o.Objects, s.Namespace, argo.EventsAccount(s.Spec.Template))
	mounted := !ok || sa.AutomountServiceAccountToken == nil || *sa.AutomountServiceAccountToken
	return len(found) == 1 && found[0].Value == trustDirectory && mounted
}

// checkTokenSecret reports a token Secret that is emitted before its service
// account, because Kubernetes deletes such a Secret.
func checkTokenSecret(r *problem.Report, o objects, secret *corev1.Secret) {
	name := secret.Annotations[corev1.ServiceAccountNameKey]
	owner := slices.IndexFunc(o.List, func(other manifest.Object) bool {
		sa, ok := other.(*corev1.ServiceAccount)
		return ok && sa.Name == name && sa.Namespace == secret.Namespace
	})
	if position := slices.Index(o.List, manifest.Object(secret)); owner < 0 || owner > position {
		r.Add(
			field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey),
			codeToken,
			"emit the ServiceAccount first",
			"Kubernetes deletes the Secret: there is no ServiceAccount %q before it",
			name,
		)
	}
	if len(secret.Data) > 0 || len(secret.StringData) > 0 {
		r.Add(field.NewPath("data"), codeToken, "leave it to Kubernetes", "a token of a service account is not for us to write")
	}
}

// secureHeader returns the trigger's header with a token from a Secret; nil if
// there is none.
func secureHeader(t argo.Trigger) *eventsv1.SecureHeader {
	if h := t.Template.HTTP; h != nil && len(h.SecureHeaders) == 1 {
		return h.SecureHeaders[0]
	}
	return nil
}
