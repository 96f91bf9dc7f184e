"""Calls a hook that is a web server of Python: webhook.py PROGRAM. It listens on a port of its own, whichever it names."""

import http.server
import os
import queue
import runpy
import sys
import threading
import urllib.error
import urllib.request

ports = queue.Queue()


class Server(http.server.HTTPServer):
    def __init__(self, _, handler):
        super().__init__(("127.0.0.1", 0), handler)
        ports.put(self.server_port)


http.server.HTTPServer = Server
threading.Thread(target=runpy.run_path, args=(sys.argv[1],), daemon=True).start()
with open(os.environ["ARGOPERATOR_REQUEST"], "rb") as f:
    request = urllib.request.Request("http://127.0.0.1:%d/sync" % ports.get(timeout=30), f.read())
try:
    answer = urllib.request.urlopen(request).read()
except urllib.error.HTTPError as error:
    sys.exit("the hook answers %d: %s" % (error.code, error.read().decode("utf-8", "replace")))
with open(os.environ["ARGOPERATOR_RESPONSE"], "wb") as f:
    f.write(answer)
