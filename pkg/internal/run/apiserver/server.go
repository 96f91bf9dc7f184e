// Package apiserver serves an API server in memory over HTTP, with discovery, watches, tables
// and permissions, so that kubectl and client-go work with it.
//
// The rule of this package: what it cannot do it refuses, in a sentence for users of kubectl.
package apiserver

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Options of Start.
type Options struct {
	// Ready returns the status that the controllers of Kubernetes give to an object; nil for an
	// object that has none. A nil Ready means that no controller runs.
	Ready func(fields map[string]any) map[string]any
}

// Server is a running API server.
type Server struct {
	kubeconfig string // file
	config     *rest.Config

	options Options
	token   string
	dir     string
	http    *http.Server
	ended   chan struct{} // closed when it serves no longer
	err     error         // why, if nobody stopped it

	cluster *cluster.Cluster
	mu      sync.Mutex // of what follows, while the controllers work
	grants  []argo.Grant
	defined []*apiextensionsv1.CustomResourceDefinition // with the versions that are served
	log     changeLog
}

// Start starts an API server on a free port of this machine. Only the holder of the token in
// its kubeconfig may use it.
func Start(o Options) (*Server, error) {
	s := newServer(o)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil) // kubectl sends no token without TLS
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.config = &rest.Config{
		Host: "https://" + listener.Addr().String(), BearerToken: s.token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: certificate},
	}
	if err := s.writeKubeconfig(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		defer close(s.ended)
		if err := s.http.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	return s, nil
}

// newServer returns a server with the namespaces of a new cluster.
func newServer(o Options) *Server {
	s := &Server{
		options: o, token: rand.Text(), ended: make(chan struct{}), cluster: cluster.NewCluster(nil, time.Now),
		log: changeLog{more: make(chan struct{})},
	}
	s.cluster.NewUID = func(int) types.UID { return uuid.NewUUID() }
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic} {
		s.write(http.MethodPost, "/api/v1/namespaces", map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
		})
	}
	s.cluster.Strict = true
	s.settle()
	return s
}

func (s *Server) writeKubeconfig() error {
	var err error
	if s.dir, err = os.MkdirTemp("", "argoperator-dev-"); err != nil {
		return err
	}
	s.kubeconfig = filepath.Join(s.dir, "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["dev"] = &clientcmdapi.Cluster{Server: s.config.Host, CertificateAuthorityData: s.config.CAData}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: s.token}
	config.Contexts["dev"] = &clientcmdapi.Context{Cluster: "dev", AuthInfo: "admin"}
	config.CurrentContext = "dev"
	return clientcmd.WriteToFile(*config, s.kubeconfig)
}

// Access returns the kubeconfig of the administrator, as a file and for client-go.
func (s *Server) Access() (kubeconfig string, config *rest.Config) { return s.kubeconfig, s.config }

// Ended is closed when the server has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Err returns why the server ended.
func (s *Server) Err() error { return fmt.Errorf("the API server ended: %w", s.err) }

// Stop ends the server and removes its kubeconfig.
func (s *Server) Stop() error { return errors.Join(s.http.Close(), os.RemoveAll(s.dir)) }

// ServeHTTP answers a client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, err := s.userOf(r)
	if err != nil {
		refuse(w, err)
		return
	}
	if answer, known := s.discovery(r.URL.Path); known {
		send(w, answer)
		return
	}
	if err := s.permitted(user, r); err != nil {
		refuse(w, err)
		return
	}
	if err := errors.Join(impossible(r.URL.Path), inJSON(r)); err != nil {
		refuse(w, err)
		return
	}
	r.Header.Set(cluster.RemoteUser, user)
	if r.URL.Path == reviews {
		s.review(w, r, user)
		return
	}
	if path, ok := strings.CutSuffix(r.URL.Path, "/scale"); ok {
		s.scale(w, r, path)
		return
	}
	asked := r.URL.Query()
	if watch := asked.Get("watch"); r.Method == http.MethodGet && watch != "" && watch != "false" && watch != "0" {
		s.watch(w, r, asked)
		return
	}
	s.answer(w, r)
}

// userOf returns the name of the client: "" for the user of the kubeconfig, who may act as a
// service account.
func (s *Server) userOf(r *http.Request) (string, error) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return "", apierrors.NewUnauthorized("Unauthorized")
	}
	return r.Header.Get("Impersonate-User"), nil
}

// impossible returns why there is no answer to a request that needs containers.
func impossible(path string) error {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 7 || parts[4] != "pods" || !slices.Contains([]string{"log", "exec", "attach", "portforward"}, parts[6]) {
		return nil
	}
	return apierrors.NewBadRequest("argoperator dev runs no containers, and so has no logs of them and no processes in them; " +
		"the programs of an operator run on this machine, and the page shows what they print")
}

// answer passes a request on to the cluster, and lets the controllers work before the client
// has the answer.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	out := cluster.NewAnswer(w.Header())
	s.cluster.ServeHTTP(out, r)
	if r.Method != http.MethodGet {
		s.settle()
	}
	if body, ok := out.OK(); ok && wantsTable(r) {
		table, err := s.tableOf(body)
		if err != nil {
			refuse(w, err)
			return
		}
		send(w, table)
		return
	}
	out.Send(w)
}

// write sends a request of a controller.
func (s *Server) write(method, path string, fields map[string]any) {
	body, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("apiserver: fields do not encode: %v", err)) // unreachable
	}
	r, err := http.NewRequestWithContext(context.Background(), method, path, strings.NewReader(string(body)))
	if err != nil {
		panic(fmt.Sprintf("apiserver: %s is no path: %v", path, err)) // unreachable
	}
	r.Header.Set("User-Agent", controllerManager)
	r.Header.Set("Content-Type", string(types.MergePatchType))
	s.cluster.ServeHTTP(cluster.NewAnswer(http.Header{}), r) // an object that is gone needs no status
}

// path returns the path of an object, or of a subresource of it.
func (s *Server) path(o cluster.Object, subresource string) string {
	path := s.cluster.Kind(o.GroupVersionKind()).Path(o.GetNamespace(), o.GetName())
	return strings.TrimSuffix(path+"/"+subresource, "/")
}

// accountOf returns the service account that a user is; false: it is a person.
func accountOf(user string) (argo.Account, bool) {
	namespace, name, err := serviceaccount.SplitUsername(user)
	return argo.Account{Namespace: namespace, Name: name}, err == nil
}

// permitted returns why a service account may not make a request.
func (s *Server) permitted(user string, r *http.Request) error {
	account, of := accountOf(user)
	if !of || r.URL.Path == reviews {
		return nil
	}
	grants := s.granted()
	creates := r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType) && !s.has(r)
	for _, c := range argo.Requested(account, r.Method, r.URL, creates) {
		if allow(grants, c) {
			continue
		}
		why := fmt.Sprintf("User %q cannot %s resource %q in API group %q", user, c.Verb, c.Resource, c.Group)
		if c.Namespace == "" {
			why += " at the cluster scope"
		} else {
			why += fmt.Sprintf(" in the namespace %q", c.Namespace)
		}
		plural, _, _ := strings.Cut(c.Resource, "/")
		return apierrors.NewForbidden(schema.GroupResource{Group: c.Group, Resource: plural}, c.Name, errors.New(why))
	}
	return nil
}

// granted returns what roles grant to service accounts.
func (s *Server) granted() []argo.Grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grants
}

func allow(grants []argo.Grant, c argo.Call) bool {
	return slices.ContainsFunc(grants, func(g argo.Grant) bool { return g.Allows(c) })
}

// has reports whether the object of a request is there.
func (s *Server) has(r *http.Request) bool {
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	req, err := s.cluster.Parse(r, nil)
	return err == nil && s.cluster.Objects[cluster.Key{GroupResource: req.Kind.Resource(), Namespace: req.Namespace, Name: req.Name}] != nil
}

// send sends an answer.
func send(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may have disconnected
}

// refuse sends an error.
func refuse(w http.ResponseWriter, err error) {
	status := cluster.StatusOf(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // as above
}
