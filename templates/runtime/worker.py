"""The reconciles of a worker: one process that reconciles whenever the Sensor says so, instead of a pod for each time.

It is the same reconcile that a pod of a Workflow runs. An event is acknowledged when it has found a place in the queue. Nothing
is remembered that the cluster does not show: after a start, the worker looks at all custom resources, and reconciles those that
need it or may need it.
"""
import contextlib
import json
import os
import re
import time

import api
from api import Client, Failed, Refused, log
from apply import apply
from calls import Exchange, Hook, Programs, Stopped
from due import children_read_children, last_run_failed
from expiry import left, wait_of
from hook import read
from keys import Keys
from metrics import Metrics
from referrers import Referrers
from resync import key_of, look
from run import Run, is_first, is_for_another
from sensors import HEARTBEAT_TIMEOUT, replace_pods, sends_to
from show import ENDED, PAUSE, Shows
from status import record_failure

KEY = re.compile("([a-z0-9]([-a-z0-9]*[a-z0-9])?)?[.][A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?")
FIRST_RETRY, LAST_RETRY = 1, 300  # seconds until a failed reconcile is tried again: twice as many each time
BUDGET = 4                # seconds after which a request is not tried again: its key is
QUIET = 45                # seconds without a heartbeat after which it asks whether a Sensor sends events to it
LINE_LIMIT = 1000         # characters of one thing that the line of a reconcile says
REPORTED = 3              # causes that the line of a reconcile names
WAITS = "its Workflow reconciles it"  # the result of a turn that leaves it to that
DUE = "its time has come"  # the cause of a reconcile that the logic asked for, and of a resync, which no event asks for


class Operator:
    """One of the operators that a worker runs."""

    def __init__(self, config, workspaces, spec=None):
        self.config, self.name = config, config["operator"]
        own = (config.get("logic") or {}).get("workspace")
        self.workspace = next((path for path in workspaces if own in (None, os.path.basename(path))), None)
        self.applied = {}  # by key, what its last reconcile applied
        self.referrers, self.looked = Referrers(config.get("related") or []), False
        self.logic = logic_of(config.get("logic"), self.workspace)
        self.shows = Shows(spec) if spec else None

    def close(self):
        if self.logic:
            self.logic.close()


def logic_of(logic, workspace):
    """What calls the logic; None if there is none."""
    if not logic:
        return None
    if logic.get("port"):
        return Hook(logic)
    return Programs(workspace, logic["seconds"])


class Worker:
    """The reconciles of one or more operators. A key of the queue is an operator's name and the key of a custom resource; ""
    stands for all of them."""

    def __init__(self, env, configs, now, sleep=time.sleep, clock=time.monotonic):
        self.env, self.now, self.sleep, self.clock = env, now, sleep, clock
        workspaces = (env.get("ARGOPERATOR_WORKSPACE") or "").split(":")
        if any(config.get("logic") for config in configs):
            Exchange.clear(*workspaces, env["ARGOPERATOR_STATE"])
        shows = json.loads(env.get("ARGOPERATOR_SHOWS") or "{}")  # by operator: the spec of a Workflow that shows a reconcile
        self.operators = {config["operator"]: Operator(config, workspaces, shows.get(config["operator"])) for config in configs}
        self.threads = max([config["concurrency"] for config in configs], default=1)
        self.failures, self.may_write = {}, lambda: True
        self.keys, self.metrics = Keys(clock, threads=self.threads, failed=self.failures), Metrics(self.operators)
        self.heard, self.subscribed, self.looks = dict.fromkeys(self.sensors(), (clock(), "")), {}, 0
        self.wanted_until = 0  # when to ask whether a Sensor sends events

    def sensors(self):
        """The Sensors that send events."""
        return [sensor for operator in self.operators.values() for sensor in operator.config["sensors"]]

    def client(self):
        """A client of the API server, for one thread."""
        client = Client(self.env, self.sleep, self.clock)
        client.budget = BUDGET
        client.may_write = lambda: self.may_write()  # pylint: disable=unnecessary-lambda # it is set later
        return client

    def run_of(self, operator, client, env):
        return Run(dict(self.env, **env), client, self.now, self.sleep, operator.config)

    def start(self):
        """Looks at all custom resources."""
        self.heard = dict.fromkeys(self.heard, (self.clock(), self.now()))
        for name in self.operators:
            self.look_later(name, "start")

    def stop(self):
        """Begins nothing more."""
        self.keys.close()
        for operator in self.operators.values():
            if isinstance(operator.logic, Hook):
                operator.logic.stopping = True

    def ready(self):
        """Whether it has looked at all custom resources since it started."""
        return all(operator.looked for operator in self.operators.values())

    # Events

    def receive(self, name, event):
        """Takes an event of the Sensor. Returns whether it may be forgotten. That is before its reconcile: what a worker does not
        come to is found by the one that starts after it."""
        if self.keys.closed:
            return False
        if isinstance(event, dict) and "heartbeat" in event:
            self.hear(str(event.get("sensor")), event["heartbeat"])
        elif isinstance(event, dict) and name in self.operators:
            for key, cause in self.wanted(self.operators[name], event):
                if not self.keys.ask((name, key), cause):
                    self.look_later(name, "more events than there is room for")
        return True

    def wanted(self, operator, event):
        """The keys that an event wants reconciled, each with the cause."""
        if "related" in event:
            return self.referring(operator, event["related"]) if names_object(event["related"]) else []
        key = event.get("key")
        if not isinstance(key, str) or len(key) > 400 or not KEY.fullmatch(key):
            return []  # the key of nothing
        if is_for_another(operator.config, key):
            return []  # every worker gets the events of children
        return [(key, str(event.get("cause"))[:100])]

    def referring(self, operator, event):
        """The custom resources that refer to a changed object. One that is not known yet is found by the look that goes on."""
        kind = (event["apiVersion"], event["kind"])
        found = operator.referrers.of(kind, event["metadata"], event.get("labels") or {})
        if not operator.looked:
            self.look_later(operator.name, "a related object changed")
        return [(key, f"{event['kind']} {event['metadata']['name']} changed") for key in found]

    def look_later(self, name, cause):
        """Requests a look at all custom resources of an operator."""
        self.keys.ask((name, ""), cause, always=True)

    def hear(self, sensor, heartbeat):
        """Notes that a Sensor receives events. One that has subscribed since, or was away, may have missed some; its
        subscriptions begin one after the other, so there are two looks."""
        if sensor not in self.heard:
            return
        if self.subscribed.get(sensor) != heartbeat or self.clock() - self.heard[sensor][0] > HEARTBEAT_TIMEOUT / 3:
            self.looks = 2
        self.heard[sensor], self.subscribed[sensor] = (self.clock(), self.now()), heartbeat
        self.wanted_until = self.clock() + QUIET
        if self.looks:
            self.looks -= 1
            for name in self.operators:
                self.look_later(name, "the Sensor has subscribed")

    # Reconciles

    def work(self):
        """Reconciles one key after the other until there are none any more."""
        client = self.client()
        while True:
            turn = self.keys.take()
            if turn is None:
                client.close()
                return
            line = self.serve(turn, client)[1]
            if turn.causes != [ENDED] or not line.endswith(WAITS):
                log(line)

    def serve(self, turn, client):
        """One turn: its exit code, and its line in the log."""
        name, key = turn.key
        operator, began, sent = self.operators[name], self.clock(), client.sent
        client.may_wait = lambda: self.keys.may_wait(turn.key)
        code, wait, held, api.KEPT.lines = 1, None, False, []
        try:
            if key and operator.shows and operator.shows.runs(self.run_of(operator, client, {"ARGOPERATOR_KEY": key})):
                code, held = 0, True
                log(WAITS)
            elif key:
                code, wait = self.reconcile(operator, key, client)
            else:
                code, wait = self.look(operator, client, turn.causes != [DUE]), operator.config["resyncSeconds"]
        except Failed as failure:
            code = failure.code
            log(f"failed: {failure}")
        except Exception as error:  # pylint: disable=broad-except # one custom resource must not stop the others
            log(f"failed: {type(error).__name__}: {error}")
        lines, api.KEPT.lines = api.KEPT.lines, None
        if code:
            client.close()
        if not held:
            self.plan_next(turn.key, code, wait)
        if key and operator.shows and key in operator.shows.open:
            self.keys.later(turn.key, PAUSE, ENDED)  # without a thread that waits
        self.keys.end(turn)
        seconds, requests = self.clock() - began, client.sent - sent
        if not held:
            self.metrics.add(name, code, seconds, requests)
        causes = ", ".join(turn.causes[:REPORTED]) + (", …" if len(turn.causes) > REPORTED else "")
        who = f"{name} {key or 'all'}" if len(self.operators) > 1 else key or "all"
        told = "; ".join(" ".join(line.split())[:LINE_LIMIT] for line in lines)
        return code, f"{who}: {causes}; {requests} requests, {seconds * 1000:.0f} ms; {told}"

    def reconcile(self, operator, key, client):
        """One reconcile: its exit code, and after how many seconds its logic wants another; None if that stays as it was. A
        failure that nobody can see is tried again."""
        exchange = contextlib.nullcontext({})
        if operator.logic:
            exchange = Exchange(operator.workspace, self.env["ARGOPERATOR_STATE"])
        with exchange as files:
            run = self.run_of(operator, client, dict(files, ARGOPERATOR_KEY=key))
            asked = []
            run.shown = operator.shows and (lambda cr: operator.shows.place(run, cr))
            run.later, run.refers = asked.append, lambda cr: operator.referrers.put(run, key, cr)
            run.before, run.after = operator.applied.pop(key, {}), {}
            code = shown(run, lambda: with_logic(run, operator.logic) if operator.logic else apply(run))
            if run.gone:
                operator.referrers.drop(key)
            elif run.after:
                operator.applied[key] = run.after
        if operator.shows:
            operator.shows.look(run, code, self.failures.get((operator.name, key), -1) + 2)
        return min(code, 1) if run.unreported else code, asked[-1] if asked else None

    def plan_next(self, key, code, wait):
        """When the key runs again without an event."""
        if code == 1:
            failed = self.failures[key] = self.failures.get(key, -1) + 1
            self.keys.later(key, min(FIRST_RETRY << min(failed, 20), LAST_RETRY), "tried again")
            return
        self.failures.pop(key, None)
        if wait:
            self.keys.later(key, wait, DUE)
        elif wait is not None or not code:
            self.keys.forget(key)

    # Looks at the whole cluster

    def look(self, operator, client, doubts):
        """Requests all custom resources that need a reconcile. Where events may be lost, that includes those of which only a
        reconcile can say it: what logic answers, and children that are computed from others. Returns the exit code."""
        run, found = self.run_of(operator, client, {}), set()
        run.doubts = doubts
        unclear = doubts and bool(operator.logic or children_read_children(run))

        def start(_, cr, reason):
            if last_run_failed(cr):  # of a worker before this one
                self.failures.setdefault((operator.name, key_of(cr)), -1)
            self.keys.give_way((operator.name, key_of(cr)), reason)
            return True

        def first(cr):
            found.add(key_of(cr))
            operator.referrers.put(run, key_of(cr), cr)
            if not operator.looked and not run.config.get("timer"):
                self.wait_for_times(run, operator, cr)
            return "an event of it may be lost" if unclear else ""

        failed = look(run, start, first=first)
        for key in set(operator.referrers.rules) - found:
            operator.referrers.drop(key)
        operator.looked = True
        return 1 if failed else 0

    def wait_for_times(self, run, operator, cr):
        """Comes back when a custom resource is to be deleted, or a time of a schedule is due."""
        try:
            wait = wait_of(run, cr, left(run, cr))
        except Refused:  # a reconcile reports it
            return
        if wait is not None:
            self.keys.later((operator.name, key_of(cr)), wait, DUE)

    def is_wanted(self, client, works):
        """Whether a Sensor sends events to this worker: none does if another engine works. Without an answer, all stays so."""
        if self.clock() < self.wanted_until:
            return True
        run = self.run_of(next(iter(self.operators.values())), client, {})
        try:
            wanted = any(sends_to(run, sensor) for sensor in self.heard)
        except Failed as failure:
            log(f"the Sensor could not be read: {failure}")
            wanted = works
        self.wanted_until = self.clock() + QUIET if wanted else 0
        return wanted

    def watch_sensor(self, client):
        """Replaces the pods of Sensors and of the EventSource if no events arrive from them any more, for example after the bus
        lost its store. When they do again, it looks at all custom resources. Of several workers, the first replaces them."""
        late = {sensor: at for sensor, at in self.heard.items() if self.clock() - at[0] >= HEARTBEAT_TIMEOUT}
        run = self.run_of(next(iter(self.operators.values())), client, {})
        try:
            if late and is_first(run.config):
                replace_pods(run, list(late), min(late.values())[1])
            for sensor in late:
                self.heard[sensor], self.subscribed[sensor] = (self.clock(), self.now()), None
        except Failed as failure:  # the next attempt does not replace again what this one has replaced
            log(f"the pods of Argo Events could not be replaced: {failure}")


def names_object(event):
    """Whether an event names an object, as those of the Sensor do."""
    if not isinstance(event, dict) or not isinstance(event.get("metadata"), dict):
        return False
    metadata = event["metadata"]
    labels = [of.get("labels") or {} for of in (event, metadata)]
    texts = [event.get("apiVersion"), event.get("kind"), metadata.get("name"), metadata.get("namespace") or ""]
    return all(isinstance(one, dict) for one in labels) and all(isinstance(one, str) for one in texts)


def with_logic(run, call):
    """A reconcile whose logic is called between reading and writing."""
    code = read(run)
    if code or not os.path.exists(run.env["ARGOPERATOR_REQUEST"]):
        return code
    failure = call.call(run)
    if not failure:
        return apply(run)
    raise Failed(failure)


def shown(run, work):
    """Does the work of a reconcile. A failure that the work has not reported itself is shown on the custom resource, as by the
    exit handler of a Workflow."""
    try:
        return work()
    except Stopped:
        raise
    except Failed as failure:
        code, text = failure.code, str(failure)
    except Exception as error:  # pylint: disable=broad-except # a defect is shown, too
        code, text = 1, f"{type(error).__name__}: {error}"
    log(f"failed: {text}")
    cr = run.get_parent()
    if cr is not None:
        record_failure(run, cr, cr["metadata"].get("generation", 0), f"reconcile failed: {text}", None)
    return code
