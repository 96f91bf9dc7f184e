// Package dryrun asks the API server of the kubeconfig whether it would accept
// objects. It sends them as server-side apply dry runs, so the server validates them
// and runs its admission policies, webhooks and quotas, and stores nothing.
//
// The rule of this package: it never writes. Every request passes a transport that
// refuses every other request than reads and dry runs.
package dryrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// timeout limits each request. An admission webhook may take up to 30 seconds.
const timeout = 40 * time.Second

// Client is a connection to an API server.
type Client struct {
	// Namespace is that of the kubeconfig's context, else "default".
	Namespace string

	objects   dynamic.Interface
	discovery rest.Interface
}

// ConnectionError means that the API server was not reached, or that it does not know
// the user. The message says why.
type ConnectionError struct{ message, hint string }

func (e *ConnectionError) Error() string { return e.message }

// Hint returns what to do about it.
func (e *ConnectionError) Hint() string { return e.hint }

const checkCluster = "check the kubeconfig and its context: kubectl cluster-info"

// Connect connects to the API server that kubectl would use: that of the current
// context in the files of $KUBECONFIG, or in ~/.kube/config. Every failure except the
// end of the context is a [ConnectionError].
func Connect(ctx context.Context) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false // the error below says it
	kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	config, err := kubeconfig.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, &ConnectionError{
			"no cluster is configured in " + strings.Join(rules.GetLoadingPrecedence(), " or "),
			"set the environment variable KUBECONFIG to a kubeconfig",
		}
	}
	var namespace string
	if err == nil {
		namespace, _, err = kubeconfig.Namespace()
	}
	var c *Client
	if err == nil {
		c, err = newClient(config, namespace)
	}
	if err != nil {
		return nil, &ConnectionError{"the kubeconfig cannot be used: " + err.Error(), checkCluster}
	}
	if err := c.ping(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

func newClient(config *rest.Config, namespace string) (*Client, error) {
	config.Timeout = timeout
	config.QPS = -1 // maxConcurrent limits the requests
	config.UserAgent = "argoperator"
	config.WarningHandlerWithContext = collector{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Client{Namespace: namespace, objects: objects, discovery: found.RESTClient()}, nil
}

// ping checks that the API server answers and knows the user.
func (c *Client) ping(ctx context.Context) error {
	_, err := c.discovery.Get().AbsPath("/version").Do(ctx).Raw()
	if err == nil || apierrors.IsForbidden(err) {
		return nil
	}
	return broken(ctx, err)
}

// broken returns an error of the connection. An answer that says something about an
// object is none: broken returns nil for it.
func broken(ctx context.Context, err error) error {
	switch status := apierrors.APIStatus(nil); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsUnauthorized(err):
		return &ConnectionError{"the API server rejects the credentials of the kubeconfig: " + err.Error(), "kubectl auth whoami"}
	case errors.As(err, &status):
		return nil
	}
	return &ConnectionError{"the API server of the kubeconfig does not respond: " + err.Error(), checkCluster}
}

// warningsKey is the key of a context's *warnings.
type warningsKey struct{}

// warnings are the warnings in the answer to one request.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// collector adds the server's warnings to those of the request's context.
type collector struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (collector) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const miscellaneous = 299 // the code of the API server's warnings
	if w, ok := ctx.Value(warningsKey{}).(*warnings); ok && code == miscellaneous && text != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = append(w.list, text)
	}
}

// errWrites is the refusal to send a request that writes.
func errWrites(r *http.Request) error {
	return fmt.Errorf("%s %s is not a dry run and was not sent: this is a defect of argoperator, please report it", r.Method, r.URL.Path)
}
