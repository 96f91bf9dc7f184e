package testsuite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// rejecting wraps the API server and rejects some writes.
type rejecting struct {
	s     *simulate.Simulation
	api   http.Handler
	mu    sync.Mutex
	rules []v1alpha1.Refuse
	left  []int32 // remaining refusals by rule; negative: unlimited
}

// refusals returns the wrapper for rules, or nil without rules.
func refusals(s *simulate.Simulation, rules []v1alpha1.Refuse) func(http.Handler) http.Handler {
	if len(rules) == 0 {
		return nil
	}
	r := &rejecting{s: s, rules: rules}
	for _, rule := range rules {
		times := int32(-1)
		if rule.Times != nil {
			times = *rule.Times
		}
		r.left = append(r.left, times)
	}
	return func(api http.Handler) http.Handler {
		r.api = api
		return r
	}
}

func (r *rejecting) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	rule, refused := r.refuse(req)
	if !refused {
		r.api.ServeHTTP(w, req)
		return
	}
	code := cmp.Or(rule.Code, http.StatusForbidden)
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reasonOf(code),
		Message: cmp.Or(rule.Message, fmt.Sprintf("the test refuses to write %s", rule.Kind)),
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(status) // the client may have disconnected
}

// refuse returns the first rule that matches a request.
func (r *rejecting) refuse(req *http.Request) (v1alpha1.Refuse, bool) {
	parts, ok := r.s.RequestInfo(req)
	if !ok || req.Method == http.MethodGet {
		return v1alpha1.Refuse{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, rule := range r.rules {
		if rule.Kind != parts.Kind || rule.Name != "" && rule.Name != parts.Name || rule.Status != (parts.Subresource == "status") ||
			r.left[i] == 0 {
			continue
		}
		if r.left[i] > 0 {
			r.left[i]--
		}
		return rule, true
	}
	return v1alpha1.Refuse{}, false
}

// reasonOf returns the status reason of a code.
func reasonOf(code int32) metav1.StatusReason {
	return map[int32]metav1.StatusReason{
		http.StatusBadRequest: metav1.StatusReasonBadRequest, http.StatusForbidden: metav1.StatusReasonForbidden,
		http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusConflict: metav1.StatusReasonConflict,
		http.StatusUnprocessableEntity: metav1.StatusReasonInvalid, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	}[code]
}
