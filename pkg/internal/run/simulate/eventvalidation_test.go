package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// TestEventValidation checks that the cluster accepts the same Events as an API
// server, each name once.
func TestEventValidation(t *testing.T) {
	const (
		about  = `"involvedObject": {"namespace": "default", "name": "a"}, `
		timely = `"eventTime": "2026-01-01T00:00:00.000000Z", `
		whole  = about + timely + `"reportingComponent": "web", "reportingInstance": "w", "action": "a", "reason": "r"`
	)
	for _, tt := range []struct {
		name, reason, namespace, fields string
		code                            int
	}{
		{"whole", "it is taken", "default", whole, 201},
		{"again", "there is one of this name", "default", whole, 409},
		{"old", "without eventTime little is asked", "default", about + `"message": "m"`, 201},
		{"old-elsewhere", "it has to be where its object is", "other", about + `"message": "m"`, 422},
		{"elsewhere", "in the new form it may be anywhere", "other", whole, 201},
		{"nobody", "Events of cluster-scoped objects are in default", "default", strings.Replace(whole, `"namespace": "default", `, "", 1), 201},
		{"nobody-elsewhere", "and nowhere else", "other", strings.Replace(whole, `"namespace": "default", `, "", 1), 422},
		{"seconds", "the time has microseconds", "default", strings.Replace(whole, ".000000Z", "Z", 1), 400},
		{"reporter", "somebody must report", "default", strings.Replace(whole, `"web"`, `""`, 1), 422},
		{"instance", "and be called something", "default", strings.Replace(whole, `"w"`, `""`, 1), 422},
		{"action", "it must be of something done", "default", strings.Replace(whole, `"action": "a"`, `"action": ""`, 1), 422},
		{"reason", "for a reason", "default", strings.Replace(whole, `"r"`, `""`, 1), 422},
		{"word", "that is short", "default", strings.Replace(whole, `"r"`, `"`+strings.Repeat("r", 129)+`"`, 1), 422},
		{"text", "1024 bytes are taken", "default", whole + `, "message": "` + strings.Repeat("ü", 512) + `"`, 201},
		{"long", "and no more", "default", whole + `, "message": "` + strings.Repeat("ü", 513) + `"`, 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster.NewCluster(nil, cluster.Ticks())
			body := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, %s}`, tt.fields)
			path := "/api/v1/namespaces/" + tt.namespace + "/events"
			if tt.name == "again" {
				ask(t, c, "POST", path, "application/json", body)
			}
			if code, answer := ask(t, c, "POST", path, "application/json", body); code != tt.code {
				t.Errorf("%s: %d, want %d: %v", tt.reason, code, tt.code, answer["message"])
			}
		})
	}
}
