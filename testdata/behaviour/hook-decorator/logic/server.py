"""A hook as for a DecoratorController of Metacontroller."""
import json
from http.server import BaseHTTPRequestHandler, HTTPServer


def sync(request):
    owner = request["object"]
    namespace, name = owner["metadata"]["namespace"], owner["metadata"]["name"]
    text = request["related"]["ConfigMap.v1"].get("texts/" + owner["metadata"]["annotations"]["copies"])
    if text is None:
        return {"attachments": [], "labels": {"copies": "none"}, "resyncAfterSeconds": 30}
    copies = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-{number}"}, "data": text["data"]}
              for number in range(owner["spec"]["replicas"])]
    made = sum(f"{namespace}/{copy['metadata']['name']}" in request["attachments"]["ConfigMap.v1"] for copy in copies)
    return {"attachments": copies, "labels": {"copies": str(made)}, "annotations": {"made": str(made)}, "resyncAfterSeconds": 0.5}


def finalize(request):
    """Removes the label when there are no more copies."""
    assert request["finalizing"]
    left = request["attachments"]["ConfigMap.v1"]
    return {"attachments": [], "finalized": not left, "labels": {} if left else {"copies": None}}


PATHS = {"/sync": sync, "/finalize": finalize}


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(PATHS[self.path](request)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)


HTTPServer(("", 88), Hook).serve_forever()
