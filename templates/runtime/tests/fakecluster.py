"""A fake API server in this process, and the cases that run commands against it."""
import base64
import contextlib
import copy
import http.server
import io
import itertools
import json
import os
import re
import tempfile
import threading
import unittest
import urllib.parse

from names import DEFINITION, MANAGED_BY, OWNER, OWNER_UID, RELATED, SIBLINGS
from reconcile import main

CR = "/apis/cache.example.com/v1alpha1/namespaces/team/memcacheds/one"
DEPLOYMENTS = "/apis/apps/v1/namespaces/team/deployments"
EVENTS = "/api/v1/namespaces/team/events"
WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/workflows"
SENSOR = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/sensors/memcached"
SOURCE = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/eventsources/memcached"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
with open(os.path.join(os.path.dirname(__file__), "testdata", "readiness.json"), encoding="utf-8") as rules:
    READINESS = json.load(rules)  # by group and kind, as argoperator compiles them
NOTHING_RELATED = "4f53cda18c2baa0c"
FINALIZER = "cache.example.com/memcached-cleanup"
DEPLOYMENT = {"name": "deployment", "apiVersion": "apps/v1", "kind": "Deployment", "plural": "deployments",
              "namespaced": True, "onDelete": "Delete", "chosen": True, "unready": READINESS["apps/Deployment"]}
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
    """The part of an API server that the runtime uses. `faults` are called first: (method, path) -> response or None;
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

            do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = answer

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads, self.server.handle_error = True, lambda *_: None  # a killed client
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
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
        metadata.setdefault("uid", f"uid-{next(self.versions)}")
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
            name = body["metadata"].get("name") or body["metadata"]["generateName"] + f"x{next(self.versions)}"
            if f"{path}/{name}" in self.objects:
                return 409, {"reason": "AlreadyExists", "message": f"{name} already exists"}
            return 201, self.put(f"{path}/{name}", dict(body, metadata=dict(body["metadata"], name=name)))
        if method == "PATCH" and headers["Content-Type"] == "application/apply-patch+yaml":
            return self.apply(path, query, body)
        if path.endswith("/status") and path[:-7] in self.objects:
            return self.merge_status(path[:-7], query, body)
        if path not in self.objects:
            return 404, {"reason": "NotFound", "message": f"{path} not found"}
        if method == "DELETE":
            return self.delete(path, body)
        if method == "PUT":
            return self.replace(path, body)
        return self.merge(path, body)

    def list(self, path, query):
        kind = path.rpartition("/")[2]
        prefix = path[:-len(kind)]
        selector = [re.sub(r"^(\S+) in \((\S+)\)$", r"\1=\2", one).partition("=")
                    for one in query.get("labelSelector", "").split(",") if one]
        found = []
        for name, obj in sorted(self.objects.items()):
            labels = obj["metadata"].get("labels") or {}
            if name.rsplit("/", 2)[1] == kind and name.startswith(prefix) and all(
                    labels.get(label) == value if equals else label in labels for label, equals, value in selector):
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

    def replace(self, path, body):
        if body["metadata"]["resourceVersion"] != self.objects[path]["metadata"]["resourceVersion"]:
            return 409, {"reason": "Conflict", "message": "the object has been modified"}
        return 200, self.put(path, body)

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
            "enqueue": {"prefix": "memcached-enqueue-", "window": 3},
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
            code = main([command], self.env, sleep, lambda: elapsed[0], lambda: self.time)
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


def settings(name="one", **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict({"name": name}, **metadata), "data": {"a": "b"}}


def labels(uid="cr-uid", key="team.one"):
    return {"labels": {MANAGED_BY: "memcached", OWNER_UID: uid},
            "annotations": {OWNER: key, DEFINITION: "d1", SIBLINGS: "1"},
            "ownerReferences": [{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "name": key.partition(".")[2],
                                 "uid": uid, "controller": True}]}


def entry_of(name, kind, plural, rule, **more):
    """An entry of `related` in the form that argoperator generates."""
    return dict({"name": name, "apiVersion": "v1", "kind": kind, "plural": plural, "namespaced": True, "multiple": False,
                 "watch": True, "chosen": True, "rule": {"object": rule}}, **more)


def plain_text(text):
    return {"value": text}


def field_of(*path):
    expression = ["in"]
    for key in path:
        expression = ["get", expression, key]
    return {"expr": expression}


def sensor_for(worker):
    """A Sensor that sends events to a worker."""
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Sensor", "metadata": {}, "spec": {"triggers": [
        {"template": {"name": "parent", "http": {"url": f"http://{worker}.argo-events.svc:8080/memcached"}}}]}}


def annotated(path):
    """The digest on a custom resource."""
    return (path["metadata"].get("annotations") or {}).get(RELATED)


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
        self.config.update(sensorTemplates=True, children=[WEB, SHARD], status=None)
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
