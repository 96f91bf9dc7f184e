"""The worker: its queue, its events, its Lease, its calls."""
import contextlib
import http.server
import io
import json
import math
import os
import random
import socket
import threading
import time
import types
import unittest

from api import Failed
from calls import Hook
from dates import seconds_of, time_at
from hook import RESPONSE_LIMIT
from keys import Keys
from lease import DEADLINE, DURATION, Lease
from names import MANAGED_BY, RESTARTED_BY, SHOW
from names import SHOWN as SHOWN_LABEL
from run import Run
from sensors import HEARTBEAT_TIMEOUT
from show import AN_HOUR, AT_ONCE, BEGIN, ENDED, PATIENCE, PAUSE, SLACK, name_of
from worker import DUE, LAST_RETRY, WAITS, Worker

from .fakecluster import CR, DEPLOYMENTS, EVENTS, WEB, WORKFLOWS, Case, always, child_of, entry_of, field_of, once, plain_text

LEASE = "/apis/coordination.k8s.io/v1/namespaces/argo-events/leases/memcached-worker"
CONFIGMAPS = "/api/v1/namespaces/team/configmaps"


class Clock:
    """A time that tests set."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class KeysTest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.keys = Keys(self.clock, most=3)

    def test_requests_of_a_waiting_key_share_a_turn(self):
        for cause in "look", "created", "look", "changed":
            (self.keys.give_way if cause == "look" else self.keys.ask)("a", cause)
        self.assertEqual(self.keys.length(), 1)
        self.assertEqual(self.keys.take().causes, ["look", "created", "changed"])

    def test_a_request_while_the_key_runs_is_one_more_turn(self):
        self.keys.ask("a", "created")
        running = self.keys.take()
        self.keys.ask("a", "changed")
        self.keys.ask("b", "created")
        self.assertEqual(self.keys.take().key, "b")  # a waits for its turn to end
        self.keys.end(running)
        later = self.keys.take()
        self.assertEqual((later.key, later.causes, running.causes), ("a", ["changed"], ["created"]))

    def test_limit(self):
        for key in "abc":
            self.assertTrue(self.keys.ask(key, ""))
        self.keys.give_way("d", "")
        self.assertFalse(self.keys.ask("e", ""))
        self.assertTrue(self.keys.ask("a", ""), "it waits already")
        self.assertTrue(self.keys.ask("e", "", always=True))
        self.assertEqual(self.keys.length(), 5)

    def test_what_a_look_finds_gives_way_but_comes(self):
        keys = Keys(self.clock)
        for number in range(4):
            keys.give_way(f"found {number}", "")
        for number in range(6):
            keys.ask(f"event {number}", "")
        order = [keys.take().key for _ in range(10)]
        self.assertEqual([key[:5] for key in order], ["event"] * 3 + ["found"] + ["event"] * 3 + ["found"] * 3)

    def test_one_thread_is_kept_free_of_keys_that_failed(self):
        keys = Keys(self.clock, threads=3, failed={"a", "b", "c"})
        for key in "abcde":
            keys.ask(key, "")
        turns = [keys.take() for _ in range(3)]
        self.assertEqual([turn.key for turn in turns], ["a", "b", "d"], "in their order, and c waits")
        keys.end(turns[2])
        self.assertEqual(keys.take().key, "e")
        keys.end(turns[0])
        self.assertEqual(keys.take().key, "c")
        alone = Keys(self.clock, failed={"a"})
        alone.ask("a", "")
        self.assertEqual(alone.take().key, "a", "a single thread takes all")

    def test_one_thread_does_not_wait_for_failed_requests(self):
        keys = Keys(self.clock, threads=3)
        for key in "abcd":
            keys.ask(key, "")
        turns = [keys.take() for _ in range(3)]
        self.assertEqual([keys.may_wait(turn.key) for turn in turns], [True, True, False])
        keys.end(turns[2])
        self.assertTrue(keys.may_wait("a"), "once more")
        self.assertFalse(keys.may_wait(keys.take().key))
        alone = Keys(self.clock)
        alone.ask("a", "")
        self.assertTrue(alone.may_wait(alone.take().key), "a single thread waits")

    def test_waits(self):
        self.keys.later("a", 10, "first")
        self.keys.later("a", 30, "second")  # instead of the first
        self.keys.later("b", 20, "third")
        self.keys.later("c", 5, "fourth")
        self.keys.forget("c")
        self.clock.now += 20
        self.assertEqual((self.keys.take().causes, self.keys.length()), (["third"], 0))
        self.clock.now += 10
        self.assertEqual(self.keys.take().causes, ["second"])

    def test_waits_that_are_replaced_are_forgotten(self):
        for number in range(5000):
            self.keys.later("ab"[number % 2], 86400 + number, f"cause {number}")
        self.assertLess(len(self.keys.waits), 200)
        self.clock.now += 86400 + 4998
        self.assertEqual((self.keys.take().causes, self.keys.length()), (["cause 4998"], 0))
        self.clock.now += 1
        self.assertEqual((self.keys.take().causes, self.keys.waits), (["cause 4999"], []))

    def test_a_wait_ends_a_pause(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(self.keys.take().key))
        thread.start()
        self.keys.ask("a", "")
        thread.join(5)
        self.assertEqual(found, ["a"])

    def test_close(self):
        self.keys.ask("a", "")
        self.keys.ask("b", "")
        self.keys.close()
        self.assertIsNone(self.keys.take())
        self.assertFalse(self.keys.ask("c", ""))


class LeaseTest(Case):
    def setUp(self):
        super().setUp()
        self.clock = Clock()

    def lease(self, identity, number=1, of=1):
        client = Worker(self.env, [], None).client()
        self.addCleanup(client.close)
        names = ["memcached-worker"] + [f"memcached-worker-{n}" for n in range(2, 4)]
        config = {"namespace": "argo-events", "worker": names[number - 1], "workers": names[:of], "operator": "memcached"}
        return Lease(client, config, identity, self.clock)

    def renewed(self, *leases):
        """Which of the Leases allow to work, after their renewal."""
        with contextlib.redirect_stdout(io.StringIO()):
            return [lease.renew() for lease in leases]

    def passes(self, seconds, *leases):
        for _ in range(seconds):
            self.clock.now += 1
            self.renewed(*leases)

    def test_more_workers(self):
        alone, first, second = self.lease("alone@"), self.lease("first@", 1, 2), self.lease("second@", 2, 2)
        self.assertEqual(self.renewed(alone, first, second), [True, False, False])
        alone.release()
        self.assertEqual(self.renewed(first, second), [False, False], "the one that worked alone may have a write on its way")
        self.passes(DURATION, first, second)
        self.assertEqual(self.renewed(first, second), [False, False])
        self.passes(1, first, second)
        self.assertEqual(self.renewed(first, second), [True, True])

    def test_fewer_workers(self):
        first, second, alone = self.lease("first@", 1, 2), self.lease("second@", 2, 2), self.lease("alone@")
        self.assertEqual(self.renewed(first, second), [True, True])
        first.release()
        self.assertEqual(self.renewed(alone, second), [False, False])
        self.passes(DURATION + 1, alone, second)
        self.assertEqual(self.renewed(alone, second), [True, False])
        left = self.lease("second@", 2)
        self.assertEqual(self.renewed(left), [False], "its Deployment is still there")
        self.assertEqual(left.holder, "")

    def test_another_worker_without_an_answer_of_the_first(self):
        first, second = self.lease("first@", 1, 2), self.lease("second@", 2, 2)
        self.assertEqual(self.renewed(first, second), [True, True])
        self.clock.now += 600
        self.assertEqual(self.renewed(second), [True], "it needs the Lease of the first, but not the first")
        self.cluster.faults = [always("GET", "memcached-worker$", 503, {"message": "no"})]
        self.clock.now += DEADLINE - 1
        self.assertEqual(self.renewed(second), [True])
        self.clock.now += 1
        self.assertEqual(self.renewed(second), [False])

    def test_a_restart_in_the_middle_of_a_change(self):
        alone = self.lease("alone@")
        self.renewed(alone)
        alone.release()
        for again in "abc":
            first = self.lease(f"{again}@", 1, 2)
            self.assertEqual(self.renewed(first), [False])
            self.passes(DURATION - 1, first)
            self.assertEqual(self.renewed(first), [False])
            first.release()

    def test_workers_that_know_another_number(self):
        """Pods of three layouts run, stop for a time and start again, in any order: those that may work agree."""
        for seed in range(12):
            self.cluster.objects.clear()
            rng, worked = random.Random(seed), set()
            kinds = [(number, of) for of in (1, 2, 3) for number in (1, 2, 3)]
            pods = {}
            for step in range(300):
                kind, self.clock.now = rng.choice(kinds), self.clock.now + rng.choice((0, 0.5, 1, 2, 7))
                chance = rng.random()
                if kind not in pods or chance < 0.03:
                    pods[kind] = self.lease(f"{kind}-{step}@", *kind)
                if chance > 0.98:
                    with contextlib.redirect_stdout(io.StringIO()):
                        pods.pop(kind).release()
                    continue
                self.renewed(pods[kind])
                working = [one for one, lease in pods.items() if lease.held()]
                worked.update(working)
                self.assertLessEqual(len({of for _, of in working}), 1, (seed, step, working))
                self.assertEqual(len({number for number, _ in working}), len(working), (seed, step, working))
            self.assertGreater(len(worked), 1, seed)

    def test_labels_of_the_operator(self):
        self.lease("one@").renew()
        labels = {"managed-by": "argoperator", "name": "memcached", "component": "operator"}
        self.assertEqual(self.live(LEASE)["metadata"]["labels"], {f"app.kubernetes.io/{key}": value for key, value in labels.items()})

    def test_one_at_a_time(self):
        one, two = self.lease("one@10.0.0.1"), self.lease("two@10.0.0.2")
        self.assertTrue(one.renew())
        self.assertFalse(two.renew())
        self.assertEqual(two.holder, "one@10.0.0.1")
        self.clock.now += DURATION - 1
        self.assertFalse(two.renew(), "nobody has renewed it, and the other may still")
        self.assertFalse(one.held(), "it stops before another may begin")
        self.clock.now += 2
        self.assertTrue(two.renew())
        self.assertFalse(one.renew())
        self.assertEqual(self.cluster.objects[LEASE]["spec"]["leaseTransitions"], 2)

    def test_renewals_keep_it(self):
        one, two = self.lease("one@"), self.lease("two@")
        for _ in range(10):
            self.assertTrue(one.renew())
            self.assertFalse(two.renew())
            self.clock.now += DEADLINE - 1

    def test_release(self):
        one, two = self.lease("one@"), self.lease("two@")
        one.renew()
        one.release()
        self.assertFalse(one.held())
        self.assertTrue(two.renew())

    def test_failures(self):
        one = self.lease("one@")
        self.assertTrue(one.renew())
        self.cluster.faults = [always("PUT", "leases", 503, {"message": "no"})]
        began = time.monotonic()
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(one.renew(), "what it has is not over yet")
            self.assertLess(time.monotonic() - began, 0.4, "the next renewal is the retry")
            self.clock.now += DEADLINE
            self.assertFalse(one.renew())


class WorkerCase(Case):
    def setUp(self):
        super().setUp()
        self.clock = Clock()
        template = {"object": {"apiVersion": plain_text("apps/v1"), "kind": plain_text("Deployment"),
                               "metadata": {"object": {"name": field_of("metadata", "name")}},
                               "spec": {"object": {"replicas": field_of("spec", "size")}}}}
        self.config.update(engine="worker", worker="memcached-worker", concurrency=2, resyncSeconds=600, readsObjects=True,
                           children=[dict(WEB, object=template, identity={"object": {"name": field_of("metadata", "name")}})])
        for name in ("ARGOPERATOR_KEY", "ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE", "ARGOPERATOR_WORKFLOW"):
            del self.env[name]

    def worker(self, **more):
        worker = Worker(self.env, [dict(self.config, **more)], lambda: self.time, self.slept.append, self.clock)
        self.client = worker.client()
        self.addCleanup(self.client.close)
        return worker

    def turn(self, worker):
        """Serves the next turn and returns its key and the line in the log."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            turn = worker.keys.take()
            self.lines = worker.serve(turn, self.client)[1].splitlines()
            self.client.close()
        self.assertEqual(out.getvalue(), "")
        return turn

    def send(self, worker, event):
        """Sends an event, and serves what it asks for. Returns whether it was acknowledged."""
        acknowledged = worker.receive("memcached", event)
        while worker.keys.length():
            self.turn(worker)
        return acknowledged


SPEC, MIDNIGHT = {"activeDeadlineSeconds": 300, "templates": []}, "2026-01-01T00:00:00Z"
SHOWN = WORKFLOWS + "/memcached-one-"


class ShowTest(WorkerCase):
    def setUp(self):
        super().setUp()
        self.env["ARGOPERATOR_SHOWS"] = json.dumps({"memcached": SPEC})
        self.config["emitsEvents"], self.time = True, MIDNIGHT

    def shown(self):
        """The Workflows that were made."""
        return [body["metadata"]["name"] for method, path, _, body, _ in self.cluster.log if (method, path) == ("POST", WORKFLOWS)]

    def reconcile(self, worker, cause="changed"):
        worker.keys.ask(("memcached", "team.one"), cause)
        return self.turn(worker)

    def later(self, worker):
        self.assertEqual(worker.keys.due["memcached", "team.one"], (self.clock.now + PAUSE, ENDED))
        self.clock.now += PAUSE
        self.turn(worker)

    def refused(self):
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 422, {"message": "invalid"})]

    def ended(self, phase="Failed"):
        for path, obj in self.cluster.objects.items():
            if path.startswith(SHOWN):
                obj["status"] = {"phase": phase, "finishedAt": self.time}

    def annotate(self, value, time=MIDNIGHT):
        metadata = self.cluster.objects[CR]["metadata"]
        metadata["annotations"] = {SHOW: value}
        metadata["managedFields"] = [{"manager": "kubectl", "time": time, "fieldsV1": {"f:metadata": {"f:annotations": {"f:" + SHOW: {}}}}}]

    def test_a_failure_for_good_is_shown_once(self):
        cr = self.cr()
        self.refused()
        worker = self.worker()
        self.reconcile(worker)
        name = f"memcached-one-{cr['metadata']['uid'][:8].rstrip('-')}-3"
        made = self.live(f"{WORKFLOWS}/{name}")
        self.assertEqual(made["metadata"]["labels"], {MANAGED_BY: "memcached", SHOWN_LABEL: cr["metadata"]["uid"]})
        self.assertEqual(made["spec"], dict(SPEC, arguments={"parameters": [
            {"name": "key", "value": "team.one"}, {"name": "until", "value": "2026-01-01T00:02:00Z"}]}))
        place = f"invalid; see workflow argo-events/{name}"
        self.assertTrue(self.condition("Ready")["message"].endswith(place), self.condition("Ready"))
        self.assertTrue(self.condition("Stalled")["message"].endswith(place))
        events = [obj for path, obj in self.cluster.objects.items() if path.startswith(EVENTS)]
        self.assertEqual([event["reason"] for event in events], ["ReconcileFailed", "Shown"])
        self.assertIn(f"argo get -n argo-events {name}", events[1]["message"])
        before = len(self.cluster.writes())
        self.later(worker)
        self.assertEqual(len(self.cluster.writes()), before, "its Workflow reconciles it")
        self.ended()
        self.later(worker)
        self.assertIn(f"workflow {name} ended: Failed", self.lines[0])
        self.assertEqual(worker.keys.due, {})
        del self.cluster.objects[f"{WORKFLOWS}/{name}"]  # its time to live is over
        self.reconcile(worker)
        self.reconcile(self.worker())  # the status says that it was shown
        self.assertEqual(self.shown(), [name])
        self.assertTrue(self.condition("Ready")["message"].endswith(place))

    def test_another_generation_is_shown_again(self):
        self.cr()
        self.refused()
        worker = self.worker()
        self.reconcile(worker)
        self.ended()
        self.later(worker)
        self.cluster.objects[CR]["metadata"]["generation"] = 4
        self.reconcile(worker)
        self.assertEqual([name[-2:] for name in self.shown()], ["-3", "-4"])

    def test_a_failure_that_may_pass_is_shown_after_some_attempts(self):
        self.cr()
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 403, {"message": "quota"})]
        worker = self.worker()
        self.reconcile(worker)
        waits = [1 << attempt for attempt in range(PATIENCE - 1)]
        for seconds in waits:
            self.assertEqual(self.shown(), [])
            self.clock.now += seconds
            self.turn(worker)
        self.assertEqual(len(self.shown()), 1)
        self.ended()
        self.later(worker)
        self.assertEqual(worker.keys.due["memcached", "team.one"], (self.clock.now + 4 * waits[-1], "tried again"))

    def test_others_go_on_meanwhile(self):
        self.cr()
        self.refused()
        worker = self.worker()
        self.reconcile(worker)
        self.cluster.faults = []
        self.cluster.put(CR[:-3] + "two", dict(self.cluster.objects[CR], metadata={"name": "two", "namespace": "team"}))
        self.assertTrue(self.send(worker, {"key": "team.two", "cause": "created"}))
        self.live(DEPLOYMENTS + "/two")
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "changed"}), "it does not stop its part of the Sensor")
        self.assertNotIn(DEPLOYMENTS + "/one", self.cluster.objects)
        self.assertIn(WAITS, self.lines[0])
        self.ended("Succeeded")
        self.later(worker)
        self.live(DEPLOYMENTS + "/one")

    def test_a_workflow_of_an_earlier_process_is_waited_for(self):
        self.cr()
        self.refused()
        self.reconcile(self.worker())
        self.cluster.objects[SHOWN + self.shown()[0][len("memcached-one-"):]]["metadata"]["creationTimestamp"] = self.time
        before, worker = len(self.cluster.writes()), self.worker()
        self.reconcile(worker)
        self.assertEqual((len(self.cluster.writes()), self.lines[0].endswith(WAITS)), (before, True))

    def test_a_workflow_that_never_ends(self):
        for phase, seconds in (("", BEGIN + SLACK), ("Running", BEGIN + SLACK + 300)):
            self.cluster.reset()
            self.cr()
            self.refused()
            worker, self.time = self.worker(), MIDNIGHT
            self.reconcile(worker)
            self.cluster.objects[WORKFLOWS + "/" + self.shown()[0]]["status"] = {"phase": phase}
            for after, waits in ((seconds - 1, True), (seconds, False)):
                self.time = time_at(seconds_of(MIDNIGHT) + after)
                self.later(worker)
                self.assertEqual(self.lines[0].endswith(WAITS), waits, (phase, after))

    def test_no_controller_of_argo_workflows(self):
        self.cr()
        self.refused()
        worker = self.worker()
        self.reconcile(worker)
        self.time = time_at(seconds_of(MIDNIGHT) + BEGIN + SLACK)
        self.later(worker)
        self.cluster.objects[CR]["metadata"]["generation"] = 4
        self.reconcile(worker)
        self.assertEqual((len(self.shown()), worker.keys.due), (1, {}), "no custom resource waits for another one")

    def test_workflows_of_others(self):
        self.cr()
        for number, spec in enumerate(({}, {"arguments": None}, {"arguments": {"parameters": []}}, {"arguments": {"parameters": ["key"]}})):
            self.cluster.put(f"{SHOWN}{number}", {"spec": spec, "metadata": {
                "labels": {MANAGED_BY: "memcached", SHOWN_LABEL: "x"}, "creationTimestamp": MIDNIGHT}})
        self.reconcile(self.worker())
        self.live(DEPLOYMENTS + "/one")

    def test_annotation(self):
        self.cr()
        self.annotate("look")
        worker = self.worker()
        self.reconcile(worker)
        self.assertEqual(len(self.shown()), 1)
        self.assertNotIn("see workflow", str(self.cluster.objects[CR]["status"]))
        self.ended("Succeeded")
        self.later(worker)
        self.reconcile(worker)
        self.assertEqual(len(self.shown()), 1)
        self.annotate("look again")
        self.reconcile(worker)
        self.assertEqual(len(self.shown()), 2)
        for path in [path for path in self.cluster.objects if path.startswith(SHOWN)]:
            del self.cluster.objects[path]
        self.time = "2026-01-01T02:00:00Z"
        self.reconcile(self.worker())
        self.assertEqual(len(self.shown()), 2, "what was asked for long ago is served")

    def test_limits(self):
        self.cr()
        worker = self.worker()
        for number in range(AN_HOUR + 5):
            self.annotate(str(number))
            self.reconcile(worker)
            if number < AN_HOUR:
                self.ended("Succeeded")
                self.later(worker)
        self.assertEqual(len(self.shown()), AN_HOUR)
        self.assertIn("no Workflow is made", self.lines[0])
        self.time = "2026-01-01T01:00:01Z"
        self.annotate("later", self.time)
        self.reconcile(worker)
        self.assertEqual(len(self.shown()), AN_HOUR + 1)

    def test_some_at_a_time(self):
        self.refused()
        worker = self.worker()
        for number in range(AT_ONCE + 1):
            self.cluster.put(f"{CR}-{number}", {"metadata": {"name": f"one-{number}"}, "spec": {"size": 1}})
            worker.keys.ask(("memcached", f"team.one-{number}"), "created")
            self.turn(worker)
        self.assertEqual(len(self.shown()), AT_ONCE)
        self.assertIn("no Workflow is made", self.lines[0])

    def test_without_argo_workflows(self):
        self.cr()
        self.annotate("look")
        self.cluster.faults = [always("GET", "/workflows$", 404, {"message": "the server could not find the requested resource"})]
        worker = self.worker()
        for _ in range(3):
            self.reconcile(worker)
        self.assertEqual(self.shown(), [])
        self.assertEqual(len([1 for method, path, *_ in self.cluster.log if path == WORKFLOWS]), 1, "it asks once")
        events = [obj["reason"] for path, obj in self.cluster.objects.items() if path.startswith(EVENTS)]
        self.assertEqual(sorted(events), ["NotShown", "Ready"][:len(events)])
        self.refused()
        self.cluster.objects[CR]["spec"]["size"] = 3
        self.reconcile(worker)
        self.assertIn("see deployment", self.condition("Ready")["message"])

    def test_a_refused_workflow(self):
        for status, tries in ((403, 1), (422, 1), (500, 2)):
            self.cluster.reset()
            self.cr()
            self.refused()
            self.cluster.faults.append(always("POST", WORKFLOWS, status, {"message": "no"}))
            worker = self.worker()
            self.reconcile(worker)
            self.clock.now += PAUSE
            self.reconcile(worker)
            self.assertEqual(len(self.shown()), tries, status)
            self.assertIn("see deployment", self.condition("Ready")["message"])

    def test_names(self):
        run = types.SimpleNamespace(operator="operator-with-a-long-name")
        for name in ("a" * 250, "system:Controller.x", "one"):
            made = name_of(run, {"metadata": {"name": name, "uid": "0123456-89ab"}}, "12")
            self.assertRegex(made, r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])-0123456-12$")
            self.assertLessEqual(len(made), 63)


class EventsTest(WorkerCase):
    def test_an_event_is_acknowledged_and_reconciled(self):
        self.cr()
        worker = self.worker()
        self.assertTrue(worker.receive("memcached", {"key": "team.one", "cause": "created"}))
        self.assertEqual(self.cluster.log, [])
        self.turn(worker)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["spec"], {"replicas": 2})
        self.assertRegex(self.lines[0], r"^team.one: created; \d+ requests, 0 ms; applied Deployment team/one; status: Ready=")
        self.assertEqual(len(self.lines), 1)

    def requests(self, worker, cause):
        """The requests about the Deployment that an event causes."""
        before = len(self.cluster.log)
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": cause}))
        return [(method, path.removeprefix(DEPLOYMENTS)) for method, path, _, _, _ in self.cluster.log[before:]
                if path.startswith(DEPLOYMENTS)]

    def test_nothing_is_written_that_would_change_nothing(self):
        self.cr()
        worker = self.worker()
        self.assertEqual(self.requests(worker, "created"), [("GET", ""), ("PATCH", "/one")], "nobody asks whether it exists")
        child = self.live(DEPLOYMENTS + "/one")
        child["status"], child["spec"]["paused"] = {"readyReplicas": 2}, True
        child["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "1"
        self.cluster.put(DEPLOYMENTS + "/one", child)
        child = self.live(DEPLOYMENTS + "/one")
        self.assertEqual(self.requests(worker, "child changed"), [("GET", "")], "others have written their own fields")
        self.assertEqual(worker.operators["memcached"].applied.keys(), {"team.one"})
        for what, change in (
                ("its spec", lambda: child["spec"].update(replicas=7)), ("a lost field", lambda: child["spec"].pop("replicas")),
                ("a label", lambda: child["metadata"]["labels"].clear()), ("what is wanted", lambda: self.live()["spec"].update(size=4)),
                ("the operator's share", lambda: child["metadata"]["managedFields"].clear())):
            with self.subTest(what):
                change()
                self.assertIn(("PATCH", "/one"), self.requests(worker, "child changed"))
                self.assertEqual(self.requests(worker, "child changed"), [("GET", "")])
        self.assertIn(("PATCH", "/one"), self.requests(self.worker(), "start"), "a new worker knows nothing")
        del self.cluster.objects[CR]
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "deleted"}))
        self.assertEqual(worker.operators["memcached"].applied, {})

    def test_a_child_that_the_list_does_not_have(self):
        """It exists, without the label by which the list finds it."""
        self.cr()
        worker = self.worker()
        self.requests(worker, "created")
        self.live(DEPLOYMENTS + "/one")["metadata"]["labels"].clear()
        self.assertEqual(self.requests(self.worker(), "start"), [("GET", ""), ("PATCH", "/one"), ("GET", "/one"), ("PATCH", "/one")])

    def test_events_for_nothing_are_acknowledged(self):
        worker = self.worker()
        for event in (None, {}, {"key": 5}, {"key": "team/one"}, {"key": "../x"}, {"key": "a" * 500}):
            self.assertTrue(worker.receive("memcached", event), event)
        self.assertTrue(worker.receive("other", {"key": "team.one"}))
        self.assertTrue(self.send(worker, {"key": "team.gone", "cause": "deleted"}))
        self.assertEqual(self.cluster.writes(), [])

    def test_a_failure_on_the_status_is_acknowledged_and_tried_again(self):
        self.cr()
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 403, {"message": "quota"})]
        worker = self.worker()
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "created"}))
        self.assertIn("quota; see deployment argo-events/memcached-worker", self.condition("Ready")["message"])
        waits = []
        for _ in range(12):
            waits.append(worker.keys.due["memcached", "team.one"][0] - self.clock.now)
            self.clock.now += waits[-1]
            self.turn(worker)
        self.assertEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, LAST_RETRY, LAST_RETRY, LAST_RETRY])
        self.cluster.faults = []
        self.clock.now += LAST_RETRY
        self.turn(worker)
        self.assertEqual((worker.keys.due, worker.failures), ({}, {}))

    def test_a_refused_one_waits_for_a_change(self):
        self.cr()
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 422, {"message": "invalid"})]
        worker = self.worker()
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "created"}))
        self.assertEqual(worker.keys.due, {})

    def test_a_failure_that_is_nowhere_is_tried_again(self):
        self.cr()
        self.cluster.faults = [always("PATCH", "", 403, {"message": "no"})]
        worker = self.worker()
        self.send(worker, {"key": "team.one", "cause": "created"})
        self.assertIn(("memcached", "team.one"), worker.keys.due)

    def test_a_refusal_that_is_nowhere_is_tried_again(self):
        self.cr()
        refused, hidden = always("PATCH", DEPLOYMENTS, 422, {"message": "invalid"}), always("PATCH", "/status$", 403)
        self.cluster.faults = [refused, hidden]
        worker = self.worker()
        self.send(worker, {"key": "team.one", "cause": "created"})
        self.assertEqual(worker.keys.due["memcached", "team.one"][1], "tried again")
        self.cluster.faults.pop()
        self.clock.now += 1
        self.turn(worker)
        self.assertIn("invalid", self.condition("Ready")["message"])
        self.assertEqual(worker.keys.due, {}, "now it waits for a change")

    def test_a_refused_finalizer_is_shown(self):
        self.cr()
        self.cluster.faults = [always("PATCH", "memcacheds/one$", 403, {"message": "no finalizers here"})]
        worker = self.worker(finalizer="example.com/cleanup", finalizerForced=True)
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "created"}))
        ready = self.cluster.objects[CR]["status"]["conditions"][0]
        self.assertEqual((ready["type"], ready["status"], ready["reason"]), ("Ready", "False", "ReconcileFailed"))
        self.assertIn("reconcile failed: no finalizers here", ready["message"])

    def test_a_defect_is_shown(self):
        self.cr()
        worker, real = self.worker(), Run.children
        try:
            Run.children = lambda run, cr: {}["defect"]
            worker.operators["memcached"].config["readsObjects"] = True
            self.assertTrue(self.send(worker, {"key": "team.one", "cause": "created"}))
        finally:
            Run.children = real
        self.assertIn("KeyError: 'defect'", self.cluster.objects[CR]["status"]["conditions"][0]["message"])

    def test_a_thread_is_soon_free_for_others(self):
        self.cr()
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 500, {"message": "no"})]
        worker = self.worker()
        worker.sleep = self.client.sleep = lambda seconds: setattr(self.clock, "now", self.clock.now + seconds)
        began = self.clock.now
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "created"}))
        self.assertLess(self.clock.now - began, 5)
        self.assertIn("no; see deployment argo-events/memcached-worker", self.condition("Ready")["message"])

    def test_long_lines(self):
        self.cr()
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 403, {"message": "x" * 5000})]
        worker = self.worker()
        worker.keys.ask(("memcached", "team.one"), "created", always=True)
        self.turn(worker)
        self.assertLess(len(self.lines[0]), 2500)

    def test_without_room_it_looks_at_all(self):
        self.cr()
        worker = self.worker()
        worker.keys.most = 0
        self.assertTrue(worker.receive("memcached", {"key": "team.one"}))
        self.assertEqual([self.turn(worker).key for _ in range(2)], [("memcached", ""), ("memcached", "team.one")])

    def test_a_worker_that_stops(self):
        worker = self.worker()
        worker.stop()
        for event in {"key": "team.one"}, {"heartbeat": "a", "sensor": "memcached"}:
            self.assertFalse(worker.receive("memcached", event))

    def test_nothing_is_written_without_the_lease(self):
        self.cr()
        worker = self.worker()
        worker.may_write = lambda: False
        self.send(worker, {"key": "team.one", "cause": "created"})
        self.assertEqual(self.cluster.writes(), [])

    def test_one_custom_resource_does_not_stop_the_others(self):
        self.cr()
        worker, real = self.worker(), Run.get_parent
        try:
            Run.get_parent = lambda run: {}["defect"]
            self.send(worker, {"key": "team.one", "cause": "created"})
            self.assertIn("KeyError: 'defect'", self.lines[0])
        finally:
            Run.get_parent = real
        self.assertTrue(self.send(worker, {"key": "team.one", "cause": "created"}))


class LogicTest(WorkerCase):
    def test_files_of_an_earlier_process_are_removed(self):
        for name in ("workspace/old/request.json", "state/old/state.json"):
            self.write(name, "{}")
        self.env.update(ARGOPERATOR_WORKSPACE=self.path("workspace"), ARGOPERATOR_STATE=self.path("state"))
        self.worker(logic={"seconds": 5})
        self.assertEqual((sorted(os.listdir(self.path("workspace"))), os.listdir(self.path("state"))), (["calls", "ends"], []))


class HookTest(Case):
    """Calls of a server."""

    def serve(self, port=0):
        """Starts a server that answers as `self.answers` says, and notes the ports of its clients."""
        case = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):  # pylint: disable=invalid-name
                case.clients.append(self.client_address[1])
                body = self.rfile.read(int(self.headers["Content-Length"]))
                case.answers(self, body)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads, server.handle_error = True, lambda *_: None
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port

    def setUp(self):
        super().setUp()
        self.clients = []
        self.write("request.json", {"parent": "x"})
        self.run_ = types.SimpleNamespace(env=self.env, finalizing=False)

    def hook(self, port, seconds):
        hook = Hook({"port": port, "path": "/sync", "finalizePath": "/finalize", "seconds": seconds})
        self.addCleanup(hook.close)
        return hook

    @staticmethod
    def send(handler, text, status=200, **headers):
        handler.send_response(status)
        for name, value in {"Content-Length": len(text), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        with contextlib.suppress(OSError):
            handler.wfile.write(text)

    def test_connection_is_kept(self):
        self.answers = self.send
        hook = self.hook(self.serve(), 5)
        self.assertEqual([hook.call(self.run_) for _ in range(3)], ["", "", ""])
        self.assertEqual(len(set(self.clients)), 1)
        self.assertEqual(self.load("response.json"), {"parent": "x"})

    def test_paths(self):
        self.answers = lambda handler, _: self.send(handler, json.dumps(handler.path).encode())
        hook = self.hook(self.serve(), 5)
        for finalizing, path in ((False, "/sync"), (True, "/finalize"), (False, "/sync")):
            self.run_.finalizing = finalizing
            self.assertEqual((hook.call(self.run_), self.load("response.json")), ("", path))

    def test_a_closed_connection(self):
        def answer(handler, body):
            self.send(handler, body)
            handler.close_connection = True  # without saying so
        self.answers = answer
        hook = self.hook(self.serve(), 5)
        for _ in range(3):
            self.assertEqual(hook.call(self.run_), "")
            time.sleep(0.05)
        self.assertEqual(len(set(self.clients)), 3)

    def test_failures(self):
        hook = self.hook(self.serve(), 5)
        self.answers = lambda handler, body: self.send(handler, b"first\nlast", 500)
        self.assertEqual(hook.call(self.run_), "logic: Error (status 500): last")
        self.answers = lambda handler, body: setattr(handler, "close_connection", True)
        self.assertRegex(self.hook(hook.port, 5).call(self.run_), "^logic: no answer on port [0-9]+: ")
        self.answers = lambda handler, body: self.send(handler, b"x" * (RESPONSE_LIMIT + 5000))
        self.assertEqual(hook.call(self.run_), "")
        self.assertEqual(os.path.getsize(self.path("response.json")), RESPONSE_LIMIT + 1, "reading the response refuses it")

    def test_a_slow_answer(self):
        def answer(handler, _):
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(20):
                    handler.wfile.write(b"x")
                    time.sleep(0.1)
        self.answers = answer
        began = time.monotonic()
        self.assertIn("after 0.5 s", self.hook(self.serve(), 0.5).call(self.run_))
        self.assertLess(time.monotonic() - began, 1.5)

    def test_a_server_that_is_restarted(self):
        def answer(handler, body):
            if len(self.clients) > 1:
                self.send(handler, body)
            handler.close_connection = True
        self.answers = answer
        self.assertEqual(self.hook(self.serve(), 5).call(self.run_), "")

    def test_a_server_that_stops_first(self):
        self.answers = lambda handler, body: setattr(handler, "close_connection", True)
        hook = self.hook(self.serve(), 5)
        threading.Timer(0.1, setattr, (hook, "stopping", True)).start()
        self.assertRaisesRegex(Failed, "stops with its pod", hook.call, self.run_)

    def test_a_server_that_starts(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.assertIn("no answer", self.hook(port, 0.3).call(self.run_))
        self.answers = self.send
        timer = threading.Timer(0.5, self.serve, [port])
        timer.start()
        self.addCleanup(timer.join)
        self.assertEqual(self.hook(port, 10).call(self.run_), "")


class SchedulesTest(WorkerCase):
    """A related entry with times in place of objects: every evening, and every spec.minutes minutes."""

    def setUp(self):
        super().setUp()
        last = ["get", ["get", ["var", "$related"], "evening"], "lastScheduleTime"]
        self.config["schedules"] = [
            {"name": "evening", "longest": 1000,
             "rule": {"object": {"schedule": plain_text("0 20 * * *"), "timeZone": plain_text("Europe/Berlin")}}},
            {"name": "own", "longest": 1000, "rule": {"object": {"schedule": field_of("spec", "minutes"), "timeZone": plain_text("UTC")}}}]
        self.config["status"] = {"object": {"evening": {"expr": last}}}
        self.time, self.key = "2026-02-02T10:00:00Z", ("memcached", "team.one")
        self.cr()

    def reconcile(self, worker):
        worker.keys.ask(self.key, "changed")
        self.turn(worker)

    def wait(self, worker):
        return worker.keys.due[self.key][0] - self.clock.now

    def test_each_time_reconciles(self):
        worker = self.worker()
        self.reconcile(worker)
        self.assertEqual(self.live()["status"]["evening"], "2026-02-01T19:00:00Z")
        self.assertEqual(self.wait(worker), 9 * 3600)
        self.time = "2026-02-02T19:00:00Z"
        self.clock.now += 9 * 3600
        self.turn(worker)
        self.assertEqual(self.live()["status"]["evening"], "2026-02-02T19:00:00Z")
        self.assertEqual(self.wait(worker), 24 * 3600)

    def test_the_next_of_several(self):
        self.live()["spec"]["minutes"] = "*/20 * * * *"
        worker = self.worker()
        self.reconcile(worker)
        self.assertEqual(self.wait(worker), 20 * 60)

    def test_a_worker_that_was_away(self):
        self.reconcile(self.worker())
        self.live(DEPLOYMENTS + "/one")["status"] = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
        self.reconcile(self.worker())
        self.time = "2026-02-02T18:00:00Z"
        worker = self.worker()
        worker.start()
        self.turn(worker)
        self.assertEqual(worker.keys.length(), 0, "no time has passed")
        self.assertEqual(self.wait(worker), 3600)
        self.time = "2026-02-03T08:00:00Z"
        worker = self.worker()
        worker.start()
        self.turn(worker)
        self.turn(worker)
        self.assertEqual(self.live()["status"]["evening"], "2026-02-02T19:00:00Z")

    def test_what_is_no_schedule(self):
        worker = self.worker()
        for text, why in (("61 * * * *", "minute: '61' is not between 0 and 59"), ("0 0 30 2 *", "no time fits"),
                          ("every day", "has 2 fields"), (7, "must be strings"),
                          ("0," * 500 + "1 * * * *", "more than 1000 characters")):
            self.live()["spec"]["minutes"] = text
            self.reconcile(worker)
            self.assertIn("related own: ", self.condition("Ready")["message"])
            self.assertIn(why, self.condition("Ready")["message"])
        self.config["schedules"][1]["rule"]["object"]["timeZone"] = plain_text("Europe/Nowhere")
        self.live()["spec"]["minutes"] = "@hourly"
        self.reconcile(self.worker())
        self.assertIn("there is no time zone 'Europe/Nowhere'", self.condition("Ready")["message"])

    def test_what_stays(self):
        for metadata in ({"annotations": {"argoperator.dev/paused": "true"}}, {"deletionTimestamp": MIDNIGHT, "finalizers": ["other"]}):
            self.cr(**metadata)
            worker = self.worker()
            self.reconcile(worker)
            self.assertNotIn(self.key, worker.keys.due)


class ExpiryTest(WorkerCase):
    """Custom resources that are deleted after spec.size hours, and created at midnight."""

    def setUp(self):
        super().setUp()
        self.config["deleteAfter"] = {"expr": ["mul", ["get", ["get", ["in"], "spec"], "size"], ["lit", 3600]]}
        self.time, self.key = "2026-02-02T00:30:00Z", ("memcached", "team.one")
        self.cr(creationTimestamp="2026-02-02T00:00:00Z")

    def reconcile(self, worker):
        worker.keys.ask(self.key, "changed")
        self.turn(worker)

    def test_the_worker_comes_back_when_the_time_is_over(self):
        worker = self.worker()
        self.reconcile(worker)
        self.assertEqual(worker.keys.due[self.key][0], self.clock.now + 1.5 * 3600)
        self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)
        self.time, self.cluster.log = "2026-02-02T02:00:00Z", []
        self.clock.now += 1.5 * 3600
        self.turn(worker)
        self.assertNotIn(CR, self.cluster.objects)
        self.assertEqual(self.cluster.writes(), [("DELETE", CR)])
        preconditions = next(entry[3]["preconditions"] for entry in self.cluster.log if entry[0] == "DELETE")
        self.assertEqual(sorted(preconditions), ["resourceVersion", "uid"])

    def test_a_wrong_schedule_does_not_lose_the_end(self):
        rule = {"object": {"schedule": plain_text("every day"), "timeZone": plain_text("UTC")}}
        self.config["schedules"] = [{"name": "wrong", "longest": 1000, "rule": rule}]
        worker = self.worker()
        self.reconcile(worker)
        self.assertIn("'every day' has 2 fields", self.condition("Ready")["message"])
        self.assertEqual(worker.keys.due[self.key][0], self.clock.now + 1.5 * 3600)

    def test_a_longer_time_counts_until_the_end(self):
        def longer(method, path):
            if (method, path) == ("DELETE", CR):
                self.cluster.faults = []
                self.cluster.put(CR, dict(self.live(), spec={"size": 5}))
        self.time, self.cluster.faults = "2026-02-02T03:00:00Z", [longer]
        worker = self.worker()
        self.reconcile(worker)
        self.assertIn(CR, self.cluster.objects)

    def test_a_failed_reconcile_comes_back_too(self):
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 422, {"reason": "Invalid", "message": "no"})]
        worker = self.worker()
        self.reconcile(worker)
        self.assertEqual(worker.keys.due[self.key][0], self.clock.now + 1.5 * 3600)

    def test_a_worker_that_starts_knows_the_times(self):
        self.reconcile(self.worker())
        self.live(DEPLOYMENTS + "/one")["status"] = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
        self.reconcile(self.worker())
        self.cluster.log = []
        worker = self.worker()
        worker.start()
        self.turn(worker)
        self.assertEqual(worker.keys.length(), 0, "the custom resource needs no reconcile")
        self.assertEqual(worker.keys.due[self.key][0], self.clock.now + 1.5 * 3600)
        worker.keys.ask(("memcached", ""), DUE)
        worker.keys.forget(self.key)
        self.turn(worker)
        self.assertNotIn(self.key, worker.keys.due, "only the first look sets them")

    def test_what_stays(self):
        cases = (("paused", {"annotations": {"argoperator.dev/paused": "true"}}), ("being deleted", {"deletionTimestamp": MIDNIGHT}))
        for what, metadata in cases:
            with self.subTest(what):
                self.cluster.reset()
                self.cr(creationTimestamp=MIDNIGHT, **metadata)
                self.reconcile(self.worker())
                self.assertNotIn(("DELETE", CR), self.cluster.writes())
        for what, after in (("null", ["lit", None]), ("a text", ["lit", "1h"]), ("no number", ["lit", math.inf])):
            with self.subTest(what):
                self.cluster.reset()
                self.cr(creationTimestamp=MIDNIGHT)
                self.config["deleteAfter"] = {"expr": after}
                self.reconcile(self.worker())
                self.assertNotIn(("DELETE", CR), self.cluster.writes())


class LookTest(WorkerCase):
    def test_start(self):
        self.cr()
        worker = self.worker()
        worker.start()
        self.assertFalse(worker.ready())
        self.assertEqual(self.turn(worker).key, ("memcached", ""))
        self.assertTrue(worker.ready())
        turn = self.turn(worker)
        self.assertEqual((turn.key, turn.causes), (("memcached", "team.one"), ["its latest change is not reconciled"]))
        self.assertEqual(worker.keys.due["memcached", ""][0], self.clock.now + 600)

    def found(self, worker):
        """Why a look requests the custom resource."""
        self.turn(worker)
        causes = [cause for turn in worker.keys.looked.values() for cause in turn.causes]
        while worker.keys.length():
            self.turn(worker)
        return causes

    def test_what_events_that_may_be_lost_have_said(self):
        """A worker is killed when it has acknowledged an event."""
        lost, children = "an event of it may be lost", self.config["children"]
        paused = {"expr": ["alt", ["get", child_of("deployment"), "absent"], ["lit", False]]}
        reading = {"object": dict(children[0]["object"]["object"], spec={"object": {"paused": paused}})}
        for what, config, late, ready, at_start, at_resync in (
                ("nothing", {}, True, True, [], []),
                ("children from others", {"children": [dict(children[0], object=reading)]}, True, True, [lost], []),
                ("another client wrote in the same second", {}, False, True, ["Deployment team/one was changed by others"], []),
                ("another count of replicas", {}, True, False, ["is not ready"], [])):
            with self.subTest(what):
                self.cluster.reset()
                self.cr()
                self.config.update({"children": children}, **config)
                self.send(self.worker(), {"key": "team.one", "cause": "created"})
                child = self.live(DEPLOYMENTS + "/one")
                child["status"] = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2 if ready else 1}
                self.send(self.worker(), {"key": "team.one", "cause": "child changed"})
                time = "2025-01-01T00:00:00Z" if late else child["metadata"]["managedFields"][0]["time"]
                child["metadata"]["managedFields"].append({"manager": "hand", "operation": "Update", "time": time})
                worker = self.worker()
                worker.start()
                self.assertEqual(self.found(worker), at_start)
                worker.keys.ask(("memcached", ""), DUE)
                self.assertEqual(self.found(worker), at_resync)
                worker.look_later("memcached", "the Sensor has subscribed")
                self.assertEqual(self.found(worker), at_start)

    def test_a_look_that_failed_is_made_up_for(self):
        self.cr()
        self.send(self.worker(), {"key": "team.one", "cause": "created"})
        self.cluster.faults = [once("GET", "deployments$", 403, {"message": "no"})]
        worker = self.worker()
        worker.start()
        self.assertEqual(self.found(worker), [])
        self.live(DEPLOYMENTS + "/one")["status"] = {"replicas": 1}
        self.clock.now += 1
        self.assertEqual(self.found(worker), ["is not ready"])

    def test_a_worker_that_starts_knows_which_failed_before(self):
        self.cr()
        self.cluster.faults = [always("PATCH", DEPLOYMENTS, 403, {"message": "quota"})]
        self.assertTrue(self.send(self.worker(), {"key": "team.one", "cause": "created"}))
        worker = self.worker()
        worker.start()
        self.turn(worker)
        self.assertEqual(worker.failures, {("memcached", "team.one"): -1})
        self.turn(worker)
        self.assertEqual(worker.keys.due["memcached", "team.one"][0], self.clock.now + 1, "its first failure here")
        self.cluster.faults = []
        self.clock.now += 1
        self.turn(worker)
        self.assertEqual(worker.failures, {})

    def test_a_failed_look_is_tried_again(self):
        self.cluster.faults = [once("GET", "memcacheds$", 403, {"message": "no"})]
        worker = self.worker()
        worker.start()
        self.turn(worker)
        self.assertFalse(worker.ready())
        self.clock.now += 1
        self.turn(worker)
        self.assertTrue(worker.ready())

    def test_heartbeats(self):
        worker = self.worker(sensors=["memcached"])
        looks = []
        for digest, seconds in (("a", 15), ("a", 15), ("a", 15), ("b", 15), ("b", 15), ("b", 15), ("b", 70), ("b", 15), ("b", 15)):
            self.clock.now += seconds
            worker.receive("memcached", {"heartbeat": digest, "sensor": "memcached"})
            looks.append(worker.keys.length())
            if looks[-1]:
                self.turn(worker)
        self.assertEqual(looks, [1, 1, 0, 1, 1, 0, 1, 1, 0])

    def silent(self):
        """A worker whose Sensor falls silent, with the paths and the pods' annotations of the EventSource and the Sensor."""
        paths = [f"/apis/argoproj.io/v1alpha1/namespaces/argo-events/{kind}/memcached" for kind in ("eventsources", "sensors")]
        for path in paths:
            self.cluster.put(path, {"metadata": {}, "spec": {}})
        worker = self.worker(sensors=["memcached"])
        worker.start()
        worker.receive("memcached", {"heartbeat": "a", "sensor": "memcached"})
        while worker.keys.length():
            self.turn(worker)
        return worker, paths

    def watch(self, worker, seconds):
        """Lets time pass, as in the process of a worker."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            for _ in range(seconds // 10):
                self.clock.now += 10
                worker.watch_sensor(self.client)
        return out.getvalue()

    def values(self, paths):
        annotations = [self.live(path)["spec"].get("template", {}).get("metadata", {}).get("annotations", {}) for path in paths]
        return [one.get(RESTARTED_BY) for one in annotations]

    def test_pods_are_replaced_when_no_events_arrive(self):
        worker, paths = self.silent()
        self.watch(worker, 170)
        self.assertEqual((self.cluster.writes(), self.values(paths)), ([], [None, None]))
        self.assertIn("Sensor memcached stopped receiving events", self.watch(worker, 10))
        self.assertEqual(self.cluster.writes(), [("PATCH", path) for path in paths])
        self.assertEqual(self.values(paths), [self.time, self.time])
        worker.receive("memcached", {"heartbeat": "a", "sensor": "memcached"})
        self.assertEqual(worker.keys.length(), 1, "the same Sensor may have missed events")
        self.assertEqual(self.watch(worker, 170), "")

    def test_pods_are_replaced_again_when_that_did_not_help(self):
        worker, paths = self.silent()
        self.watch(worker, 180)
        self.time = "2026-02-02T00:03:00Z"
        self.watch(worker, 360)
        self.assertEqual(self.cluster.writes(), 3 * [("PATCH", path) for path in paths])
        self.assertEqual(self.values(paths), [self.time, self.time])

    def test_pods_that_are_replaced_already_stay_when_the_others_fail(self):
        worker, paths = self.silent()
        self.cluster.faults = [always("PATCH", "/sensors/", 403, {"message": "no right"})]
        self.time = "2026-02-02T00:03:00Z"
        self.assertIn("could not be replaced: no right", self.watch(worker, 180))
        first = self.values(paths)
        self.cluster.faults = []
        self.watch(worker, 10)
        self.assertEqual((self.values(paths), first), ([first[0], first[0]], [first[0], None]))

    def test_another_worker_of_the_group_replaces_the_pods(self):
        self.config.update(first="platform-worker", worker="platform-worker-memcached")
        worker, paths = self.silent()
        self.watch(worker, 180)
        self.assertEqual((self.cluster.writes(), self.values(paths)), ([], [None, None]))
        worker.receive("memcached", {"heartbeat": "a", "sensor": "memcached"})
        self.assertEqual(worker.keys.length(), 1, "it may have missed events, too")

    def test_heartbeats_of_several_sensors(self):
        worker = self.worker(sensors=["memcached", "memcached-2"])
        looks = []
        for sensor, digest in (("memcached", "a"), ("memcached-2", "b")) * 2 + (("memcached", "a"), ("other", "c")):
            worker.receive("memcached", {"heartbeat": digest, "sensor": sensor})
            looks.append(worker.keys.length())
            if looks[-1]:
                self.turn(worker)
        self.assertEqual(looks, [1, 1, 1, 0, 0, 0])


class ShardsTest(WorkerCase):
    """Two workers share the custom resources: team.one is of the second one."""
    NAMES = ["memcached-worker", "memcached-worker-2"]

    def shards(self):
        return [self.worker(workers=self.NAMES, worker=name, sensors=["memcached"]) for name in self.NAMES]

    def test_events(self):
        self.cr()
        first, second = self.shards()
        for worker, want in (first, "team.onf"), (second, "team.one"):
            for key in "team.one", "team.onf":
                self.assertTrue(worker.receive("memcached", {"key": key, "cause": "changed"}))
            self.assertEqual(list(worker.keys.waiting), [("memcached", want)])

    def test_looks(self):
        self.config["related"] = [entry_of("more", "ConfigMap", "configmaps", {"labelSelector": {"object": {}}}, multiple=True)]
        self.cluster.put(CR.replace("/one", "/onf"), dict(self.cr(), metadata={"name": "onf", "namespace": "team", "uid": "uid-onf"}))
        for worker, want in zip(self.shards(), ("team.onf", "team.one")):
            worker.start()
            self.turn(worker)
            self.assertEqual([key for _, key in worker.keys.looked], [want])
            self.assertEqual(list(worker.operators["memcached"].referrers.rules), [want])

    def test_the_first_restarts_the_sensor(self):
        paths = [f"/apis/argoproj.io/v1alpha1/namespaces/argo-events/{kind}/memcached" for kind in ("eventsources", "sensors")]
        for path in paths:
            self.cluster.put(path, {"metadata": {}, "spec": {}})
        for worker, want in zip(self.shards(), ([("PATCH", path) for path in paths], [])):
            self.cluster.log.clear()
            self.clock.now += HEARTBEAT_TIMEOUT
            with contextlib.redirect_stdout(io.StringIO()):
                worker.watch_sensor(self.client)
            self.assertEqual(self.cluster.writes(), want)


class RelatedTest(WorkerCase):
    def setUp(self):
        super().setUp()
        by_name = entry_of("settings", "ConfigMap", "configmaps", {"names": {"array": [field_of("spec", "settings")]}})
        chosen = {"labelSelector": {"object": {"matchLabels": {"object": {"for": field_of("metadata", "name")}}}}}
        self.config["related"] = [by_name, entry_of("more", "ConfigMap", "configmaps", chosen, multiple=True)]
        self.config["children"][0]["chosen"] = False
        cr = self.cr()
        cr["spec"]["settings"] = "blue"
        self.cluster.put(CR.replace("/one", "/two"), dict(cr, metadata={"name": "two", "uid": "uid-two"}))

    def changed(self, worker, name, labels=None, before=None):
        event = {"apiVersion": "v1", "kind": "ConfigMap", "labels": before,
                 "metadata": {"namespace": "team", "name": name, "labels": labels}}
        self.assertTrue(worker.receive("memcached", {"related": event}))
        found = []
        while worker.keys.length():
            found.append(self.turn(worker).key[1])
        return sorted(set(found))

    def drain(self, worker):
        while worker.keys.length():
            self.turn(worker)

    def test_referrers(self):
        worker = self.worker()
        self.assertEqual(self.changed(worker, "none")[:1], [""], "it looks at all before it knows them")
        self.drain(worker)
        for name, labels, before, want in (
                ("blue", None, None, ["team.one", "team.two"]), ("red", None, None, []), ("red", {"for": "one"}, None, ["team.one"]),
                ("red", None, {"for": "two"}, ["team.two"]), ("red", {"for": "three"}, None, [])):
            self.assertEqual(self.changed(worker, name, labels, before), want, (name, labels, before))

    def test_a_changed_reference(self):
        worker = self.worker()
        self.changed(worker, "none")
        self.drain(worker)
        self.live()["spec"]["settings"] = "red"
        self.send(worker, {"key": "team.one", "cause": "changed"})
        self.assertEqual(self.changed(worker, "red"), ["team.one"])
        self.assertEqual(self.changed(worker, "blue"), ["team.two"])
        del self.cluster.objects[CR]
        self.send(worker, {"key": "team.one", "cause": "deleted"})
        self.assertEqual(self.changed(worker, "red"), [])
