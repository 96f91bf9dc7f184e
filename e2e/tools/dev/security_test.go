package dev

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// address is the parts of the page's URL.
func (s *session) address() (origin, token string) {
	s.t.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	return "http://" + u.Host, u.Query().Get("token")
}

// TestWhoMayUseThePage sends requests as programs, other sites and other machines would.
func TestWhoMayUseThePage(t *testing.T) {
	s := start(t, "-f", memcached)
	origin, token := s.address()
	port := origin[strings.LastIndex(origin, ":")+1:]
	bearer := "Bearer " + token
	tests := []struct {
		name, method, path string
		header             map[string]string
		host               string
		want               int
	}{
		{name: "the page", path: "/?token=" + token, want: 200},
		{name: "the page at localhost", path: "/?token=" + token, host: "localhost:" + port, want: 200},
		{name: "the page from a link of another site", path: "/?token=" + token, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: 200},
		{name: "the page without a token", path: "/", want: 401},
		{name: "the page with a wrong token", path: "/?token=" + token[1:], want: 401},
		{name: "a script, which has no data", path: "/page.js", want: 200},
		{name: "data", path: "/api/files", header: map[string]string{"Authorization": bearer}, want: 200},
		{name: "data for the page itself", path: "/api/files", header: map[string]string{"Authorization": bearer, "Origin": origin, "Sec-Fetch-Site": "same-origin"}, want: 200},
		{name: "data without a token", path: "/api/files", want: 401},
		{name: "data with a wrong token", path: "/api/files", header: map[string]string{"Authorization": bearer + "A"}, want: 401},
		{name: "data with the token of another scheme", path: "/api/files", header: map[string]string{"Authorization": "Basic " + token}, want: 401},
		{name: "data with the token in the address", path: "/api/files?token=" + token, want: 401},
		{name: "data with the token in a cookie", path: "/api/files", header: map[string]string{"Cookie": "token=" + token}, want: 401},
		{name: "the stream with the token in the address", path: "/api/stream?token=" + token, want: 401},
		{name: "data by another spelling of the path", path: "/%61pi/files", want: 401},
		{name: "data for another origin", path: "/api/files", header: map[string]string{"Authorization": bearer, "Origin": "http://evil.example.com"}, want: 403},
		{name: "data for another port", path: "/api/files", header: map[string]string{"Authorization": bearer, "Origin": "http://127.0.0.1:1"}, want: 403},
		{name: "data for a sandboxed frame", path: "/api/files", header: map[string]string{"Authorization": bearer, "Origin": "null"}, want: 403},
		{name: "data for another site", path: "/api/files", header: map[string]string{"Authorization": bearer, "Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "data for another port of this machine", path: "/api/files", header: map[string]string{"Authorization": bearer, "Sec-Fetch-Site": "same-site"}, want: 403},
		{name: "the page at a foreign name", path: "/?token=" + token, host: "evil.example.com:" + port, want: 421},
		{name: "a script at a foreign name", path: "/page.js", host: "evil.example.com:" + port, want: 421},
		{name: "data at a foreign name", path: "/api/files", header: map[string]string{"Authorization": bearer}, host: "evil.example.com:" + port, want: 421},
		{name: "data at a name that begins like ours", path: "/api/files", header: map[string]string{"Authorization": bearer}, host: "127.0.0.1.evil.example.com:" + port, want: 421},
		{name: "data at an address of the network", path: "/api/files", header: map[string]string{"Authorization": bearer}, host: "192.168.1.10:" + port, want: 421},
		{name: "a change without a token", method: http.MethodPost, path: "/api/delete", want: 401},
		{name: "a change by a form", method: http.MethodPost, path: "/api/delete", header: map[string]string{"Content-Type": "text/plain", "Origin": "http://evil.example.com"}, want: 403},
		{name: "a preflight request", method: http.MethodOptions, path: "/api/files", header: map[string]string{"Origin": "http://evil.example.com", "Access-Control-Request-Headers": "authorization"}, want: 403},
		{name: "a file outside of the page", path: "/../go.mod", want: 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			method := test.method
			if method == "" {
				method = http.MethodGet
			}
			r, err := http.NewRequestWithContext(t.Context(), method, origin+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = test.host
			for name, value := range test.header {
				r.Header.Set(name, value)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != test.want {
				t.Errorf("%s, want %d\n%s", answer.Status, test.want, body)
			}
			if strings.Contains(string(body), token) {
				t.Error("the answer has the token")
			}
			checkHeaders(t, answer.Header)
			if got := answer.Header.Get("Cache-Control"); test.want == http.StatusOK && got != "no-store" {
				t.Errorf("Cache-Control: %q, want no-store", got)
			}
		})
	}
}

// checkHeaders checks what every answer tells the browser.
func checkHeaders(t *testing.T, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the content policy %q has no %q", policy, want)
		}
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := h.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("other origins may read the answer: %q", got)
	}
}

// TestListensLocally asks for the page at the other addresses of this machine.
func TestListensLocally(t *testing.T) {
	s := start(t, "-f", memcached)
	origin, _ := s.address()
	port := origin[strings.LastIndex(origin, ":")+1:]
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.Equal(net.IPv4(127, 0, 0, 1)) || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		if c, err := net.Dial("tcp", net.JoinHostPort(ip.IP.String(), port)); err == nil {
			c.Close()
			t.Errorf("the page is at %s too", ip.IP)
		}
	}
}

// attack is a page of another site that knows the address of argoperator dev, and even the
// token. It collects what it can read.
const attack = `<!doctype html><meta charset=utf-8><title>attack</title><body><script>
const target = %ORIGIN%, token = %TOKEN%;
window.read = [];
const attempt = async (name, path, init) => {
  try {
    const answer = await fetch(target + path, {credentials: 'include', ...init});
    if (answer.type !== 'opaque') window.read.push(name + ': ' + answer.status + ' ' + (await answer.text()).slice(0, 80));
  } catch { /* the browser keeps the answer from us */ }
};
const loaded = (name, element, source) => new Promise((done) => {
  element.onload = () => { window.read.push(name + ' loaded'); done(); };
  element.onerror = () => done();
  element.src = source;
  document.body.append(element);
});
const stream = (source) => new Promise((done) => {
  const events = new EventSource(source, {withCredentials: true});
  const end = (text) => () => { if (text) window.read.push(text); events.close(); done(); };
  events.onopen = end('stream opened');
  events.addEventListener('state', end('stream read'));
  events.onerror = end('');
});
const framed = (source) => new Promise((done) => {
  const frame = document.createElement('iframe');
  frame.onload = () => {
    try { if (frame.contentDocument.body.textContent) window.read.push('frame read'); } catch { /* another origin */ }
    done();
  };
  frame.src = source;
  document.body.append(frame);
});
const posted = (path, text) => new Promise((done) => {
  const frame = document.createElement('iframe');
  frame.name = 'f' + Math.random();
  document.body.append(frame);
  const form = document.createElement('form');
  Object.assign(form, {method: 'post', action: target + path, encoding: 'text/plain', target: frame.name});
  const input = document.createElement('input');
  input.name = text.slice(0, -1) + ',"x":"'; // the body is NAME=VALUE, which is JSON
  input.value = '"}';
  form.append(input);
  document.body.append(form);
  frame.onload = () => done();
  form.submit();
});
const change = JSON.stringify({apiVersion: 'cache.example.com/v1alpha1', kind: 'Memcached', namespace: 'default', name: 'web'});
const turn = JSON.stringify({action: 'refuse', on: true});
(async () => {
  await attempt('files', '/api/files');
  await attempt('files with the token', '/api/files', {headers: {Authorization: 'Bearer ' + token}});
  await attempt('the page', '/?token=' + token);
  await attempt('deletion', '/api/delete', {method: 'POST', body: change, mode: 'no-cors'});
  await attempt('deletion with the token', '/api/delete', {method: 'POST', body: change, headers: {Authorization: 'Bearer ' + token}});
  await attempt('switch', '/api/action', {method: 'POST', body: turn, mode: 'no-cors'});
  await posted('/api/delete', change);
  await posted('/api/action', turn);
  await loaded('image', new Image(), target + '/api/files');
  await loaded('script', document.createElement('script'), target + '/page.js');
  await stream(target + '/api/stream?token=' + token);
  await framed(target + '/?token=' + token);
  window.finished = true;
})();
</script>`

// TestAnotherSite opens a page of another origin in the same browser. It must neither read
// nor change anything.
func TestAnotherSite(t *testing.T) {
	s := start(t, "-f", memcached)
	s.kubectlIn(resource("web", "{size: 1}"), "apply", "-f", "-")
	s.ready("memcached/web")
	origin, token := s.address()
	text := strings.NewReplacer("%ORIGIN%", `"`+origin+`"`, "%TOKEN%", `"`+token+`"`).Replace(attack)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	}))
	defer site.Close()

	chromium := newBrowser(t)
	p := chromium.open(s.url)
	p.sees("[data-test=connection]", "Connected")
	uid := value[string](p, "all(%s)[0]?.dataset.uid ?? ''", object("Memcached", "web"))
	for _, address := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)} {
		other := chromium.open(address)
		other.expectErrors = true // the browser reports what it prevents
		other.until("the end of the attack", "window.finished")
		if read := value[[]string](other, "window.read"); len(read) > 0 {
			t.Errorf("the page at %s got: %s", address, strings.Join(read, "; "))
		}
	}
	p.show()
	p.sees("[data-test=switch-refuse][aria-checked=false]")
	p.until("the same Memcached", "all(%s)[0]?.dataset.uid === %s", object("Memcached", "web"), uid)
	if out := s.kubectl("get", "memcached", "web", "-o", "jsonpath={.metadata.deletionTimestamp}"); out != "" {
		t.Errorf("the Memcached was deleted at %s", out)
	}
}

// TestHostileTexts creates objects whose texts are HTML, scripts and escape sequences of
// terminals.
func TestHostileTexts(t *testing.T) {
	s := start(t, "-f", memcached)
	p := newBrowser(t).open(s.url)
	p.sees("[data-test=connection]", "Connected")
	hostile := `{
  "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
  "metadata": {"name": "hostile", "annotations": {
    "example.com/html": "<img src=x onerror=\"window.hacked = 1\"></script><script>window.hacked = 1</script>",
    "example.com/escape": "\u001b]0;hacked\u0007\u001b[31mred\u009b32mgreen"
  }},
  "spec": {"size": 1}
}`
	s.kubectlIn(hostile, "create", "-f", "-")
	status := `{"status": {"conditions": [{"type": "Hostile", "status": "False", "reason": "Hostile", "lastTransitionTime": "2026-01-01T00:00:00Z",
  "message": "<img src=x onerror=\"window.hacked = 1\"></script><svg onload=\"window.hacked = 1\"> \u001b[2J\u001b]8;;http://evil.example.com\u0007"}]}}`
	s.ready("memcached/hostile")
	s.kubectl("patch", "memcached", "hostile", "--subresource=status", "--type=merge", "-p", status)
	event := `{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "hostile.1", "namespace": "default"}, "type": "Warning", "reason": "<b>Hostile</b>",
  "message": "<img src=x onerror=\"window.hacked = 1\"> \u001b[31m", "involvedObject": {"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
  "namespace": "default", "name": "hostile", "uid": "` + s.kubectl("get", "memcached", "hostile", "-o", "jsonpath={.metadata.uid}") + `"}}`
	s.kubectlIn(event, "create", "-f", "-")

	p.click(object("Memcached", "hostile"))
	p.sees("[data-test=details] .condition", "<img src=x onerror")
	p.click("[data-test=timeline-row].type-event", "ADD Memcached hostile")
	p.click("[data-test=details] [data-test=json] summary", "annotations")
	p.sees("[data-test=details] [data-test=json]", "<img src=x onerror", "hacked")
	p.click(object("Memcached", "hostile"))
	p.click("[data-test=edit-object]")
	p.until("the YAML", "("+editorView+")?.state.doc.toString().includes('onerror')")
	p.click("[data-test=doc-object]", "Memcached hostile")

	// what a definition says of itself, in the graph and the findings
	p.click("[data-test=doc-file]")
	p.until("the definition", "("+editorView+")?.state.doc.toString().includes('kind: Operator')")
	p.replace("- name: deployment", `- name: "<img src=x onerror='window.hacked=1'>"`)
	p.sees("[data-test=finding]", "<img src=x")

	if injected := value[[]string](p, `[...document.querySelectorAll('img, script:not([src]), [onerror], [onload], b')].map((e) => e.outerHTML)`); len(injected) > 0 {
		t.Errorf("the page has foreign elements: %s", strings.Join(injected, "\n"))
	}
	if value[bool](p, "'hacked' in window") {
		t.Error("a foreign script ran")
	}
	for _, r := range s.said() {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			t.Errorf("the log has the control character %q:\n%q", r, s.said())
			break
		}
	}
}

// TestHostileGraph gives the page a drawing with more than a drawing needs. The server
// draws it from the definition, which can be somebody else's.
func TestHostileGraph(t *testing.T) {
	s := start(t, "-f", memcached)
	p := newBrowser(t).open(s.url)
	p.sees("#graph [data-node]")
	p.expectErrors = true // the browser reports the handlers that it reads, and does not run them
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" onload="window.hacked = 1" style="background: url(http://evil.example.com)">
<style>@import "http://evil.example.com"</style><script>window.hacked = 1</script>
<a href="javascript:window.hacked = 1"><text>link</text></a>
<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="window.hacked = 1"/></foreignObject>
<image href="http://evil.example.com"/><use x:href="#a"/><animate attributeName="d" onbegin="window.hacked = 1"/>
<g class="node" data-node="a" tabindex="0"><rect width="1" height="1" fill="url(http://evil.example.com)"/><text x="1">name</text></g>
<path d="M0 0L1 1" marker-end="url(#arrow)" marker-start="url(http://evil.example.com)"/></svg>`
	got := value[string](p, `import('/graph.js').then(({parseGraph}) => {
  const svg = parseGraph(%s);
  document.body.append(svg);
  return svg.outerHTML.replace(/\s*\n\s*/g, '').replace(/ xmlns(:x)?="[^"]*"/g, '');
})`, svg)
	want := `<svg viewBox="0 0 9 9"><g class="node" data-node="a"><rect width="1" height="1"></rect><text x="1">name</text></g><path d="M0 0L1 1" marker-end="url(#arrow)"></path></svg>`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if value[bool](p, "'hacked' in window") {
		t.Error("a foreign script ran")
	}
	if isNone := value[bool](p, `import('/graph.js').then(({parseGraph}) => ['', '<svg', '<html xmlns="http://www.w3.org/1999/xhtml"/>'].every((text) => parseGraph(text) === null))`); !isNone {
		t.Error("what is no drawing is shown")
	}
}
