"""A hook as for Metacontroller."""
import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer


def answer(request):
    parent, spec = request["parent"], request["parent"]["spec"]
    if request["finalizing"]:
        return {"children": [], "finalized": not request["children"]["ConfigMap.v1"]}
    name = parent["metadata"]["name"]
    pages = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-{number}"}, "data": {"text": spec["text"]}}
             for number in range(spec["copies"])]
    return {"children": pages, "status": {"made": len(pages)}}


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = request["parent"]["spec"]["text"]
        if text == "end":
            print("told to end", flush=True)
            os._exit(3)
        self.send_response({"broken": 500}.get(text, 200 if self.path == "/hooks/sync" else 404))
        self.end_headers()
        self.wfile.write(b"out of ink\n" if text == "broken" else json.dumps(answer(request)).encode())


HTTPServer(("", 87), Hook).serve_forever()
