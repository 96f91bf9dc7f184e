package page

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/argoperator/argoperator/pkg/diag"
)

// TestStream reads the stream as the page does, while something happens.
func TestStream(t *testing.T) {
	s := newServer(t, &project{})
	server := httptest.NewServer(s.http.Handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	lines := bufio.NewScanner(answer.Body)
	// await returns the next message with a name that a function accepts.
	await := func(name string, accept func(fields map[string]any) bool) {
		t.Helper()
		event := ""
		for lines.Scan() {
			if found, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = found
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok || event != name {
				continue
			}
			var fields map[string]any
			if err := json.Unmarshal([]byte(data), &fields); err != nil {
				t.Fatalf("%v: %s", err, data)
			}
			if accept(fields) {
				return
			}
		}
		t.Fatalf("the stream ended without %s: %v", name, lines.Err())
	}
	refuses := func(fields map[string]any) bool {
		switches, _ := fields["switches"].(map[string]any)
		return switches["refuse"] == true
	}

	await("state", func(fields map[string]any) bool { return !refuses(fields) })
	await("queue", func(fields map[string]any) bool { return fields["pending"] == 0.0 })
	s.in.Live.Note("something happened")
	await("record", func(fields map[string]any) bool { return fields["title"] == "something happened" })
	if status, body := send(t, s, "POST /api/action", `{"action":"refuse","on":true}`); status != http.StatusOK {
		t.Fatal(body)
	}
	await("state", refuses)
	s.DefineFindings(diag.List{{Code: diag.YAMLSyntax, Severity: diag.Error, Message: "no YAML"}}, Status{State: Errors})
	await("state", func(fields map[string]any) bool {
		list, _ := fields["findings"].([]any)
		status, _ := fields["definition"].(map[string]any)
		return len(list) == 1 && status["state"] == "errors"
	})
}
