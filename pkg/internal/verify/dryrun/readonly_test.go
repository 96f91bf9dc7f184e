package dryrun

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// sent is a transport that counts the requests.
type sent int

func (s *sent) RoundTrip(*http.Request) (*http.Response, error) {
	*s++
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// closed is a body that notes that it was closed.
type closed struct {
	io.Reader
	done bool
}

func (c *closed) Close() error {
	c.done = true
	return nil
}

func TestReadOnly(t *testing.T) {
	for _, tt := range []struct {
		name, reason  string
		method, query string
		passes        bool
	}{
		{"get", "it reads", "GET", "", true},
		{"no method", "net/http sends GET", "", "", true},
		{"head", "it reads", "HEAD", "", true},
		{"options", "it reads", "OPTIONS", "", true},
		{"dry patch", "the server stores nothing", "PATCH", "dryRun=All&force=true", true},
		{"dry post", "the server stores nothing", "POST", "dryRun=All", true},
		{"dry put", "the server stores nothing", "PUT", "dryRun=All", true},
		{"dry delete", "the server deletes nothing", "DELETE", "dryRun=All", true},
		{"patch", "it writes", "PATCH", "force=true", false},
		{"post", "it writes", "POST", "", false},
		{"put", "it writes", "PUT", "", false},
		{"delete", "it deletes", "DELETE", "", false},
		{"empty dryRun", "the server would ignore or reject it", "PATCH", "dryRun=", false},
		{"other dryRun", "only All is defined", "PATCH", "dryRun=None", false},
		{"two values", "which one counts is up to the server", "PATCH", "dryRun=All&dryRun=", false},
		{"other case", "parameters are case-sensitive", "PATCH", "dryrun=All", false},
		{"malformed query", "the server may parse it in another way", "PATCH", "dryRun=All;x=%zz", false},
		{"in the fragment", "a fragment is not sent", "PATCH", "#dryRun=All", false},
		{"unknown method", "nothing is known about it", "PURGE", "dryRun=All", false},
		{"lower case", "it is another method", "get", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := &closed{Reader: strings.NewReader("{}")}
			r, err := http.NewRequest(http.MethodGet, "https://example.com/api/v1/namespaces/x/pods/x?"+tt.query, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Method = tt.method
			var next sent
			answer, err := readOnly{&next}.RoundTrip(r)
			if answer != nil {
				_ = answer.Body.Close()
			}
			if passed := err == nil && next == 1; passed != tt.passes {
				t.Errorf("%s: passes is %t, want %t (error %v, %d sent)", tt.reason, passed, tt.passes, err, next)
			}
			if !tt.passes && (next != 0 || !body.done) {
				t.Errorf("refused, but %d sent, body closed %t", next, body.done)
			}
		})
	}
}
