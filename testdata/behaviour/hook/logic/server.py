"""A hook as for Metacontroller."""
import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer


def sync(request):
    name, spec = request["parent"]["metadata"]["name"], request["parent"]["spec"]
    pages = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-{number}"}, "data": {"text": spec["text"]}}
             for number in range(spec["copies"])]
    live = request["children"]["ConfigMap.v1"]
    current = sum(live.get(page["metadata"]["name"], {}).get("data") == page["data"] for page in pages)
    return {"children": pages, "status": {"current": current}}


def finalize(request):
    """Takes the pages away one at a time, the last one first."""
    assert request["finalizing"]
    left = sorted(request["children"]["ConfigMap.v1"])
    request["parent"]["spec"]["copies"] = max(len(left) - 1, 0)
    return {**sync(request), "finalized": not left}


PATHS = {"/hooks/sync": sync, "/hooks/finalize": finalize}


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = request["parent"]["spec"]["text"]
        if text == "end":
            print("told to end", flush=True)
            os._exit(3)
        self.send_response({"broken": 500}.get(text, 200 if self.path in PATHS else 404))
        self.end_headers()
        self.wfile.write(b"out of ink\n" if text == "broken" else json.dumps(PATHS[self.path](request)).encode())


HTTPServer(("", 87), Hook).serve_forever()
