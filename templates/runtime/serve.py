#!/usr/bin/env python3
"""The process of a worker: its endpoints, its Lease, its end.

Port 7778 takes the events of the Sensor; what a forged one can cause is one reconcile of a custom resource that exists.
Port 7777 has /metrics, /healthz and /readyz. ARGOPERATOR_PORTS has other ports for tests.
"""
# ruff: noqa: E402
# pylint: disable=wrong-import-position,wrong-import-order
import signal
import threading

STOPPED = threading.Event()


def obey():
    """Ends the process at SIGTERM. In a thread, because this one may hold the lock of the event."""
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=STOPPED.set).start())


if __name__ == "__main__":
    obey()  # before the imports, which take long: the first process of a container ignores signals until then

import contextlib
import http.client
import http.server
import json
import os
import socket
import time

from api import Client, log
from lease import RENEWAL, Lease
from run import deep_thread, read_configs, utc_now
from worker import Worker

PORTS = "7778 7777"    # of the events, and of what is observed
BODY_LIMIT = 64 << 10  # bytes of an event
CONNECTIONS = 256      # at a time
IDLE = 120             # seconds after which a connection without requests is closed
FORWARD_TIMEOUT = 10  # seconds
SILENCE = 60           # seconds after which the process counts as hung
ANSWERS = 5            # seconds that the last answers may take


class Process:
    """A worker with the Lease, or one that stands by and passes events on to the one that works."""

    def __init__(self, env, now, sleep, clock):
        configs = read_configs(env)
        self.clock, self.alive, self.threads = clock, clock(), []
        self.ports = [int(port) for port in (env.get("ARGOPERATOR_PORTS") or PORTS).split()]
        self.worker = Worker(env, configs, now, sleep, clock)
        self.lease = Lease(Client(env, sleep, clock), configs[0], f"{env.get('POD_NAME') or os.getpid()}@{env.get('POD_IP') or ''}", clock)
        self.worker.may_write, self.stopped = self.lease.held, STOPPED

    def run(self):
        """Works while it has the Lease. Returns the exit code."""
        while not self.stopped.is_set():
            self.alive = self.clock()
            if not self.worker.is_wanted(self.lease.client, bool(self.threads)):
                self.lease.leave("no Sensor sends events to it: if another engine works now, delete this Deployment")
            elif self.lease.renew() and not self.threads:
                log("works")
                self.worker.start()
                self.threads = [deep_thread(self.worker.work) for _ in range(self.worker.threads)]
            if self.threads and not self.lease.held():
                log("the Lease was lost")
                return 1  # at once: another process works now
            if self.threads:
                self.worker.watch_sensor(self.lease.client)
            self.stopped.wait(RENEWAL)
        return self.finish()

    def finish(self):
        """Ends what runs, and begins nothing more."""
        log("stops")
        self.worker.stop()
        while any(thread.is_alive() for thread in self.threads):
            self.alive = self.clock()
            if not self.lease.renew():
                return 1
            for thread in self.threads:
                thread.join(RENEWAL / self.worker.threads)
        if self.lease.holder == self.lease.identity:
            self.lease.release()
        for operator in self.worker.operators.values():
            operator.close()
        return 0

    def receive(self, name, body):
        """Serves an event. Returns the status."""
        if self.threads:
            try:
                event = json.loads(body).get("event")
            except (ValueError, AttributeError, RecursionError):
                return 400
            return 200 if self.worker.receive(name, event) else 503
        address = self.lease.holder.partition("@")[2]
        if not address or self.lease.holder == self.lease.identity:
            return 503
        connection = http.client.HTTPConnection(address, self.ports[0], timeout=FORWARD_TIMEOUT)
        try:
            connection.request("POST", "/" + name, body)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 503
        finally:
            connection.close()

    def healthy(self):
        return self.clock() - self.alive < SILENCE

    def ready(self):
        """Whether events can be sent to this process."""
        return not self.stopped.is_set() and (self.worker.ready() if self.threads else self.lease.holder not in ("", self.lease.identity))


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with an empty body: Argo Events reads none, and would keep the connection."""
    protocol_version, timeout = "HTTP/1.1", IDLE

    def log_message(self, *_):
        pass

    def reply(self, status, text=b"", content_type="text/plain; charset=utf-8"):
        self.send_response(status)
        if text:
            self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Events(Handler):
    """The endpoint of the Sensor: POST /OPERATOR."""

    def do_POST(self):  # pylint: disable=invalid-name # http.server wants it
        length = self.headers.get("Content-Length") or ""
        if not length.isdecimal() or len(length) > 9 or int(length) > BODY_LIMIT:
            self.close_connection = True
            self.reply(413)
            return
        body = self.rfile.read(int(length))
        if len(body) == int(length):
            with self.server.serves(self.connection):
                self.reply(self.server.process.receive(self.path[1:], body))


class Observation(Handler):
    """What the kubelet and Prometheus ask for."""

    def do_GET(self):  # pylint: disable=invalid-name
        process = self.server.process
        if self.path == "/metrics":
            worker = process.worker
            text = worker.metrics.text(worker.keys.length(), bool(process.threads))
            self.reply(200, text.encode(), "text/plain; version=0.0.4; charset=utf-8")
        else:
            checks = {"/healthz": process.healthy, "/readyz": process.ready}
            self.reply(404 if self.path not in checks else 200 if checks[self.path]() else 503)


class Server(http.server.ThreadingHTTPServer):
    """A server with a limit of connections, each of which has a thread. When there are too many, it closes the one that has
    not sent a request for the longest time."""
    daemon_threads, request_queue_size = True, 128

    def __init__(self, address, port, handler, process):
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.free, self.process = threading.Semaphore(CONNECTIONS), process
        self.lock, self.silent, self.served = threading.Lock(), {}, 0  # silent: connections, in order
        super().__init__((address, port), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request, client_address):
        if self.free.acquire(blocking=False) or self.close_silent() and self.free.acquire(timeout=1):
            with self.lock:
                self.silent[request] = True
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def close_silent(self):
        """Closes the connection that has been silent for the longest time. Returns whether there is one."""
        with self.lock:
            request = next(iter(self.silent), None)
            if request is None:
                return False
            del self.silent[request]
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)
            return True

    @contextlib.contextmanager
    def serves(self, request):
        """A connection that waits for an answer."""
        with self.lock:
            self.silent.pop(request, None)
            self.served += 1
        try:
            yield
        finally:
            with self.lock:
                self.silent[request] = True
                self.served -= 1

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.silent.pop(request, None)
            self.free.release()

    def end(self):
        """Takes no connections any more, and lets the last answers out."""
        self.shutdown()
        self.server_close()
        until = time.monotonic() + ANSWERS
        while self.served and time.monotonic() < until:
            time.sleep(0.01)

    def handle_error(self, *_):
        pass  # the other side has gone


def main(env=os.environ):
    """Runs a worker until it is told to stop, and ends the process."""
    obey()
    process = Process(env, utc_now, time.sleep, time.monotonic)
    address = env.get("ARGOPERATOR_ADDRESS") or ("::" if socket.has_dualstack_ipv6() else "0.0.0.0")
    servers = [Server(address, port, handler, process) for port, handler in zip(process.ports, (Events, Observation))]
    code = process.run()
    for server in servers if code == 0 else []:
        server.end()
    os._exit(code)  # without waiting for its threads: Python aborts if one of them is writing to the log


if __name__ == "__main__":
    main()
