package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// ServeHTTP answers like an API server, in JSON.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.Requests != nil {
		c.serveObserved(w, r)
		return
	}
	c.serve(w, r)
}

// serveObserved serves a request and passes it on.
func (c *Cluster) serveObserved(w http.ResponseWriter, r *http.Request) {
	var account string
	if namespace, name, err := serviceaccount.SplitUsername(r.Header.Get(RemoteUser)); err == nil {
		account = namespace + "/" + name
	}
	recorder := &Recorder{Cluster: http.HandlerFunc(c.serve), Account: account}
	recorder.ServeHTTP(w, r)
	for _, call := range recorder.TakeCalls() {
		c.Requests(call)
	}
}

func (c *Cluster) serve(w http.ResponseWriter, r *http.Request) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	code, answer, err := c.answer(r)
	if err != nil {
		status := StatusOf(err)
		code, answer = int(status.Code), status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(fmt.Sprintf("simulate: an answer does not encode: %v", err)) // unreachable
	}
}

func (c *Cluster) answer(r *http.Request) (int, any, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return 0, nil, fmt.Errorf("reading the body: %w", err)
		}
	}
	req, err := c.Parse(r, body)
	if err != nil {
		return 0, nil, err
	}
	collection := req.Name == ""
	switch {
	case req.method == http.MethodGet && collection:
		return c.serveList(req)
	case req.method == http.MethodGet:
		o, err := c.find(req.key())
		return reply(http.StatusOK, c.InVersion(o, req.Kind), err)
	case req.method == http.MethodPost && collection:
		o, err := c.create(req)
		return reply(http.StatusCreated, o, err)
	case req.method == http.MethodPatch && !collection:
		return c.patch(req)
	case req.method == http.MethodPut && !collection:
		o, err := c.replace(req)
		return reply(http.StatusOK, o, err)
	case req.method == http.MethodDelete && !collection:
		return c.delete(req)
	}
	return 0, nil, apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
}

// reply keeps a typed nil out of the answer.
func reply(code int, o Object, err error) (int, any, error) {
	if err != nil {
		return 0, nil, err
	}
	return code, o.Object, nil
}

// InVersion returns an object as clients of another version read it: without the fields that this does not have.
// There is no conversion by webhooks.
func (c *Cluster) InVersion(o Object, kind Kind) Object {
	if o == nil || o.GroupVersionKind().Version == kind.Version {
		return o
	}
	o = o.DeepCopy()
	o.SetAPIVersion(kind.GroupVersion().String())
	if fields, err := c.schema(kind); err == nil && fields != nil { // an invalid schema is reported when the kind is written
		managed := o.GetManagedFields()
		fields.Prune(o.Object)
		o.SetManagedFields(managed)
	}
	return o
}

func (c *Cluster) serveList(req Request) (int, any, error) {
	selector, err := labels.Parse(req.query.Get("labelSelector"))
	if err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	if req.query.Get("watch") != "" {
		return 0, nil, apierrors.NewBadRequest("this cluster knows no watches")
	}
	among, err := fields.ParseSelector(req.query.Get("fieldSelector"))
	if err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	items := []any{}
	for _, o := range c.List(req.Kind.Resource(), req.Namespace) {
		if selector.Matches(labels.Set(o.GetLabels())) && among.Matches(Fields{o}) {
			items = append(items, itemOf(c.InVersion(o, req.Kind), req.Kind))
		}
	}
	return http.StatusOK, map[string]any{
		"apiVersion": req.Kind.GroupVersion().String(), "kind": req.Kind.Kind + "List",
		"metadata": map[string]any{"resourceVersion": fmt.Sprint(c.version)}, "items": items,
	}, nil
}

// Fields are the fields of an object for a field selector. Unlike the API server, they are
// all fields with texts.
type Fields struct{ Object Object }

// Has implements fields.Fields.
func (f Fields) Has(path string) bool {
	_, found, _ := unstructured.NestedString(f.Object.Object, strings.Split(path, ".")...)
	return found
}

// Get implements fields.Fields.
func (f Fields) Get(path string) string {
	text, _, _ := unstructured.NestedString(f.Object.Object, strings.Split(path, ".")...)
	return text
}

// itemOf returns an object as an item of a list, where those of built-in kinds have no
// apiVersion and kind.
func itemOf(o Object, kind Kind) map[string]any {
	if !kind.Builtin {
		return o.Object
	}
	out := maps.Clone(o.Object)
	delete(out, "apiVersion")
	delete(out, "kind")
	return out
}

// StatusOf returns an error as a Status object.
func StatusOf(err error) metav1.Status {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return status
}
