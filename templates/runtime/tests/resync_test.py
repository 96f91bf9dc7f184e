"""The resync."""
import json
import sys
import threading

from due import due
from values import merged
from names import CHILD, DEFINITION, LAST_APPLIED, MANAGED_BY, RECONCILE, SIBLINGS
from reconcile import deep
from run import Run

from .fakecluster import (
    CR, DEPLOYMENT, DEPLOYMENTS, FINALIZER, READY_REPLICAS, REPLICAS, SHARD, WEB, WORKFLOWS, Case, TemplatesCase, deployment, labels,
    once, plain_text, readiness, settings,
)


class ResyncTest(Case):
    def due(self, cr=None, children=None, config=None):
        """The reason for a custom resource that needs no run except for these changes."""
        obj = {"metadata": {"name": "one", "namespace": "team", "uid": "cr-uid", "generation": 3}, "status": {
            "observedGeneration": 3, "conditions": [{"type": "Ready", "status": "True"}]}}
        child = deployment(uid="d", managedFields=[
            {"manager": "memcached", "time": "2026-01-01T00:00:02Z"}, {"manager": "old", "time": "2026-01-01T00:00:01Z"},
            {"manager": "kcm", "subresource": "status", "time": "2026-01-01T00:00:09Z"}], **labels())
        self.write("config.json", dict(self.config, **dict({"status": {"object": {}}}, **(config or {}))))
        run = Run(self.env, None, None)
        return due(run, merged(obj, cr or {}), [child] if children is None else children(child))

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
            return lambda child: [merged(child, {"metadata": metadata})]
        rows = (
            ("all fine", {}, None, {}, ""),
            ("policy Always", {}, None, {"resyncPolicy": "Always"}, "resync always"),
            ("deleted, our finalizer", {"metadata": dict(gone, **mine)}, None, {"finalizer": FINALIZER}, "clean-up"),
            ("deleted, not ours", {"metadata": gone}, None, {"finalizer": FINALIZER, "resyncPolicy": "Always"}, ""),
            ("finalizer missing", {}, None, {"finalizer": FINALIZER, "finalizerForced": True}, "no finalizer"),
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
            ("no children", {}, lambda child: [], no_status, "deployment is missing"),
            ("one child too few", {}, changed(annotations={SIBLINGS: "2"}), {}, "1 children instead of 2"),
            ("one child too many", {}, lambda child: [child, child], {}, "2 children instead of 1"),
            ("old definition", {}, changed(annotations={DEFINITION: "d0"}), {}, "another definition"),
            ("edited", {}, lambda child: [dict(child, metadata=dict(
                child["metadata"], managedFields=child["metadata"]["managedFields"] + [other]))], {}, "changed by others"),
            ("ours nowhere", {}, changed(managedFields=[other]), {}, "changed by others"))
        for reason, cr, children, config, want in rows:
            with self.subTest(reason):
                got = self.due(cr, children, config)
                self.assertTrue(want in got if want else got == "", got)

    def test_due_for_children_that_are_never_updated(self):
        def field_of(part, key):
            return {"expr": ["get", ["get", ["in"], part], key]}
        size, name = field_of("spec", "size"), {"object": {"name": field_of("metadata", "name")}}
        rows = (
            ("there", {}, 1, ""), ("wanted", {"when": size}, 1, ""), ("not wanted", {"when": size}, None, "team/one is not wanted"),
            ("only the Sensor computes it", {"when": {"expr": None}}, 1, "may be missing"),
            ("depends on others", {"when": {"expr": ["get", ["var", "$related"], "a"]}}, 1, "may be missing"),
            ("the logic makes it", {"identity": None}, 1, "may be missing"),
            ("another name", {"identity": {"object": {"name": size}}}, "two", "team/one is not wanted"))
        for reason, entry, value, want in rows:
            with self.subTest(reason):
                config = {"children": [dict(dict(WEB, never=True, identity=name), **entry)]}
                got = self.due({"spec": {"size": value}}, lambda child: [merged(child, {"metadata": {"namespace": "team"}})], config)
                self.assertTrue(want in got if want else got == "", got)

    def test_due_for_children_beside_one_that_is_never_updated(self):
        def child(entry, **metadata):
            own = dict(metadata, namespace="team", name=entry, labels={CHILD: entry})
            return merged(deployment(uid="d", **labels()), {"metadata": own})
        kept = dict(WEB, name="once", never=True, identity={"object": {"name": plain_text("once")}})
        web = dict(WEB, identity={"object": {"name": plain_text("web")}})
        size = {"expr": ["get", ["get", ["in"], "spec"], "size"]}
        each = dict(web, each=True, forEach=size, identity={"object": {"name": {"expr": ["var", "$item"]}}})
        rows = (
            ("the other is gone", web, ["once"], None, "Deployment team/web is missing"),
            ("the other is not wanted", dict(web, when=size), ["once"], False, ""),
            ("the other is wanted", dict(web, when=size), ["once"], True, "Deployment team/web is missing"),
            ("an empty list", each, ["once"], [], ""), ("all of a list are gone", each, ["once"], ["a"], "Deployment team/a is missing"),
            ("the logic makes the other", dict(DEPLOYMENT, kind="StatefulSet"), ["once"], None, "deployment is missing"),
            ("both are gone", web, [], None, "once is missing"), ("both are there", web, ["once", "web"], None, ""),
            ("only the other is there", web, ["web"], None, "has 1 children instead of 2"))
        for reason, other, there, value, want in rows:
            with self.subTest(reason):
                got = self.due({"spec": {"size": value}}, lambda _, names=there: [
                    child(name, annotations={SIBLINGS: "2" if name == "web" else "9", DEFINITION: "d1"}) for name in names],
                    {"children": [kept, other]})
                self.assertTrue(want in got if want else got == "", got)

    def test_due_for_a_computed_status(self):
        def state(**status):
            return {"status": status, "metadata": {"managedFields": [{
                "manager": "memcached-status", "subresource": "status", "fieldsV1": {"f:status": {"f:name": {}, "f:readyReplicas": {}}}}]}}
        custom = {"type": "Custom", "status": "True", "reason": "Custom", "message": "", "observedGeneration": 3, "lastTransitionTime": "t"}
        two = ["if", ["eq", READY_REPLICAS["expr"], ["lit", 2]], ["lit", "True"], ["lit", "False"]]
        computed = {"array": [{"object": {"type": plain_text("Custom"), "status": {"expr": two}}}]}
        fails = {"expr": ["get", ["lit", "text"], "field"]}
        ready = {"type": "Ready", "status": "True"}
        rows = (
            ("the same", {"readyReplicas": READY_REPLICAS}, state(readyReplicas=2), False),
            ("another value", {"readyReplicas": READY_REPLICAS}, state(readyReplicas=1), True),
            ("not there yet", {"readyReplicas": READY_REPLICAS}, {}, True),
            ("no value any more", {"name": fails, "readyReplicas": READY_REPLICAS}, state(readyReplicas=2, name="a"), True),
            ("no value, and none there", {"name": fails, "readyReplicas": READY_REPLICAS}, state(readyReplicas=2), False),
            ("fields of others", {"readyReplicas": READY_REPLICAS}, state(readyReplicas=2, other=1), False),
            ("not of children", {"other": plain_text("a")}, state(other="a"), False),
            ("not of children, and another value", {"other": plain_text("a")}, state(other="b"), True),
            ("a condition", {"conditions": computed}, state(conditions=[ready, custom]), False),
            ("another condition", {"conditions": computed}, state(conditions=[ready, dict(custom, status="False")]), True),
            ("no condition yet", {"conditions": computed}, {}, True))
        for reason, fields, cr, want in rows:
            with self.subTest(reason):
                got = self.due(cr, lambda child: [dict(child, status={
                    "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 3})],
                    {"status": {"object": fields}})
                self.assertEqual("its status is computed from another state of" in got, want, got)

    def test_submits(self):
        self.cr()
        self.cluster.put(CR[:-3] + "two.dotted." + "x" * 60, {"metadata": {"generation": 1}})
        self.cluster.put(CR[:-3] + "three", {"metadata": {"generation": 1, "uid": "u3"}, "status": {
            "observedGeneration": 1, "readyReplicas": 0, "conditions": [{"type": "Ready", "status": "True"}]}})
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
        self.assertEqual(workflow["metadata"]["labels"], {MANAGED_BY: "memcached"})

    def test_deep_nesting_does_not_block_others(self):
        limit, size = sys.getrecursionlimit(), threading.stack_size()
        self.addCleanup(lambda: (sys.setrecursionlimit(limit), threading.stack_size(size)))
        for levels in (1500, 9990):  # the API server takes 10,000
            self.cluster.reset()
            nested = '{"a":' * levels + "1" + "}" * levels
            one = f'{{"metadata":{{"name":"deep","namespace":"team","uid":"u9","generation":1}},"spec":{nested}}}'
            answer = f'{{"kind":"List","metadata":{{}},"items":[{one},{json.dumps(self.cr())}]}}'
            self.cluster.faults = [lambda _, path: (200, answer) if path.endswith("/memcacheds") else None]  # noqa: B023
            self.assertEqual(deep(lambda: self.run_command("resync")), 0)
            self.assertIn("2 custom resources, 2 submitted, 0 failed", self.out)

    def test_generate_name_has_no_double_dash(self):
        self.cluster.put(CR[:-3] + "a" * 45 + "-bcd", {"metadata": {"generation": 1}})
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.cluster.log[-1][3]["metadata"]["generateName"], "memcached-" + "a" * 45 + "-")

    def test_watched_namespaces(self):
        self.config["watchNamespaces"] = ["a", "b"]
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual([path.split("/namespaces/")[1] for _, path, _, _, _ in self.cluster.log], [
            "argo-events/eventsources/memcached", "a/deployments", "b/deployments", "a/configmaps", "b/configmaps",
            "a/memcacheds", "b/memcacheds"])

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

    def test_a_change_whose_event_was_lost(self):
        def edited(part, **metadata):
            return lambda: self.cluster.put(CR, merged(self.live(), {part: metadata}))
        rows = (
            ("labels", True, edited("metadata", labels={"tier": "gold"}), True),
            ("annotations", True, edited("metadata", annotations={"tier": "gold"}), True),
            ("content without a status", False, edited("spec", size=5), True),
            ("content without a generation", False, edited("data", text="b"), True),
            ("a generation that counts annotations", False, edited("metadata", generation=4), False),
            ("what kubectl notes", True, edited("metadata", annotations={LAST_APPLIED: "{}"}), False),
            ("what operators note", True, edited("metadata", annotations={RECONCILE: "now", "other.argoperator.dev/child-a": "{}"}), False),
            ("a status of others", False, edited("status", replicas=3), False))
        for reason, status, edit, want in rows:
            with self.subTest(reason):
                self.cluster.reset()
                self.config["parent"]["status"] = status
                self.cr(**{} if "without a generation" not in reason else {"generation": None})
                self.assertEqual(self.reconcile([settings()]), 0, self.out)
                edit()
                self.assertEqual(self.run_command("resync"), 0)
                self.assertIn(f"1 custom resources, {int(want)} submitted", self.out)
                self.assertEqual(self.reconcile([settings()]), 0, self.out)
                self.assertEqual(self.run_command("resync"), 0)
                self.assertIn("1 custom resources, 0 submitted", self.out)


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
        self.live(DEPLOYMENTS + "/three")["metadata"]["labels"][CHILD] = "web"
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.pokes(), ["one", "two"])
        self.assertEqual(self.cluster.writes(), [("PATCH", CR), ("PATCH", CR[:-3] + "two")], "and no Workflow")
        self.assertEqual(self.live()["metadata"]["annotations"], {RECONCILE: self.time})
        self.assertIn("team.one: its latest change is not reconciled", self.out)
        self.assertIn("team.two: web is missing", self.out)
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

    def test_a_status_of_a_child_whose_event_was_lost(self):
        self.env["ARGOPERATOR_KEY"] = "team.one"
        self.cr()
        self.config["children"] = [dict(WEB, name="deployment", **readiness(["lit", True]))]
        self.config["status"] = {"object": {"readyReplicas": READY_REPLICAS}}
        self.assertEqual(self.apply(("deployment", deployment())), 0)
        for replicas, want in ((0, 0), (1, 1)):
            self.live(DEPLOYMENTS + "/one")["status"] = {"readyReplicas": replicas}
            self.run_command("resync")
            self.assertIn(f"1 custom resources, {want} submitted", self.out)
        self.assertIn("team.one: its status is computed from another state of its children", self.out)

    def test_kinds_that_lack_fields_of_the_status(self):
        self.config["parent"]["lacks"] = ["conditions", "observedGeneration"]
        self.config["children"] = []
        self.cr()
        self.assertEqual(self.run_command("resync"), 0)
        self.assertIn("0 submitted", self.out)

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
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
        self.cr(finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.assertEqual(self.run_command("resync"), 0)
        self.assertEqual(self.pokes(), ["one"])
