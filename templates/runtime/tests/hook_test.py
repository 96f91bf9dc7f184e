"""The request for the logic, its response, and the containers of its pod."""
import contextlib
import io
import os
import tempfile

from reconcile import main

from .fakecluster import (
    CR, DEPLOYMENT, DEPLOYMENTS, FINALIZER, NOTHING_RELATED, Case, deployment, entry_of, labels, once, plain_text,
)


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
        self.assertEqual(dict(self.load("state.json"), inputs=""), {
            "inputs": "",
            "gone": False, "uid": "cr-uid", "generation": 3, "finalizing": False, "related": {}, "digest": NOTHING_RELATED})
        self.assertFalse(os.path.exists(self.path("response.json")), "a stale response")

    def test_schedules(self):
        self.cr()
        self.config["schedules"] = [
            {"name": name, "longest": 1000, "rule": {"object": {"schedule": {"value": text}, "timeZone": {"value": "UTC"}}}}
            for name, text in (("evening", "0 20 * * *"), ("never", None))]
        self.assertEqual(self.run_command("read"), 0, self.out)
        request = self.load("request.json")
        self.assertEqual(request["schedules"], {"evening": {"lastScheduleTime": "2026-02-01T20:00:00Z"}, "never": None})
        self.assertEqual(request["related"], {})

    def test_parameters(self):
        self.cr()
        self.config["inputs"] = {"object": {"region": {"literal": "eu"}, "none": {"literal": None}}}
        self.assertEqual(self.run_command("read"), 0)
        self.assertEqual(self.load("request.json")["parameters"], {"region": "eu"})

    def test_keys(self):
        self.cr()
        self.cluster.put(DEPLOYMENTS + "/one", deployment(**labels()))
        for logic, want in ({"version": "v1"}, "one"), ({"version": "v2"}, "team/one"), ({}, "one"):
            with self.subTest(**logic):
                self.config["logic"] = logic
                self.assertEqual(self.run_command("read"), 0)
                self.assertEqual(list(self.load("request.json")["children"]["Deployment.apps/v1"]), [want])

    def test_status_of_a_child(self):
        for logic, code in ({"port": 80}, 0), ({}, 2):
            with self.subTest(**logic):
                self.cluster.reset()
                self.cr()
                self.config["logic"] = logic
                self.assertEqual(self.reconcile([dict(deployment(), status={"replicas": 1})]), code, self.out)
                self.assertIn("children[0]", self.out)

    def test_gone(self):
        for reason, metadata in (("not found", None), ("deleted, others' finalizers", {
                "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["other"]})):
            with self.subTest(reason):
                self.cluster.reset()
                self.config.update(finalizer=FINALIZER, finalizerForced=True)
                self.write("request.json", {"stale": True})
                if metadata:
                    self.cr(**metadata)
                self.assertEqual(self.run_command("read"), 0)
                self.assertEqual(self.load("state.json"), {"gone": True})
                self.assertFalse(os.path.exists(self.path("request.json")))
                self.assertEqual(self.run_command("apply"), 0)
                self.assertEqual(self.cluster.writes(), [])

    def test_finalizer_is_added_after_a_conflict(self):
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
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
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
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
            self.cluster.put(f"{DEPLOYMENTS}/d{index}", deployment(f"d{index}", **labels()))
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
            code = main(["apply"], self.env, sleep)
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
                self.assertIn(f'dependency "{container}" exited with non-zero code: {code}', self.out)
                self.assertEqual(len(self.cluster.log), before)
                os.remove(self.path(place))

    def test_gone(self):
        self.cluster.reset()
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.write("logic.exit", "0")
        self.assertEqual(self.run_command("apply"), 0, self.out)


class ResponseTest(Case):
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

    def test_logic_reaches_no_state(self):
        """Files that the logic writes next to the response have no effect."""
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.env["ARGOPERATOR_STATE"], self.config["finalizer"] = state.name, FINALIZER
        pods = "/api/v1/namespaces/kube-system/pods/dns"
        self.config["related"] = [entry_of("pods", "Pod", "pods", {"labelSelector": {"object": {"matchLabels": {
            "object": {"app": plain_text("mine")}}}}}, multiple=True, watch=False, delete=True)]
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

    def test_null_counts_as_missing(self):
        self.cr()
        self.assertEqual(self.reconcile([], status=None, finalized=None, resyncAfterSeconds=5), 0)
        self.assertIn("resyncAfterSeconds is left", self.out)
