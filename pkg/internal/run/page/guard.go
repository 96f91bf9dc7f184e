package page

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// contentPolicy allows the page only what comes from this server. The editor inserts style
// elements.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// NewToken returns a token that nobody guesses.
func NewToken() string { return rand.Text() + rand.Text() }

// guard lets only requests of the page through. Another site cannot read the token, a
// name that resolves to this machine (DNS rebinding) is not a local address, and a request
// of another site names its origin.
func guard(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		switch {
		case !isLocal(r.Host):
			http.Error(w, "this server answers only at a local address", http.StatusMisdirectedRequest)
		case !sameOrigin(r):
			http.Error(w, "another site must not use this server", http.StatusForbidden)
		case !authorised(token, r):
			http.Error(w, "the address has no valid token: use the one that argoperator dev printed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLocal reports whether a Host header names this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost"
}

// sameOrigin reports whether a request comes from this page, or from no page.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none" || r.URL.Path == "/" && r.Method == http.MethodGet
}

// authorised reports whether a request has the token: in its address for the page itself,
// in a header, which no other site can set, for everything with data. The files of the
// page have no data.
func authorised(token string, r *http.Request) bool {
	given := ""
	switch {
	case r.URL.Path == "/":
		given = r.URL.Query().Get("token")
	case strings.HasPrefix(r.URL.Path, "/api/"):
		given, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	default:
		return r.Method == http.MethodGet
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}
