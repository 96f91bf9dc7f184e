"""The program of examples/memcached-logic as a server: the same text, run for each call in this process."""
import json
import os
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer

with open("main.py", encoding="utf-8") as source:
    PROGRAM = compile(source.read(), "main.py", "exec")


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        with tempfile.TemporaryDirectory() as here:
            request, response = os.path.join(here, "request"), os.path.join(here, "response")
            with open(request, "wb") as f:
                f.write(self.rfile.read(int(self.headers["Content-Length"])))
            os.environ.update(ARGOPERATOR_REQUEST=request, ARGOPERATOR_RESPONSE=response)
            exec(PROGRAM, {})  # pylint: disable=exec-used
            with open(response, "rb") as f:
                answer = f.read()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)


HTTPServer(("", 9000), Hook).serve_forever()
