package live

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// api forwards requests to the API server. A request of an operator impersonates its
// service account; any other request is the administrator's.
type api struct {
	server    *url.URL
	transport http.RoundTripper // authenticates as the administrator
	switches  *switches
	requested func(method, path string) // called before a request of an operator
}

func newAPI(config *rest.Config, s *switches) (*api, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	return &api{server: server, transport: transport, switches: s}, nil
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user := r.Header.Get(cluster.RemoteUser)
	if user != "" && r.Method != http.MethodGet {
		if code, message := a.switches.refusal(); code != 0 {
			answerStatus(w, code, message)
			return
		}
	}
	if user != "" {
		a.requested(r.Method, r.URL.Path)
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = a.server.Scheme, a.server.Host, a.server.Host, ""
	out.Header = forwarded(r.Header)
	impersonate(out.Header, user)
	answer, err := a.transport.RoundTrip(out)
	if err != nil {
		answerStatus(w, http.StatusBadGateway, "the API server does not answer: "+err.Error())
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // the program may have ended
}

// forwarded returns the headers of a request that the API server reads. A program must
// not choose a user to impersonate.
func forwarded(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Accept", "Content-Type", "User-Agent"} {
		if value := h.Get(name); value != "" {
			out.Set(name, value)
		}
	}
	return out
}

// impersonate sets the identity that the API server gives to a service account.
func impersonate(h http.Header, user string) {
	if user == "" {
		return
	}
	h.Set("Impersonate-User", user)
	namespace, _, _ := serviceaccount.SplitUsername(user) // only service accounts come here
	for _, group := range groupsOf(namespace) {
		h.Add("Impersonate-Group", group)
	}
}

// groupsOf returns the groups of the service accounts of a namespace.
func groupsOf(namespace string) []string {
	return append(serviceaccount.MakeGroupNames(namespace), "system:authenticated")
}

// answerStatus answers as an API server does.
func answerStatus(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	reason := metav1.StatusReasonServiceUnavailable
	if code == http.StatusConflict {
		reason = metav1.StatusReasonConflict
	}
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{
			APIVersion: "v1",
			Kind:       "Status",
		}, Status: metav1.StatusFailure, Message: message, Reason: reason, Code: int32(code),
	})
}
