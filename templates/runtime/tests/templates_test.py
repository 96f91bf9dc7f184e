"""Children that the Sensor computes."""
import base64
import copy
import json
import os

from children import marked
from compute import unready_reason
from names import CHILD, LAST_APPLIED, MANAGED_BY, OPERATOR_NAMESPACE, OWNER_UID, RECONCILE, SIBLINGS
from run import Run

from .fakecluster import (
    CONFIGMAP, CR, DEPLOYMENTS, FINALIZER, REPLICAS, ROLE, ROLES, SHARD, WEB, TemplatesCase, always, child_of,
    deployment, labels, length_of, once, readiness, settings,
)


class TemplatesTest(TemplatesCase):
    def test_applies(self):
        self.cr()
        self.config["status"] = {"object": {"replicas": {"expr": ["get", ["get", child_of("web"), "spec"], "replicas"]}}}
        self.assertEqual(self.apply(("web", deployment()), ("shard", settings("one-0")), ("shard", settings("one-1"))), 0)
        metadata = self.live(DEPLOYMENTS + "/one")["metadata"]
        self.assertEqual(metadata["labels"], {
            MANAGED_BY: "memcached", OPERATOR_NAMESPACE: "argo-events", OWNER_UID: "cr-uid", CHILD: "web"})
        self.assertEqual(metadata["ownerReferences"][0]["uid"], "cr-uid")
        self.assertEqual(metadata["annotations"][SIBLINGS], "3")
        self.assertEqual(self.live()["status"]["replicas"], 2)
        self.assertEqual(self.condition("Ready")["reason"], "Progressing")
        self.assertNotIn(RECONCILE, self.live()["metadata"].get("annotations", {}))
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

    def test_orphans(self):
        for reason, stays, finalizing, left in (
                ("unwanted", False, False, []), ("no right to delete", True, False, ["one-0"]), ("deleted", False, True, ["one-0"])):
            with self.subTest(reason):
                self.cluster.reset()
                self.config.update(finalizer=FINALIZER, finalizerForced=True, children=[
                    WEB, dict(SHARD, onDelete="Orphan", unowned=True, stays=stays)])
                self.cr(finalizers=[FINALIZER])
                self.apply(("shard", settings("one-0")))
                if finalizing:
                    self.live()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                self.assertEqual(self.apply(("web", deployment())), 0)
                self.assertEqual(self.shards(), left)

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
        annotated = {"annotations": {"a": "1", LAST_APPLIED: "{}"}}
        rows = (
            ("generation", {}, {"generation": 4}, False), ("older generation", {}, {"generation": 2}, False),
            ("label added", {}, {"labels": {"a": "b"}}, False), ("label changed", {"labels": {"a": "b"}}, {"labels": {"a": "c"}}, False),
            ("label removed", {"labels": {"a": "b"}}, {"labels": {}}, False),
            ("no labels and none", {}, {"labels": {}}, True), ("no annotations and none", {"annotations": {}}, {}, True),
            ("annotation", annotated, {"annotations": {"a": "2"}}, False),
            ("poked again", {}, {"annotations": {RECONCILE: "t"}}, False),
            ("last-applied", annotated, {"annotations": {"a": "1", LAST_APPLIED: '{"b": 1}'}}, True),
            ("last-applied is new", {"annotations": {"a": "1"}}, annotated, True),
            ("others' metadata", {}, {"finalizers": ["theirs"], "ownerReferences": []}, True),
            ("another object", {}, {"uid": "another"}, False))
        for reason, before, after, timely in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.config.update(finalizer=FINALIZER, finalizerForced=True)
                self.cr(**before)
                self.desire(("web", deployment()))
                self.live()["metadata"].update(after)
                self.assertEqual(self.run_command("apply"), 0, self.out)
                self.assertEqual(DEPLOYMENTS + "/one" in self.cluster.objects, timely)
                if not timely:
                    self.assertEqual(self.cluster.writes(), [], "not even the finalizer")
                    self.assertIn("deleted and made again" if "uid" in after else "a newer change is on its way", self.out)

    def test_changed_while_the_finalizer_is_added(self):
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
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
        exact = 2 ** 53 + 1  # a Sensor rounds it
        for data, live, timely in (({"a": 1.0}, 1, True), ({"a": 2}, 1, False), ({"a": exact - 1}, exact, True)):
            with self.subTest(data):
                self.cluster.reset()
                self.cr()
                del self.live()["metadata"]["generation"]
                self.desire(("web", deployment()), inputs={"generation": None, "labels": None, "annotations": None,
                                                           "content": {"spec": {"size": 2}, "data": data}})
                self.live()["data"] = {"a": live}
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
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
        self.cr(annotations={"kept": "yes"}, labels={"a": "b"})
        seen = set()
        for text in ("", None, "\n"):
            self.env.pop("ARGOPERATOR_DESIRED", None)
            if text is not None:
                self.env["ARGOPERATOR_DESIRED"] = text
            self.assertEqual(self.run_command("apply"), 0)
            self.assertIn("asked for a fresh computation", self.out)
            seen.add(self.live()["metadata"]["annotations"][RECONCILE])
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
            ("no name", coded(dict(fine, children=[{"child": "web", "object": deployment("")}])), "template web: has no metadata.name"))
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

    def test_a_refused_child_holds_up_no_others(self):
        self.config.update(allowedNamespaces="^b$", children=[WEB, dict(SHARD, chosen=True)])
        self.config["status"] = {"object": {"size": {"expr": ["lit", 5]}}}
        shards = [{"child": "shard", "object": settings("a")}, {"child": "shard", "error": "no"}]
        place = {"child": "shard", "error": "no", "place": {"metadata": {"name": "kept"}}}
        other = dict(place, place={"metadata": {"name": "b"}})
        rows = (
            ("twice", [{"child": "shard", "object": settings()}] * 2, "ConfigMap team/one is there twice", ["kept"]),
            ("an error of jq", [{"child": "shard", "error": "no"}], "template shard: no", ["kept"]),
            ("an error of one of several", shards, "template shard: no", ["a", "kept"]),
            ("an error of the one that is there", [shards[0], place], "template shard: no", ["a", "kept"]),
            ("an error of another one", [shards[0], other], "template shard: no", ["a"]),
            ("an error of both and of one that is unknown", shards + [other], "template shard: no", ["a", "kept"]),
            ("no name", [{"child": "shard", "object": settings("")}], "has no metadata.name", ["kept"]),
            ("a namespace", [{"child": "shard", "object": settings(namespace="c")}], "namespace c is not one of", []))
        for reason, children, want, left in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.cr()
                self.cluster.put(DEPLOYMENTS + "/old", deployment("old", **labels()))
                self.cluster.put("/api/v1/namespaces/team/configmaps/kept", settings("kept", **labels()))
                self.assertEqual(self.apply(children=[{"child": "web", "object": deployment()}] + children), 2, self.out)
                self.assertIn(want, self.condition("Ready")["message"])
                self.assertEqual(self.live()["status"]["size"], 5)
                self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)
                self.assertNotIn(DEPLOYMENTS + "/old", self.cluster.objects)
                self.assertEqual(self.shards(), left)

    def test_two_templates_one_object(self):
        for version in "v1", "v1beta1":
            with self.subTest(version):
                self.cluster.reset()
                self.config["children"] = [WEB, dict(WEB, name="db", apiVersion="apps/" + version)]
                self.cr()
                self.assertEqual(self.apply(("web", deployment()), ("db", dict(deployment(), apiVersion="apps/" + version))), 2)
                self.assertIn("template db: Deployment team/one comes from template web too", self.condition("Ready")["message"])

    def test_children_of_one_kind_are_told_apart_by_their_label(self):
        self.config["children"] = [WEB, dict(WEB, name="db", onDelete="Orphan", unowned=True, stays=True)]
        self.config["status"] = {"object": {
            name: {"expr": ["get", ["get", child_of(name), "metadata"], "name"]} for name in ("web", "db")}}
        self.cr()
        self.assertEqual(self.apply(("web", deployment("one-db")), ("db", deployment("one-web"))), 0)
        self.assertEqual((self.live()["status"]["web"], self.live()["status"]["db"]), ("one-db", "one-web"))
        self.assertEqual(self.apply(), 0)
        self.assertNotIn(DEPLOYMENTS + "/one-db", self.cluster.objects)
        self.assertIn(DEPLOYMENTS + "/one-web", self.cluster.objects, "the orphan of an earlier definition")

    def test_ready_when(self):
        ready = ["eq", REPLICAS, ["get", ["get", ["in"], "spec"], "replicas"]]
        rows = (
            ("met", ready, {"readyReplicas": 2}, ""), ("not met", ready, {"readyReplicas": 1}, "readyWhen is not met"),
            ("no status yet", ready, {}, "readyWhen is not met"), ("not a boolean", REPLICAS, {"readyReplicas": 2}, "readyWhen is not met"),
            ("null", ["lit", None], {}, "readyWhen is not met"),
            ("an error", ["add", ["lit", 1], ["lit", "a"]], {}, "readyWhen is not met"),
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
        run = Run(self.env, None, None)
        self.assertIn("its readiness is unknown", unready_reason(run, marked(deployment(), "web")))

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


class TemplatesFinalizerTest(TemplatesCase):
    def setUp(self):
        super().setUp()
        self.config.update(finalizer=FINALIZER, finalizerForced=True, children=[
            dict(WEB, unowned=True), dict(SHARD, onDelete="Orphan", unowned=True), dict(ROLE, template=True)])

    def test_added(self):
        self.cr(finalizers=["other"])
        role = {"apiVersion": ROLE["apiVersion"], "kind": "ClusterRole", "metadata": {"name": "one"}}
        self.assertEqual(self.apply(("web", deployment("one", namespace="b")), ("role", role)), 0, self.out)
        self.assertEqual(self.live()["metadata"]["finalizers"], ["other", FINALIZER])
        self.assertNotIn("ownerReferences", self.live(ROLES + "/one")["metadata"])

    def test_added_before_what_needs_it(self):
        self.config.update(finalizerForced=False, children=[WEB, dict(ROLE, template=True, held=True)])
        role = {"apiVersion": ROLE["apiVersion"], "kind": "ClusterRole", "metadata": {"name": "one"}}
        self.cr()
        self.assertEqual(self.apply(("web", deployment("one"))), 0, self.out)
        self.assertNotIn("finalizers", self.live()["metadata"], "nothing needs it")
        changes = [once("PATCH", "memcacheds/one$", 409, {"reason": "Conflict"})]
        for faults in [], changes:
            self.cr()
            self.cluster.objects.pop(ROLES + "/one", None)
            self.cluster.faults = faults
            self.cluster.log.clear()
            self.assertEqual(self.apply(("role", role)), 0, self.out)
            self.assertEqual(self.live()["metadata"]["finalizers"], [FINALIZER])
            writes = [path for _, path in self.cluster.writes()]
            self.assertLess(writes.index(CR), writes.index(ROLES + "/one"), "before the Role")

    def test_deleted_before_it_is_added(self):
        self.config.update(finalizerForced=False, children=[dict(ROLE, template=True, held=True)])
        role = {"apiVersion": ROLE["apiVersion"], "kind": "ClusterRole", "metadata": {"name": "one"}}

        def deleted(method, path):
            if (method, path) != ("PATCH", CR):
                return None
            self.live()["metadata"].update(deletionTimestamp="t", finalizers=["other"])
            return 409, {"reason": "Conflict"}
        self.cr()
        self.cluster.faults = [deleted]
        self.assertNotEqual(self.apply(("role", role)), 0)
        self.assertNotIn(ROLES + "/one", self.cluster.objects)

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
        self.assertEqual((child["annotations"][SIBLINGS], child["labels"].get(CHILD)), ("3", None))
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
        copied = dict(settings("one-x"), metadata={"name": "one-x", "labels": {CHILD: "shard", "a": "b"}})
        self.assertEqual(self.answer(children=[copied]), 0)
        got = self.live("/api/v1/namespaces/team/configmaps/one-x")["metadata"]["labels"]
        self.assertEqual((got.get(CHILD), got["a"]), (None, "b"))

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
        self.assertIn(RECONCILE, self.live()["metadata"]["annotations"])

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
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
        self.cr(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.cluster.put(DEPLOYMENTS + "/one", deployment(**labels()))
        self.env["ARGOPERATOR_DESIRED"] = ""
        self.assertEqual(self.reconcile(finalized=False), 0, self.out)
        self.assertNotIn(DEPLOYMENTS + "/one", self.cluster.objects, "templates want nothing any more")
        self.assertEqual(self.condition("Ready")["reason"], "Finalizing")
        self.assertEqual(self.reconcile(finalized=True), 0)
        self.assertNotIn(CR, self.cluster.objects)
