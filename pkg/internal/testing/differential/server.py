"""Runs the programs of an operator's pods, one after the other, in this process. A request is a line of JSON with the
program, its arguments and its environment; the answer is one with its exit code and its output."""
import contextlib
import datetime
import gc
import http.client
import io
import json
import socket
import sys
import threading
import time
import traceback

sys.path.insert(0, sys.argv[1])
import diagnose  # noqa: E402
import reconcile  # noqa: E402

gc.freeze()
answers = sys.stdout
paused = 0.0


def sleep(seconds):
    """Pauses pass in no time, on a clock that goes on by them."""
    global paused
    paused += seconds


class Connection:
    """What api.py uses of http.client.HTTPConnection, which parses headers as those of mails: that takes longer than the rest."""

    def __init__(self, host, port, timeout):
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def request(self, method, path, body, headers):
        lines = [f"{method} {path} HTTP/1.1", "Host: api", *(f"{name}: {value}" for name, value in headers.items())]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + (body or b""))

    def getresponse(self):
        words = self.file.readline().split()
        if not words:
            raise http.client.RemoteDisconnected
        headers = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        return Reply(int(words[1]), headers, self.file.read(int(headers["content-length"])))

    def close(self):
        self.file.close()
        self.socket.close()


class Reply:
    """A response that has been read."""

    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    def read(self, most=None):
        return self.text[:most]

    def getheader(self, name):
        return self.headers.get(name.lower())


http.client.HTTPConnection = Connection


def run(program, arguments, env):
    later = datetime.timedelta(seconds=float(env.get("ARGOPERATOR_CLOCK_OFFSET", "0")))

    def now():
        return (datetime.datetime.now(datetime.timezone.utc) + later).strftime("%Y-%m-%dT%H:%M:%SZ")

    if program == "diagnose":
        return diagnose.main(env)
    return reconcile.main(arguments, env, sleep, lambda: time.monotonic() + paused, now)


def serve():
    for line in sys.stdin:
        output, code = io.StringIO(), 1
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                code = run(**json.loads(line))
            except Exception:  # as the interpreter does for a program of its own
                traceback.print_exc()
        answers.write(json.dumps({"code": code, "output": output.getvalue()}) + "\n")
        answers.flush()


threading.stack_size(256 << 20)  # as in reconcile.py
sys.setrecursionlimit(50000)
thread = threading.Thread(target=serve)
thread.start()
thread.join()
