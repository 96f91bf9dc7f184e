package differential

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// paths parses the paths of requests as the API server does.
var paths = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// checkRights notes a request of the operator that its roles do not allow: the API server
// in memory allows every request.
func (w *world) checkRights(call cluster.Call) {
	namespace, name, ofOperator := strings.Cut(call.Account, "/")
	at, err := url.Parse(call.Path)
	if !ofOperator || err != nil {
		return
	}
	info, err := paths.NewRequestInfo(&http.Request{Method: call.Method, URL: at})
	if err != nil || !info.IsResourceRequest {
		return
	}
	w.checkPause(call, info.APIGroup, info.Resource)
	resource := strings.TrimSuffix(info.Resource+"/"+info.Subresource, "/")
	verbs := []string{info.Verb}
	if call.Status == http.StatusCreated && call.Method == http.MethodPatch { // an apply of a new object
		verbs = append(verbs, "create")
	}
	for _, verb := range verbs {
		c := argo.Call{
			Account: argo.Account{Namespace: namespace, Name: name}, Verb: verb, Group: info.APIGroup, Resource: resource,
			Namespace: info.Namespace, Name: info.Name,
		}
		if !slices.ContainsFunc(w.grants, func(g argo.Grant) bool { return g.Allows(c) }) {
			w.forbidden = append(w.forbidden, fmt.Sprintf("%s may not %s %s %s/%s: %s %s",
				call.Account, verb, argo.Qualified(c.Group, resource), c.Namespace, c.Name, call.Method, call.Path))
		}
	}
}
