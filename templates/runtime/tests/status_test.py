"""The status, and the Events on the custom resource."""

from run import Run
from status import event_of, is_applied, truncated

from .fakecluster import CR, DEPLOYMENT, DEPLOYMENTS, EVENTS, ROLE, Case, always, child_of, deployment, once, settings


def status_entry(manager, fields):
    """What managedFields says of the fields of a status."""
    return {"manager": manager, "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": fields}}


class StatusTest(Case):
    def test_fields_that_the_kind_lacks(self):
        self.config["parent"]["lacks"] = ["observedGeneration", "conditions[].observedGeneration"]
        self.cr()
        self.assertEqual(self.reconcile([]), 0)
        self.assertNotIn("observedGeneration", self.live()["status"])
        self.assertNotIn("observedGeneration", self.condition("Ready"))
        before = len(self.cluster.writes())
        self.assertEqual(self.reconcile([]), 0)
        self.assertEqual(len(self.cluster.writes()), before, "nothing is left to write")

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
                self.assertEqual(is_applied(want, have, owned_fields), result)


class WriteStatusTest(Case):
    def test_second_run_writes_no_status(self):
        self.cr()
        child = deployment()
        self.reconcile([child], status={"gone": None, "nested": {"a": 1}, "conditions": [{"type": "Warm", "status": "True"}]})
        self.live(DEPLOYMENTS + "/one")["status"] = {
            "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
        for run in range(3):
            self.time = f"2026-03-0{run + 1}T00:00:00Z"
            self.env["ARGOPERATOR_WORKFLOW"] = f"memcached-one-{run}"
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
        self.live()["metadata"]["managedFields"] = [status_entry("other", {
            "f:theirs": {}, "f:conditions": {'k:{"type":"Theirs"}': {".": {}, "f:status": {}, "f:type": {}}}})]
        self.reconcile([settings()], status={"ours": 1})
        self.assertEqual(self.live()["status"]["ours"], 1)
        self.reconcile([settings()])
        self.assertNotIn("ours", self.live()["status"])
        self.assertEqual(self.live()["status"]["theirs"], 1)
        self.assertTrue(self.condition("Theirs"))
        before = len(self.cluster.writes())
        self.reconcile([settings()])
        self.assertEqual(len(self.cluster.writes()) - before, 1, "the child only")

    def test_status_without_managers(self):
        stalled = {"type": "Stalled", "status": "True", "reason": "ReconcileFailed"}
        before = {"f:gone": {}, "f:conditions": {".": {}, 'k:{"type":"Stalled"}': {".": {}, "f:type": {}}}}
        for existing, managers, kept in (
                (False, [], False), (False, [status_entry("before-first-apply", before)], False),
                (False, [status_entry("other", before)], True), (True, [], True)):
            with self.subTest(existing=existing, managers=managers):
                self.config["existing"] = existing
                self.cr()
                self.live()["status"] = {"gone": 1, "nested": {"a": 1, "b": 2}, "conditions": [stalled]}
                self.live()["metadata"]["managedFields"] = managers
                self.reconcile([], status={"nested": {"b": 2}})
                status = self.live()["status"]
                self.assertEqual("gone" in status, kept)
                self.assertEqual([one["type"] for one in status["conditions"]], ["Stalled", "Ready"] if kept else ["Ready"])
                self.assertEqual("a" in status["nested"], existing)

    def test_ready_of_the_logic_is_kept(self):
        self.cr()
        self.reconcile([settings()], status={"conditions": [{"type": "Ready", "status": "False", "message": "busy"}]})
        self.assertEqual(self.condition("Ready")["message"], "busy")

    def test_parent_without_status(self):
        self.config["parent"]["status"] = False
        self.cr()
        self.assertEqual(self.reconcile([settings()], status={"a": 1}), 0)
        self.assertEqual(len(self.cluster.writes()), 1)

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

    def test_deleted_during_apply(self):
        for status in (404, 409):
            self.cluster.reset()
            self.cr()

            def gone(method, path, status=status):
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


class EventTest(Case):
    """Events on the custom resource: one for each change of Ready that matters to users."""

    def setUp(self):
        super().setUp()
        self.config["emitsEvents"] = True

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
                text = truncated({"message": letter * 1500 + "; see workflow a/b"})
                self.assertTrue(text.startswith(letter * 200) and text.endswith(letter + "; see workflow a/b"))
                self.assertIn(len(text.encode()), range(1021, 1025))
                self.assertEqual(len(truncated({"message": letter * 1500}).encode()), 1024)
        self.assertEqual(truncated({}), "")
        self.assertLessEqual(len(truncated({"message": "x; see workflow " + "y" * 2000}).encode()), 1024)
        name = "a" * 199 + "-" + "b" * 53
        run = Run(self.env_with(), None, lambda: self.time)
        event = event_of(run, {"metadata": {"name": name, "uid": "0123456789", "resourceVersion": "7"}}, "Normal", "r" * 200, {}, "7")
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
        self.config["emitsEvents"] = False
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
