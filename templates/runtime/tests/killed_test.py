"""A worker that is killed: whatever it has written by then, the next one ends in the same state."""
import copy
import json
import os
import unittest.mock

from worker import Worker

from .fakecluster import CONFIGMAP, CR, DEPLOYMENTS, FINALIZER, ROLE, ROLES, field_of, plain_text
from .worker_test import WorkerCase

CONFIGMAPS = "/api/v1/namespaces/team/configmaps"
OTHER = CR.replace("/one", "/two")


class Killed(BaseException):
    """The end of the process: nothing catches it."""


class Copy:
    """Logic that wants the children that the spec lists, and to finalize."""

    def __init__(self, *_):
        pass

    def call(self, run):
        """Answers a request."""
        with open(run.env["ARGOPERATOR_REQUEST"], encoding="utf-8") as file:
            request = json.load(file)
        spec = request["parent"]["spec"]
        children = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"size": str(spec["size"])}}
                    for name in spec["names"] if not request["finalizing"]]
        with open(run.env["ARGOPERATOR_RESPONSE"], "w", encoding="utf-8") as file:
            json.dump({"children": children, "status": {"names": len(children)}}, file)
        return ""

    def close(self):
        """Ends nothing."""


class KilledTest(WorkerCase):
    """A custom resource is created, changed and deleted. A worker is killed before each of its writes."""

    def setUp(self):
        super().setUp()
        size = {"expr": ["pipe", ["get", ["get", ["in"], "spec"], "size"], ["call", "tostring/0"]]}
        names = {"expr": ["get", ["get", ["in"], "spec"], "names"]}
        deployment = dict(self.config["children"][0], unready=CONFIGMAP["unready"])
        role = dict(ROLE, template=True, held=True, object=self.template(ROLE, size, field_of("metadata", "name")))
        shard = dict(CONFIGMAP, name="shard", template=True, each=True, forEach=names,
                     object=self.template(CONFIGMAP, size, {"expr": ["var", "$item"]}))
        self.config.update(children=[deployment, role, shard], finalizer=FINALIZER, emitsEvents=True)

    @staticmethod
    def template(entry, size, name):
        rest = {"data": {"object": {"size": size}}} if entry is CONFIGMAP else {"rules": {"value": []}}
        return {"object": {"apiVersion": plain_text(entry["apiVersion"]), "kind": plain_text(entry["kind"]),
                           "metadata": {"object": {"name": name, "labels": {"object": {"size": size}}}}, **rest}}

    def begin(self):
        """A cluster with two custom resources."""
        self.cluster.reset()
        self.cr()["spec"]["names"] = ["a", "b"]
        self.cluster.put(OTHER, dict(copy.deepcopy(self.live()), metadata={"name": "two", "uid": "uid-two"}))["spec"]["names"] = []

    def change(self):
        self.live()["metadata"]["generation"] += 1
        self.live()["spec"].update(size=5, names=["b", "c"])

    def delete(self):
        self.live()["metadata"]["deletionTimestamp"] = self.time

    def play(self, kill=None):
        """Plays the life of a custom resource. Returns how many writes the worker has begun, and the states of the cluster."""
        self.begin()
        writes, states, worker = 0, [], None

        def may_write():
            nonlocal writes
            writes += 1
            if writes == kill:
                raise Killed
            return True
        for step in (lambda: None, self.change, self.delete):
            step()
            try:
                worker = self.started(may_write, worker)
                self.drain(worker)
            except Killed:
                worker = self.started(may_write)
                self.drain(worker)
            states.append(self.state())
            before = self.cluster.writes()
            self.drain(self.started(lambda: True))
            applied = [path for method, path in self.cluster.writes()[len(before):] if method != "PATCH" or path.startswith(CR)]
            self.assertEqual((applied, self.state()), ([], states[-1]), "another start changes nothing")
        return writes, states

    def started(self, may_write, worker=None):
        """A worker that looks at all custom resources: a new one, or this one."""
        if worker is None:
            worker = Worker(self.env, [dict(self.config)], lambda: self.time, self.slept.append, self.clock)
        self.client = worker.client()
        self.addCleanup(self.client.close)
        worker.may_write = may_write
        worker.start()
        return worker

    def drain(self, worker):
        while worker.keys.length():
            self.turn(worker)

    def state(self):
        """The objects of the cluster but Events, without what differs from run to run."""
        found = {}
        for path, obj in self.cluster.objects.items():
            obj = copy.deepcopy(obj)
            for key in ("resourceVersion", "managedFields"):
                obj["metadata"].pop(key, None)
            if path not in (CR, OTHER):
                del obj["metadata"]["uid"]
            if "/events/" not in path:
                found[path] = obj
        return found

    def events(self):
        """How many Events there are."""
        return len([path for path in self.cluster.objects if "/events/" in path])

    def check(self):
        writes, states = self.play()
        self.assertGreater(writes, 10)
        events = self.events()
        for kill in range(1, writes + 1):
            with self.subTest(f"before write {kill}"):
                again, ends = self.play(kill)
                for end, state in zip(ends, states):
                    self.assertEqual(end, state)
                self.assertLessEqual(again, writes + 10)
                self.assertIn(self.events(), (events, events - 1), "none twice; one that was about to be written is lost")
        return states

    def test_templates(self):
        created, changed, deleted = self.check()
        self.assertLessEqual({DEPLOYMENTS + "/one", ROLES + "/one", CONFIGMAPS + "/a", CONFIGMAPS + "/b"}, set(created))
        self.assertEqual(changed[CONFIGMAPS + "/c"]["data"], {"size": "5"})
        self.assertNotIn(CONFIGMAPS + "/a", changed)
        self.assertFalse({CR, ROLES + "/one"} & set(deleted))

    def test_logic(self):
        for name in ("workspace", "state"):
            os.mkdir(self.path(name))
        self.env.update(ARGOPERATOR_WORKSPACE=self.path("workspace"), ARGOPERATOR_STATE=self.path("state"))
        self.config.update(children=[CONFIGMAP], finalizerForced=True, logic={"seconds": 5}, readsObjects=False, status=None)
        patch = unittest.mock.patch("worker.Programs", Copy)
        patch.start()
        self.addCleanup(patch.stop)
        created, changed, deleted = self.check()
        self.assertEqual(created[CR]["status"]["names"], 2)
        self.assertLessEqual({CONFIGMAPS + "/b", CONFIGMAPS + "/c"}, set(changed))
        self.assertFalse({CR, CONFIGMAPS + "/a"} & set(deleted))
        self.assertEqual(os.listdir(self.path("workspace")) + os.listdir(self.path("state")), [], "nothing is left of the calls")
