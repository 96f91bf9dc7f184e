"""Applying, adopting, replacing and deleting children."""
import base64
import copy
import json

from names import MANAGED_BY, OWNER, OWNER_UID

from .fakecluster import CONFIGMAP, DEPLOYMENT, DEPLOYMENTS, FINALIZER, Case, always, deployment, labels, settings

SECRETS = "/api/v1/namespaces/team/secrets"


class ObjectsTest(Case):
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
        del self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][OWNER_UID]
        self.assertEqual(self.reconcile([deployment()]), 0)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][OWNER_UID], "cr-uid")

    def test_orphan_of_an_earlier_cr_is_adopted(self):
        self.config["children"] = [dict(DEPLOYMENT, onDelete="Orphan", unowned=True)]
        self.cr()
        self.cluster.put(DEPLOYMENTS + "/one", deployment(**dict(labels("old"), ownerReferences=[])))
        self.assertEqual(self.reconcile([deployment()]), 2)
        self.assertIn("write adopt: true on child", self.condition("Ready")["message"])
        self.config["children"][0]["adopt"] = True
        self.assertEqual(self.reconcile([deployment()]), 0)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][OWNER_UID], "cr-uid")
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["ownerReferences"], [])

    def test_adoption(self):
        self.config["children"] = [dict(DEPLOYMENT, adopt=True)]
        other = "/apis/cache.example.com/v1alpha1/namespaces/team/memcacheds/two"
        controlled = {"ownerReferences": [{"kind": "Web", "name": "w", "uid": "u", "controller": True}]}
        for what, metadata, code in (
                ("nobody's", {}, 0), ("controlled by another", controlled, 2),
                ("a living custom resource's", dict(labels("u2", "team.two"), ownerReferences=[]), 2),
                ("another operator's", {"labels": {MANAGED_BY: "dns", OWNER_UID: "u3"}, "annotations": {OWNER: "team.three"}}, 2),
                ("of an unknown owner", {"labels": {MANAGED_BY: "memlogic", OWNER_UID: "u3"}}, 2),
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

    def test_adoption_of_the_object_that_was_read(self):
        """Another custom resource takes the object between the read and the write."""
        self.config["children"] = [dict(DEPLOYMENT, adopt=True, onDelete="Orphan", unowned=True)]
        self.cr()
        self.cluster.put("/apis/cache.example.com/v1alpha1/namespaces/team/memcacheds/two",
                         dict(self.live(), metadata={"name": "two", "uid": "u2"}))
        self.cluster.put(DEPLOYMENTS + "/one", deployment(ownerReferences=[], uid="free"))
        taken = deployment(**dict(labels("u2", "team.two"), ownerReferences=[], uid="free"))

        def race(method, path):
            if method == "PATCH" and path == DEPLOYMENTS + "/one":
                self.cluster.faults = []
                self.cluster.put(DEPLOYMENTS + "/one", taken)
        self.cluster.faults = [race]
        self.assertEqual(self.reconcile([deployment()]), 2, self.out)
        self.assertIn("so it is not adopted", self.condition("Ready")["message"])
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["labels"][OWNER_UID], "u2")

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

    def secret(self, data=None):
        """The config, and the child, of a Secret with random values."""
        self.config["children"] = [dict(CONFIGMAP, kind="Secret", plural="secrets", generate={
            "password": {"length": 24, "characters": "abc"}, "key": {"bytes": 32}})]
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}, "data": data or {}}

    def values(self):
        return {key: base64.b64decode(value) for key, value in self.live(SECRETS + "/one")["data"].items()}

    def test_random_values_are_made_once(self):
        child = self.secret({"user": "eA=="})
        self.cr()
        self.assertEqual(self.reconcile([child]), 0)
        first = self.values()
        self.assertRegex(first["password"].decode(), "^[abc]{24}$")
        self.assertGreater(len(set(first["password"])), 1)
        self.assertEqual((len(first["key"]), first["user"]), (32, b"x"))
        self.assertGreater(len(set(first["key"])), 8)
        self.assertEqual(self.reconcile([dict(child, data={"user": "eQ=="})]), 0)
        self.assertEqual(self.values(), dict(first, user=b"y"))
        self.assertNotIn(self.live(SECRETS + "/one")["data"]["password"], self.out + json.dumps(self.live()))

    def test_a_random_value_that_is_gone_or_empty_is_made_again(self):
        child = self.secret()
        self.cr()
        self.reconcile([child])
        first, data = self.values(), self.live(SECRETS + "/one")["data"]
        del data["password"]
        data["key"] = ""
        self.assertEqual(self.reconcile([child]), 0)
        again = self.values()
        self.assertEqual({key: len(value) for key, value in again.items()}, {"password": 24, "key": 32})
        self.assertFalse(set(first.values()) & set(again.values()))

    def test_a_value_that_is_set_by_hand_stays(self):
        """Also one that is set between the read and the write."""
        child = self.secret()
        self.cr()
        self.reconcile([child])

        def race(method, path):
            if method == "PATCH" and path == SECRETS + "/one":
                self.cluster.faults = []
                secret = self.live(path)
                self.cluster.put(path, dict(secret, data=dict(secret["data"], password="YmJi")))
        self.cluster.faults = [race]
        self.assertEqual(self.reconcile([dict(child, data={"user": "eA=="})]), 0)
        self.assertEqual(self.values()["password"], b"bbb")
        self.assertEqual(self.reconcile([dict(child, data={"user": "eQ=="})]), 0)
        self.assertEqual((self.values()["password"], self.values()["user"]), (b"bbb", b"y"))

    def test_secrets_are_not_quoted(self):
        self.config["children"] = [dict(CONFIGMAP, kind="Secret", plural="secrets")]
        self.cr()
        self.cluster.faults = [always("PATCH", "secrets/one", 400, {"reason": "BadRequest", "message": "bad: aHVudGVyMg=="})]
        self.assertEqual(self.reconcile([{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}}]), 2)
        self.assertNotIn("aHVudGVyMg", self.out + json.dumps(self.live()))

    def test_an_object_made_of_a_secret_is_not_quoted(self):
        self.config["children"] = [dict(CONFIGMAP, secret=True)]
        self.cr()
        self.cluster.faults = [always("PATCH", "configmaps/one", 422, {
            "reason": "Invalid", "message": "bad: hunter2", "details": {"causes": [{"field": "data.a", "message": "bad: hunter2"}]}})]
        self.assertEqual(self.reconcile([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}]), 2)
        self.assertIn("ConfigMap team/one: Invalid, data.a (the message", self.condition("Ready")["message"])
        self.assertNotIn("hunter2", self.out + json.dumps(self.live()))

    def test_prune(self):
        self.config["children"] = [DEPLOYMENT, dict(CONFIGMAP, onDelete="Orphan", unowned=True, stays=True)]
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
                self.config.update(finalizer=FINALIZER, finalizerForced=True, children=[dict(DEPLOYMENT, unowned=unowned)])
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

                def changed(method, path, change=change):
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
