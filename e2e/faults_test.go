//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

// rejectingWebhook is an admission webhook that refuses Deployments: those whose names it
// knows, with a code, a given number of times.
type rejectingWebhook struct {
	mu    sync.Mutex
	plans map[string]*refusal
	asked map[string]int
}

type refusal struct {
	code  int32
	times int
	held  *hold // instead of a refusal
}

// hold keeps reviews until it is opened.
type hold struct {
	once          sync.Once
	reached, open chan struct{}
}

// ServeHTTP answers a review.
func (r *rejectingWebhook) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(in.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(out, "no review", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	var held *hold
	r.mu.Lock()
	for name, plan := range r.plans {
		if strings.HasPrefix(review.Request.Name, name) {
			r.asked[name]++
			held = plan.held
			if plan.times > 0 {
				plan.times--
				review.Response.Allowed = false
				review.Response.Result = &metav1.Status{Code: plan.code, Reason: reasonOf(plan.code), Message: fmt.Sprintf("refused with %d on purpose", plan.code)}
			}
		}
	}
	r.mu.Unlock()
	if held != nil {
		held.once.Do(func() { close(held.reached) })
		<-held.open
	}
	_ = json.NewEncoder(out).Encode(review) // the API server notices
}

func reasonOf(code int32) metav1.StatusReason {
	return map[int32]metav1.StatusReason{
		403: metav1.StatusReasonForbidden, 409: metav1.StatusReasonConflict, 429: metav1.StatusReasonTooManyRequests, 500: metav1.StatusReasonInternalError,
	}[code]
}

// refuse puts a rejectingWebhook on the cluster for a namespace. $E2E_WEBHOOK_HOST is
// where the API server finds this process; 127.0.0.1 on a cluster of one machine.
func (c *cluster) refuse(t *testing.T, namespace string, plans map[string]*refusal) *rejectingWebhook {
	t.Helper()
	r := &rejectingWebhook{plans: plans, asked: map[string]int{}}
	host := cmp.Or(os.Getenv("E2E_WEBHOOK_HOST"), "127.0.0.1")
	certificate, authority := certify(t, host)
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Skipf("no webhook: %v (E2E_WEBHOOK_HOST)", err)
	}
	server := httptest.NewUnstartedServer(r)
	server.Listener.Close()
	server.Listener = listener
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	c.register(t, namespace, server.URL, authority)
	return r
}

func (c *cluster) register(t *testing.T, namespace, url string, authority []byte) {
	t.Helper()
	client := c.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := client.Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "refusals.e2e.example.com", AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: ptr.To(url), CABundle: authority},
			SideEffects:       ptr.To(admissionregistrationv1.SideEffectClassNone),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = try(nil, "kubectl", "delete", "validatingwebhookconfiguration", namespace) })
	c.awaitWebhook(t, namespace)
}

// awaitWebhook waits until the API server asks the webhook: it takes a moment.
func (c *cluster) awaitWebhook(t *testing.T, namespace string) {
	t.Helper()
	probe := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"probe-webhook"},"spec":{"selector":{"matchLabels":{"a":"b"}},` +
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); pause(t.Context()) {
		if _, err := try(probe, "kubectl", "create", "-n", namespace, "--dry-run=server", "-f", "-"); err != nil && strings.Contains(err.Error(), "on purpose") {
			return
		}
	}
	t.Fatal("the webhook never came into force")
}

// certify makes a certificate for a host, and what trusts it.
func certify(t *testing.T, host string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"}, NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	var authority bytes.Buffer
	if err := pem.Encode(&authority, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, authority.Bytes()
}

// refusals: an API server that says no a few times is asked again; one that goes
// on saying no does not hold up the others, and the status says what failed.
func refusals(t *testing.T, w *world) {
	namespace := w.aside("refusals")
	w.cluster.namespace(t, namespace, "")
	plans := map[string]*refusal{"probe-webhook": {code: 403, times: 1 << 30}, "never": {code: 500, times: 1 << 30}}
	times := 2
	if w.subject.engine == "direct" {
		times = 4 // they take no time
	}
	for _, code := range []int32{403, 409, 429, 500} {
		plans[fmt.Sprintf("after-%d", code)] = &refusal{code: code, times: times}
	}
	r := w.cluster.refuse(t, namespace, plans)
	never := w.makeIn(t, namespace, "never", 0)
	var list []*unstructured.Unstructured
	for _, code := range []int{403, 409, 429, 500} {
		list = append(list, w.makeIn(t, namespace, fmt.Sprintf("after-%d", code), 0))
	}
	began := time.Now()
	fine := w.makeIn(t, namespace, "fine", 0)
	w.has(t, fine, 0)
	beside := time.Since(began)
	message := w.refused(t, never)
	for _, cr := range list {
		w.has(t, cr, 0)
	}
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	w.measured("rejected %d times with 403, 409, 429 or 500: reconciled in %s; another one meanwhile in %s; always rejected (%d requests): %s",
		times, seconds(took), seconds(beside), r.asked["never"], message)
}
