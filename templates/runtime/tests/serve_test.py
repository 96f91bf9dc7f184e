"""The process of a worker: real processes, which tests stop, kill and flood."""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from .fakecluster import CR, DEPLOYMENTS, SENSOR, WEB, Case, FakeCluster, always, field_of, plain_text, sensor_for

LEASE = "/apis/coordination.k8s.io/v1/namespaces/argo-events/leases/memcached-worker"
ONE, TWO = "127.0.0.1", "127.0.0.2"
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The times of the Lease are shorter than the real ones. Python's own end of a process, which threads can disturb, takes for ever.
PROGRAM = """
import atexit, sys, time
atexit.register(time.sleep, 600)
sys.path.insert(0, sys.argv[1])
import lease
lease.DURATION, lease.DEADLINE, lease.RENEWAL = 6, 4, 0.3
import worker
worker.QUIET = 2
import serve
serve.CONNECTIONS = 64
serve.main()
"""


class Gate:
    """A fault that holds requests until it is opened."""

    def __init__(self, method, pattern, reply=None):
        self.matches, self.reply = always(method, pattern, True), reply
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, method, path):
        if self.matches(method, path):
            self.reached.set()
            self.opened.wait(30)
            return self.reply
        return None


class ServeCase(Case):
    def setUp(self):
        self.cluster = FakeCluster()  # one of its own: a killed process may have requests on their way
        self.addCleanup(self.cluster.server.server_close)
        self.addCleanup(self.cluster.server.shutdown)
        super().setUp()
        template = {"object": {"apiVersion": plain_text("apps/v1"), "kind": plain_text("Deployment"),
                               "metadata": {"object": {"name": field_of("metadata", "name")}},
                               "spec": {"object": {"replicas": field_of("spec", "size")}}}}
        self.config.update(engine="worker", worker="memcached-worker", concurrency=2, resyncSeconds=600, readsObjects=True,
                           sensors=["memcached"],
                           children=[dict(WEB, object=template, identity={"object": {"name": field_of("metadata", "name")}})])
        self.write("config.json", self.config)
        self.cluster.put(SENSOR, sensor_for("memcached-worker"))
        self.ports = [free_port(), free_port()]

    def start(self, address=ONE, ready=True):
        """Starts a worker."""
        env = dict(os.environ, ARGOPERATOR_API=self.cluster.url, ARGOPERATOR_CREDENTIALS=self.folder,
                   ARGOPERATOR_CONFIG=self.path("config.json"), ARGOPERATOR_ADDRESS=address, POD_IP=address,
                   ARGOPERATOR_PORTS=" ".join(map(str, self.ports)))
        with open(self.path(f"log-{address}"), "ab") as log:
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                [sys.executable, "-B", "-c", PROGRAM, HERE], env=env, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if ready:
            self.until(lambda: self.get("/readyz", address) == 200)
        return process

    def log_of(self, address=ONE):
        with open(self.path(f"log-{address}"), encoding="utf-8") as file:
            return file.read()

    def until(self, found, seconds=20):
        """Waits until something is true."""
        end = time.monotonic() + seconds
        while not found():
            self.assertLess(time.monotonic(), end, "it takes too long; the log:\n" + self.log_of())
            time.sleep(0.02)

    def get(self, path, address=ONE):
        """The status of the observation port; 0 if nobody answers."""
        return request("GET", address, self.ports[1], path)

    def post(self, event=None, address=ONE):
        """The status of an event; 0 if nobody answers."""
        body = event if isinstance(event, bytes) else json.dumps({"event": event or {"key": "team.one", "cause": "changed"}}).encode()
        return request("POST", address, self.ports[0], "/memcached", body)

    def gate(self, *arguments):
        gate = Gate(*arguments)
        self.addCleanup(gate.opened.set)
        self.cluster.faults = [gate]
        return gate

    def many(self, count):
        for number in range(count):
            path = CR.replace("/one", f"/n{number}")
            self.cluster.put(path, {"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
                                    "metadata": {"uid": f"uid-n{number}"}, "spec": {"size": 1}})


def free_port():
    with socket.socket() as one:
        one.bind((ONE, 0))
        return one.getsockname()[1]


def request(method, address, port, path, body=None):
    connection = http.client.HTTPConnection(address, port, timeout=30)
    try:
        connection.request(method, path, body)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


class EndTest(ServeCase):
    def test_sigterm_in_the_middle_of_a_reconcile(self):
        worker = self.start()
        gate = self.gate("PATCH", DEPLOYMENTS)
        self.cr()
        self.assertEqual(self.post(), 200)
        self.assertTrue(gate.reached.wait(10))
        worker.terminate()
        self.until(lambda: self.get("/readyz") == 503)
        time.sleep(1)
        self.assertIsNone(worker.poll(), "it ends what runs")
        self.assertEqual(self.live(LEASE)["spec"]["holderIdentity"].partition("@")[2], ONE, "it renews the Lease meanwhile")
        gate.opened.set()
        self.assertEqual(worker.wait(10), 0, self.log_of())
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["spec"], {"replicas": 2})
        self.assertEqual(self.condition("Ready")["observedGeneration"], 3)
        self.assertEqual(self.live(LEASE)["spec"]["holderIdentity"], "")

    def test_sigterm_while_the_process_starts(self):
        folder, slow = os.path.join(self.folder, "programs"), self.path("slow")
        shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
        with open(os.path.join(folder, "lease.py"), "a", encoding="utf-8") as file:
            file.write(f"\nopen({slow!r}, 'w').close()\n__import__('time').sleep(1)\n")
        env = dict(os.environ, ARGOPERATOR_API=self.cluster.url, ARGOPERATOR_CREDENTIALS=self.folder,
                   ARGOPERATOR_CONFIG=self.path("config.json"), ARGOPERATOR_ADDRESS=ONE, ARGOPERATOR_PORTS=" ".join(map(str, self.ports)))
        with subprocess.Popen([sys.executable, "-B", os.path.join(folder, "serve.py")], env=env) as process:
            self.addCleanup(process.kill)
            end = time.monotonic() + 20
            while not os.path.exists(slow) and time.monotonic() < end:
                time.sleep(0.02)
            process.terminate()
            self.assertEqual(process.wait(20), 0)

    def test_nothing_begins_after_sigterm(self):
        self.config["concurrency"] = 1
        self.write("config.json", self.config)
        worker = self.start()
        gate = self.gate("PATCH", DEPLOYMENTS)
        self.cr()
        self.many(1)
        self.post()
        self.assertTrue(gate.reached.wait(10))
        self.assertEqual(self.post({"key": "team.n0"}), 200, "it finds a place in the queue")
        worker.terminate()
        self.until(lambda: self.post({"key": "team.n0"}) == 503)
        gate.opened.set()
        self.assertEqual(worker.wait(10), 0, self.log_of())
        self.assertNotIn(DEPLOYMENTS + "/n0", self.cluster.objects)
        self.start()
        self.until(lambda: DEPLOYMENTS + "/n0" in self.cluster.objects)  # without another event


class RestartTest(ServeCase):
    def test_events_while_a_process_is_killed(self):
        worker, count = self.start(), 40
        self.many(count)
        left, lock = {f"team.n{number}" for number in range(count)}, threading.Lock()

        def send(key):
            while self.post({"key": key, "cause": "changed"}) != 200:
                time.sleep(0.2)  # as the Sensor does
            with lock:
                left.remove(key)
        threads = [threading.Thread(target=send, args=(key,), daemon=True) for key in sorted(left)]
        for thread in threads:
            thread.start()
        for part in (3, 2):
            self.until(lambda part=part: len(left) <= count * part // 4)
            worker.kill()
            worker.wait()
            worker = self.start(ready=False)
        self.until(lambda: not left, 60)
        self.until(lambda: sum(path.startswith(DEPLOYMENTS) for path in self.cluster.objects) == count, 60)
        applied = [path for method, path in self.cluster.writes() if path.startswith(DEPLOYMENTS)]
        self.assertLessEqual(len(applied), 3 * count, "each process applies a child once")


class LeaseTest(ServeCase):
    def test_two_processes(self):
        first = self.start()
        self.start(TWO)
        self.cr()
        self.assertEqual(self.post(address=TWO), 200)
        self.until(lambda: "team.one: changed" in self.log_of())
        self.assertNotIn("team.one", self.log_of(TWO), "it passes events on")
        first.kill()
        first.wait()
        self.assertEqual(self.post(address=TWO), 503)
        self.live()["spec"]["size"] = 5
        self.until(lambda: self.post(address=TWO) == 200)
        self.until(lambda: self.live(DEPLOYMENTS + "/one")["spec"] == {"replicas": 5})
        self.assertIn("all: start", self.log_of(TWO))

    def test_a_release_is_noticed_at_once(self):
        first = self.start()
        self.start(TWO)
        first.terminate()
        self.assertEqual(first.wait(10), 0)
        began = time.monotonic()
        self.until(lambda: self.live(LEASE)["spec"]["holderIdentity"].endswith("@" + TWO))
        self.assertLess(time.monotonic() - began, 4)

    def test_a_lost_lease(self):
        worker = self.start()
        gate = self.gate("GET", DEPLOYMENTS)
        self.cr()
        self.post()
        self.assertTrue(gate.reached.wait(10))
        self.cluster.put(LEASE, dict(self.live(LEASE), spec={"holderIdentity": "other@127.0.0.9"}))
        began = time.monotonic()
        self.assertEqual(worker.wait(10), 1)
        self.assertLess(time.monotonic() - began, 3, "it does not wait until its own time is over")
        gate.opened.set()
        self.assertEqual([path for method, path in self.cluster.writes() if path != LEASE and not path.endswith("/leases")], [])

    def is_quiet(self):
        before = len(self.cluster.writes())
        time.sleep(1)
        return {path for _, path in self.cluster.writes()[before:]} <= {LEASE}

    def test_a_process_that_was_stopped_for_a_time(self):
        first = self.start()
        self.start(TWO)
        gate = self.gate("GET", DEPLOYMENTS)
        self.cr()
        self.post()
        self.assertTrue(gate.reached.wait(10))
        first.send_signal(signal.SIGSTOP)
        self.until(lambda: self.live(LEASE)["spec"]["holderIdentity"].endswith("@" + TWO))
        self.cluster.faults = []
        gate.opened.set()
        self.until(lambda: self.post(address=TWO) == 200)
        self.until(self.is_quiet)  # the second one has looked at all, too
        written = len(self.cluster.writes())
        first.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(10), 1, self.log_of())
        self.assertEqual({path for _, path in self.cluster.writes()[written:]} - {LEASE}, set())

    def test_a_short_failure_of_the_api_server(self):
        worker = self.start()
        self.cr()
        self.cluster.faults = [lambda method, path: "lost"]
        self.assertEqual(self.post(), 200)
        time.sleep(1)
        self.cluster.faults = []
        self.until(lambda: DEPLOYMENTS + "/one" in self.cluster.objects)
        self.assertEqual((self.live(DEPLOYMENTS + "/one")["spec"], worker.poll()), ({"replicas": 2}, None))

    def test_a_long_failure_of_the_api_server(self):
        worker = self.start()
        self.cr()
        self.cluster.faults = [lambda method, path: "lost"]
        self.assertEqual(self.post(), 200)
        self.assertEqual(worker.wait(20), 1, self.log_of())
        self.start(ready=False)
        self.until(lambda: self.get("/healthz") == 200)
        self.assertEqual((self.get("/readyz"), self.post()), (503, 503))
        self.cluster.faults = []
        self.until(lambda: DEPLOYMENTS + "/one" in self.cluster.objects)  # without another event


class WantedTest(ServeCase):
    """Another engine reconciles the definition now, and the Deployment of the worker is left."""

    def test_a_worker_that_no_sensor_sends_events_to(self):
        worker = self.start()
        self.cr()
        self.assertEqual(self.post(), 200)
        self.cluster.put(SENSOR, sensor_for("other-worker"))
        self.post({"heartbeat": "d1", "sensor": "memcached"})  # of the Sensor's last pod
        self.assertEqual(worker.wait(10), 1, self.log_of())
        self.assertIn("delete this Deployment", self.log_of())
        self.live()["spec"]["size"], self.live()["metadata"]["generation"] = 5, 4
        written = len(self.cluster.writes())
        again = self.start(ready=False)
        self.until(lambda: self.log_of().count("delete this Deployment") == 2)
        self.assertEqual((self.get("/healthz"), self.get("/readyz"), self.post()), (200, 503, 503))
        self.assertEqual((self.cluster.writes()[written:], again.poll()), ([], None))
        self.cluster.put(SENSOR, sensor_for("memcached-worker"))
        self.until(lambda: self.live(DEPLOYMENTS + "/one")["spec"] == {"replicas": 5})

    def test_a_sensor_that_comes_later(self):
        del self.cluster.objects[SENSOR]
        self.start(ready=False)
        self.until(lambda: "no Sensor sends events" in self.log_of())
        self.assertNotIn(LEASE, self.cluster.objects)
        self.cr()
        self.cluster.put(SENSOR, sensor_for("memcached-worker"))
        self.until(lambda: DEPLOYMENTS + "/one" in self.cluster.objects)

    def test_heartbeats_show_it(self):
        self.start()
        def asked():
            return [path for _, path, *_ in self.cluster.log if path == SENSOR]
        self.assertEqual(len(asked()), 1)
        end = time.monotonic() + 4
        while time.monotonic() < end:
            self.post({"heartbeat": "d1", "sensor": "memcached"})
            time.sleep(0.2)
        self.assertEqual(len(asked()), 1, "the Sensor is not read while it sends")
        self.until(lambda: len(asked()) > 1)

    def test_a_sensor_that_cannot_be_read(self):
        worker = self.start()
        self.cluster.faults = [always("GET", SENSOR, 403, {"message": "no"})]
        self.until(lambda: self.log_of().count("the Sensor could not be read: no") > 1)
        self.assertEqual((worker.poll(), self.get("/readyz")), (None, 200), "it goes on")
        worker.kill()
        worker.wait()
        self.cluster.put(LEASE, dict(self.live(LEASE), spec={"holderIdentity": ""}))
        self.start(ready=False)
        self.until(lambda: self.log_of().count("the Sensor could not be read: no") > 4)
        self.assertEqual(self.live(LEASE)["spec"]["holderIdentity"], "", "it does not begin")
        self.cluster.faults = []
        self.until(lambda: self.get("/readyz") == 200)


class EndpointTest(ServeCase):
    def test_requests(self):
        self.start()
        deep = b'{"event": ' + b"[" * 65000
        objects = b'{"event": ' + b'{"a":' * 13000
        for body, want in ((b"{", 400), (b"[]", 400), (b"\xff", 400), (deep, 400), (objects, 400),
                           (b'{"event": {"key": "team.none"}}', 200), (b'{"event": {"related": []}}', 200),
                           (b'{"event": {"related": {"apiVersion": "v1"}}}', 200)):
            self.assertEqual(self.post(body), want, body[:40])
        self.assertIn(self.post(b" " * (1 << 20)), (0, 413))
        for text, want in ((b"POST /memcached HTTP/1.0\r\nContent-Length: 31\r\n\r\n" + b'{"event": {"key": "team.none"}}', b" 200 "),
                           (b"POST /memcached HTTP/1.1\r\n\r\n", b" 413 "), (b"GET / HTTP/1.1\r\n\r\n", b" 501 "),
                           (b"POST /memcached HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", b" 413 "),
                           ("POST /memcached HTTP/1.1\r\nContent-Length: ²\r\n\r\n".encode("latin-1"), b" 413 ")):
            with socket.create_connection((ONE, self.ports[0]), 10) as one:
                one.sendall(text)
                self.assertIn(want, one.recv(100), text[:60])
        self.cr()
        self.assertEqual(self.post(), 200)

    def test_400_at_once(self):
        self.start()
        self.many(400)
        left, lock = [f"team.n{number}" for number in range(400)], threading.Lock()

        def send(key):
            while self.post({"key": key}) != 200:
                time.sleep(0.2)  # as the Sensor does
            with lock:
                left.remove(key)
        threads = [threading.Thread(target=send, args=(key,), daemon=True) for key in left]
        for thread in threads:
            thread.start()
        self.until(lambda: not left, 120)
        self.until(lambda: sum(path.startswith(DEPLOYMENTS) for path in self.cluster.objects) == 400, 120)

    def test_slow_clients(self):
        self.start()
        self.cr()
        slow = []
        for port in self.ports:
            for _ in range(100):
                one = socket.create_connection((ONE, port), 10)
                one.sendall(b"POST /memcached HTTP/1.1\r\nContent-Length: 500\r\n\r\n{")
                slow.append(one)
                self.addCleanup(one.close)
        self.assertEqual((self.post(), self.get("/healthz")), (200, 200))


if __name__ == "__main__":
    unittest.main()
