"""What apply does with the response of the logic."""

from names import DEFINITION, INPUTS, MANAGED_BY, OPERATOR_NAMESPACE, OWNER, OWNER_UID, SIBLINGS, TIMER

from .fakecluster import (
    CONFIGMAP, CR, DEPLOYMENT, DEPLOYMENTS, FINALIZER, ROLE, ROLES, WORKFLOWS, Case, always, deployment, labels,
    once, settings,
)


class ApplyTest(Case):
    def test_applies_children_and_status(self):
        self.cr()
        self.assertEqual(self.reconcile([deployment(), settings()], status={"phase": "new"}), 0)
        got = self.live(DEPLOYMENTS + "/one")
        self.assertEqual(got["metadata"]["labels"], {MANAGED_BY: "memcached", OWNER_UID: "cr-uid", OPERATOR_NAMESPACE: "argo-events"})
        self.assertRegex(got["metadata"]["annotations"].pop(INPUTS), "^[0-9a-f]{16}$")
        self.assertEqual(got["metadata"]["annotations"], {
            OWNER: "team.one", DEFINITION: "d1", SIBLINGS: "2"})
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
                self.config.update(finalizer=FINALIZER, finalizerForced=True)
                self.cr(finalizers=[FINALIZER])
                self.run_command("read")
                change()
                self.write("response.json", {"children": [deployment()]})
                self.assertEqual(self.run_command("apply"), 0)
                self.assertEqual(self.cluster.writes(), [])


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
        self.assertEqual(timer["metadata"]["labels"], {MANAGED_BY: "memcached", TIMER: "cr-uid"})
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


class FinalizeTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(finalizer=FINALIZER, finalizerForced=True, children=[
            DEPLOYMENT, ROLE, dict(CONFIGMAP, onDelete="Orphan", unowned=True)])
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

    def test_what_it_asks_for_meanwhile(self):
        self.config.update(timer="memcached-timer", decorate=True)
        self.assertEqual(self.reconcile([], finalized=False, resyncAfterSeconds=60, labels={"left": "none"}), 0, self.out)
        self.assertEqual(self.live()["metadata"]["labels"], {"left": "none"})
        self.assertEqual(len([path for path in self.cluster.objects if "/workflows/memcached-timer-" in path]), 1)

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
