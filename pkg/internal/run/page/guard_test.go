package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	const (
		token = "SECRET"
		ours  = "127.0.0.1:8000"
	)
	bearer := http.Header{"Authorization": {"Bearer " + token}}
	with := func(name, value string) http.Header {
		out := bearer.Clone()
		out.Set(name, value)
		return out
	}
	tests := []struct {
		name, method, host, path string
		header                   http.Header
		want                     int
	}{
		{name: "the page with its token", path: "/?token=" + token, want: 200},
		{name: "the page without a token", path: "/", want: 401},
		{name: "the page with another token", path: "/?token=SECRE", want: 401},
		{name: "the page with an empty token", path: "/?token=", want: 401},
		{name: "the page opened from another site", path: "/?token=" + token, header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, want: 200},
		{name: "the page from a bookmark", path: "/?token=" + token, header: http.Header{"Sec-Fetch-Site": {"none"}}, want: 200},
		{name: "the page sent by a form of another site", method: http.MethodPost, path: "/?token=" + token, header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, want: 403},
		{name: "a file of the page", path: "/page.js", want: 200},
		{name: "a file of the page for another site", path: "/page.js", header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, want: 403},
		{name: "a change of a file of the page", method: http.MethodPut, path: "/page.js", want: 401},
		{name: "data with the token", path: "/api/files", header: bearer, want: 200},
		{name: "data without a token", path: "/api/files", want: 401},
		{name: "data with the token in the address", path: "/api/files?token=" + token, want: 401},
		{name: "data with the token of another scheme", path: "/api/files", header: http.Header{"Authorization": {"Basic " + token}}, want: 401},
		{name: "data by an encoded path", path: "/%61pi/files", want: 401},
		{name: "data for this origin", path: "/api/files", header: with("Origin", "http://"+ours), want: 200},
		{name: "data for another origin", path: "/api/files", header: with("Origin", "http://evil.example.com"), want: 403},
		{name: "data for another port", path: "/api/files", header: with("Origin", "http://127.0.0.1:9000"), want: 403},
		{name: "data for another scheme", path: "/api/files", header: with("Origin", "https://"+ours), want: 403},
		{name: "data for no origin", path: "/api/files", header: with("Origin", "null"), want: 403},
		{name: "data for the same site", path: "/api/files", header: with("Sec-Fetch-Site", "same-site"), want: 403},
		{name: "localhost", host: "localhost:8000", path: "/page.js", want: 200},
		{name: "the address of IPv6", host: "[::1]:8000", path: "/page.js", want: 200},
		{name: "a host without a port", host: "127.0.0.1", path: "/page.js", want: 200},
		{name: "a foreign host", host: "evil.example.com:8000", path: "/page.js", want: 421},
		{name: "a host that begins like ours", host: "127.0.0.1.example.com:8000", path: "/page.js", want: 421},
		{name: "a host that ends like ours", host: "evil.localhost:8000", path: "/page.js", want: 421},
		{name: "an address of the network", host: "192.168.0.1:8000", path: "/page.js", want: 421},
		{name: "the address of all interfaces", host: "0.0.0.0:8000", path: "/page.js", want: 421},
		{name: "a foreign host with the token", host: "evil.example.com:8000", path: "/api/files", header: bearer, want: 421},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reached := false
			handler := guard(token, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			method, host := test.method, test.host
			if method == "" {
				method = http.MethodGet
			}
			if host == "" {
				host = ours
			}
			r := httptest.NewRequest(method, test.path, nil)
			r.Host = host
			for name, values := range test.header {
				r.Header[name] = values
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("status %d, want %d", w.Code, test.want)
			}
			if passed := test.want == http.StatusOK; reached != passed {
				t.Errorf("reached the server: %v, want %v", reached, passed)
			}
			if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
				t.Error("the answer has no content policy")
			}
		})
	}
}

func TestTokensDiffer(t *testing.T) {
	if one, other := NewToken(), NewToken(); one == other || len(one) < 40 {
		t.Errorf("%s and %s", one, other)
	}
}
