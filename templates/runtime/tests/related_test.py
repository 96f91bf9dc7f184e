"""Related objects."""

from dates import seconds_of
from names import MANAGED_BY
from related import matches, selector_text

from .fakecluster import (
    CR, DEPLOYMENT, DEPLOYMENTS, FINALIZER, SOURCE, WORKFLOWS, Case, always, annotated, deployment, entry_of,
    field_of, plain_text, settings,
)


class RelatedTest(Case):
    MAPS = "/api/v1/namespaces/team/configmaps"
    PODS = "/api/v1/namespaces/team/pods"

    def setUp(self):
        super().setUp()
        self.config["children"] = [DEPLOYMENT]
        self.config["related"] = [
            entry_of("config", "ConfigMap", "configmaps", {"names": {"array": [field_of("spec", "config")]}}),
            entry_of("pods", "Pod", "pods", {"labelSelector": {"object": {"matchLabels": field_of("spec", "pods")}}},
                     multiple=True, watch=False, delete=True)]
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

    def test_what_a_run_writes_is_not_in_the_digest(self):
        self.config["related"] = [
            entry_of("all", "Memcached", "memcacheds", {"labelSelector": {"object": {}}}, multiple=True,
                     apiVersion="cache.example.com/v1alpha1"),
            entry_of("pods", "Pod", "pods", {"labelSelector": {"object": {}}, "namespace": plain_text("*")}, multiple=True)]
        for _ in range(3):  # the first writes the status, and the second sees it
            first = annotated(self.live())
            self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.assertEqual(annotated(self.live()), first)
        for condition in self.live()["status"]["conditions"]:
            condition.update(message="as another run says", lastTransitionTime="2027-01-01T00:00:00Z")
        self.cluster.put("/api/v1/namespaces/argo-events/pods/run", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "run", "namespace": "argo-events", "labels": {
                "app.kubernetes.io/component": "operator", "app.kubernetes.io/name": "memcached"}}})
        self.run_command("enqueue")
        self.assertIn(" 0 submitted", self.out)
        self.live()["status"]["conditions"][0]["reason"] = "Other"
        self.run_command("enqueue")
        self.assertIn(" 1 submitted", self.out)

    def test_status_while_related_objects_cannot_be_read(self):
        self.config.update(finalizer=FINALIZER, finalizerForced=True, status={"object": {
            "kept": {"expr": ["get", ["get", ["var", "$related"], "config"], "data"]}, "left": {"expr": ["lit", 1]}}})
        self.live()["metadata"].update(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.live()["status"] = {"kept": {"a": "b"}}
        self.cluster.faults.append(always("GET", self.MAPS, 403, {"reason": "Forbidden", "message": "no"}))
        self.assertEqual(self.reconcile([], finalized=False), 0, self.out)
        self.assertEqual((self.live()["status"]["kept"], self.live()["status"]["left"]), ({"a": "b"}, 1))

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

    def test_enqueue_discards_what_waits(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        now = int(seconds_of(self.time))
        ended = (now - 20) // 3

        def waiting(window, **status):
            name = f"memcached-enqueue-{window}"
            self.cluster.put(f"{WORKFLOWS}/{name}", {"metadata": {
                "name": name, "namespace": "argo-events", "labels": {MANAGED_BY: "memcached"}}, "status": status})
            return f"{WORKFLOWS}/{name}"

        served = {waiting(ended, phase="Pending"), waiting(ended - 7)}
        others = {waiting(now // 3, phase="Pending"), waiting(ended - 1, phase="Running"), waiting(ended - 2, phase="Succeeded"),
                  waiting("other", phase="Pending")}
        self.cluster.objects[self.MAPS + "/settings"]["data"] = {"a": "c"}
        self.cluster.faults.append(always("POST", WORKFLOWS, 403, {"reason": "Forbidden", "message": "no"}))
        self.assertEqual(self.run_command("enqueue"), 1, self.out)
        self.assertLess(served, set(self.cluster.objects), "a run that failed served nothing")
        self.cluster.faults.clear()
        self.assertEqual(self.run_command("enqueue"), 0, self.out)
        self.assertLess(others, set(self.cluster.objects))
        self.assertFalse(served & set(self.cluster.objects), self.out)

    def test_enqueue_what_has_failed(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.live()["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "ReconcileFailed"}]
        self.run_command("enqueue")
        self.assertIn("its last reconcile has failed", self.out)

    def test_wake_during_finalization(self):
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
        self.live()["metadata"].update(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.run_command("enqueue")
        self.assertIn("waits for its clean-up", self.out)

    def test_resync(self):
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.live(DEPLOYMENTS + "/one")["status"] = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
        self.assertEqual(self.reconcile([deployment()]), 0, self.out)
        self.cluster.put(SOURCE, {"metadata": {"creationTimestamp": self.time}})
        self.assertEqual(self.run_command("resync"), 0, self.out)
        self.assertIn("refers to pods, whose changes are not watched", self.out)
        self.live()["spec"]["pods"] = None
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
                self.assertEqual(matches(selector, have), want)
        self.assertEqual(selector_text({"matchLabels": {"b": "1"}, "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["1", "2"]}, {"key": "c", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"}, {"key": "e", "operator": "NotIn", "values": ["3"]}]}),
            "b in (1),a in (1,2),c,!d,e notin (3)")
