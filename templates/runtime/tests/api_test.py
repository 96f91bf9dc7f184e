"""The client of the API server."""
import json
import unittest

from api import PAGE_BYTES, Client, yaml_json

from .fakecluster import DEPLOYMENTS, Case, always, deployment, once


class EncodingTest(unittest.TestCase):
    def test_json_that_is_yaml(self):
        text = "".join(map(chr, range(0x250))) + "\u2028\u2029\ufeff\ufffe\uffff\U0001f600\U000e0001{{x}}\\u0041"
        body = yaml_json({"a": text})
        self.assertEqual(json.loads(body), {"a": text})
        self.assertNotRegex(body.decode(), "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
        self.assertNotRegex(body.decode(), r"(?i)(?<!\\)\\ud[89a-f]")
        self.assertEqual(yaml_json("\ud800"), b'"?"')


class ClientTest(Case):
    def test_transient_failures(self):
        rows = (
            ("429 with Retry-After", once("PATCH", "deployments/one", 429, {"reason": "TooManyRequests"}, {"Retry-After": "7"}), [7]),
            ("429 without", once("PATCH", "deployments/one", 429, {}), [0.5]),
            ("500 then ok", once("PATCH", "deployments/one", 500, "oops"), [0.5]),
            ("lost connection", once("PATCH", "deployments/one", "lost"), [0.5]),
            ("lost on GET", once("GET", "memcacheds/one$", "lost"), [0.5]),
            ("401 once", once("GET", "memcacheds/one$", 401, {"message": "Unauthorized"}), []))
        for reason, fault, slept in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.slept = []
                self.cr()
                self.cluster.faults = [fault]
                self.assertEqual(self.reconcile([deployment()]), 0, self.out)
                self.assertEqual(self.slept, slept)
                self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)

    def test_gives_up(self):
        self.cluster.faults = [always("GET", "memcacheds/one$", 503, {"message": "etcd is down"})]
        self.assertEqual(self.run_command("read"), 1)
        self.assertIn("failed: etcd is down", self.out)
        self.assertEqual(self.slept, [0.5, 1, 2, 4, 8, 8])

    def test_long_retry_after_is_not_waited_for(self):
        self.cluster.faults = [always("GET", "memcacheds/one$", 429, {}, {"Retry-After": "600"})]
        self.assertEqual(self.run_command("read"), 1)
        self.assertEqual(self.slept, [])

    def test_second_401_fails(self):
        self.cluster.faults = [always("GET", "memcacheds/one$", 401, {"message": "Unauthorized"})]
        self.assertEqual(self.run_command("read"), 1)
        self.assertEqual(len(self.cluster.log), 2)

    def test_token_is_read_again_and_never_logged(self):
        self.write("token", "first-token\n")

        def rotate(method, path):
            if len(self.cluster.log) == 1:
                self.write("token", "second-token")
                return 401, {"message": "Unauthorized"}
        self.cluster.faults = [rotate]
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual([entry[4]["Authorization"] for entry in self.cluster.log], ["Bearer first-token", "Bearer second-token"])
        self.assertNotIn("-token", self.out)

    def test_address(self):
        for env, want in (({}, "https://kubernetes.default.svc:443"), ({"KUBERNETES_SERVICE_HOST": "10.0.0.1",
                "KUBERNETES_SERVICE_PORT": "6443"}, "https://10.0.0.1:6443"), ({"KUBERNETES_SERVICE_HOST": "fd00::1"}, "https://[fd00::1]:443")):
            self.assertEqual(Client(env).base.geturl(), want)

    def test_response_of_a_proxy(self):
        self.cluster.faults = [always("GET", "memcacheds/one$", 403, '"no"')]
        self.assertEqual(self.run_command("read"), 1)
        self.assertIn('failed: "no"', self.out)

    def test_connection_refused(self):
        self.env["ARGOPERATOR_API"] = "http://127.0.0.1:9"
        self.assertEqual(self.run_command("read"), 1)
        self.assertIn("no answer from the API server", self.out)

    def test_a_list_is_read_in_small_parts(self):
        sizes = [10] * 60 + [700000] * 12 + [5 << 20] + [10] * 60  # after small objects come large ones
        objects = [{"metadata": {"name": f"s{i}", "uid": f"s{i}"}, "data": "x" * size} for i, size in enumerate(sizes)]

        def page(method, path):
            query = self.cluster.log[-1][2]
            start, end = int(query.get("continue", 0)), int(query.get("continue", 0)) + int(query["limit"])
            return 200, {"metadata": {"continue": str(end) if end < len(objects) else ""}, "items": objects[start:end]}
        self.cluster.faults, client, found = [page], Client(self.env), []
        self.addCleanup(client.close)
        for item in client.list("/api/v1/secrets", {"apiVersion": "v1", "kind": "Secret"}):
            found.append(item["metadata"]["name"])
            if len(item["data"]) < 5 << 20:
                self.assertLessEqual(client.received, PAGE_BYTES)
        self.assertEqual(found, [one["metadata"]["name"] for one in objects])
        self.assertLess(len(self.cluster.log), 30)

    def test_usage(self):
        self.assertEqual(self.run_command("no-such"), 2)
        self.assertIn("usage:", self.out)
