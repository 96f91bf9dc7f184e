"""The client of the Kubernetes API server of the programs that run in a generated operator's pods.

Standard library only, because the image is a stock Python.
"""
import http.client
import json
import os
import re
import ssl
import threading
import time
import urllib.parse

PAGE = 500           # objects per list request, at most
PAGE_BYTES = 4 << 20  # read of one list response; half of it is requested, because the sizes of objects differ
REQUEST_TIMEOUT = 10  # seconds that one request may take
RETRY_BUDGET = 30    # seconds after which a request is not tried again
MESSAGE_LIMIT = 4000  # characters of a condition's message; the API allows 32768


class Kept(threading.local):
    """The lines that a thread keeps instead of writing them; None: it writes them."""
    lines = None


KEPT = Kept()


def log(text):
    """Writes one plain line to stdout immediately, so that the log is complete if the pod is killed."""
    if KEPT.lines is None:
        print(text, flush=True)
    else:
        KEPT.lines.append(text)


class Failed(Exception):
    """The run failed; a retry may succeed."""
    code = 1


class Refused(Failed):
    """The run failed, and would fail again with the same input."""
    code = 2


class TooLarge(Exception):
    """The response exceeds the limit."""


class ApiError(Failed):
    """An unsuccessful response of the API server; status 0 means that there was none."""

    def __init__(self, status, answer):
        super().__init__(answer.get("message") or f"the API server answered {status}")
        self.status, self.reason = status, answer.get("reason") or str(status)
        self.causes = (answer.get("details") or {}).get("causes") or []

    @property
    def code(self):
        """400 and 422 mean an invalid request, and so does an unknown field (a 500, oddly)."""
        return 2 if self.status in (400, 422) or "failed to create typed patch object" in str(self) else 1


def decoded(text):
    """The JSON of a response. In Python 3.12 the C stack limits the decoder; Python decodes deeper nesting."""
    try:
        return json.loads(text)
    except RecursionError:
        decoder = json.JSONDecoder()
        decoder.parse_object, decoder.parse_array = json.decoder.JSONObject, json.decoder.JSONArray
        decoder.scan_once = json.scanner.py_make_scanner(decoder)
        return decoder.decode(text.decode())


# Characters that YAML does not allow unescaped, or parses as a line break.
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def yaml_json(value):
    """JSON that is YAML, too: the API server parses an applied object as YAML, which has no surrogate pairs."""
    text = json.dumps(value, ensure_ascii=False)
    return NOT_IN_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", text).encode("utf-8", "replace")


class Client:
    """A Kubernetes client with one connection. It retries temporary failures: 429, 5xx, lost connections."""

    def __init__(self, env, sleep=time.sleep, clock=time.monotonic):
        self.credentials = env.get("ARGOPERATOR_CREDENTIALS", "/var/run/secrets/kubernetes.io/serviceaccount")
        host = env.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        host = f"[{host}]" if ":" in host else host
        default = f"https://{host}:{env.get('KUBERNETES_SERVICE_PORT', '443')}"
        self.base = urllib.parse.urlsplit(env.get("ARGOPERATOR_API") or default)
        self.sleep, self.clock, self.connection, self.received, self.most = sleep, clock, None, 0, 0
        self.sent, self.timeout, self.budget = 0, REQUEST_TIMEOUT, RETRY_BUDGET
        self.may_write = self.may_wait = lambda: True

    def request(self, method, path, body=None, query=None, content_type="application/json"):
        """The decoded response, or ApiError. A body that is text is sent as it is, every other one as JSON. A POST is only
        repeated if the server did not process it (429)."""
        deadline, delay, renewed = self.clock() + self.budget, 0.5, False
        while True:
            wait = delay
            if method != "GET" and not self.may_write():
                raise Failed("another process works now")
            try:
                status, retry_after, answer = self._once(method, path, body, query, content_type)
            except (OSError, http.client.HTTPException) as lost:
                self.close()
                error = ApiError(0, {"message": f"no answer from the API server: {str(lost) or repr(lost)}"})
                again = method != "POST"
            else:
                if status < 300:
                    return answer
                error = ApiError(status, answer)
                if status == 401 and not renewed:  # the token was rotated; _once reads the new one
                    renewed = True
                    continue
                again = status == 429 or (status >= 500 and method != "POST" and error.code == 1)
                wait = retry_after or delay
            if not again or self.clock() + wait > deadline or not self.may_wait():
                raise error
            log(f"{method} {path}: {error.reason}; again in {wait:g}s")
            self.sleep(wait)
            delay = min(delay * 2, 8)

    def get(self, path):
        """The object, or None if it does not exist."""
        try:
            return self.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, path, kind, selector=""):
        """All objects, page by page, without duplicates. Adds apiVersion and kind to the items, which a list omits."""
        limit, start, seen = min(PAGE, 50), {}, set()
        while True:
            query = dict(start, limit=limit, **({"labelSelector": selector} if selector else {}))
            self.most = PAGE_BYTES if limit > 1 else 0
            try:
                page = self.request("GET", path, query=query)
            except ApiError as error:
                if error.status != 410 or not start:
                    raise
                start = {}  # the snapshot of the pages has expired: start again
                continue
            except TooLarge:
                limit = max(1, limit // 8)
                continue
            finally:
                self.most = 0
            for item in page.pop("items", None) or []:
                uid = item["metadata"].get("uid")
                if uid is None or uid not in seen:
                    seen.add(uid)
                    yield dict({"apiVersion": kind["apiVersion"], "kind": kind["kind"]}, **item)
            start = {"continue": (page.get("metadata") or {}).get("continue")}
            if not start["continue"]:
                return
            limit = max(1, min(PAGE, limit * PAGE_BYTES // 2 // max(self.received, 1)))

    def apply(self, path, body, manager, force):
        """Server-side apply."""
        query = {"fieldManager": manager, "force": "true" if force else "false"}
        return self.request("PATCH", path, body, query, "application/apply-patch+yaml")

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def _once(self, method, path, body, query, content_type):
        """Status, seconds until a retry, decoded response. The token is read each time, because it is rotated."""
        headers = {"Accept": "application/json"}
        self.sent += 1
        token = os.path.join(self.credentials, "token")
        if os.path.exists(token):
            with open(token, encoding="utf-8") as file:
                headers["Authorization"] = "Bearer " + file.read().strip()
        if body is not None:
            headers["Content-Type"] = content_type
            body = body.encode("utf-8", "replace") if isinstance(body, str) else yaml_json(body)
        if self.connection is None:
            self.connection = self._connect()
        self.connection.request(method, path + ("?" + urllib.parse.urlencode(query) if query else ""), body, headers)
        reply = self.connection.getresponse()
        text = reply.read(self.most + 1) if self.most else reply.read()
        if self.most and len(text) > self.most:
            self.close()
            raise TooLarge
        self.received = len(text)
        try:
            answer = decoded(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):  # a proxy's page
            answer = {"message": text.decode("utf-8", "replace")[:500]}
        retry_after = reply.getheader("Retry-After") or ""
        return reply.status, int(retry_after) if retry_after.isdigit() else 0, answer

    def _connect(self):
        if self.base.scheme == "http":
            return http.client.HTTPConnection(self.base.hostname, self.base.port, timeout=self.timeout)
        trust = ssl.create_default_context(cafile=os.path.join(self.credentials, "ca.crt"))
        trust.verify_flags &= ~ssl.VERIFY_X509_STRICT  # new in Python 3.13; the CAs of many clusters do not satisfy it
        return http.client.HTTPSConnection(self.base.hostname, self.base.port, timeout=self.timeout, context=trust)
