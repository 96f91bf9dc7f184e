"""Which custom resources a run is for: selectors, events of children."""

from names import DEFINITION, RECONCILE

from .fakecluster import (
    CR, DEPLOYMENTS, FINALIZER, REPLICAS, SHARD, SOURCE, WEB, Case, TemplatesCase, always, child_of, deployment,
    labels, length_of, once, readiness, settings,
)


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
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
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
        return RECONCILE in (self.live()["metadata"].get("annotations") or {})

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
            ("all missing", lambda: [objects.pop(self.shard), objects.pop(self.web)], "web is missing"),
            ("one too many", lambda: self.cluster.put(DEPLOYMENTS + "/more", deployment("more", **labels())), "has 3 children"),
            ("another definition", annotated(**{DEFINITION: "d0"}), "another definition"),
            ("a new generation", lambda: self.live()["metadata"].update(generation=4), "latest change is not reconciled"),
            ("the templates failed", failed, "is not ready"), ("no condition", unnamed, "is not ready"),
            ("no finalizer", lambda: self.live()["metadata"].update(finalizers=[]), "has no finalizer yet"))
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
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
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
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
