package differential

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// setRights takes the rights of the operator from its manifests.
func (w *world) setRights(objects []manifest.Object) {
	w.grants = argo.GrantsOf(argo.NewObjects(objects))
}

// checkRights notes a request of the operator that its roles do not allow: the API server
// of a simulation allows every request.
func (w *world) checkRights(call cluster.Call) {
	namespace, name, ofOperator := strings.Cut(call.Account, "/")
	at, err := url.Parse(call.Path)
	if !ofOperator || err != nil {
		return
	}
	calls := argo.Requested(argo.Account{Namespace: namespace, Name: name}, call.Method, at, call.Status == http.StatusCreated)
	for i, c := range calls {
		if i == 0 {
			resource, _, _ := strings.Cut(c.Resource, "/")
			w.checkPause(call, c.Group, resource)
		}
		if !slices.ContainsFunc(w.grants, func(g argo.Grant) bool { return g.Allows(c) }) {
			w.forbidden = append(w.forbidden, fmt.Sprintf("%s may not %s %s %s/%s: %s %s",
				call.Account, c.Verb, argo.Qualified(c.Group, c.Resource), c.Namespace, c.Name, call.Method, call.Path))
		}
	}
}
