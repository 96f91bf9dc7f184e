"""Runs the programs of operators in this process: those of pods one after the other, and each worker in a thread of its
own. A request is a line of JSON with its number, the program, its arguments and its environment; the answer is one with the
number, the exit code and the output."""
import contextlib
import datetime
import gc
import http.client
import importlib.util
import io
import json
import socket
import sys
import threading
import time
import traceback
import types

sys.path.insert(0, sys.argv[1])
sys.modules["chance"] = types.ModuleType("chance")
exec(sys.argv[2], sys.modules["chance"].__dict__)  # random values that are always the same
import diagnose  # noqa: E402
import reconcile  # noqa: E402

gc.freeze()
gc.set_threshold(50000, 20, 20)  # a program ends before it has made much garbage
answers, answering = sys.stdout, threading.Lock()
sys.stdout = io.StringIO()  # of workers, which keep their lines
paused = 0.0
drivers = []  # the module that runs workers


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


def captured(**request):
    output, code = io.StringIO(), 1
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = run(**request)
        except Exception:  # as the interpreter does for a program of its own
            traceback.print_exc()
    return code, output.getvalue()


def work(number, path, arguments, env):
    """Runs a worker until the simulation, which it asks for commands, closes the connection."""
    try:
        driver(path).main(env, arguments)
    except Exception:
        answer(number, 1, traceback.format_exc())


def driver(path):
    if not drivers:
        spec = importlib.util.spec_from_file_location("driver", path)
        drivers.append(importlib.util.module_from_spec(spec))
        spec.loader.exec_module(drivers[0])
    return drivers[0]


def answer(number, code, output):
    with answering:
        answers.write(json.dumps({"number": number, "code": code, "output": output}) + "\n")
        answers.flush()


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("number")
        if "worker" in request:
            threading.Thread(target=work, args=(number, request["worker"], request["arguments"], request["env"]), daemon=True).start()
        else:
            answer(number, *captured(**request))


threading.stack_size(256 << 20)  # as in reconcile.py
sys.setrecursionlimit(50000)
thread = threading.Thread(target=serve)
thread.start()
thread.join()
