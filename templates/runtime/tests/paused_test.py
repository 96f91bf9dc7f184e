"""Custom resources that an annotation pauses."""
import os

from names import MANAGED_BY, OWNER_UID, PAUSED
from worker import Worker

from .fakecluster import CR, FINALIZER, WORKFLOWS, Case, TemplatesCase, entry_of, field_of, settings

CONFIG_MAP = "/api/v1/namespaces/team/configmaps/one"
STOPPED = {PAUSED: "true"}


class PausedTest(Case):
    def annotate(self, annotations):
        self.live()["metadata"]["annotations"] = annotations

    def test_writes_its_condition_once_and_nothing_else(self):
        self.cr()
        self.assertEqual(self.reconcile([settings()]), 0, self.out)
        status = self.live()["status"]
        self.annotate(STOPPED)
        self.live()["metadata"]["generation"] = 4
        self.live(CONFIG_MAP)["data"] = {"a": "by hand"}
        before = len(self.cluster.writes())
        for _ in range(2):
            self.assertEqual(self.run_command("read"), 0, self.out)
            self.assertTrue(self.load("state.json")["gone"], "the logic has nothing to do")
            self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.cluster.writes()[before:], [("PATCH", CR + "/status")])
        ready = self.condition("Ready")
        self.assertEqual((ready["status"], ready["reason"], ready["observedGeneration"]), ("False", "Paused", 4))
        self.assertEqual(self.live()["status"]["observedGeneration"], 3, "of the last reconcile")
        self.assertEqual(dict(self.live()["status"], conditions=[]), dict(status, conditions=[]))

    def test_resumes(self):
        for value in (None, "false", "True", ""):
            with self.subTest(value):
                self.cluster.reset()
                self.cr(annotations=STOPPED)
                self.assertEqual(self.run_command("read"), 0, self.out)
                self.assertNotIn(CONFIG_MAP, self.cluster.objects)
                self.annotate({} if value is None else {PAUSED: value})
                self.assertEqual(self.reconcile([settings()]), 0, self.out)
                self.assertIn(CONFIG_MAP, self.cluster.objects)
                self.assertEqual(self.condition("Ready")["reason"], "Reconciled")

    def test_a_failure_does_not_count_any_more(self):
        self.cr()
        self.assertEqual(self.reconcile([{"kind": "Bad"}]), 2, self.out)
        self.assertEqual(self.condition("Stalled")["status"], "True")
        self.annotate(STOPPED)
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertIsNone(self.condition("Stalled"))

    def test_paused_while_the_logic_runs(self):
        self.cr()
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.annotate(STOPPED)
        self.write("response.json", {"children": [settings()]})
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.cluster.writes(), [])

    def test_a_deletion_waits(self):
        self.config.update(finalizer=FINALIZER, finalizerForced=True)
        self.cr(annotations=STOPPED, finalizers=[FINALIZER], deletionTimestamp="2026-01-01T00:00:00Z")
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual((self.condition("Ready")["reason"], self.live()["metadata"]["finalizers"]), ("Paused", [FINALIZER]))
        self.annotate({})
        self.assertEqual(self.reconcile(finalized=True), 0, self.out)
        self.assertNotIn(CR, self.cluster.objects)

    def test_needs_no_resync_unless_it_is_not_shown(self):
        related = entry_of("rel", "ConfigMap", "configmaps", {"names": {"list": [field_of("metadata", "name")]}})
        self.config.update(related=[related], resyncPolicy="Always")
        self.cr(annotations=STOPPED)
        for command, begun in (("resync", 1), ("enqueue", 0)):
            self.run_command(command)
            self.assertEqual(self.out.count("is paused"), begun, command)
        self.assertEqual(self.run_command("read"), 0, self.out)
        before = len(self.cluster.writes())
        for command in ("resync", "enqueue"):
            self.run_command(command)
            self.assertIn("1 custom resources, 0 submitted", self.out)
        self.assertEqual(self.cluster.writes()[before:], [])
        self.annotate({})  # the event of that is lost
        self.run_command("resync")
        self.assertIn(("POST", WORKFLOWS), self.cluster.writes()[before:])

    def test_one_that_is_not_selected_is_left_alone(self):
        self.config["parent"].update(selected={"value": False})
        self.cr(annotations=STOPPED)
        self.cluster.put(CONFIG_MAP, dict(settings(), metadata={"name": "one", "labels": {
            MANAGED_BY: "memcached", OWNER_UID: "cr-uid"}}))
        self.assertEqual(self.run_command("read"), 0, self.out)
        self.assertEqual(self.cluster.writes(), [])

    def test_a_worker_does_not_call_the_logic(self):
        self.config.update(engine="worker", worker="memcached-worker", concurrency=1, resyncSeconds=60, logic={"seconds": 1})
        self.cr(annotations=STOPPED)
        places = {"ARGOPERATOR_STATE": self.path("state"), "ARGOPERATOR_WORKSPACE": self.path("workspace")}
        for place in places.values():
            os.mkdir(place)
        worker = Worker(dict(self.env, **places), [self.config], lambda: self.time)
        worker.operators["memcached"].logic = type("Fails", (), {"call": lambda *_: self.fail("it is called")})()
        worker.keys.ask(("memcached", "team.one"), "changed")
        code, line = worker.serve(worker.keys.take(), worker.client())
        self.assertEqual(code, 0, line)
        self.assertIn("is paused", line)
        self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")])


class PausedTemplatesTest(TemplatesCase):
    def test_writes_its_condition_and_nothing_else(self):
        self.cr(annotations=STOPPED)
        self.assertEqual(self.apply(("shard", settings("one-0"))), 0, self.out)
        self.env["ARGOPERATOR_DESIRED"] = ""  # the event of a child
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.cluster.writes(), [("PATCH", CR + "/status")], "a fresh computation is not asked for either")

    def test_a_missed_end_is_found_by_the_event_of_a_child(self):
        self.cr(annotations=STOPPED)
        self.assertEqual(self.apply(), 0, self.out)
        self.live()["metadata"]["annotations"] = {}
        self.env["ARGOPERATOR_DESIRED"] = ""
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn("asked for a fresh computation", self.out)
