package apiserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// inJSON replaces a body in protobuf, which kubectl sends for some kinds, by JSON.
func inJSON(r *http.Request) error {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) {
		return nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	o, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(data, nil, nil)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	body, err := json.Marshal(o)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set("Content-Type", runtime.ContentTypeJSON)
	return nil
}

// reviews is the path of kubectl auth can-i.
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// review answers whether a user may make a call.
func (s *Server) review(w http.ResponseWriter, r *http.Request, user string) {
	var review authorizationv1.SelfSubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	account, of := accountOf(user)
	about := review.Spec.ResourceAttributes
	review.Status.Allowed = !of
	if of && about != nil {
		review.Status.Allowed = allow(s.granted(), argo.Call{
			Account: account, Verb: about.Verb, Group: about.Group, Resource: strings.TrimSuffix(about.Resource+"/"+about.Subresource, "/"),
			Namespace: about.Namespace, Name: about.Name,
		})
	}
	review.TypeMeta = metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review) // the client may have disconnected
}

// scale reads or sets the number of replicas of an object.
func (s *Server) scale(w http.ResponseWriter, r *http.Request, path string) {
	spec, status, err := s.replicas(r, path)
	if err != nil {
		refuse(w, err)
		return
	}
	out := cluster.NewAnswer(http.Header{})
	if r.Method == http.MethodGet {
		s.cluster.ServeHTTP(out, s.request(r, path, nil))
	} else {
		var wanted autoscalingv1.Scale
		if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
			refuse(w, apierrors.NewBadRequest(err.Error()))
			return
		}
		patch := map[string]any{}
		if err := unstructured.SetNestedField(patch, int64(wanted.Spec.Replicas), spec...); err != nil {
			refuse(w, err)
			return
		}
		s.cluster.ServeHTTP(out, s.request(r, path, patch))
		s.settle()
	}
	body, ok := out.OK()
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &o.Object); !ok || err != nil {
		for name, values := range out.Headers {
			w.Header()[name] = values
		}
		out.Send(w)
		return
	}
	answer := autoscalingv1.Scale{TypeMeta: metav1.TypeMeta{APIVersion: autoscalingv1.SchemeGroupVersion.String(), Kind: "Scale"}}
	answer.Name, answer.Namespace, answer.UID, answer.ResourceVersion = o.GetName(), o.GetNamespace(), o.GetUID(), o.GetResourceVersion()
	answer.Spec.Replicas, answer.Status.Replicas = number(o, spec), number(o, status)
	send(w, answer)
}

func number(o cluster.Object, path []string) int32 {
	n, _, _ := unstructured.NestedInt64(o.Object, path...)
	return int32(n) //nolint:gosec // the API server limits it
}

// replicas returns the paths of the replicas of an object, wanted and present.
func (s *Server) replicas(r *http.Request, path string) (spec, status []string, err error) {
	s.cluster.Mu.Lock()
	defer s.cluster.Mu.Unlock()
	req, err := s.cluster.Parse(s.request(r, path, nil), nil)
	if err != nil {
		return nil, nil, err
	}
	spec, status, ok := req.Kind.Replicas()
	if !ok || req.Name == "" {
		return nil, nil, apierrors.NewNotFound(req.Kind.Resource(), req.Name+"/scale")
	}
	return spec, status, nil
}

// request returns a request for another path on behalf of the same client: a merge patch if there
// are fields.
func (s *Server) request(r *http.Request, path string, fields map[string]any) *http.Request {
	out := r.Clone(r.Context())
	out.URL.Path, out.Method, out.Body = path, http.MethodGet, http.NoBody
	if fields != nil {
		body, _ := json.Marshal(fields) // of a number
		out.Method, out.Body = http.MethodPatch, io.NopCloser(bytes.NewReader(body))
		out.Header.Set("Content-Type", string(types.MergePatchType))
	}
	return out
}
