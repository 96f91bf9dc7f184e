"""Tests of reconcile.py against a fake API server in this process.

Run: python3 -m unittest discover -s templates/runtime -p '*_test.py'
"""
import base64
import contextlib
import copy
import http.server
import io
import itertools
import json
import os
import re
import sys
import tempfile
import threading
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402  (the path comes first)
import reconcile  # noqa: E402

CR = "/apis/cache.example.com/v1alpha1/namespaces/team/memcacheds/one"
DEPLOYMENTS = "/apis/apps/v1/namespaces/team/deployments"
EVENTS = "/api/v1/namespaces/team/events"
WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/workflows"
SOURCE = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/eventsources/memcached"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata", "readiness.json"), encoding="utf-8") as rules:
    READINESS = json.load(rules)  # by group and kind, as argoperator compiles them
NOTHING_RELATED = "4f53cda18c2baa0c"
FINALIZER = "cache.example.com/memcached-cleanup"
DEPLOYMENT = {"name": "deployment", "apiVersion": "apps/v1", "kind": "Deployment", "plural": "deployments",
              "namespaced": True, "onDelete": "Delete", "unready": READINESS["apps/Deployment"]}
CONFIGMAP = {"name": "settings", "apiVersion": "v1", "kind": "ConfigMap", "plural": "configmaps",
             "namespaced": True, "onDelete": "Delete", "unready": READINESS["/ConfigMap"]}
ROLE = {"name": "role", "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "plural": "clusterroles",
        "namespaced": False, "onDelete": "Delete", "unowned": True, "unready": READINESS["/ConfigMap"]}


def child_of(name):
    """$children.NAME in the form that argoperator generates."""
    return ["get", ["var", "$children"], name]


def length_of(expression):
    return ["pipe", expression, ["call", "length/0"]]


READY_REPLICAS = {"expr": ["alt", ["get", ["get", child_of("deployment"), "status"], "readyReplicas"], ["lit", 0]]}


class FakeCluster:
    """The part of an API server that reconcile.py uses. `faults` are called first: (method, path) -> response or None;
    a response is (status, body[, headers]), or "lost" to drop the connection."""

    def __init__(self):
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, wbufsize = "HTTP/1.1", -1

            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                address = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(address.query))
                reply = cluster.answer(self.command, urllib.parse.unquote(address.path), query,
                                       json.loads(body) if body else None, dict(self.headers))
                if reply == "lost":
                    self.close_connection = True
                    return
                text = reply[1].encode() if isinstance(reply[1], str) else json.dumps(reply[1]).encode()
                self.send_response(reply[0])
                for name, value in (reply[2] if len(reply) > 2 else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_PATCH = do_POST = do_DELETE = answer

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        self.reset()

    def reset(self):
        self.objects, self.log, self.faults, self.applied = {}, [], [], {}
        self.versions, self.page = itertools.count(2), 0

    def put(self, path, obj):
        obj = copy.deepcopy(obj)
        metadata = obj["metadata"]
        metadata.setdefault("name", path.rpartition("/")[2])
        if "/namespaces/" in path:
            metadata.setdefault("namespace", path.split("/namespaces/")[1].split("/")[0])
        metadata.setdefault("uid", "uid-%d" % next(self.versions))
        metadata.setdefault("generation", 1)
        metadata["resourceVersion"] = str(next(self.versions))
        self.objects[path] = obj
        return obj

    def writes(self):
        return [(method, path) for method, path, _, _, _ in self.log if method != "GET"]

    def answer(self, method, path, query, body, headers):
        self.log.append((method, path, query, body, headers))
        for fault in self.faults:
            reply = fault(method, path)
            if reply:
                return reply
        if method == "GET" and path in self.objects:
            return 200, self.objects[path]
        if method == "GET" and re.search(r"/[a-z]+s$", path):
            return self.list(path, query)
        if method == "POST":
            name = body["metadata"].get("name") or body["metadata"]["generateName"] + "x%d" % next(self.versions)
            if "%s/%s" % (path, name) in self.objects:
                return 409, {"reason": "AlreadyExists", "message": "%s already exists" % name}
            return 201, self.put("%s/%s" % (path, name), dict(body, metadata=dict(body["metadata"], name=name)))
        if method == "PATCH" and headers["Content-Type"] == "application/apply-patch+yaml":
            return self.apply(path, query, body)
        if path.endswith("/status") and path[:-7] in self.objects:
            return self.merge_status(path[:-7], query, body)
        if path not in self.objects:
            return 404, {"reason": "NotFound", "message": "%s not found" % path}
        if method == "DELETE":
            return self.delete(path, body)
        return self.merge(path, body)

    def list(self, path, query):
        kind = path.rpartition("/")[2]
        prefix = path[:-len(kind)]
        selector = [re.sub(r"^(\S+) in \((\S+)\)$", r"\1=\2", one).partition("=")
                    for one in query.get("labelSelector", "").split(",") if one]
        found = []
        for name, obj in sorted(self.objects.items()):
            if name.rsplit("/", 2)[1] == kind and name.startswith(prefix) and all(
                    (obj["metadata"].get("labels") or {}).get(label) == value for label, _, value in selector):
                found.append({key: item for key, item in obj.items() if key not in ("kind", "apiVersion")})
        start, size = int(query.get("continue", 0)), self.page or 1000
        more = str(start + size) if start + size < len(found) else ""
        return 200, {"kind": "List", "metadata": {"continue": more}, "items": found[start:start + size]}

    def apply(self, path, query, body):
        path, status = (path[:-7], True) if path.endswith("/status") else (path, False)
        obj, uid, version = self.objects.get(path), body["metadata"].get("uid"), body["metadata"].get("resourceVersion")
        if uid and not obj:
            return 409, {"reason": "Conflict", "message": "uid mismatch"}
        if uid and obj["metadata"]["uid"] != uid:
            return 422, {"reason": "Invalid", "message": "field is immutable", "details": {"causes": [
                {"reason": "FieldValueInvalid", "message": "field is immutable", "field": "metadata.uid"}]}}
        if version and obj and obj["metadata"]["resourceVersion"] != version:
            return 409, {"reason": "Conflict", "message": "the object has been modified"}
        body = dict(body, metadata={key: value for key, value in body["metadata"].items() if key not in ("uid", "resourceVersion")})
        if not obj:
            obj = self.put(path, {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": {}})
        manager = query["fieldManager"]
        before = json.dumps(obj, sort_keys=True)
        wanted = {"status": body["status"]} if status else {k: v for k, v in body.items() if k != "status"}
        self.merge_owned(obj, wanted, self.applied.get((path, manager), {}))
        self.applied[path, manager] = wanted
        if json.dumps(obj, sort_keys=True) != before:
            obj["metadata"]["resourceVersion"] = str(next(self.versions))
        fields = [one for one in obj["metadata"].get("managedFields", []) if one["manager"] != manager]
        fields.append({"manager": manager, "operation": "Apply", "time": "2026-01-01T00:00:00Z", "fieldsV1": owned(wanted),
                       **({"subresource": "status"} if status else {})})
        obj["metadata"]["managedFields"] = fields
        return 200, obj

    def merge_owned(self, have, want, before):
        """Server-side apply: removes fields that the manager applied before and omits now; conditions are a map."""
        for key in before:
            if key not in want:
                have.pop(key, None)
        for key, value in want.items():
            if key == "conditions":
                gone = {one["type"] for one in before.get(key, [])} | {one["type"] for one in value}
                have[key] = [one for one in have.get(key, []) if one["type"] not in gone] + value
            elif isinstance(value, dict):
                self.merge_owned(have.setdefault(key, {}), value, before.get(key) or {})
            else:
                have[key] = value

    def merge(self, path, body):
        obj, metadata = self.objects[path], body.get("metadata") or {}
        if metadata.get("resourceVersion", obj["metadata"]["resourceVersion"]) != obj["metadata"]["resourceVersion"]:
            return 409, {"reason": "Conflict", "message": "the object has been modified"}
        obj["metadata"] = dict(merge_patch(obj["metadata"], metadata), resourceVersion=str(next(self.versions)))
        if "spec" in body:
            obj["spec"] = merge_patch(obj.get("spec"), body["spec"])
        if obj["metadata"].get("deletionTimestamp") and not obj["metadata"].get("finalizers"):
            del self.objects[path]
        return 200, obj

    def merge_status(self, path, query, body):
        obj, manager = self.objects[path], query["fieldManager"]
        if body["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
            return 409, {"reason": "Conflict", "message": "the object has been modified"}
        before, mine = obj.get("status") or {}, self.applied.get((path, manager), {})
        obj["status"] = merge_patch(before, body["status"])
        if obj["status"] != before:
            obj["metadata"]["resourceVersion"] = str(next(self.versions))
        types = {one["type"] for one in mine.get("conditions", [])}  # of a list that is a map, a manager owns what it changed
        conditions = [one for one in obj["status"].get("conditions", [])
                      if one["type"] in types or one not in before.get("conditions", [])]
        mine = self.applied[path, manager] = dict(merge_patch(mine, body["status"]), conditions=conditions)
        fields = [one for one in obj["metadata"].get("managedFields", []) if one["manager"] != manager]
        obj["metadata"]["managedFields"] = fields + [
            {"manager": manager, "operation": "Update", "time": "2026-01-01T00:00:00Z", "subresource": "status",
             "fieldsV1": owned({"status": mine})}]
        return 200, obj

    def delete(self, path, body):
        if body["preconditions"]["uid"] != self.objects[path]["metadata"]["uid"]:
            return 409, {"reason": "Conflict", "message": "uid mismatch"}
        if body["preconditions"]["resourceVersion"] != self.objects[path]["metadata"]["resourceVersion"]:
            return 409, {"reason": "Conflict", "message": "the object has been modified"}
        if self.objects[path]["metadata"].get("finalizers"):
            self.objects[path]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.objects[path]
        return 200, {"kind": "Status"}


def merge_patch(have, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(have) if isinstance(have, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def owned(value):
    """fieldsV1 of an applied object."""
    if isinstance(value, dict):
        return {"f:" + key: {"k:" + json.dumps({"type": one["type"]}): {".": {}} for one in item}
                if key == "conditions" else owned(item) for key, item in value.items()}
    return {}


def once(method, pattern, *reply):
    """A fault that occurs once."""
    left = [reply[0] if reply == ("lost",) else reply]
    return lambda m, path: left.pop() if left and m == method and re.search(pattern, path) else None


def always(method, pattern, *reply):
    return lambda m, path: reply if m == method and re.search(pattern, path) else None


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.cluster = FakeCluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.server.shutdown()
        cls.cluster.server.server_close()

    def setUp(self):
        self.cluster.reset()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.slept, self.time = folder.name, [], "2026-02-02T00:00:00Z"
        self.env = {
            "ARGOPERATOR_API": self.cluster.url, "ARGOPERATOR_CREDENTIALS": self.folder,
            "ARGOPERATOR_CONFIG": self.path("config.json"), "ARGOPERATOR_WORKSPACE": self.folder,
            "ARGOPERATOR_PARAMETERS": self.path("parameters"), "ARGOPERATOR_KEY": "team.one",
            "ARGOPERATOR_WORKFLOW": "memcached-one-abc", "ARGOPERATOR_REQUEST": self.path("request.json"),
            "ARGOPERATOR_RESPONSE": self.path("response.json")}
        self.config = {
            "operator": "memcached", "engine": "workflow", "namespace": "argo-events", "digest": "d1",
            "parent": {"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "plural": "memcacheds",
                       "namespaced": True, "status": True},
            "children": [DEPLOYMENT, CONFIGMAP], "watchNamespaces": [], "finalizer": "", "forceConflicts": True,
            "status": {"object": {"readyReplicas": READY_REPLICAS}}, "resyncPolicy": "Changed",
            "workflowTemplate": "memcached-reconcile", "argoServerURL": "", "parameters": [],
            "eventSource": "memcached", "sensors": []}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, value):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(value if isinstance(value, str) else json.dumps(value))

    def load(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def run_command(self, command):
        self.write("config.json", self.config)
        elapsed = [0.0]

        def sleep(seconds):
            self.slept.append(seconds)
            elapsed[0] += seconds
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = reconcile.main([command], self.env, sleep, lambda: elapsed[0], lambda: self.time)
        self.out = out.getvalue()
        return code

    def cr(self, **metadata):
        return self.cluster.put(CR, {
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": dict({"name": "one", "uid": "cr-uid", "generation": 3}, **metadata), "spec": {"size": 2}})

    def live(self, path=CR):
        return self.cluster.objects[path]

    def condition(self, name, path=CR):
        return {one["type"]: one for one in self.live(path)["status"]["conditions"]}.get(name)

    def reconcile(self, children=(), **response):
        """read, a logic with this response, apply. Returns the exit code of apply."""
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.write("response.json", dict({"children": children and list(children)}, **response))
        return self.run_command("apply")


def deployment(name="one", **metadata):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": dict({"name": name}, **metadata),
            "spec": {"replicas": 2}}


def settings(name="one"):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}}


def labels(uid="cr-uid", key="team.one"):
    return {"labels": {reconcile.MANAGED_BY: "memcached", reconcile.OWNER_UID: uid},
            "annotations": {reconcile.OWNER: key, reconcile.DEFINITION: "d1", reconcile.SIBLINGS: "1"},
            "ownerReferences": [{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "name": key.partition(".")[2],
                                 "uid": uid, "controller": True}]}


def entry_of(name, kind, plural, rule, **more):
    """An entry of `related` in the form that argoperator generates."""
    return dict({"name": name, "apiVersion": "v1", "kind": kind, "plural": plural, "namespaced": True, "several": False,
                 "watch": True, "rule": {"object": rule}}, **more)


def plain_text(text):
    return {"value": text}


def field_of(*path):
    expression = ["in"]
    for key in path:
        expression = ["get", expression, key]
    return {"expr": expression}


def annotated(path):
    """The digest on a custom resource."""
    return (path["metadata"].get("annotations") or {}).get(reconcile.RELATED)


class RelatedTest(Case):
    MAPS = "/api/v1/namespaces/team/configmaps"
    PODS = "/api/v1/namespaces/team/pods"

    def setUp(self):
        super().setUp()
        self.config["children"] = [DEPLOYMENT]
        self.config["related"] = [
            entry_of("config", "ConfigMap", "configmaps", {"names": {"array": [field_of("spec", "config")]}}),
            entry_of("pods", "Pod", "pods", {"labelSelector": {"object": {"matchLabels": field_of("spec", "pods")}}},
                     several=True, watch=False, delete=True)]
        self.cr()
        self.cluster.objects[CR]["spec"].update(config="settings", pods={"app": "web"})
        self.cluster.put(self.MAPS + "/settings", settings("settings"))
        for name, app in (("a", "web"), ("b", "web"), ("c", "other")):
            self.cluster.put(self.PODS + "/" + name, {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": app}}})

    def test_request(self):
        self.assertEqual(self.run_command("read"), 0, self.out)
        related = self.load("request.json")["related"]
        self.assertEqual(sorted(related), ["ConfigMap.v1", "Pod.v1"])
        self.assertEqual(related["ConfigMap.v1"]["settings"]["data"], {"a": "b"})
        self.assertEqual(sorted(related["Pod.v1"]), ["a", "b"])

    def test_nothing_meant(self):
        self.cluster.objects[CR]["spec"].update(config=None, pods=None)
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual(self.load("request.json")["related"], {"ConfigMap.v1": {}, "Pod.v1": {}})

    def test_elsewhere(self):
        self.cluster.put("/api/v1/namespaces/other/configmaps/settings", settings("settings"))
        self.config["related"][0]["rule"]["object"]["namespace"] = plain_text("other")
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual(list(self.load("request.json")["related"]["ConfigMap.v1"]), ["other/settings"])
        self.config["related"][0]["rule"]["object"]["namespace"] = plain_text("*")
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual(sorted(self.load("request.json")["related"]["ConfigMap.v1"]), ["other/settings", "settings"])
        self.config.update(watchNamespaces=["team"])
        self.config["related"][0]["rule"]["object"]["namespace"] = plain_text("other")
        self.assertEqual(self.run_command("read"), 2)
        self.assertIn("related config: namespace other is not one of watchNamespaces", self.condition("Ready")["message"])

    def test_allowed_namespaces(self):
        self.cluster.put("/api/v1/namespaces/other/configmaps/settings", settings("settings"))
        self.cluster.put("/api/v1/namespaces/tenant-a/configmaps/settings", settings("settings"))
        self.config.update(allowedNamespaces="^(tenant-[-a-z0-9]*)$")
        for namespace, found in (("tenant-a", ["tenant-a/settings"]), ("team", ["settings"]), ("*", ["settings", "tenant-a/settings"])):
            self.config["related"][0]["rule"]["object"]["namespace"] = plain_text(namespace)
            self.assertEqual(self.run_command("read"), 0, self.out)
            self.assertEqual(sorted(self.load("request.json")["related"]["ConfigMap.v1"]), found)
        for namespace in ("other", "a-tenant-b", "tenant-a\n"):
            self.config["related"][0]["rule"]["object"]["namespace"] = plain_text(namespace)
            self.assertEqual(self.run_command("read"), 2)
            self.assertIn("is not one of install.allowedNamespaces", self.condition("Ready")["message"])

    def test_wrong_rules(self):
        for rule, message in (({"names": {"array": [field_of("spec", "size")]}}, "names is not a list of strings"),
                              ({"labelSelector": {"object": {"matchLabels": field_of("spec")}}}, "labelSelector is not one"),
                              ({"names": {"array": [field_of("spec", "size", "x")]}}, "expected an object but got: number (2)")):
            with self.subTest(message):
                self.config["related"] = [entry_of("config", "ConfigMap", "configmaps", rule)]
                self.assertEqual(self.run_command("read"), 2)
                self.assertIn("related config: ", self.condition("Ready")["message"])
                self.assertIn(message, self.condition("Ready")["message"])

    def test_digest(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        first = annotated(self.live())
        self.assertRegex(first, "^[0-9a-f]{16}$")
        writes = len(self.cluster.writes())
        self.cluster.put(self.PODS + "/d", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "d", "labels": {"app": "web"}}})
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.assertEqual(annotated(self.live()), first, "a kind that is not watched does not count")
        self.assertNotIn(("PATCH", CR), self.cluster.writes()[writes:])
        self.cluster.objects[self.MAPS + "/settings"]["data"] = {"a": "c"}
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.assertNotEqual(annotated(self.live()), first)

    def test_a_failure_keeps_the_digest(self):
        self.cluster.faults.append(always("PATCH", DEPLOYMENTS, 403, {"reason": "Forbidden", "message": "no"}))
        self.assertEqual(self.reconcile([deployment()]), 1)
        self.assertIsNone(annotated(self.live()))

    def test_delete(self):
        self.assertEqual(self.reconcile([deployment()], delete=[
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "team"}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}]), 0, self.out)
        self.assertEqual([path for path in self.cluster.objects if path.startswith(self.PODS)], [self.PODS + "/c"])

    def test_delete_what_is_not_allowed(self):
        for one, message in (
                ({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}, "delete[0]: Pod c is not among"),
                ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}, "delete[0]: ConfigMap settings is not among"),
                ({"apiVersion": "v1", "kind": "Pod"}, "delete[0] is not an object"), ("a", "delete[0] is not an object")):
            with self.subTest(message):
                self.assertEqual(self.reconcile([deployment()], delete=[one]), 2)
                self.assertIn(message, self.condition("Ready")["message"])
        self.assertNotIn("DELETE", [method for method, _ in self.cluster.writes()])

    def test_enqueue(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.assertEqual(self.run_command("enqueue"), 0, self.out)
        self.assertIn("1 custom resources, 0 submitted", self.out)
        self.cluster.objects[self.MAPS + "/settings"]["data"] = {"a": "c"}
        self.assertEqual(self.run_command("enqueue"), 0, self.out)
        self.assertIn("team.one: what it refers to has changed", self.out)
        self.assertIn(("POST", WORKFLOWS), self.cluster.writes())
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        del self.cluster.objects[self.MAPS + "/settings"]
        self.assertEqual(self.run_command("enqueue"), 0, self.out)
        self.assertIn("what it refers to has changed", self.out)

    def test_enqueue_what_has_failed(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.live()["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "ReconcileFailed"}]
        self.run_command("enqueue")
        self.assertIn("its last reconcile has failed", self.out)

    def test_wake_during_finalization(self):
        self.config["finalizer"] = FINALIZER
        self.live()["metadata"].update(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.run_command("enqueue")
        self.assertIn("waits for its clean-up", self.out)

    def test_resync(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.live(DEPLOYMENTS + "/one")["status"] = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.cluster.put(SOURCE, {"metadata": {"creationTimestamp": self.time}})
        self.assertEqual(self.run_command("resync"), 0, self.out)
        self.assertIn("0 submitted", self.out)
        self.cluster.objects[self.MAPS + "/settings"]["data"] = {"a": "c"}
        self.assertEqual(self.run_command("resync"), 0, self.out)
        self.assertIn("what it refers to has changed", self.out)

    def test_selectors(self):
        rows = (({"matchLabels": {"a": "1"}}, {"a": "1"}, True), ({"matchLabels": {"a": "1"}}, {"a": "2"}, False),
                ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, {"a": "2"}, True),
                ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {}, True),
                ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, False),
                ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {}, True), ({}, {"a": "1"}, True))
        for selector, have, want in rows:
            with self.subTest(selector):
                self.assertEqual(reconcile.matches(selector, have), want)
        self.assertEqual(reconcile.selector_text({"matchLabels": {"b": "1"}, "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["1", "2"]}, {"key": "c", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"}, {"key": "e", "operator": "NotIn", "values": ["3"]}]}),
            "b in (1),a in (1,2),c,!d,e notin (3)")


class PodTemplateTest(Case):
    """The pod computes templates that read objects which the Sensor does not receive."""

    def setUp(self):
        super().setUp()
        for variable in ("ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE"):
            del self.env[variable]
        name = {"concat": [["get", ["get", ["in"], "metadata"], "name"], ["lit", "-"],
                           ["get", ["get", ["var", "$item"], "metadata"], "name"]]}
        self.config.update(interdependent=True, children=[dict(
            CONFIGMAP, template=True, each=True, forEach={"expr": ["get", ["var", "$related"], "spaces"]},
            object={"object": {"apiVersion": plain_text("v1"), "kind": plain_text("ConfigMap"),
                               "metadata": {"object": {"name": name}},
                               "data": {"object": {"size": {"expr": ["pipe", ["get", ["get", ["in"], "spec"], "size"],
                                                                     ["call", "tostring/0"]]}, "none": field_of("spec", "none")}}}})],
            related=[entry_of("spaces", "Namespace", "namespaces", {"labelSelector": {"object": {
                "matchLabels": {"object": {"copy": plain_text("yes")}}}}}, namespaced=False, several=True)], status=None)
        self.cr()

    def space(self, name):
        self.cluster.put("/api/v1/namespaces/" + name, {"metadata": {"name": name, "labels": {"copy": "yes"}}})

    def made(self):
        return sorted(path.rpartition("/")[2] for path in self.cluster.objects if "/configmaps/" in path)

    def test_for_each(self):
        self.space("a")
        self.space("b")
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.made(), ["one-a", "one-b"])
        self.assertEqual(self.live("/api/v1/namespaces/team/configmaps/one-a")["data"], {"size": "2"})
        del self.cluster.objects["/api/v1/namespaces/a"]
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.made(), ["one-b"])

    def test_when(self):
        self.space("a")
        self.config["children"][0]["when"] = {"expr": ["eq", ["get", ["get", ["in"], "spec"], "size"], ["lit", 5]]}
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.made(), [])

    def test_failure(self):
        self.space("a")
        self.config["children"][0]["object"]["object"]["data"] = field_of("spec", "size", "x")
        self.assertEqual(self.run_command("apply"), 2)
        self.assertIn("template settings: ", self.condition("Ready")["message"])


class DependentTemplatesTest(Case):
    """Templates that read other children are computed when these exist."""

    CONFIG = "/api/v1/namespaces/team/configmaps/one"
    ARN = {"expr": ["get", ["get", ["get", ["var", "$children"], "deployment"], "status"], "arn"]}

    def setUp(self):
        super().setUp()
        for variable in ("ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE"):
            del self.env[variable]
        self.config.update(interdependent=True, related=[], status=None, children=[
            dict(DEPLOYMENT, template=True, object=self.template("apps/v1", "Deployment", "spec", {"replicas": field_of("spec", "size")})),
            dict(CONFIGMAP, template=True, object=self.template("v1", "ConfigMap", "data", {"arn": self.ARN, "uid": self.uid("deployment")}))])
        self.settings = self.config["children"][1]
        self.cr()

    def template(self, version, kind, section, fields):
        return {"object": {"apiVersion": plain_text(version), "kind": plain_text(kind),
                           "metadata": {"object": {"name": field_of("metadata", "name")}}, section: {"object": fields}}}

    def uid(self, name):
        return {"expr": ["get", ["get", ["get", ["var", "$children"], name], "metadata"], "uid"]}

    def arn(self, value):
        self.live(DEPLOYMENTS + "/one")["status"] = {"arn": value}

    def test_a_template_reads_what_the_same_run_makes(self):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live(self.CONFIG)["data"]["uid"], self.live(DEPLOYMENTS + "/one")["metadata"]["uid"])

    def test_nothing_is_written_twice(self):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        before = len(self.cluster.writes())
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual([method for method, _ in self.cluster.writes()[before:]], ["PATCH", "PATCH"])

    def test_a_template_is_not_computed_before_its_dependencies_are_ready(self):
        self.settings.update(dependsOn=["deployment"])
        self.settings["object"]["object"]["data"] = {"object": {"arn": {"concat": [["lit", "arn "], self.ARN["expr"]]}}}
        self.config["children"][0].update(readiness(["ne", ["get", ["get", ["in"], "status"], "arn"], ["lit", None]]))
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertIn("settings: waits for Deployment team/one", self.condition("Ready")["message"])
        self.arn("a")
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live(self.CONFIG)["data"], {"arn": "arn a"})

    def test_a_template_that_fails_does_not_stop_the_others(self):
        self.settings["object"]["object"]["data"] = {"object": {"arn": {"concat": [["lit", "arn "], self.ARN["expr"]]}}}
        self.assertEqual(self.run_command("apply"), 2, self.out)
        self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)
        self.assertIn("template settings: null inside a text", self.condition("Ready")["message"])

    def test_the_children_of_a_template_that_fails_stay(self):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.settings["object"]["object"]["data"] = {"object": {"arn": {"concat": [["lit", "arn "], self.ARN["expr"]]}}}
        self.assertEqual(self.run_command("apply"), 2, self.out)
        self.assertIn(self.CONFIG, self.cluster.objects)

    def needs_arn(self):
        self.settings["place"] = {"object": {"name": field_of("metadata", "name")}}
        self.settings["needs"] = [{"expr": self.ARN, "text": "$children.deployment.status.arn", "children": ["deployment"]}]

    def test_a_template_waits_for_a_value_that_it_needs(self):
        self.needs_arn()
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertIn("settings: waits for $children.deployment.status.arn", self.condition("Ready")["message"])
        self.arn("a")
        self.arn_of_settings("a")

    def test_a_field_that_goes_away_is_not_taken_from_others(self):
        self.needs_arn()
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.arn("a")
        self.arn_of_settings("a")
        self.arn(None)
        self.arn_of_settings("a")
        self.assertIn("settings: stays as it is until $children.deployment.status.arn has a value", self.condition("Ready")["message"])
        self.arn("b")
        self.arn_of_settings("b")

    def test_a_child_that_is_not_wanted_any_more_waits_for_nothing(self):
        self.needs_arn()
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.arn("a")
        self.arn_of_settings("a")
        self.arn(None)
        self.settings["when"] = {"expr": ["lit", False]}
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertNotIn("settings", self.condition("Ready")["message"])

    def test_values_of_a_child_that_is_not_wanted_are_not_waited_for(self):
        self.needs_arn()
        self.config["children"][0].update(when={"expr": ["lit", False]}, object={"object": {"metadata": {"object": {"name": {"expr": ["lit", "one"]}}}}})
        self.arn_of_settings(None)

    def test_a_list_that_is_not_known_removes_nothing(self):
        self.needs_arn()
        self.settings["place"] = {"object": {"name": {"expr": ["var", "$item"]}}}
        self.settings["object"]["object"]["metadata"] = {"object": {"name": {"expr": ["var", "$item"]}}}
        self.settings["forEach"] = self.ARN
        self.settings["each"] = True
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn("settings: waits for", self.condition("Ready")["message"])
        self.arn(["one-settings"])
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn(self.CONFIG + "-settings", self.cluster.objects)
        self.arn(None)
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn(self.CONFIG + "-settings", self.cluster.objects)
        self.assertIn("settings: stays as it is", self.condition("Ready")["message"])
        self.arn([])
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG + "-settings", self.cluster.objects)

    def arn_of_settings(self, want):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live(self.CONFIG)["data"].get("arn"), want)


class ContainersTest(Case):
    """The containers of a pod start together; each waits for the previous one."""

    def setUp(self):
        super().setUp()
        self.env["ARGOPERATOR_EXECUTOR"] = self.path("ctr")
        self.cr()

    def exit_code(self, container):
        with open(self.path(container + ".exit"), encoding="utf-8") as file:
            return file.read()

    def test_read_tells(self):
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual(self.exit_code("read"), "0")

    def test_read_tells_of_failure(self):
        for what, fault, code in (("a failure", (403, {"message": "no"}), 1), ("a defect", (200, {"kind": "Memcached"}), 1)):
            with self.subTest(what):
                self.cluster.faults = [lambda method, path, fault=fault: fault if path == CR else None]
                with contextlib.suppress(KeyError):
                    self.run_command("read")
                self.assertEqual(self.exit_code("read"), str(code))
                os.remove(self.path("read.exit"))

    def test_apply_waits(self):
        self.run_command("read")
        before, waits = len(self.cluster.log), []

        def sleep(seconds):  # the logic takes its time
            waits.append(seconds)
            self.assertEqual(len(self.cluster.log), before, "apply does nothing before the logic has ended")
            if len(waits) == 2:
                self.write("logic.exit", "")  # made, and not yet written
            if len(waits) == 4:
                self.write("response.json", {"children": [deployment()]})
                self.write("logic.exit", "0\n")
            self.assertLess(len(waits), 10, "apply waits on")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = reconcile.main(["apply"], self.env, sleep)
        self.assertEqual((code, len(waits)), (0, 4), out.getvalue())
        self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)

    def test_apply_after_failure(self):
        for container, place, code in (("read", "read.exit", 2), ("logic", "logic.exit", 3),
                                       ("logic", "ctr/logic/exitcode", 137)):
            with self.subTest(place):
                self.run_command("read")
                before = len(self.cluster.log)
                self.write(place, str(code))
                self.assertEqual(self.run_command("apply"), code, self.out)
                self.assertIn('dependency "%s" exited with non-zero code: %d' % (container, code), self.out)
                self.assertEqual(len(self.cluster.log), before)
                os.remove(self.path(place))

    def test_gone(self):
        self.cluster.reset()
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.write("logic.exit", "0")
        self.assertEqual(self.run_command("apply"), 0, self.out)


class DependsTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(interdependent=True, children=[DEPLOYMENT, dict(CONFIGMAP, dependsOn=["deployment"])], status=None)
        self.cr()

    def ready(self, replicas=2):
        self.live(DEPLOYMENTS + "/one")["status"] = {
            "replicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas, "readyReplicas": replicas}

    def has_settings(self):
        return "/api/v1/namespaces/team/configmaps/one" in self.cluster.objects

    def test_order(self):
        self.assertEqual(self.reconcile([settings(), deployment()]), 0, self.out)
        self.assertFalse(self.has_settings())
        ready = self.condition("Ready")
        self.assertEqual((ready["status"], ready["reason"]), ("False", "Progressing"))
        self.assertIn("ConfigMap team/one: waits for Deployment team/one", ready["message"])
        self.ready()
        self.assertEqual(self.reconcile([settings(), deployment()]), 0, self.out)
        self.assertTrue(self.has_settings())
        self.assertEqual(self.condition("Ready")["status"], "True")
        self.ready(0)
        self.assertEqual(self.reconcile([settings(), deployment()]), 0, self.out)
        self.assertTrue(self.has_settings(), "what is there stays")

    def test_nothing_to_wait_for(self):
        self.assertEqual(self.reconcile([settings()]), 0, self.out)
        self.assertTrue(self.has_settings())


class SelectedTest(Case):
    """An operator for some objects of an existing kind."""

    def setUp(self):
        super().setUp()
        label = ["get", ["get", ["get", ["in"], "metadata"], "labels"], "mine"]
        self.config["parent"].update(selected={"expr": ["eq", label, ["lit", "yes"]]})
        self.config.update(existing=True, status=None)
        self.cr(labels={"mine": "yes"})

    def test_request_of_a_decorator(self):
        self.assertEqual(self.reconcile(None, attachments=[settings()]), 0, self.out)
        request = self.load("request.json")
        self.assertEqual((request["object"], request["attachments"]), (request["parent"], request["children"]))
        self.assertIn("/api/v1/namespaces/team/configmaps/one", self.cluster.objects)

    def test_no_longer_selected(self):
        self.assertEqual(self.reconcile([settings()]), 0, self.out)
        self.live()["metadata"]["labels"] = {}
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertNotIn("/api/v1/namespaces/team/configmaps/one", self.cluster.objects)
        self.assertTrue(self.load("state.json")["gone"], "the logic has nothing to do")

    def test_no_longer_selected_with_a_finalizer(self):
        self.config["finalizer"] = FINALIZER
        self.assertEqual(self.reconcile([settings()]), 0, self.out)
        self.live()["metadata"]["labels"] = {}
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertTrue(self.load("request.json")["finalizing"])
        self.write("response.json", {"attachments": [], "finalized": True})
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live()["metadata"]["finalizers"], [])

    def test_decorate(self):
        self.config["decorate"] = True
        self.assertEqual(self.reconcile(labels={"mine": "yes", "new": "1"}, annotations={"a": "b"}), 0, self.out)
        self.assertEqual(self.live()["metadata"]["labels"], {"mine": "yes", "new": "1"})
        self.assertEqual(self.live()["metadata"]["annotations"], {"a": "b"})
        before = len(self.cluster.writes())
        self.assertEqual(self.reconcile(labels={"mine": "yes", "new": "1"}, annotations={"a": "b"}), 0, self.out)
        self.assertNotIn(("PATCH", CR), self.cluster.writes()[before:])
        self.assertEqual(self.reconcile(labels={"new": None}), 0, self.out)
        self.assertEqual(self.live()["metadata"]["labels"], {"mine": "yes"})

    def test_resync(self):
        self.assertEqual(self.reconcile([settings()]), 0, self.out)
        self.live()["metadata"]["labels"] = {}
        self.cluster.put(SOURCE, {"metadata": {"creationTimestamp": self.time}})
        self.run_command("resync")
        self.assertIn("is not selected any more", self.out)


class LaterTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(timer="memcached-timer", children=[CONFIGMAP], status=None)
        self.cr()

    def timers(self):
        return [obj for path, obj in sorted(self.cluster.objects.items()) if path.startswith(WORKFLOWS)]

    def test_timer(self):
        self.assertEqual(self.reconcile(resyncAfterSeconds=59.2), 0, self.out)
        timer, = self.timers()
        self.assertEqual(timer["metadata"]["name"], "memcached-timer-cr-uid-1769990460")
        self.assertEqual(timer["metadata"]["labels"], {reconcile.MANAGED_BY: "memcached", reconcile.TIMER: "cr-uid"})
        self.assertEqual(timer["spec"]["workflowTemplateRef"], {"name": "memcached-timer"})
        self.assertEqual(timer["spec"]["arguments"]["parameters"], [
            {"name": "key", "value": "team.one"}, {"name": "seconds", "value": "60"}])

    def test_long(self):
        self.assertEqual(self.reconcile(resyncAfterSeconds=1e12), 0, self.out)
        self.assertEqual(self.timers()[0]["spec"]["arguments"]["parameters"][1]["value"], str(30 * 24 * 3600))

    def test_another_answer(self):
        self.assertEqual(self.reconcile(resyncAfterSeconds=60), 0, self.out)
        self.assertEqual(self.reconcile(resyncAfterSeconds=60), 0, self.out)
        self.assertEqual(len(self.timers()), 1)
        self.assertEqual(self.reconcile(resyncAfterSeconds=90), 0, self.out)
        self.assertEqual([one["metadata"]["name"][-4:] for one in self.timers()], ["0490"])
        self.assertEqual(self.reconcile(), 0, self.out)
        self.assertEqual(self.timers(), [])

    def test_its_own_workflow_is_kept(self):
        self.assertEqual(self.reconcile(resyncAfterSeconds=60), 0, self.out)
        self.env["ARGOPERATOR_WORKFLOW"] = self.timers()[0]["metadata"]["name"]
        self.assertEqual(self.reconcile(), 0, self.out)
        self.assertEqual(len(self.timers()), 1)

    def test_not_declared(self):
        del self.config["timer"]
        self.assertEqual(self.reconcile(resyncAfterSeconds=60), 0, self.out)
        self.assertEqual(self.timers(), [])
        self.assertIn("logic.resyncAfter", self.out)

    def test_no_number(self):
        self.assertEqual(self.reconcile(resyncAfterSeconds="soon"), 2)
        self.assertIn("resyncAfterSeconds is not a number", self.condition("Ready")["message"])


class ReadTest(Case):
    def test_request(self):
        cr = self.cr()
        self.cluster.put(DEPLOYMENTS + "/one", deployment(**labels()))
        self.cluster.put(DEPLOYMENTS + "/other", deployment("other", **labels("someone-else")))
        self.write("response.json", {"stale": True})
        self.assertEqual(self.run_command("read"), 0)
        request = self.load("request.json")
        self.assertEqual(request["parent"], cr)
        self.assertEqual(list(request["children"]), ["Deployment.apps/v1", "ConfigMap.v1"])
        self.assertEqual(list(request["children"]["Deployment.apps/v1"]), ["one"])
        self.assertEqual(request["children"]["Deployment.apps/v1"]["one"]["kind"], "Deployment")
        self.assertEqual((request["children"]["ConfigMap.v1"], request["related"], request["finalizing"]), ({}, {}, False))
        self.assertEqual(self.load("state.json"), {
            "gone": False, "uid": "cr-uid", "generation": 3, "finalizing": False, "related": {}, "digest": NOTHING_RELATED})
        self.assertFalse(os.path.exists(self.path("response.json")), "a stale response")

    def test_gone(self):
        for reason, metadata in (("not found", None), ("deleted, others' finalizers", {
                "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["other"]})):
            with self.subTest(reason):
                self.cluster.reset()
                self.config["finalizer"] = FINALIZER
                self.write("request.json", {"stale": True})
                if metadata:
                    self.cr(**metadata)
                self.assertEqual(self.run_command("read"), 0)
                self.assertEqual(self.load("state.json"), {"gone": True})
                self.assertFalse(os.path.exists(self.path("request.json")))
                self.assertEqual(self.run_command("apply"), 0)
                self.assertEqual(self.cluster.writes(), [])

    def test_finalizer_is_added_after_a_conflict(self):
        self.config["finalizer"] = FINALIZER
        self.cr(finalizers=["other"])
        self.cluster.faults = [once("PATCH", "memcacheds/one$", 409, {"reason": "Conflict"})]
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual(self.live()["metadata"]["finalizers"], ["other", FINALIZER])
        self.assertEqual(len(self.cluster.writes()), 2)
        self.assertTrue(all(entry[3]["metadata"]["resourceVersion"] for entry in self.cluster.log if entry[0] == "PATCH"))
        self.assertIn(FINALIZER, self.load("request.json")["parent"]["metadata"]["finalizers"])
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual(len(self.cluster.writes()), 2, "there already")

    def test_gone_while_the_finalizer_is_added(self):
        self.config["finalizer"] = FINALIZER
        self.cr()

        def vanish(method, path):
            if method == "PATCH":
                self.cluster.objects.clear()
        self.cluster.faults = [vanish]
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual(self.load("state.json"), {"gone": True})

    def test_pages_and_expired_page(self):
        self.cr()
        for index in range(5):
            self.cluster.put("%s/d%d" % (DEPLOYMENTS, index), deployment("d%d" % index, **labels()))
        self.cluster.page = 2
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual(len(self.load("request.json")["children"]["Deployment.apps/v1"]), 5)
        expired = [None, None, (410, {"reason": "Expired"})]
        self.cluster.faults = [lambda method, path: expired.pop(0) if expired else None]
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual(len(self.load("request.json")["children"]["Deployment.apps/v1"]), 5)

    def test_same_kind_is_listed_once(self):
        self.config["children"] = [DEPLOYMENT, dict(DEPLOYMENT, name="second")]
        self.cr()
        self.run_command("read")
        self.assertEqual([path for _, path, _, _, _ in self.cluster.log].count(DEPLOYMENTS), 1)

    def test_where_children_are_listed(self):
        everywhere, here, there = "/apis/apps/v1/deployments", DEPLOYMENTS, DEPLOYMENTS.replace("team", "b")
        for finalizer, watched, namespaced, want in (
                ("", [], True, [here]), ("", ["team", "b"], True, [here]), (FINALIZER, [], True, [everywhere]),
                (FINALIZER, ["team", "b"], True, [there, here]), ("", [], False, [everywhere]), ("", ["b"], False, [there])):
            with self.subTest(finalizer=finalizer, watched=watched, namespaced=namespaced):
                self.cluster.reset()
                self.config.update(finalizer=finalizer, watchNamespaces=watched, children=[DEPLOYMENT])
                self.config["parent"]["namespaced"] = namespaced
                self.env["ARGOPERATOR_KEY"] = "team.one" if namespaced else ".one"
                path = CR if namespaced else CR.replace("/namespaces/team", "")
                self.cluster.put(path, {"apiVersion": "v", "kind": "Memcached", "metadata": {"uid": "u"}})
                self.assertEqual(self.run_command("read"), 0)
                self.assertEqual([p for _, p, _, _, _ in self.cluster.log if p.endswith("deployments")], want)


class EncodingTest(unittest.TestCase):
    def test_json_that_is_yaml(self):
        text = "".join(map(chr, range(0x250))) + "\u2028\u2029\ufeff\ufffe\uffff\U0001f600\U000e0001{{x}}\\u0041"
        body = api.yaml_json({"a": text})
        self.assertEqual(json.loads(body), {"a": text})
        self.assertNotRegex(body.decode(), "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
        self.assertNotRegex(body.decode(), r"(?i)(?<!\\)\\ud[89a-f]")
        self.assertEqual(api.yaml_json("\ud800"), b'"?"')


class ApplyTest(Case):
    def test_applies_children_and_status(self):
        self.cr()
        self.assertEqual(self.reconcile([deployment(), settings()], status={"phase": "new"}), 0)
        got = self.live(DEPLOYMENTS + "/one")
        self.assertEqual(got["metadata"]["labels"], {reconcile.MANAGED_BY: "memcached", reconcile.OWNER_UID: "cr-uid"})
        self.assertEqual(got["metadata"]["annotations"], {
            reconcile.OWNER: "team.one", reconcile.DEFINITION: "d1", reconcile.SIBLINGS: "2"})
        self.assertEqual(got["metadata"]["ownerReferences"], [{
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "name": "one", "uid": "cr-uid",
            "controller": True}])
        patch = next(entry for entry in self.cluster.log if entry[0] == "PATCH")
        self.assertEqual(patch[2], {"fieldManager": "memcached", "force": "true"})
        self.assertEqual(patch[4]["Content-Type"], "application/apply-patch+yaml")
        status = self.live()["status"]
        self.assertEqual((status["readyReplicas"], status["phase"], status["observedGeneration"]), (0, "new", 3))
        self.assertEqual(self.condition("Ready"), {
            "type": "Ready", "status": "False", "reason": "Progressing", "observedGeneration": 3,
            "lastTransitionTime": self.time, "message": "not ready: Deployment team/one: updatedReplicas is 0 of 2"})
        body = next(entry[3] for entry in self.cluster.log if entry[1].endswith("/status"))
        self.assertEqual(list(body["metadata"]), ["resourceVersion"])

    def test_second_run_writes_no_status(self):
        self.cr()
        child = deployment()
        self.reconcile([child], status={"gone": None, "nested": {"a": 1}, "conditions": [{"type": "Warm", "status": "True"}]})
        self.live(DEPLOYMENTS + "/one")["status"] = {
            "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
        for run in range(3):
            self.time = "2026-03-0%dT00:00:00Z" % (run + 1)
            self.env["ARGOPERATOR_WORKFLOW"] = "memcached-one-%d" % run
            before = len(self.cluster.writes())
            self.assertEqual(self.reconcile([child], status={
                "nested": {"a": 1}, "conditions": [{"type": "Warm", "status": "True", "lastTransitionTime": self.time}]}), 0)
            self.assertEqual(len(self.cluster.writes()) - before, 2 if run == 0 else 1, self.cluster.writes()[before:])
        ready = self.condition("Ready")
        self.assertEqual((ready["status"], ready["reason"], ready["lastTransitionTime"]),
                         ("True", "Reconciled", "2026-03-01T00:00:00Z"))
        self.assertEqual(self.condition("Warm"), {
            "type": "Warm", "status": "True", "reason": "Warm", "message": "", "observedGeneration": 3,
            "lastTransitionTime": "2026-02-02T00:00:00Z"})
        self.assertEqual(self.live()["status"]["readyReplicas"], 2)

    def test_status_of_others_stays_and_ours_goes(self):
        self.cr()
        self.live()["status"] = {"theirs": 1, "conditions": [{"type": "Theirs", "status": "True"}]}
        self.reconcile([settings()], status={"ours": 1})
        self.assertEqual(self.live()["status"]["ours"], 1)
        self.reconcile([settings()])
        self.assertNotIn("ours", self.live()["status"])
        self.assertEqual(self.live()["status"]["theirs"], 1)
        self.assertTrue(self.condition("Theirs"))
        before = len(self.cluster.writes())
        self.reconcile([settings()])
        self.assertEqual(len(self.cluster.writes()) - before, 1, "the child only")

    def test_ready_of_the_logic_is_kept(self):
        self.cr()
        self.reconcile([settings()], status={"conditions": [{"type": "Ready", "status": "False", "message": "busy"}]})
        self.assertEqual(self.condition("Ready")["message"], "busy")

    def test_parent_without_status(self):
        self.config["parent"]["status"] = False
        self.cr()
        self.assertEqual(self.reconcile([settings()], status={"a": 1}), 0)
        self.assertEqual(len(self.cluster.writes()), 1)

    def test_invalid_responses(self):
        rows = (
            ("missing", None, "wrote no response"), ("empty", "", "not JSON"), ("broken", "{", "not JSON"),
            ("NaN", '{"status": {"a": NaN}}', "NaN is not JSON"), ("list", "[]", "not a JSON object"),
            ("children", {"children": {}}, "children is not a list"), ("status", {"status": []}, "status is not an object"),
            ("finalized", {"finalized": "yes"}, "finalized is not a boolean"),
            ("conditions", {"status": {"conditions": {"a": 1}}}, "conditions is not a list"),
            ("condition", {"status": {"conditions": [{"type": "A", "status": True}]}}, "conditions[0] needs"),
            ("two problems", {"children": ["x", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}]},
             "children[0]: is not an object with apiVersion, kind and metadata; children[1]: Pod of v1 is not declared"),
            ("generateName", {"children": [deployment(name="", generateName="x-")]}, "generateName"),
            ("name", {"children": [deployment(name=5)]}, "no metadata.name"),
            ("twice", {"children": [deployment(), deployment(namespace="team")]}, "Deployment team/one is there twice"),
            ("a status", {"children": [dict(deployment(), status={"replicas": 1})]}, "has a status"),
            ("labels", {"children": [deployment(labels=["a"])]}, "metadata.labels is not an object"),
            ("owners", {"children": [deployment(ownerReferences=["x"])]}, "ownerReferences is not a list of objects"),
            ("namespace", {"children": [deployment(namespace=5)]}, "namespace is not a string"),
            ("elsewhere", {"children": [deployment(namespace="b")]}, "needs a finalizer"),
            ("no kind", {"children": [{"metadata": {"name": "a"}}]}, "not declared"))
        for reason, response, want in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))
                self.run_command("read")
                if response is not None:
                    self.write("response.json", response)
                self.assertEqual(self.run_command("apply"), 2)
                self.assertIn(want, self.condition("Ready")["message"])
                self.assertIn("workflow argo-events/memcached-one-abc", self.condition("Ready")["message"])
                self.assertEqual(self.condition("Stalled")["status"], "True")
                self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")], "nothing is deleted on an error")

    def test_failure_is_cleared(self):
        self.config["argoServerURL"] = "https://argo.example.com/"
        self.cr()
        self.assertEqual(self.reconcile([settings()], status={"phase": "fine"}), 0)
        self.assertEqual(self.reconcile(["x"]), 2)
        self.assertIn("https://argo.example.com/workflows/argo-events/memcached-one-abc", self.condition("Ready")["message"])
        self.assertEqual(self.live()["status"]["phase"], "fine", "a failure leaves the rest")
        self.assertEqual(self.reconcile([settings()]), 0)
        self.assertIsNone(self.condition("Stalled"))
        self.assertEqual(self.condition("Ready")["status"], "True")

    def test_foreign_child(self):
        rows = (
            ("no labels", {}, 2, "exists and belongs to someone else"),
            ("another's", labels("u2", "team.two"), 2, "exists and belongs to team.two"),
            ("owned", {"ownerReferences": [{"kind": "Web", "name": "w", "uid": "u"}]}, 2, "exists and belongs to Web w"),
            ("earlier CR", dict(labels("old"), deletionTimestamp="2026-01-01T00:00:00Z"), 1, "still there from an earlier"))
        for reason, metadata, code, want in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/one", deployment(**metadata))
                self.assertEqual(self.reconcile([deployment(), settings()], status={"phase": "partly"}), code)
                self.assertIn(want, self.condition("Ready")["message"])
                self.assertNotIn(("PATCH", DEPLOYMENTS + "/one"), self.cluster.writes())
                self.assertIn(("PATCH", "/api/v1/namespaces/team/configmaps/one"), self.cluster.writes())
                self.assertEqual(self.live()["status"]["phase"], "partly")

    def test_child_without_its_label(self):
        self.cr()
        self.assertEqual(self.reconcile([deployment()]), 0)
        del self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][reconcile.OWNER_UID]
        self.assertEqual(self.reconcile([deployment()]), 0)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][reconcile.OWNER_UID], "cr-uid")

    def test_orphan_of_an_earlier_cr_is_adopted(self):
        self.config["children"] = [dict(DEPLOYMENT, onDelete="Orphan", unowned=True)]
        self.cr()
        self.cluster.put(DEPLOYMENTS + "/one", deployment(**dict(labels("old"), ownerReferences=[])))
        self.assertEqual(self.reconcile([deployment()]), 2)
        self.assertIn("write adopt: true on child", self.condition("Ready")["message"])
        self.config["children"][0]["adopt"] = True
        self.assertEqual(self.reconcile([deployment()]), 0)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][reconcile.OWNER_UID], "cr-uid")
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["ownerReferences"], [])

    def test_adoption(self):
        self.config["children"] = [dict(DEPLOYMENT, adopt=True)]
        other = "/apis/cache.example.com/v1alpha1/namespaces/team/memcacheds/two"
        controlled = {"ownerReferences": [{"kind": "Web", "name": "w", "uid": "u", "controller": True}]}
        for what, metadata, code in (
                ("nobody's", {}, 0), ("controlled by another", controlled, 2),
                ("a living custom resource's", dict(labels("u2", "team.two"), ownerReferences=[]), 2),
                ("a gone custom resource's", dict(labels("u3", "team.two"), ownerReferences=[]), 0)):
            with self.subTest(what):
                self.cluster.reset()
                self.cr()
                self.cluster.put(other, dict(self.live(), metadata={"name": "two", "uid": "u2"}))
                before = copy.deepcopy(self.cluster.put(DEPLOYMENTS + "/one", dict(deployment(**metadata), spec={"replicas": 1})))
                self.assertEqual(self.reconcile([deployment()]), code, self.out)
                if code:
                    self.assertEqual(self.live(DEPLOYMENTS + "/one"), before)
                    self.assertIn("so it is not adopted", self.condition("Ready")["message"])
                else:
                    self.assertEqual(self.live(DEPLOYMENTS + "/one")["spec"], {"replicas": 2})

    def test_logic_reaches_no_state(self):
        """Files that the logic writes next to the response have no effect."""
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.env["ARGOPERATOR_STATE"], self.config["finalizer"] = state.name, FINALIZER
        pods = "/api/v1/namespaces/kube-system/pods/dns"
        self.config["related"] = [entry_of("pods", "Pod", "pods", {"labelSelector": {"object": {"matchLabels": {
            "object": {"app": plain_text("mine")}}}}}, several=True, watch=False, delete=True)]
        self.cr(finalizers=[FINALIZER])
        self.cluster.put(pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns", "uid": "v1"}})
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual(sorted(os.listdir(state.name)), ["read.exit", "state.json"])
        self.write("state.json", {"gone": False, "uid": "cr-uid", "generation": 3, "finalizing": True, "related": {
            "pods": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns", "namespace": "kube-system", "uid": "v1"}}]}})
        self.write("response.json", {"children": [], "finalized": True, "delete": [
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns", "namespace": "kube-system"}}]})
        self.assertEqual(self.run_command("apply"), 2)
        self.assertIn("is not among the related objects", self.condition("Ready")["message"])
        self.assertIn(pods, self.cluster.objects)
        self.assertEqual(self.live()["metadata"]["finalizers"], [FINALIZER])

    def test_response_that_is_no_plain_file(self):
        path, secret = self.path("response.json"), self.path("secret")

        def linked():
            self.write("secret", {"children": []})
            os.symlink(secret, path)
        for what, make, why in (("a link", linked, "cannot be read"), ("a pipe", lambda: os.mkfifo(path), "no regular file"),
                                ("a directory", lambda: os.mkdir(path), "cannot be read"),
                                ("too large", lambda: self.write("response.json", " " * ((10 << 20) + 1)), "larger than 10 MiB")):
            with self.subTest(what):
                self.cluster.reset()
                self.cr()
                self.assertEqual(self.run_command("read"), 0, self.out)
                make()
                self.assertEqual(self.run_command("apply"), 2)
                self.assertIn(why, self.condition("Ready")["message"])
                os.rmdir(path) if os.path.isdir(path) else os.remove(path)

    def test_only_the_object_that_was_read_is_written(self):
        """An object that is created between the read and the write, and one that replaces the child then."""
        for what, uid, code in (("made", None, 2), ("replaced", "uid-old", 2)):
            with self.subTest(what):
                self.cluster.reset()
                self.cr()
                if uid:
                    self.cluster.put(DEPLOYMENTS + "/one", deployment(**dict(labels(), uid=uid)))

                def race(method, path):
                    if method == "PATCH" and path == DEPLOYMENTS + "/one":
                        self.cluster.faults = []
                        self.cluster.put(DEPLOYMENTS + "/one", deployment(uid="theirs"))
                self.cluster.faults = [race]
                self.assertEqual(self.reconcile([deployment()]), code, self.out)
                self.assertNotIn("labels", self.live(DEPLOYMENTS + "/one")["metadata"])
                self.assertIn("exists and belongs to someone else", self.condition("Ready")["message"])

    def test_names_are_one_path_segment(self):
        self.cr()
        for name in ("../../../secrets/x", "..", "x/status", "x%2Fstatus"):
            with self.subTest(name):
                self.assertEqual(self.reconcile([deployment(name)]), 2)
                self.assertIn("cannot be the name of an object", self.condition("Ready")["message"])
                with self.assertRaises(reconcile.Refused):
                    reconcile.path_of(DEPLOYMENT, name, "x")
        self.assertEqual([entry[1] for entry in self.cluster.log if "deployments/" in entry[1]], [])

    def test_null_counts_as_missing(self):
        self.cr()
        self.assertEqual(self.reconcile([], status=None, finalized=None, resyncAfterSeconds=5), 0)
        self.assertIn("resyncAfterSeconds is left", self.out)

    def test_status_that_the_schema_refuses(self):
        for children, want in (([settings()], "no such field"), ([settings(), deployment()], "belongs to")):
            with self.subTest(want):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/one", deployment())
                self.cluster.faults = [once("PATCH", "/status$", 422, {"message": "no such field"})]
                self.assertEqual(self.reconcile(children, status={"fase": 1}), 2)
                self.assertIn(want, self.condition("Ready")["message"])
                self.assertNotIn("fase", self.live()["status"])

    def test_apply_conflict(self):
        self.config["forceConflicts"] = False
        self.cr()
        self.cluster.faults = [always("PATCH", "deployments/one", 409, {"reason": "Conflict", "details": {"causes": [
            {"reason": "FieldManagerConflict", "field": ".spec.replicas", "message": 'conflict with "kubectl"'}]}})]
        self.assertEqual(self.reconcile([deployment()]), 2)
        self.assertIn('others manage .spec.replicas (conflict with "kubectl")', self.condition("Ready")["message"])
        self.assertEqual(next(entry[2]["force"] for entry in self.cluster.log if entry[0] == "PATCH"), "false")

    def test_codes_of_api_errors(self):
        rows = ((422, "Invalid", 2, 0), (400, "BadRequest", 2, 0), (403, "Forbidden", 1, 0), (409, "Conflict", 1, 0),
                (500, "failed to create typed patch object: .spec.x: field not declared in schema", 2, 0))
        for status, message, code, sleeps in rows:
            with self.subTest(status):
                self.cluster.reset()
                self.cr()
                self.cluster.faults = [always("PATCH", "deployments/one", status, {"message": message})]
                self.assertEqual(self.reconcile([deployment()]), code)
                self.assertIn("Deployment team/one: " + message, self.condition("Ready")["message"])
                self.assertEqual(len(self.slept), sleeps)

    def test_secrets_are_not_quoted(self):
        self.config["children"] = [dict(CONFIGMAP, kind="Secret", plural="secrets")]
        self.cr()
        self.cluster.faults = [always("PATCH", "secrets/one", 400, {"reason": "BadRequest", "message": "bad: aHVudGVyMg=="})]
        self.assertEqual(self.reconcile([{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}}]), 2)
        self.assertNotIn("aHVudGVyMg", self.out + json.dumps(self.live()))

    def test_server_made_metadata_is_dropped(self):
        self.cr()
        self.reconcile([deployment()])
        seen = dict(copy.deepcopy(self.live(DEPLOYMENTS + "/one")), status={})
        self.assertEqual(self.reconcile([seen]), 0)
        body = [entry[3] for entry in self.cluster.log if entry[0] == "PATCH" and entry[1] == DEPLOYMENTS + "/one"][-1]
        self.assertEqual(sorted(body["metadata"]), ["annotations", "labels", "name", "namespace", "ownerReferences", "uid"])
        self.assertEqual(body["metadata"]["uid"], seen["metadata"]["uid"])
        self.assertEqual(len(body["metadata"]["ownerReferences"]), 1)

    def test_prune(self):
        self.config["children"] = [DEPLOYMENT, dict(CONFIGMAP, onDelete="Orphan", unowned=True)]
        self.cr()
        self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))
        self.cluster.put(DEPLOYMENTS + "/going", deployment("going", deletionTimestamp="t", **labels()))
        self.cluster.put(DEPLOYMENTS + "/theirs", deployment("theirs", **labels("u2")))
        self.cluster.put(DEPLOYMENTS + "/copied", deployment("copied", **dict(labels(), ownerReferences=[
            {"kind": "X", "name": "x", "uid": "ux", "controller": True}])))
        self.cluster.put(DEPLOYMENTS + "/labelled", deployment("labelled", labels=labels()["labels"]))
        self.cluster.put("/apis/apps/v1/namespaces/other/deployments/labelled", deployment("labelled", **labels()))
        self.cluster.put("/api/v1/namespaces/team/configmaps/kept", {"metadata": labels()})
        self.assertEqual(self.reconcile([deployment()]), 0)
        deleted = [entry for entry in self.cluster.log if entry[0] == "DELETE"]
        self.assertEqual([entry[1] for entry in deleted], [DEPLOYMENTS + "/old"])
        self.assertEqual(deleted[0][3]["propagationPolicy"], "Background")
        self.assertEqual(sorted(deleted[0][3]["preconditions"]), ["resourceVersion", "uid"])

    def test_never_updated(self):
        self.config["children"] = [dict(DEPLOYMENT, never=True), CONFIGMAP]
        self.cr()
        self.assertEqual(self.reconcile([deployment(), settings()]), 0)
        before = len(self.cluster.writes())
        changed = deployment()
        changed["spec"]["replicas"] = 5
        self.assertEqual(self.reconcile([changed, settings()]), 0)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["spec"]["replicas"], 2)
        self.assertEqual([entry for entry in self.cluster.writes()[before:] if "/deployments/" in entry[1]], [])

    def test_replaced(self):
        self.config["children"] = [dict(DEPLOYMENT, fixed={"expr": ["get", ["get", ["in"], "spec"], "selector"]})]
        self.cr()
        child = deployment()
        for selector, replicas, deletions in (("a", 2, 0), ("a", 3, 0), ("b", 3, 1), ("b", 3, 1)):
            child["spec"] = {"selector": selector, "replicas": replicas}
            self.assertEqual(self.reconcile([child]), 0)
            deleted = [entry for entry in self.cluster.log if entry[0] == "DELETE"]
            self.assertEqual(len(deleted), deletions)
            live = self.live(DEPLOYMENTS + "/one")
            self.assertEqual((live["spec"]["selector"], live["spec"]["replicas"]), (selector, replicas))
        self.assertEqual(deleted[0][3]["propagationPolicy"], "Foreground")

    def test_waits_for_the_end_of_what_is_replaced(self):
        self.config["children"] = [dict(DEPLOYMENT, fixed={"expr": ["get", ["get", ["in"], "spec"], "selector"]})]
        self.cr()
        child = deployment()
        child["spec"]["selector"] = "a"
        self.assertEqual(self.reconcile([child]), 0)
        self.live(DEPLOYMENTS + "/one")["metadata"]["deletionTimestamp"] = self.time
        child["spec"]["selector"] = "b"
        before = len(self.cluster.writes())
        self.assertEqual(self.reconcile([child]), 0)
        self.assertEqual([entry for entry in self.cluster.writes()[before:] if "/deployments/" in entry[1]], [])
        self.assertEqual(self.condition("Ready")["status"], "False")

    def test_prune_elsewhere(self):
        elsewhere = "/apis/apps/v1/namespaces/other/deployments/"
        for unowned, left in ((False, ["labelled", "owned"]), (True, ["owned"])):
            with self.subTest(unowned=unowned):
                self.cluster.reset()
                self.config.update(finalizer=FINALIZER, children=[dict(DEPLOYMENT, unowned=unowned)])
                self.cr(finalizers=[FINALIZER])
                self.cluster.put(elsewhere + "owned", deployment("owned", **dict(labels(), namespace="other", ownerReferences=[
                    {"kind": "X", "name": "x", "uid": "ux", "controller": True}])))
                self.cluster.put(elsewhere + "labelled", deployment("labelled", namespace="other", labels=labels()["labels"]))
                if not unowned:
                    self.cluster.put(elsewhere + "owned", deployment("owned", **dict(labels(), namespace="other")))
                self.assertEqual(self.reconcile([deployment()]), 0, self.out)
                self.assertEqual([name for name in ("labelled", "owned") if elsewhere + name in self.cluster.objects], left)

    def test_prune_reads_changed_objects_again(self):
        for change, left in (({"annotations": {"seen": "true"}}, False), ({"ownerReferences": []}, True), ({"uid": "other"}, True)):
            with self.subTest(change):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))

                def changed(method, path):
                    if method == "DELETE":
                        self.cluster.faults = []
                        now = self.live(DEPLOYMENTS + "/old")
                        self.cluster.put(DEPLOYMENTS + "/old", dict(now, metadata=dict(now["metadata"], **change)))
                self.cluster.faults = [changed]
                self.assertEqual(self.reconcile([]), 0, self.out)
                self.assertEqual(DEPLOYMENTS + "/old" in self.cluster.objects, left)

    def test_prune_errors(self):
        for status, code in ((404, 0), (409, 1), (403, 1)):
            with self.subTest(status):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))
                self.cluster.faults = [always("DELETE", "old", status, {"message": "no"})]
                self.assertEqual(self.reconcile([]), code)

    def test_deleted_between_read_and_apply(self):
        def delete():
            self.cluster.objects.clear()

        def recreate():
            self.cr(uid="another")

        def terminate():
            self.live()["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=[FINALIZER])
        for change in (delete, recreate, terminate):
            with self.subTest(change.__name__):
                self.cluster.reset()
                self.config["finalizer"] = FINALIZER
                self.cr(finalizers=[FINALIZER])
                self.run_command("read")
                change()
                self.write("response.json", {"children": [deployment()]})
                self.assertEqual(self.run_command("apply"), 0)
                self.assertEqual(self.cluster.writes(), [])

    def test_deleted_during_apply(self):
        for status in (404, 409):
            self.cluster.reset()
            self.cr()

            def gone(method, path):
                if method == "PATCH" and path.endswith("/status"):
                    del self.cluster.objects[path[:-7]]
                    return status, {"message": "gone"}
                return None
            self.cluster.faults = [gone]
            self.assertEqual(self.reconcile([deployment()]), 0)
            self.assertIn("no status to write", self.out)

    def test_changed_during_apply(self):
        self.cr()
        self.cluster.faults = [once("PATCH", "/status$", 409, {"message": "the object has been modified"})]
        self.assertEqual(self.reconcile([deployment()]), 0)
        self.assertEqual(self.condition("Ready")["status"], "False")
        self.cluster.faults = [always("PATCH", "/status$", 409, {"message": "the object has been modified"})]
        self.write("response.json", {"children": [], "status": {"phase": "other"}})
        self.assertEqual(self.run_command("apply"), 1)
        self.assertIn("changes too fast", self.out)

    def test_cluster_scoped_parent(self):
        self.config["parent"]["namespaced"] = False
        self.config["children"] = [DEPLOYMENT, ROLE]
        self.env["ARGOPERATOR_KEY"] = ".one"
        path = CR.replace("/namespaces/team", "")
        self.cluster.put(path, {"apiVersion": "v", "kind": "Memcached", "metadata": {"name": "one", "uid": "cr-uid"}})
        role = {"apiVersion": ROLE["apiVersion"], "kind": "ClusterRole", "metadata": {"name": "r", "namespace": "ignored"}}
        self.assertEqual(self.reconcile([deployment(namespace="b"), role]), 0, self.out)
        self.assertEqual(self.live(ROLES + "/r")["metadata"]["annotations"][reconcile.OWNER], ".one")
        self.assertTrue(self.live(ROLES + "/r")["metadata"]["ownerReferences"])
        self.assertTrue(self.live(DEPLOYMENTS.replace("team", "b") + "/one")["metadata"]["ownerReferences"])
        self.assertEqual(self.condition("Ready", path)["reason"], "Progressing")
        self.run_command("read")
        children = self.load("request.json")["children"]
        self.assertEqual([list(children[kind]) for kind in children], [["b/one"], ["r"]])
        self.assertEqual(self.reconcile([deployment()]), 2)
        self.assertIn("needs a metadata.namespace", self.condition("Ready", path)["message"])

    def test_watch_namespaces(self):
        self.config.update(watchNamespaces=["team", "b"], finalizer=FINALIZER)
        self.cr()
        self.assertEqual(self.reconcile([deployment(namespace="c")]), 2)
        self.assertIn("not one of watchNamespaces", self.condition("Ready")["message"])
        self.assertEqual(self.reconcile([deployment(namespace="b")]), 0)
        self.assertNotIn("ownerReferences", self.live(DEPLOYMENTS.replace("team", "b") + "/one")["metadata"])

    def test_allowed_namespaces(self):
        self.config.update(allowedNamespaces="^(b|c-[-a-z0-9]*)$", finalizer=FINALIZER)
        self.cr()
        self.assertEqual(self.reconcile([deployment(namespace="c")]), 2)
        self.assertIn("namespace c is not one of install.allowedNamespaces", self.condition("Ready")["message"])
        for namespace in ("b", "c-1", "team"):
            self.assertEqual(self.reconcile([deployment(namespace=namespace)]), 0)


def readiness(expression):
    """The compiled form of a readyWhen, abbreviated."""
    met = ["eq", ["try", expression, ["lit", False]], ["lit", True]]
    return {"unready": {"expr": ["if", met, ["lit", ""], ["lit", "readyWhen is not met"]]}}


WEB = dict(DEPLOYMENT, name="web", template=True)
SHARD = dict(CONFIGMAP, name="shard", template=True, each=True)
REPLICAS = ["get", ["get", ["in"], "status"], "readyReplicas"]


class TemplatesCase(Case):
    """A definition whose children come from templates; `logic` tells whether it has logic too."""
    logic = False

    def setUp(self):
        super().setUp()
        self.config.update(templates=True, children=[WEB, SHARD], status=None)
        if not self.logic:
            del self.env["ARGOPERATOR_REQUEST"], self.env["ARGOPERATOR_RESPONSE"]

    def desire(self, *children, **fields):
        """The data that the Sensor sends, for the custom resource in the fake cluster."""
        metadata = self.live()["metadata"]
        inputs = {field: metadata.get(field) for field in ("generation", "labels", "annotations")}
        desired = dict({"uid": metadata["uid"], "inputs": copy.deepcopy(inputs), "children": [
            {"child": name, "object": obj} for name, obj in children]}, **fields)
        self.env["ARGOPERATOR_DESIRED"] = base64.b64encode(json.dumps(desired).encode()).decode()

    def apply(self, *children, **fields):
        self.desire(*children, **fields)
        return self.run_command("apply")

    def shards(self):
        return sorted(path.rpartition("/")[2] for path in self.cluster.objects if "/configmaps/" in path)


class TemplatesTest(TemplatesCase):
    def test_applies(self):
        self.cr()
        self.config["status"] = {"object": {"replicas": {"expr": ["get", ["get", child_of("web"), "spec"], "replicas"]}}}
        self.assertEqual(self.apply(("web", deployment()), ("shard", settings("one-0")), ("shard", settings("one-1"))), 0)
        metadata = self.live(DEPLOYMENTS + "/one")["metadata"]
        self.assertEqual(metadata["labels"], {
            reconcile.MANAGED_BY: "memcached", reconcile.OWNER_UID: "cr-uid", reconcile.CHILD: "web"})
        self.assertEqual(metadata["ownerReferences"][0]["uid"], "cr-uid")
        self.assertEqual(metadata["annotations"][reconcile.SIBLINGS], "3")
        self.assertEqual(self.live()["status"]["replicas"], 2)
        self.assertEqual(self.condition("Ready")["reason"], "Progressing")
        self.assertNotIn(reconcile.RECONCILE, self.live()["metadata"].get("annotations", {}))
        self.assertFalse(os.path.exists(self.path("state.json")), "one container needs no file")

    def test_no_longer_wanted(self):
        for reason, left, want in (("a shorter list", ("shard", settings("one-0")), ["one-0"]), (
                "when is false", ("web", deployment()), [])):
            with self.subTest(reason):
                self.cluster.reset()
                self.cr()
                self.assertEqual(self.apply(("shard", settings("one-0")), ("shard", settings("one-1"))), 0)
                self.assertEqual(self.shards(), ["one-0", "one-1"])
                self.assertEqual(self.apply(left), 0)
                self.assertEqual(self.shards(), want)

    def test_orphans_stay(self):
        self.config["children"] = [WEB, dict(SHARD, onDelete="Orphan", unowned=True)]
        self.cr()
        self.apply(("shard", settings("one-0")))
        self.assertEqual(self.apply(("web", deployment())), 0)
        self.assertEqual(self.shards(), ["one-0"])

    def test_gone(self):
        self.cr()
        self.desire(("web", deployment()))
        for reason, desired in (("computed", self.env["ARGOPERATOR_DESIRED"]), ("not computed", "")):
            with self.subTest(reason):
                self.cluster.reset()
                self.env["ARGOPERATOR_DESIRED"] = desired
                self.assertEqual(self.run_command("apply"), 0)
                self.assertIn("is gone", self.out)
                self.assertEqual(self.cluster.writes(), [])

    def test_stale(self):
        annotated = {"annotations": {"a": "1", reconcile.LAST_APPLIED: "{}"}}
        rows = (
            ("generation", {}, {"generation": 4}, False), ("older generation", {}, {"generation": 2}, False),
            ("label added", {}, {"labels": {"a": "b"}}, False), ("label changed", {"labels": {"a": "b"}}, {"labels": {"a": "c"}}, False),
            ("label removed", {"labels": {"a": "b"}}, {"labels": {}}, False),
            ("no labels and none", {}, {"labels": {}}, True), ("no annotations and none", {"annotations": {}}, {}, True),
            ("annotation", annotated, {"annotations": {"a": "2"}}, False),
            ("poked again", {}, {"annotations": {reconcile.RECONCILE: "t"}}, False),
            ("last-applied", annotated, {"annotations": {"a": "1", reconcile.LAST_APPLIED: '{"b": 1}'}}, True),
            ("last-applied is new", {"annotations": {"a": "1"}}, annotated, True),
            ("others' metadata", {}, {"finalizers": ["theirs"], "ownerReferences": []}, True),
            ("another object", {}, {"uid": "another"}, False))
        for reason, before, after, timely in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.config["finalizer"] = FINALIZER
                self.cr(**before)
                self.desire(("web", deployment()))
                self.live()["metadata"].update(after)
                self.assertEqual(self.run_command("apply"), 0, self.out)
                self.assertEqual(DEPLOYMENTS + "/one" in self.cluster.objects, timely)
                if not timely:
                    self.assertEqual(self.cluster.writes(), [], "not even the finalizer")
                    self.assertIn("deleted and made again" if "uid" in after else "a newer change is on its way", self.out)

    def test_changed_while_the_finalizer_is_added(self):
        self.config["finalizer"] = FINALIZER
        self.cr()
        self.desire(("web", deployment()))

        def change(method, path):
            if method == "PATCH" and path == CR and self.live()["metadata"]["generation"] == 3:
                self.live()["metadata"]["generation"] = 4
                return 409, {"reason": "Conflict"}
            return None
        self.cluster.faults = [change]
        self.assertEqual(self.run_command("apply"), 0)
        self.assertIn("a newer change", self.out)
        self.assertEqual(self.cluster.writes(), [("PATCH", CR)])

    def test_a_kind_without_a_generation(self):
        for data, timely in (({"a": 1.0}, True), ({"a": 2}, False)):
            with self.subTest(data):
                self.cluster.reset()
                self.cr()
                del self.live()["metadata"]["generation"]
                self.desire(("web", deployment()), inputs={"generation": None, "labels": None, "annotations": None,
                                                           "content": {"spec": {"size": 2}, "data": data}})
                self.live()["data"] = {"a": 1}
                self.assertEqual(self.run_command("apply"), 0)
                self.assertEqual(DEPLOYMENTS + "/one" in self.cluster.objects, timely)

    def test_another_definition(self):
        self.cr()
        self.assertEqual(self.apply(("web", deployment()), digest="d0"), 0)
        self.assertEqual(self.cluster.writes(), [])
        self.assertIn("another definition", self.out)
        self.assertEqual(self.apply(("web", deployment()), digest="d1"), 0)
        self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)

    def test_request_of_a_computation(self):
        self.config["finalizer"] = FINALIZER
        self.cr(annotations={"kept": "yes"}, labels={"a": "b"})
        seen = set()
        for text in ("", None, "\n"):
            self.env.pop("ARGOPERATOR_DESIRED", None)
            if text is not None:
                self.env["ARGOPERATOR_DESIRED"] = text
            self.assertEqual(self.run_command("apply"), 0)
            self.assertIn("asked for a fresh computation", self.out)
            seen.add((self.live()["metadata"]["annotations"][reconcile.RECONCILE]))
        self.assertEqual(seen, {self.time, "2026-02-02T00:00:00.5Z"})
        self.assertRegex(min(seen), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$")
        self.assertEqual(self.cluster.writes(), [("PATCH", CR)] * 3)
        _, _, query, body, headers = self.cluster.log[-1]
        self.assertEqual(headers["Content-Type"], "application/merge-patch+json")
        self.assertEqual((query, list(body), list(body["metadata"])), ({"fieldManager": "memcached"}, ["metadata"], ["annotations"]))
        self.assertEqual(self.live()["metadata"]["annotations"]["kept"], "yes")
        self.assertEqual(self.live()["metadata"]["labels"], {"a": "b"})

    def test_failed_request_of_a_computation(self):
        for status, code in ((404, 0), (403, 1)):
            with self.subTest(status):
                self.cr()
                self.cluster.faults = [once("PATCH", "memcacheds/one$", status, {"message": "no"})]
                self.assertEqual(self.run_command("apply"), code)

    def test_error_of_jq(self):
        rows = (("web: null is not an object", "template: web: null is not an object"), ({"a": 1}, 'template: {"a": 1}'))
        for error, want in rows:
            with self.subTest(want):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))
                self.assertEqual(self.apply(error=error), 2)
                self.assertTrue(self.condition("Ready")["message"].startswith(want + "; see workflow"), self.out)
                self.assertEqual((self.condition("Ready")["status"], self.condition("Ready")["reason"]), ("False", "ReconcileFailed"))
                self.assertEqual(self.condition("Stalled")["status"], "True")
                self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")], "nothing is deleted on an error")

    def test_error_of_an_older_generation_is_not_reported(self):
        self.cr()
        self.desire(error="web: null is not an object", children=None)
        self.live()["metadata"]["generation"] = 4
        self.assertEqual(self.run_command("apply"), 0)
        self.assertEqual(self.cluster.writes(), [])

    def test_garbage(self):
        def coded(value):
            return base64.b64encode(value.encode() if isinstance(value, str) else json.dumps(value).encode()).decode()
        inputs = {"generation": 3, "labels": None, "annotations": None}
        fine = {"uid": "cr-uid", "inputs": inputs, "children": []}
        rows = (
            ("no base64", "*", "cannot be read"), ("not substituted", "{{workflow.parameters.desired}}", "cannot be read"),
            ("cut off", coded(fine)[:-7], "cannot be read"), ("not ASCII", "ü", "cannot be read"),
            ("stray characters", coded(fine)[:8] + "*" + coded(fine)[8:], "cannot be read"),
            ("no UTF-8", base64.b64encode(b"\xff\xfe").decode(), "cannot be read"), ("no JSON", coded("{"), "cannot be read"),
            ("NaN", coded('{"a": NaN}'), "NaN is not JSON"), ("too deep", coded("[" * 100000), "cannot be read"),
            ("a list", coded([]), "expected form"), ("null", coded("null"), "expected form"),
            ("no uid", coded({"inputs": inputs, "children": []}), "expected form"),
            ("no inputs", coded({"uid": "cr-uid", "children": []}), "expected form"),
            ("labels", coded(dict(fine, inputs=dict(inputs, labels=["a"]))), "expected form"),
            ("annotations", coded(dict(fine, inputs=dict(inputs, annotations="a"))), "expected form"),
            ("no children", coded({"uid": "cr-uid", "inputs": inputs}), "expected form"),
            ("children", coded(dict(fine, children=[5])), "expected form"),
            ("a nameless child", coded(dict(fine, children=[{"object": {}}])), "expected form"),
            ("an object", coded(dict(fine, children=[{"child": "web", "object": 5}])), "template web: is not an object"),
            ("another kind", coded(dict(fine, children=[{"child": "web", "object": settings()}])),
             "template web: ConfigMap of v1 is not what the operator's children declare"),
            ("an unknown child", coded(dict(fine, children=[{"child": "db", "object": deployment()}])),
             "template db: Deployment of apps/v1 is not what"),
            ("an unknown kind", coded(dict(fine, children=[{"child": "web", "object": {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}}])), "template web: Pod of v1 is not declared"),
            ("no name", coded(dict(fine, children=[{"child": "web", "object": deployment("")}])), "template web: has no metadata.name"),
            ("twice", coded(dict(fine, children=[{"child": "shard", "object": settings()}] * 2)),
             "template shard: ConfigMap team/one is there twice"))
        for reason, text, want in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))
                self.env["ARGOPERATOR_DESIRED"] = text
                self.assertEqual(self.run_command("apply"), 2, self.out)
                self.assertIn(want, self.condition("Ready")["message"])
                self.assertIn("template", self.condition("Ready")["message"])
                self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")])

    def test_two_templates_one_object(self):
        self.config["children"] = [WEB, dict(WEB, name="db")]
        self.cr()
        self.assertEqual(self.apply(("web", deployment()), ("db", deployment())), 2)
        self.assertIn("template db: Deployment team/one comes from template web too", self.condition("Ready")["message"])

    def test_children_of_one_kind_are_told_apart_by_their_label(self):
        self.config["children"] = [WEB, dict(WEB, name="db", onDelete="Orphan", unowned=True)]
        self.config["status"] = {"object": {
            name: {"expr": ["get", ["get", child_of(name), "metadata"], "name"]} for name in ("web", "db")}}
        self.cr()
        self.assertEqual(self.apply(("web", deployment("one-db")), ("db", deployment("one-web"))), 0)
        self.assertEqual((self.live()["status"]["web"], self.live()["status"]["db"]), ("one-db", "one-web"))
        self.assertEqual(self.apply(), 0)
        self.assertNotIn(DEPLOYMENTS + "/one-db", self.cluster.objects)
        self.assertIn(DEPLOYMENTS + "/one-web", self.cluster.objects, "the orphan")

    def test_ready_when(self):
        ready = ["eq", REPLICAS, ["get", ["get", ["in"], "spec"], "replicas"]]
        rows = (
            ("met", ready, {"readyReplicas": 2}, ""), ("not met", ready, {"readyReplicas": 1}, "readyWhen is not met"),
            ("no status yet", ready, {}, "readyWhen is not met"), ("not a boolean", REPLICAS, {"readyReplicas": 2}, "readyWhen is not met"),
            ("null", ["lit", None], {}, "readyWhen is not met"), ("an error", ["add", ["lit", 1], ["lit", "a"]], {}, "readyWhen is not met"),
            ("the kind's rules", None, {"readyReplicas": 2}, "updatedReplicas is 0 of 2"))
        for reason, expression, status, want in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.config["children"] = [dict(WEB, **(readiness(expression) if expression else {})), SHARD]
                self.cr()
                self.apply(("web", deployment()))
                self.live(DEPLOYMENTS + "/one")["status"] = status
                self.assertEqual(self.apply(("web", deployment()), ("shard", settings("one-0"))), 0)
                message = "not ready: Deployment team/one: " + want if want else "all children are ready (2)"
                self.assertEqual(self.condition("Ready")["message"], message)
                self.assertEqual(self.condition("Ready")["status"], "False" if want else "True")

    def test_readiness_that_costs_too_much(self):
        endless = ["pipe", ["call", "_range/3", ["lit", 0], ["lit", 1e9], ["lit", 1]], ["empty"]]
        self.config["children"] = [dict(WEB, **readiness(endless)), SHARD]
        self.write("config.json", self.config)
        run = reconcile.Run(self.env, None, None)
        self.assertIn("its readiness is unknown", reconcile.unready_reason(run, reconcile.marked(deployment(), "web")))

    def test_list_of_children(self):
        self.config["status"] = {"object": {
            "shards": {"expr": length_of(child_of("shard"))}, "web": {"expr": child_of("web")},
            "first": {"expr": ["get", ["get", ["get", child_of("shard"), 0], "metadata"], "name"]}}}
        self.cr()
        self.apply(("shard", settings("one-b")), ("shard", settings("one-a")), ("shard", settings("one-c")))
        status = self.live()["status"]
        self.assertEqual((status["shards"], status["first"], status.get("web")), (3, "one-a", None))
        self.assertEqual(self.apply(), 0)
        self.assertEqual(self.live()["status"]["shards"], 0, "an empty list, not nothing")

    def test_second_run_changes_nothing(self):
        self.cr()
        children = [("web", deployment()), ("shard", settings("one-0"))]
        self.apply(*children)
        before, self.time = copy.deepcopy(self.cluster.objects), "2026-03-03T00:00:00Z"
        self.assertEqual(self.apply(*children), 0)
        self.assertEqual(self.cluster.objects, before)


class ChildEventTest(TemplatesCase):
    """Runs for the event of a child: `desired` is empty."""
    web, shard = DEPLOYMENTS + "/one", "/api/v1/namespaces/team/configmaps/one-0"
    children = (("web", deployment()), ("shard", settings("one-0")))

    def setUp(self):
        super().setUp()
        replicas = ["get", ["get", child_of("web"), "status"], "readyReplicas"]
        self.config.update(children=[dict(WEB, **readiness(["eq", REPLICAS, ["lit", 2]])), SHARD], status={"object": {
            "ready": {"expr": ["alt", replicas, ["lit", 0]]}, "shards": {"expr": length_of(child_of("shard"))}}})

    def reconciled(self, ready=2, **metadata):
        """The cluster after a run, with the ready replicas of its status."""
        self.cluster.reset()
        self.cr(**metadata)
        for _ in range(2):
            self.assertEqual(self.apply(*self.children), 0, self.out)
            self.live(self.web)["status"] = {"readyReplicas": ready}
        self.cluster.log.clear()

    def look(self, desired=""):
        self.env["ARGOPERATOR_DESIRED"] = desired
        return self.run_command("apply")

    def poked(self):
        return reconcile.RECONCILE in (self.live()["metadata"].get("annotations") or {})

    def test_shows_readiness(self):
        for before, after, status, reason in ((0, 2, "True", "Reconciled"), (2, 1, "False", "Progressing")):
            with self.subTest(reason):
                self.reconciled(before)
                self.assertNotEqual(self.condition("Ready")["reason"], reason)
                self.live(self.web)["status"] = {"readyReplicas": after}
                self.assertEqual(self.look(), 0, self.out)
                self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")], "and no poke")
                self.assertEqual((self.condition("Ready")["status"], self.condition("Ready")["reason"]), (status, reason))
                got = self.live()["status"]
                self.assertEqual((got["ready"], got["shards"], got["observedGeneration"]), (after, 1, 3))
                self.assertIn("2 children looked at, nothing to apply", self.out)
                self.assertEqual(self.look(), 0)
                self.assertEqual(len(self.cluster.writes()), 1, "a second run changes nothing")

    def test_status_of_apply_is_kept(self):
        self.config["children"][1] = dict(SHARD, **readiness(["lit", False]))
        self.children = self.children[::-1]
        self.reconciled(0)
        message = self.condition("Ready")["message"]
        self.assertIn("Deployment team/one: readyWhen is not met; ConfigMap", message)
        self.assertEqual(self.look(), 0)
        self.assertEqual((self.condition("Ready")["message"], self.cluster.writes()), (message, []))

    def test_policy_always_applies_to_the_resync(self):
        self.config["resyncPolicy"] = "Always"
        self.reconciled()
        self.assertEqual(self.look(), 0)
        self.assertEqual(self.cluster.writes(), [])

    def test_ready_of_the_definition(self):
        own = {"object": {"type": {"value": "Ready"}, "status": {"value": "False"}, "reason": {"value": "Resting"}}}
        self.config["status"]["object"]["conditions"] = {"array": [own]}
        self.reconciled()
        self.live(self.web)["status"] = {"readyReplicas": 1}
        self.assertEqual(self.look(), 0)
        self.assertFalse(self.poked())
        self.assertEqual((self.live()["status"]["ready"], self.condition("Ready")["reason"]), (1, "Resting"))

    def test_a_parent_without_status(self):
        self.config["parent"]["status"] = False
        self.reconciled()
        self.assertEqual(self.look(), 0)
        self.assertEqual(self.cluster.writes(), [])
        del self.cluster.objects[self.shard]
        self.assertEqual(self.look(), 0)
        self.assertTrue(self.poked())

    def test_a_child_being_deleted(self):
        """An unwanted child does not count, a wanted one is missing."""
        self.reconciled()
        old = dict(self.children[1][1], metadata=dict(labels(), name="old", deletionTimestamp="t"))
        self.cluster.put(self.shard[:-5] + "old", old)
        self.assertEqual(self.look(), 0)
        self.assertEqual((self.poked(), self.live()["status"]["shards"]), (False, 1))
        self.live(self.shard)["metadata"]["deletionTimestamp"] = "t"
        self.assertEqual(self.look(), 0)
        self.assertTrue(self.poked())

    def test_asks(self):
        def wrote(**entry):
            return lambda: self.live(self.shard)["metadata"]["managedFields"].append(
                dict({"manager": "kubectl", "time": "2026-01-01T00:00:05Z"}, **entry))

        def annotated(**annotations):
            return lambda: self.live(self.web)["metadata"]["annotations"].update(annotations)

        def failed():
            self.apply(error="web: no")
            self.assertEqual(self.condition("Ready")["reason"], "ReconcileFailed")

        def unnamed():
            self.live()["status"]["conditions"] = []
        objects = self.cluster.objects
        rows = (
            ("changed", wrote(), "changed by others"), ("in the same second", wrote(time="2026-01-01T00:00:00Z"), "may have been changed"),
            ("scaled", wrote(subresource="scale"), "may have been changed"),
            ("written by nobody", lambda: self.live(self.web)["metadata"].pop("managedFields"), "may have been changed"),
            ("one missing", lambda: objects.pop(self.shard), "has 1 children instead of 2"),
            ("all missing", lambda: [objects.pop(self.shard), objects.pop(self.web)], "has no children"),
            ("one too many", lambda: self.cluster.put(DEPLOYMENTS + "/more", deployment("more", **labels())), "has 3 children"),
            ("another definition", annotated(**{reconcile.DEFINITION: "d0"}), "another definition"),
            ("a new generation", lambda: self.live()["metadata"].update(generation=4), "latest change is not reconciled"),
            ("the templates failed", failed, "is not ready"), ("no condition", unnamed, "is not ready"),
            ("no finalizer", lambda: self.live()["metadata"].update(finalizers=[]), "has no finalizer yet"))
        self.config["finalizer"] = FINALIZER
        for reason, happens, want in rows:
            with self.subTest(reason):
                self.reconciled()
                objects = self.cluster.objects
                happens()
                self.cluster.log.clear()
                self.assertEqual(self.look(), 0, self.out)
                self.assertRegex(self.out, "team.one: asked for a fresh computation: .*" + want)
                self.assertEqual(self.cluster.writes(), [("PATCH", CR)], "the status stays as it is")
                self.assertTrue(self.poked())

    def test_statuses_of_others_are_no_drift(self):
        self.reconciled()
        self.live(self.web)["metadata"]["managedFields"].append(
            {"manager": "kcm", "subresource": "status", "time": "2026-09-09T00:00:00Z"})
        self.assertEqual(self.look(), 0)
        self.assertEqual(self.cluster.writes(), [])

    def test_event_of_a_drift(self):
        self.reconciled()
        self.assertEqual(self.look("drift"), 0, self.out)
        self.assertEqual([(method, path) for method, path, _, _, _ in self.cluster.log], [("GET", CR), ("PATCH", CR)])
        self.assertTrue(self.poked())

    def test_drift_during_deletion(self):
        self.config["finalizer"] = FINALIZER
        for desired in ("", "drift"):
            with self.subTest(desired):
                self.reconciled()
                self.live()["metadata"]["deletionTimestamp"] = "t"
                self.assertEqual(self.look(desired), 0, self.out)
                self.assertNotIn(CR, self.cluster.objects)

    def test_failures(self):
        forbidden = {"message": "forbidden"}
        rows = (
            ("the children", always("GET", "configmaps", 403, forbidden), 1, []),
            ("a status that the schema refuses", once("PATCH", "one/status", 422, {"message": "invalid"}), 2,
             [("PATCH", CR + "/status")] * 2))
        for reason, fault, code, writes in rows:
            with self.subTest(reason):
                self.reconciled()
                self.live(self.web)["status"] = {"readyReplicas": 1}
                self.cluster.faults = [fault]
                self.assertEqual(self.look(), code, self.out)
                self.assertEqual(self.cluster.writes(), writes)
        self.assertEqual(self.condition("Ready")["reason"], "ReconcileFailed")
        self.assertEqual(self.look(), 0)
        self.assertTrue(self.poked(), "a failure is not hidden by what the children are")


class TemplatesFinalizerTest(TemplatesCase):
    def setUp(self):
        super().setUp()
        self.config.update(finalizer=FINALIZER, children=[dict(WEB, unowned=True), dict(SHARD, onDelete="Orphan", unowned=True), dict(ROLE, template=True)])

    def test_added(self):
        self.cr(finalizers=["other"])
        role = {"apiVersion": ROLE["apiVersion"], "kind": "ClusterRole", "metadata": {"name": "one"}}
        self.assertEqual(self.apply(("web", deployment("one", namespace="b")), ("role", role)), 0, self.out)
        self.assertEqual(self.live()["metadata"]["finalizers"], ["other", FINALIZER])
        self.assertNotIn("ownerReferences", self.live(ROLES + "/one")["metadata"])

    def test_deletes_children_and_removes_the_finalizer(self):
        self.cr()
        self.desire(("web", deployment()))
        elsewhere, kept = DEPLOYMENTS.replace("team", "b") + "/one", "/api/v1/namespaces/team/configmaps/kept"
        for reason, desired in (("not computed", ""), ("ignored", self.env["ARGOPERATOR_DESIRED"]), ("garbage", "*")):
            with self.subTest(reason):
                self.cluster.reset()
                self.env["ARGOPERATOR_DESIRED"] = desired
                self.cr(finalizers=["other", FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z", generation=4)
                self.cluster.put(DEPLOYMENTS + "/one", deployment(**labels()))
                self.cluster.put(elsewhere, deployment(**labels()))
                self.cluster.put(ROLES + "/one", {"metadata": dict(labels(), finalizers=["slow"])})
                self.cluster.put(kept, {"metadata": labels()})
                self.cluster.put(DEPLOYMENTS + "/theirs", deployment("theirs", **labels("u2")))
                self.cluster.faults = [once("PATCH", "memcacheds/one$", 409, {"reason": "Conflict"})]
                self.assertEqual(self.run_command("apply"), 0, self.out)
                self.assertEqual(self.live()["metadata"]["finalizers"], ["other"], "without waiting for the role")
                self.assertEqual([path for method, path in self.cluster.writes() if method == "DELETE"],
                                 [DEPLOYMENTS.replace("team", "b") + "/one", DEPLOYMENTS + "/one", ROLES + "/one"])
                self.assertIn(kept, self.cluster.objects)
                self.assertNotIn("annotations", self.live()["metadata"], "no poke")

    def test_failure_keeps_the_finalizer(self):
        self.cr(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.cluster.put(ROLES + "/one", {"metadata": labels()})
        self.cluster.faults = [always("DELETE", "clusterroles", 403, {"message": "forbidden"})]
        self.assertEqual(self.run_command("apply"), 1)
        self.assertIn(FINALIZER, self.live()["metadata"]["finalizers"])
        self.assertIn("forbidden", self.condition("Ready")["message"])

    def test_deleted_without_our_finalizer(self):
        self.cr(finalizers=["other"], deletionTimestamp="2026-01-01T00:00:00Z")
        self.assertEqual(self.apply(("web", deployment())), 0)
        self.assertEqual(self.cluster.writes(), [])


class TemplatesAndLogicTest(TemplatesCase):
    logic = True

    def setUp(self):
        super().setUp()
        self.config["children"] = [WEB, SHARD, CONFIGMAP]

    def answer(self, *templates, children=(), **response):
        self.desire(*templates)
        return self.reconcile(children, **response)

    def test_both(self):
        self.cr()
        self.config["status"] = {"object": {"settings": {"expr": ["get", ["get", child_of("settings"), "metadata"], "name"]},
                                            "shards": {"expr": length_of(child_of("shard"))}}}
        self.assertEqual(self.answer(("web", deployment()), ("shard", settings("one-0")), children=[settings()],
                                     status={"phase": "fine"}), 0, self.out)
        status = self.live()["status"]
        self.assertEqual((status["phase"], status["settings"], status["shards"]), ("fine", "one", 1))
        child = self.live("/api/v1/namespaces/team/configmaps/one")["metadata"]
        self.assertEqual((child["annotations"][reconcile.SIBLINGS], child["labels"].get(reconcile.CHILD)), ("3", None))
        self.assertEqual(self.answer(("web", deployment())), 0)
        self.assertEqual(self.shards(), [], "neither wants them any more")
        self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)

    def test_clash(self):
        rows = (
            (settings(), "children[0]: ConfigMap team/one comes from template shard too"),
            (dict(settings(), metadata={"name": "one", "namespace": "team"}), "comes from template shard too"),
            (deployment("two"), "children[0]: Deployment two: this kind comes from template web"))
        for child, want in rows:
            with self.subTest(want):
                self.cluster.reset()
                self.cr()
                self.assertEqual(self.answer(("web", deployment()), ("shard", settings()), children=[child]), 2)
                self.assertIn("the logic's response is invalid: ", self.condition("Ready")["message"])
                self.assertIn(want, self.condition("Ready")["message"])
                self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")])

    def test_a_copied_label_is_dropped(self):
        self.cr()
        copied = dict(settings("one-x"), metadata={"name": "one-x", "labels": {reconcile.CHILD: "shard", "a": "b"}})
        self.assertEqual(self.answer(children=[copied]), 0)
        got = self.live("/api/v1/namespaces/team/configmaps/one-x")["metadata"]["labels"]
        self.assertEqual((got.get(reconcile.CHILD), got["a"]), (None, "b"))

    def test_nothing_for_the_logic_to_do(self):
        self.cr()
        self.desire(("web", deployment()))
        fine = self.env["ARGOPERATOR_DESIRED"]
        for reason, desired, generation, want in (
                ("poke", "", 3, "asked for a fresh computation: the logic has to run"), ("drift", "drift", 3, "asked for"),
                ("stale", fine, 4, "a newer change")):
            with self.subTest(reason):
                self.cluster.reset()
                self.cr(generation=generation)
                self.env["ARGOPERATOR_DESIRED"] = desired
                self.write("request.json", {"stale": True})
                self.assertEqual(self.run_command("read"), 0)
                self.assertIn(want, self.out)
                self.assertEqual(self.load("state.json"), {"gone": True})
                self.assertFalse(os.path.exists(self.path("request.json")), "so the logic does not run")
                before = len(self.cluster.writes())
                self.assertEqual(self.run_command("apply"), 0)
                self.assertEqual(len(self.cluster.writes()), before)

    def test_the_logic_runs_even_where_nothing_has_drifted(self):
        self.cr()
        self.assertEqual(self.answer(("web", deployment())), 0, self.out)
        self.env["ARGOPERATOR_DESIRED"] = ""
        self.assertEqual(self.run_command("read"), 0)
        self.assertIn(reconcile.RECONCILE, self.live()["metadata"]["annotations"])

    def test_changed_between_read_and_apply(self):
        for change in ({"generation": 4}, {"labels": {"a": "b"}}):
            with self.subTest(change):
                self.cluster.reset()
                self.cr()
                self.desire(("web", deployment()))
                self.run_command("read")
                self.write("response.json", {"children": [settings()]})
                self.live()["metadata"].update(change)
                self.assertEqual(self.run_command("apply"), 0)
                self.assertIn("a newer change", self.out)
                self.assertEqual(self.cluster.writes(), [])

    def test_error_stops_before_the_logic(self):
        self.cr()
        for desired in (None, "*"):
            with self.subTest(desired):
                self.desire(error="web: no")
                self.env["ARGOPERATOR_DESIRED"] = desired or self.env["ARGOPERATOR_DESIRED"]
                self.assertEqual(self.run_command("read"), 2)
                self.assertFalse(os.path.exists(self.path("request.json")))
                self.assertTrue(self.condition("Ready")["message"].startswith("template: "))
                self.assertEqual(self.run_command("report"), 0)
                self.assertIn("on the status already", self.out)

    def test_finalizing_is_the_logics(self):
        self.config["finalizer"] = FINALIZER
        self.cr(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.cluster.put(DEPLOYMENTS + "/one", deployment(**labels()))
        self.env["ARGOPERATOR_DESIRED"] = ""
        self.assertEqual(self.reconcile(finalized=False), 0, self.out)
        self.assertNotIn(DEPLOYMENTS + "/one", self.cluster.objects, "templates want nothing any more")
        self.assertEqual(self.condition("Ready")["reason"], "Finalizing")
        self.assertEqual(self.reconcile(finalized=True), 0)
        self.assertNotIn(CR, self.cluster.objects)


class FinalizeTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(finalizer=FINALIZER, children=[DEPLOYMENT, ROLE, dict(CONFIGMAP, onDelete="Orphan", unowned=True)])
        self.cr(finalizers=["other", FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")

    def test_finalized(self):
        for reason, response in (("said so", {"finalized": True}), ("nothing left", {})):
            with self.subTest(reason):
                self.cluster.reset()
                self.setUp()
                self.cluster.put(ROLES + "/r", {"metadata": labels()})
                self.cluster.put("/api/v1/namespaces/team/configmaps/kept", {"metadata": labels()})
                self.cluster.faults = [once("PATCH", "memcacheds/one$", 409, {"reason": "Conflict"})]
                self.assertEqual(self.reconcile([], **response), 0)
                self.assertEqual(self.live()["metadata"]["finalizers"], ["other"])
                self.assertNotIn(ROLES + "/r", self.cluster.objects)
                self.assertIn("/api/v1/namespaces/team/configmaps/kept", self.cluster.objects)

    def test_request_says_finalizing(self):
        self.run_command("read")
        self.assertTrue(self.load("request.json")["finalizing"])

    def test_not_finalized(self):
        rows = (("not yet", [], {"finalized": False}, "waiting for the logic's clean-up"),
                ("still wants a child", [deployment()], {}, "waiting for Deployment team/one"))
        for reason, children, response, want in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.setUp()
                self.assertEqual(self.reconcile(children, **response), 0)
                self.assertIn(FINALIZER, self.live()["metadata"]["finalizers"])
                self.assertEqual((self.condition("Ready")["reason"], self.condition("Ready")["message"]), ("Finalizing", want))

    def test_waits_for_children_without_owner(self):
        self.cluster.put(ROLES + "/r", {"metadata": dict(labels(), finalizers=["slow"])})
        self.assertEqual(self.reconcile([], finalized=True), 0)
        self.assertIn(FINALIZER, self.live()["metadata"]["finalizers"])
        self.assertIn("ClusterRole r", self.condition("Ready")["message"])
        del self.cluster.objects[ROLES + "/r"]
        self.assertEqual(self.reconcile([], finalized=True), 0)
        self.assertNotIn(FINALIZER, self.live()["metadata"]["finalizers"])

    def test_failure_keeps_the_finalizer(self):
        self.cluster.put(ROLES + "/r", {"metadata": labels()})
        self.cluster.faults = [always("DELETE", "clusterroles", 403, {"message": "forbidden"})]
        self.assertEqual(self.reconcile([], finalized=True), 1)
        self.assertIn(FINALIZER, self.live()["metadata"]["finalizers"])
        self.assertEqual(self.condition("Ready")["reason"], "ReconcileFailed")

    def test_gone_meanwhile(self):
        self.cluster.faults = [once("PATCH", "memcacheds/one$", 404, {"reason": "NotFound"})]
        self.run_command("read")
        self.write("response.json", {"finalized": True})
        gone = iter([None, (404, {})])
        self.cluster.faults.append(lambda method, path: next(gone, None) if method == "GET" and path == CR else None)
        self.assertEqual(self.run_command("apply"), 0)


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
            self.assertEqual(reconcile.Client(env).base.geturl(), want)

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
        objects = [{"metadata": {"name": "s%d" % i, "uid": "s%d" % i}, "data": "x" * size} for i, size in enumerate(sizes)]

        def page(method, path):
            query = self.cluster.log[-1][2]
            start, end = int(query.get("continue", 0)), int(query.get("continue", 0)) + int(query["limit"])
            return 200, {"metadata": {"continue": str(end) if end < len(objects) else ""}, "items": objects[start:end]}
        self.cluster.faults, client, found = [page], reconcile.Client(self.env), []
        self.addCleanup(client.close)
        for item in client.list("/api/v1/secrets", {"apiVersion": "v1", "kind": "Secret"}):
            found.append(item["metadata"]["name"])
            if len(item["data"]) < 5 << 20:
                self.assertLessEqual(client.received, api.PAGE_BYTES)
        self.assertEqual(found, [one["metadata"]["name"] for one in objects])
        self.assertLess(len(self.cluster.log), 30)

    def test_usage(self):
        self.assertEqual(self.run_command("no-such"), 2)
        self.assertIn("usage:", self.out)


class ReportTest(Case):
    def test_report(self):
        self.env["ARGOPERATOR_WORKFLOW_STATUS"] = "Error"
        self.cr()
        self.live()["status"] = {"phase": "fine", "conditions": [{"type": "Warm", "status": "True", "reason": "W",
                                                                  "message": "m", "lastTransitionTime": "t"}]}
        self.assertEqual(self.run_command("report"), 0)
        self.assertEqual(self.condition("Ready")["message"],
                         "reconcile failed: Error; see workflow argo-events/memcached-one-abc")
        self.assertEqual((self.condition("Stalled")["status"], self.condition("Ready")["observedGeneration"]), ("True", 3))
        self.assertEqual((self.live()["status"]["phase"], self.condition("Warm")["lastTransitionTime"]), ("fine", "t"))
        self.assertEqual(self.live()["status"]["observedGeneration"], 3)

    def test_already_reported(self):
        self.config["argoServerURL"] = "https://argo.example.com"
        self.cr()
        self.reconcile(["x"])
        before = self.condition("Ready")
        self.assertEqual(self.run_command("report"), 0)
        self.assertEqual(self.condition("Ready"), before)
        self.env["ARGOPERATOR_WORKFLOW"] = "memcached-one-ab"  # a prefix of the other's name
        self.assertEqual(self.run_command("report"), 0)
        self.assertIn("reconcile failed: Failed", self.condition("Ready")["message"])

    def test_cause(self):
        def node(finished, message, kind="Container", phase="Failed"):
            return {"type": kind, "phase": phase, "message": message, "finishedAt": finished}
        crash = 'logic: Error (exit code 1): Traceback:\n  x\nKeyError: {{=1}}\ntime="t" level=info argo=true\nError: exit status 1\n'
        waited = 'apply: Error (exit code 64): dependency "logic" exited with non-zero code: 1'
        rows = (
            ({"nodes": {"a": node("1", "logic: Error (exit code 9): old"), "b": node("2", crash),
                        "c": node("3", waited, phase="Error"), "d": node("4", waited, "Pod")}},
             "logic: Error (exit code 1): KeyError: {{=1}}"),
            ({"nodes": {"a": node("1", "OOMKilled (exit code 137)", "Pod")}}, "OOMKilled (exit code 137)"),
            ({"nodes": {"a": node("1", "main: Error (exit code 2): ")}}, "main: Error (exit code 2)"),
            ({"message": "Max duration limit exceeded", "nodes": {"a": node("1", "", "Retry")}}, "Max duration limit exceeded"),
            ({"nodes": {"a": node("1", "x" * 500)}}, "x" * 300),
            ({}, "Failed"), (None, "Failed"))
        for status, want in rows:
            with self.subTest(want):
                self.cluster.reset()
                self.cr()
                if status is not None:
                    self.cluster.put(WORKFLOWS + "/memcached-one-abc", {"metadata": {}, "status": status})
                self.assertEqual(self.run_command("report"), 0)
                self.assertEqual(self.condition("Ready")["message"],
                                 "reconcile failed: %s; see workflow argo-events/memcached-one-abc" % want)

    def test_place(self):
        for name, output, want in (
                ("python", 'Traceback (most recent call last):\n  File "/w/main.py", line 7, in <module>\n    f()\n'
                 '  File "/usr/lib/python3.13/json/__init__.py", line 9, in loads\nKeyError: 1', "KeyError: 1 (main.py line 7)"),
                ("node", "/w/main.js:3\nthrow new Error('x')\n^\n\nError: x\n    at Object.<anonymous> (/w/main.js:3:7)\n"
                 "    at node:internal/main:5\n\nNode.js v22.1.0", "Error: x (main.js line 3)"),
                ("go", "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:4 +0x1d\nexit status 2", "panic: boom (main.go line 4)"),
                ("ruby", "main.rb:3:in '<main>': boom (RuntimeError)", "main.rb:3:in '<main>': boom (RuntimeError)"),
                ("sh", "main.sh: line 3: jqq: not found", "main.sh: line 3: jqq: not found"),
                ("text", "it went wrong\nat 10:30", "at 10:30")):
            with self.subTest(name):
                self.assertEqual(reconcile.last_output("logic: Error (exit code 1): " + output), "logic: Error (exit code 1): " + want)

    def test_gone(self):
        self.assertEqual(self.run_command("report"), 0)


class ResyncTest(Case):
    def due(self, cr=None, children=None, config=None):
        """The reason for a custom resource that needs no run except for these changes."""
        obj = {"metadata": {"name": "one", "namespace": "team", "uid": "cr-uid", "generation": 3}, "status": {
            "observedGeneration": 3, "conditions": [{"type": "Ready", "status": "True"}]}}
        child = deployment(uid="d", managedFields=[
            {"manager": "memcached", "time": "2026-01-01T00:00:02Z"}, {"manager": "old", "time": "2026-01-01T00:00:01Z"},
            {"manager": "kcm", "subresource": "status", "time": "2026-01-01T00:00:09Z"}], **labels())
        self.write("config.json", dict(self.config, **(config or {})))
        run = reconcile.Run(self.env, None, None)
        return reconcile.due(run, reconcile.merged(obj, cr or {}), [child] if children is None else children(child))

    def test_due(self):
        gone, other = {"deletionTimestamp": "t"}, {"manager": "kubectl", "time": "2026-01-01T00:00:03Z"}
        mine, no_status = {"finalizers": [FINALIZER]}, {"parent": {"status": False, "namespaced": True}}

        def ready(status, reason):
            return {"type": "Ready", "status": status, "reason": reason}

        def arrived(child):
            full = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 2)
            return [dict(child, status=dict(full, observedGeneration=3))]

        def waiting(child):
            return [dict(child, status={"observedGeneration": 0})]

        def changed(**metadata):
            return lambda child: [reconcile.merged(child, {"metadata": metadata})]
        rows = (
            ("all fine", {}, None, {}, ""),
            ("policy Always", {}, None, {"resyncPolicy": "Always"}, "resync always"),
            ("deleted, our finalizer", {"metadata": dict(gone, **mine)}, None, {"finalizer": FINALIZER}, "clean-up"),
            ("deleted, not ours", {"metadata": gone}, None, {"finalizer": FINALIZER, "resyncPolicy": "Always"}, ""),
            ("finalizer missing", {}, None, {"finalizer": FINALIZER}, "no finalizer"),
            ("finalizer there", {"metadata": mine}, None, {"finalizer": FINALIZER}, ""),
            ("new generation", {"metadata": {"generation": 4}}, None, {}, "latest change"),
            ("not ready", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, None, {}, "not ready"),
            ("on its way", {"status": {"conditions": [ready("False", "Progressing")]}}, waiting, {}, ""),
            ("arrived unseen", {"status": {"conditions": [ready("False", "Progressing")]}}, arrived, {}, "not ready"),
            ("lost unseen", {"status": {"conditions": [ready("True", "Reconciled")]}}, waiting, {}, "a child is not"),
            ("ready by its logic", {"status": {"conditions": [ready("True", "Good")]}}, waiting, {}, ""),
            ("failed", {"status": {"conditions": [ready("False", "ReconcileFailed")]}}, waiting, {}, "not ready"),
            ("no condition", {"status": {"conditions": []}}, None, {}, "not ready"),
            ("no status to judge", {"status": {"conditions": []}, "metadata": {"generation": 9}}, None, no_status, ""),
            ("no children", {}, lambda child: [], no_status, "no children"),
            ("one child too few", {}, changed(annotations={reconcile.SIBLINGS: "2"}), {}, "1 children instead of 2"),
            ("one child too many", {}, lambda child: [child, child], {}, "2 children instead of 1"),
            ("old definition", {}, changed(annotations={reconcile.DEFINITION: "d0"}), {}, "another definition"),
            ("edited", {}, lambda child: [dict(child, metadata=dict(
                child["metadata"], managedFields=child["metadata"]["managedFields"] + [other]))], {}, "changed by others"),
            ("ours nowhere", {}, changed(managedFields=[other]), {}, "changed by others"))
        for reason, cr, children, config, want in rows:
            with self.subTest(reason):
                got = self.due(cr, children, config)
                self.assertTrue(want in got if want else got == "", got)

    def test_submits(self):
        self.cr()
        self.cluster.put(CR[:-3] + "two.dotted." + "x" * 60, {"metadata": {"generation": 1}})
        self.cluster.put(CR[:-3] + "three", {"metadata": {"generation": 1, "uid": "u3"}, "status": {
            "observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}})
        self.cluster.put(DEPLOYMENTS + "/three", deployment("three", **labels("u3")))
        self.cluster.page = 1
        self.cluster.faults = [once("POST", "workflows", 403, {"message": "quota"})]
        del self.env["ARGOPERATOR_KEY"]
        self.assertEqual(self.run_command("resync"), 1)
        self.assertIn("team.one: its latest change is not reconciled, but no Workflow could be created: quota", self.out)
        self.assertIn("3 custom resources, 1 submitted, 1 failed", self.out)
        workflow, = [obj for path, obj in self.cluster.objects.items() if path.startswith(WORKFLOWS)]
        self.assertEqual(workflow["spec"], {
            "workflowTemplateRef": {"name": "memcached-reconcile"},
            "arguments": {"parameters": [{"name": "key", "value": "team.two.dotted." + "x" * 60}]}})
        prefix = workflow["metadata"]["generateName"]
        self.assertRegex(prefix, r"^memcached-two-dotted-x+-$")
        self.assertLessEqual(len(prefix), 57)
        self.assertEqual(workflow["metadata"]["labels"], {reconcile.MANAGED_BY: "memcached"})

    def test_deep_nesting_does_not_block_others(self):
        limit, size = sys.getrecursionlimit(), threading.stack_size()
        self.addCleanup(lambda: (sys.setrecursionlimit(limit), threading.stack_size(size)))
        for levels in (1500, 9990):  # the API server takes 10,000
            self.cluster.reset()
            nested = '{"a":' * levels + "1" + "}" * levels
            deep = '{"metadata":{"name":"deep","namespace":"team","uid":"u9","generation":1},"spec":%s}' % nested
            answer = '{"kind":"List","metadata":{},"items":[%s,%s]}' % (deep, json.dumps(self.cr()))
            self.cluster.faults = [lambda _, path: (200, answer) if path.endswith("/memcacheds") else None]  # noqa: B023
            self.assertEqual(reconcile.deep(lambda: self.run_command("resync")), 0)
            self.assertIn("2 custom resources, 2 submitted, 0 failed", self.out)

    def test_generate_name_has_no_double_dash(self):
        self.cluster.put(CR[:-3] + "a" * 45 + "-bcd", {"metadata": {"generation": 1}})
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.cluster.log[-1][3]["metadata"]["generateName"], "memcached-" + "a" * 45 + "-")

    def test_watched_namespaces(self):
        self.config["watchNamespaces"] = ["a", "b"]
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual([path.split("/namespaces/")[1] for _, path, _, _, _ in self.cluster.log], [
            "argo-events/eventsources/memcached", "a/deployments", "b/deployments", "a/configmaps", "b/configmaps", "a/memcacheds", "b/memcacheds"])

    def test_post_is_not_repeated(self):
        self.cr()
        for fault in (once("POST", "workflows", "lost"), once("POST", "workflows", 500, "oops")):
            self.cluster.log, self.cluster.faults = [], [fault]
            self.assertEqual(self.run_command("resync"), 1)
            self.assertEqual(len(self.cluster.writes()), 1)

    def test_a_reconciled_cr_is_not_due(self):
        self.cr()
        self.reconcile([settings()])
        self.assertEqual(self.run_command("resync"), 0)
        self.assertIn("1 custom resources, 0 submitted", self.out)


class HeartbeatTest(Case):
    SOURCE = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/eventsources/memcached"
    SENSOR = SOURCE.replace("eventsources", "sensors")

    def setUp(self):
        super().setUp()
        self.config["sensors"], self.made = ["memcached"], "2026-01-01T00:00:00Z"
        self.cr()

    def resync(self, received):
        """A resync with the time of a Sensor's last heartbeat. Returns the annotations of its pod and of the
        EventSource's pod."""
        self.cluster.put(self.SENSOR, {"metadata": {}, "spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})
        self.cluster.put(self.SOURCE, {
            "metadata": {"annotations": {reconcile.LAST_RECEIVED + "memcached": received} if received else {}, "creationTimestamp": self.made},
            "spec": {"template": {"metadata": {"annotations": {reconcile.SUBSCRIBED + "memcached": "d1"}}}}})
        self.code = self.run_command("resync")
        return [self.live(path)["spec"]["template"]["metadata"]["annotations"] for path in (self.SENSOR, self.SOURCE)]

    def test_connected_sensors_are_not_restarted(self):
        fine = [{"a": "b"}, {reconcile.SUBSCRIBED + "memcached": "d1"}]
        for received in ("2026-02-02T00:00:00Z", "2026-02-01T23:57:00Z", "2026-02-02T00:01:00Z"):
            self.assertEqual(self.resync(received), fine, received)
        self.made = self.time
        self.assertEqual(self.resync(""), fine, "it is there since just now")
        self.assertNotIn("stopped receiving", self.out)

    def test_disconnected_sensors_are_restarted(self):
        for received in ("2026-02-01T23:56:59Z", "", "yesterday"):
            self.assertEqual(self.resync(received), [{"a": "b", reconcile.RESTARTED_BY: "argo-events/memcached-one-abc"}, {}], received)
        self.assertEqual(self.code, 0)
        self.assertIn("Sensor memcached stopped receiving events", self.out)

    def test_a_failure_does_not_stop_the_resync(self):
        self.cluster.faults = [always("PATCH", "/sensors/", 403, {"message": "no right"})]
        self.resync("")
        self.assertEqual(self.code, 1)
        self.assertIn("checking the heartbeat failed: no right", self.out)
        self.assertIn("1 custom resources, 1 submitted, 1 failed", self.out)

    def test_an_event_source_that_is_gone(self):
        self.assertEqual(self.run_command("resync"), 1)
        self.assertIn("1 custom resources, 1 submitted", self.out)


class RotateTest(Case):
    REQUEST = "/api/v1/namespaces/argo-events/serviceaccounts/memcached-sensor/token"
    SECRET = "/api/v1/namespaces/argo-events/secrets/memcached-token"

    def setUp(self):
        super().setUp()
        self.config["token"] = {"serviceAccount": "memcached-sensor", "secret": "memcached-token", "key": "authorization", "seconds": 86400}

    def rotate(self, expires):
        self.cluster.faults = [
            always("POST", "/token$", 201, {"status": {"token": "abc", "expirationTimestamp": expires}}),
            always("PATCH", "/secrets/", 200, {})]
        return self.run_command("rotate")

    def test_the_header_goes_into_the_secret(self):
        self.assertEqual(self.rotate("2026-02-03T00:00:00Z"), 0)
        (_, path, _, asked, _), (_, written, _, body, headers) = self.cluster.log
        self.assertEqual((path, written), (self.REQUEST, self.SECRET))
        self.assertEqual(asked["spec"], {"expirationSeconds": 86400, "boundObjectRef": {
            "apiVersion": "v1", "kind": "Secret", "name": "memcached-token"}})
        self.assertEqual(base64.b64decode(body["data"]["authorization"]), b"Bearer abc")
        self.assertEqual(headers["Content-Type"], "application/merge-patch+json")
        self.assertNotIn("abc", self.out.replace("memcached", ""))

    def test_a_token_for_too_short_is_refused(self):
        self.assertEqual(self.rotate("2026-02-02T16:00:00Z"), 0, "two thirds of it are enough")
        self.cluster.log = []
        self.assertEqual(self.rotate("2026-02-02T15:59:00Z"), 2)
        self.assertEqual(self.cluster.writes(), [("POST", self.REQUEST)])
        self.assertIn("grants a token for 57540 seconds only", self.out)


class TemplatesResyncTest(TemplatesCase):
    def setUp(self):
        super().setUp()
        del self.env["ARGOPERATOR_KEY"]

    def pokes(self):
        return [path.rpartition("/")[2] for method, path in self.cluster.writes() if method == "PATCH" and path.startswith(CR[:-3])]

    def test_requests_due_computations(self):
        self.cr()
        for name in ("two", "three"):
            self.cluster.put(CR[:-3] + name, {"metadata": {"generation": 1, "uid": "u-" + name}, "status": {
                "observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}})
        self.cluster.put(DEPLOYMENTS + "/three", deployment("three", **labels("u-three")))
        self.config["children"] = [dict(WEB, **readiness(["lit", True])), SHARD]
        self.live(DEPLOYMENTS + "/three")["metadata"]["labels"][reconcile.CHILD] = "web"
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.pokes(), ["one", "two"])
        self.assertEqual(self.cluster.writes(), [("PATCH", CR), ("PATCH", CR[:-3] + "two")], "and no Workflow")
        self.assertEqual(self.live()["metadata"]["annotations"], {reconcile.RECONCILE: self.time})
        self.assertIn("team.one: its latest change is not reconciled", self.out)
        self.assertIn("team.two: has no children", self.out)
        self.assertIn("3 custom resources, 2 submitted, 0 failed", self.out)

    def test_a_missing_child(self):
        self.env["ARGOPERATOR_KEY"] = "team.one"
        self.config["children"] = [dict(WEB, **readiness(["lit", True])), SHARD]
        self.cr()
        self.assertEqual(self.apply(("web", deployment()), ("shard", settings("one-0"))), 0)
        self.assertEqual(self.run_command("resync"), 0)
        self.assertIn("1 custom resources, 0 submitted", self.out)
        del self.cluster.objects["/api/v1/namespaces/team/configmaps/one-0"]
        self.assertEqual(self.run_command("resync"), 0)
        self.assertIn("team.one: has 1 children instead of 2", self.out)

    def test_ready_when_is_not_met(self):
        self.env["ARGOPERATOR_KEY"] = "team.one"
        self.cr()
        self.config["children"] = [dict(WEB, **readiness(["eq", REPLICAS, ["lit", 2]])), SHARD]
        self.apply(("web", deployment()))
        self.run_command("resync")
        self.assertIn("0 submitted", self.out, "on its way, and shown so")
        self.live(DEPLOYMENTS + "/one")["status"] = {"readyReplicas": 2}
        self.run_command("resync")
        self.assertIn("team.one: is not ready", self.out)

    def test_failures_are_counted(self):
        self.cr()
        self.cluster.put(CR[:-3] + "two", {"metadata": {"generation": 1}})
        self.cluster.faults = [once("PATCH", "memcacheds/one$", 403, {"message": "forbidden"})]
        self.assertEqual(self.run_command("resync"), 1)
        self.assertIn("team.one: its latest change is not reconciled, but no fresh computation could be asked for: forbidden", self.out)
        self.assertIn("2 custom resources, 1 submitted, 1 failed", self.out)

    def test_gone_meanwhile(self):
        self.cr()
        self.cluster.faults = [once("PATCH", "memcacheds/one$", 404, {"reason": "NotFound"})]
        self.assertEqual(self.run_command("resync"), 0)

    def test_cluster_scoped(self):
        self.config["parent"]["namespaced"] = False
        path = CR.replace("/namespaces/team", "")
        self.cluster.put(path, {"metadata": {"generation": 1}})
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.cluster.writes(), [("PATCH", path)])

    def test_clean_up(self):
        self.config["finalizer"] = FINALIZER
        self.cr(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.pokes(), ["one"])


class StepsTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(engine="steps", children=[DEPLOYMENT], parameters=["deployment-manifest"])
        self.write("parameters/deployment-manifest", '{"a": "{{workflow.name}}"}')

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_read(self):
        self.cr(annotations={"note": "{{workflow.name}}"}, managedFields=[{"manager": "x"}])
        self.assertEqual(self.run_command("steps-read"), 0)
        self.assertEqual(self.text("go"), "true")
        self.assertNotIn("{{", self.text("manifest") + self.text("deployment-manifest"))
        self.assertEqual(self.load("manifest")["metadata"]["annotations"]["note"], "{{workflow.name}}")
        self.assertNotIn("managedFields", self.load("manifest")["metadata"])
        self.assertEqual(self.load("deployment-manifest"), {"a": "{{workflow.name}}"})

    def test_read_gone(self):
        self.assertEqual(self.run_command("steps-read"), 0)
        self.assertEqual((self.text("go"), self.text("manifest")), ("false", "{}"))

    def test_overtaken(self):
        self.cr()
        for about, go in (("2", "false"), ("3", "true"), ("4", "true"), ("0", "true"), ("", "true")):
            with self.subTest(about):
                self.env["ARGOPERATOR_GENERATION"] = about
                self.assertEqual(self.run_command("steps-read"), 0)
                with open(self.path("go"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), go)

    def test_read_deleting(self):
        self.cr(deletionTimestamp="t")
        self.run_command("steps-read")
        self.assertEqual(self.text("go"), "false")

    def test_parameters(self):
        for text, want in (("kind: Deployment\n", 0), ("a: {{x}}", 2), ("a: \x07", 2), ("a: \U000e0001", 2), ("ü {a: b}", 0)):
            with self.subTest(text):
                self.write("parameters/deployment-manifest", text)
                self.assertEqual(self.run_command("steps-read"), want)
                if not want:
                    self.assertEqual(self.text("deployment-manifest"), text)

    def own(self, result):
        self.env["ARGOPERATOR_MANIFEST"] = reconcile.safe_json(self.cr())
        self.env["ARGOPERATOR_RESULT"] = self.path("output-manifest.json")
        self.write("output-manifest.json", result)
        return self.run_command("steps-set-owner")

    def test_names(self):
        for name, want in (("one", "one"), ("one-web", "one-web"), ("memcached-web", "one-web"), ("memcached", "one-memcached"),
                           ("web", "one-web"), ("onesie", "one-onesie"), ("memcached-one", "one-one")):
            with self.subTest(name):
                self.assertEqual(self.own(deployment(name, namespace="elsewhere")), 0, self.out)
                metadata = self.load("manifest")["metadata"]
                self.assertEqual((metadata["name"], metadata["namespace"]), (want, "team"))
                self.assertEqual(metadata["annotations"][reconcile.SIBLINGS], "1")
                self.assertEqual(metadata["ownerReferences"][0]["uid"], "cr-uid")

    def test_pods_are_told_apart(self):
        child = deployment()
        child["spec"] = {"selector": {"matchLabels": {"app": "{{x}}"}}, "template": {"metadata": {"labels": {"app": "{{x}}"}}}}
        self.assertEqual(self.own(child), 0)
        spec, want = self.load("manifest")["spec"], {"app": "{{x}}", reconcile.OWNER_UID: "cr-uid"}
        self.assertEqual((spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]), (want, want))
        self.assertNotIn("{{", self.text("manifest"))

    def test_refuses(self):
        foreign = deployment()
        for reason, result, want in (("no JSON", "{", "not JSON"), ("a list", "[]", "not an object"), ("a Pod", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, "not declared"), (
                "foreign", foreign, "belongs to someone else")):
            with self.subTest(reason):
                self.cluster.put(DEPLOYMENTS + "/one", foreign)
                self.assertEqual(self.own(result), 2)
                self.assertIn(want, self.condition("Ready")["message"])

    def test_status(self):
        self.cr()
        self.cluster.put(DEPLOYMENTS + "/one", dict(deployment(**labels()), status={
            "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}))
        self.assertEqual(self.run_command("steps-status"), 0)
        self.assertEqual(self.live()["status"]["readyReplicas"], 2)
        self.assertEqual(self.condition("Ready")["status"], "True")
        self.assertEqual(self.run_command("steps-status"), 0)
        self.assertEqual(len(self.cluster.writes()), 1)
        self.env["ARGOPERATOR_MANIFEST"] = json.dumps({"metadata": {"uid": "cr-uid", "generation": 2}})
        self.assertEqual(self.run_command("steps-status"), 0)
        self.assertEqual(self.live()["status"]["observedGeneration"], 2, "what was read, not what is there")


class SafeJSONTest(unittest.TestCase):
    def test_round_trip(self):
        pieces = ["{{workflow.name}}", "{{=1+1}}", "{", "}", "\\", '"', "\n", "\x00", "\x07", "\x7f", "ü", "\U0001f600",
                  "\U000e0001", "\ud800", "\\u007b", "\\{", "a"]
        values = [one + two + three for one in pieces for two in pieces for three in pieces]
        values += [{text: [{text: {}}]} for text in values[:400]] + [{}, [[{}]], [{"a": {}}, {}], None, 1.5, 2 ** 70, "{{{{"]
        for value in values:
            text = reconcile.safe_json(value)
            self.assertEqual(json.loads(text), value)
            self.assertNotIn("{{", text)
            self.assertTrue(all(" " <= letter <= "~" for letter in text), text)


class StatusTest(Case):
    def test_nodes(self):
        self.config["status"] = {"object": {
            "text": {"concat": [["lit", "size="], ["get", ["get", ["in"], "spec"], "size"], ["lit", " "], ["lit", {"b": 1, "a": "ü"}]]},
            "list": {"array": [{"value": 1}, {"object": {"x": {"value": True}}}]},
            "wrong": {"expr": ["get", ["lit", 1], "a"]}, "none": {"expr": ["lit", None]}}}
        self.cr()
        self.assertEqual(self.reconcile([settings()], status={"list": [2]}), 0)
        status = self.live()["status"]
        self.assertEqual((status["text"], status["list"]), ('size=2 {"a":"ü","b":1}', [2]))
        self.assertNotIn("wrong", status)
        self.assertNotIn("none", status)
        self.assertIn("status.wrong is left out", self.out)

    def test_children_of_one_kind(self):
        self.config["children"] = [dict(DEPLOYMENT, name="web"), dict(DEPLOYMENT, name="db"), dict(DEPLOYMENT, name="my-db")]
        self.config["status"] = {"object": {
            name: {"expr": ["get", ["get", child_of(name), "metadata"], "name"]} for name in ("web", "db", "my-db")}}
        self.cr()
        self.reconcile([deployment("one-my-db"), deployment("one-db"), deployment("db"), deployment("one")])
        status = self.live()["status"]
        self.assertEqual([status[name] for name in ("web", "db", "my-db")], ["one", "db", "one-my-db"])

    def test_settled(self):
        ready, other = {"type": "Ready", "status": "True"}, {"type": "Other", "status": "True"}
        ours = {"f:conditions": {'k:{"type":"Ready"}': {}}}
        rows = (
            ("equal", {"a": {"b": 1}}, {"a": {"b": 1}, "c": 2}, {}, True), ("differs", {"a": 1}, {"a": 2}, {}, False),
            ("missing", {"a": 1}, {}, {}, False), ("ours to go", {}, {"a": 1}, {"f:a": {}}, False),
            ("ours to go, deep", {"a": {}}, {"a": {"b": 1}}, {"f:a": {"f:b": {}}}, False),
            ("bool is no number", {"a": 1}, {"a": True}, {}, False), ("list", {"a": [1]}, {"a": [1, 2]}, {"f:a": {}}, False),
            ("other's condition", {"conditions": [ready]}, {"conditions": [other, ready]}, ours, True),
            ("atomic conditions", {"conditions": [ready]}, {"conditions": [other, ready]}, {"f:conditions": {}}, False),
            ("condition to go", {"conditions": []}, {"conditions": [ready]}, ours, False),
            ("new condition", {"conditions": [ready, other]}, {"conditions": [ready]}, ours, False),
            ("changed condition", {"conditions": [dict(ready, status="False")]}, {"conditions": [ready]}, ours, False))
        for reason, want, have, owned_fields, result in rows:
            with self.subTest(reason):
                self.assertEqual(reconcile.is_applied(want, have, owned_fields), result)


class EventTest(Case):
    """Events on the custom resource: one for each change of Ready that matters to users."""

    def setUp(self):
        super().setUp()
        self.config["emitEvents"] = True

    def told(self, path=EVENTS):
        return [(event["type"], event["reason"], event["message"]) for name, event in self.cluster.objects.items()
                if name.startswith(path + "/")]

    def test_whole(self):
        self.cr()
        self.assertEqual(self.reconcile([settings()]), 0)
        method, path, query, body, _ = self.cluster.log[-1]
        version = self.live()["metadata"]["resourceVersion"]
        self.assertEqual((method, path, query), ("POST", EVENTS, {"fieldManager": "memcached"}))
        self.assertEqual(body, {
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"namespace": "team", "name": "one.cr-uid." + version},
            "involvedObject": {"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "name": "one",
                               "namespace": "team", "uid": "cr-uid", "resourceVersion": version},
            "related": {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "namespace": "argo-events",
                        "name": "memcached-one-abc"},
            "type": "Normal", "reason": "Ready", "action": "Reconcile", "message": "all children are ready (1)",
            "source": {"component": "memcached"}, "reportingComponent": "memcached",
            "reportingInstance": "memcached-one-abc", "firstTimestamp": "2026-02-02T00:00:00Z",
            "lastTimestamp": "2026-02-02T00:00:00Z", "eventTime": "2026-02-02T00:00:00.000000Z", "count": 1})
        self.assertIn("event: Normal Ready", self.out)

    def test_life(self):
        place = "; see workflow argo-events/memcached-one-"
        ready = ("Normal", "Ready", "all children are ready (1)")
        fails = "the logic's response is invalid: children[0]: is not an object with apiVersion, kind and metadata"
        rows = (  # what the logic answers, in which Workflow, at which generation; what is told then
            ("a child is not ready", [deployment()], "a", 3, None),
            ("ready at last", [settings()], "a", 3, ready),
            ("nothing new", [settings()], "b", 3, None),
            ("another generation, ready as before", [settings()], "c", 4, None),
            ("failed", ["x"], "d", 4, ("Warning", "ReconcileFailed", fails + place + "d")),
            ("failed as before, in another Workflow", ["x"], "e", 4, None),
            ("the same Workflow finds other words", ["x", "y"], "e", 4, None),
            ("other words in another Workflow", ["x"], "f", 4, ("Warning", "ReconcileFailed", fails + place + "f")),
            ("another generation fails too", ["x"], "g", 5, ("Warning", "ReconcileFailed", fails + place + "g")),
            ("ready again", [settings()], "h", 5, ready),
            ("not ready any more, without a failure", [deployment()], "i", 5, None))
        self.cr()
        heard = 0
        for reason, children, workflow, generation, want in rows:
            self.env["ARGOPERATOR_WORKFLOW"] = "memcached-one-" + workflow
            self.live()["metadata"]["generation"] = generation
            self.reconcile(children)
            with self.subTest(reason):
                self.assertEqual(self.told()[heard:], [want] if want else [], self.condition("Ready"))
            heard = len(self.told())

    def test_own_condition(self):
        """Logic that sets Ready itself: only a reason that it calls stalled is a failure, and only its own condition
        counts."""
        def own(status, reason, message, stalled):
            return {"conditions": [{"type": "Ready", "status": status, "reason": reason, "message": message},
                                   {"type": "Stalled", "status": stalled}]}
        rows = (
            ("waits", own("False", "Waits", "for a", "False"), None),
            ("stalled", own("False", "NoQuota", "has 3", "True"), ("Warning", "NoQuota", "has 3")),
            ("stalled, counting", own("False", "NoQuota", "has 4", "True"), None),
            ("nobody knows", own("Unknown", "Lost", "x", "True"), None),
            ("ready", own("True", "Fine", "at last", "False"), ("Normal", "Ready", "at last")))
        rows += (("progresses, whatever else", {"conditions": [{"type": "Stalled", "status": "True"}]}, None),)
        self.cr()
        heard = 0
        for reason, status, want in rows:
            self.reconcile([deployment()] if "progresses" in reason else [], status=status)
            with self.subTest(reason):
                self.assertEqual(self.told()[heard:], [want] if want else [])
            heard = len(self.told())

    def test_report(self):
        self.cr()
        self.env["ARGOPERATOR_WORKFLOW_STATUS"] = "Error"
        self.assertEqual(self.run_command("report"), 0)
        self.assertEqual(self.told(), [("Warning", "ReconcileFailed",
                                        "reconcile failed: Error; see workflow argo-events/memcached-one-abc")])

    def test_long(self):
        """1024 bytes, and no broken character; the reference to the Workflow is kept."""
        for letter in "x", "ü", "\U0001d11e":
            with self.subTest(letter):
                text = reconcile.truncated({"message": letter * 1500 + "; see workflow a/b"})
                self.assertTrue(text.startswith(letter * 200) and text.endswith(letter + "; see workflow a/b"))
                self.assertIn(len(text.encode()), range(1021, 1025))
                self.assertEqual(len(reconcile.truncated({"message": letter * 1500}).encode()), 1024)
        self.assertEqual(reconcile.truncated({}), "")
        self.assertLessEqual(len(reconcile.truncated({"message": "x; see workflow " + "y" * 2000}).encode()), 1024)
        name = "a" * 199 + "-" + "b" * 53
        run = reconcile.Run(self.env_with(), None, lambda: self.time)
        event = reconcile.event_of(run, {"metadata": {"name": name, "uid": "0123456789", "resourceVersion": "7"}}, "Normal", "r" * 200)
        self.assertEqual((event["metadata"]["name"], len(event["reason"])), ("a" * 199 + ".01234567.7", 128))

    def env_with(self):
        self.write("config.json", self.config)
        return self.env

    def test_cluster_scoped(self):
        self.config["parent"] = dict(self.config["parent"], namespaced=False)
        self.config["children"] = [ROLE]
        self.env["ARGOPERATOR_KEY"] = ".one"
        self.cluster.put(CR.replace("namespaces/team/", ""), {
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": {"uid": "cr-uid"}})
        self.assertEqual(self.reconcile([]), 0)
        path, event = list(self.cluster.objects.items())[-1]
        self.assertTrue(path.startswith("/api/v1/namespaces/default/events/one."), path)
        self.assertNotIn("namespace", event["involvedObject"])

    def test_refused(self):
        """A rejected Event changes neither the status nor the result of the run."""
        rows = (("forbidden", 403, "the Event could not be written: no"), ("there", 409, None),
                ("namespace is gone", 404, "the Event could not be written: no"), ("crash", 500, "could not be written"))
        for reason, status, line in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.cluster.faults = [always("POST", "/events$", status, {"message": "no"})]
                self.cr()
                self.assertEqual(self.reconcile([settings()]), 0)
                self.assertEqual(self.condition("Ready")["status"], "True")
                self.assertEqual([path for method, path in self.cluster.writes() if method == "POST"], [EVENTS])
                self.assertIn(line or "status: Ready=True", self.out)
                self.assertEqual("could not" in self.out, bool(line))

    def test_events_disabled(self):
        self.config["emitEvents"] = False
        self.cr()
        self.reconcile([settings()])
        self.assertEqual(self.told(), [])

    def test_lost_status(self):
        """After a conflict the status is read again, and reported once."""
        self.cr()
        self.assertEqual(self.run_command("read"), 0)
        self.cluster.faults = [once("PATCH", "/status$", 409, {"reason": "Conflict"})]
        self.write("response.json", {"children": [settings()]})
        self.assertEqual(self.run_command("apply"), 0)
        self.assertEqual(len(self.told()), 1)


if __name__ == "__main__":
    unittest.main()
