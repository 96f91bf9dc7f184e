# Runs the worker of an operator for the simulation: it takes commands from the API server in
# memory instead of the Sensor, one at a time, and lets the simulation run the logic.
import http.client
import json
import os
import sys
import time
import urllib.parse

from calls import Hook, Programs
from dates import time_at
from report import last_output
from run import deep_thread, read_configs, utc_now
from worker import DUE, Worker


class Simulation:
    """The simulation, over one connection."""

    def __init__(self, address):
        place = urllib.parse.urlsplit(address)
        self.connection = http.client.HTTPConnection(place.hostname, place.port, timeout=None)

    def ask(self, path, value):
        self.connection.request("POST", "/argoperator.dev/" + path, json.dumps(value).encode(), {})
        return json.loads(self.connection.getresponse().read())


class Hurry:
    """A clock on which pauses pass in no time."""

    def __init__(self):
        self.paused = 0.0

    def sleep(self, seconds):
        self.paused += seconds

    def __call__(self):
        return time.monotonic() + self.paused


class Simulated(Programs):
    """Lets the simulation run the program."""

    def __init__(self, simulation, container, seconds):
        self.simulation, self.container, self.seconds = simulation, container, seconds

    def start(self, name, key):
        answer = self.simulation.ask("call", {"container": self.container, "directory": name, "key": key})
        return answer["inTime"], answer["code"]


class Served(Hook):
    """Lets the simulation run the server."""

    def __init__(self, simulation, logic):
        super().__init__(logic)
        self.simulation = simulation

    def _once(self, connection, path, request, until):
        connection.port = self.asked("serve")
        try:
            return super()._once(connection, path, request, until)
        except (OSError, http.client.HTTPException):
            self.asked("lost")
            raise

    def asked(self, what):
        """The port of the server, unless it has ended."""
        answer = self.simulation.ask(what, {})
        if answer.get("failure"):
            raise OSError(last_output(answer["failure"]))
        return answer["port"]


def simulated(simulation, logic):
    """What calls the logic of a configuration."""
    if logic.get("port"):
        return Served(simulation, logic)
    return Simulated(simulation, logic.get("workspace", "workspace").replace("workspace", "logic", 1), logic["seconds"])


def named(worker, name, key):
    """The key of a custom resource, with the name of its operator if there are several."""
    return f"{name} {key}" if len(worker.operators) > 1 else key


def main(env, arguments):
    hurry, simulation = Hurry(), Simulation(env["ARGOPERATOR_API"])
    times = (hurry.sleep, hurry) if "hurry" in arguments else (time.sleep, time.monotonic)
    time_of_cluster = []
    worker = Worker(env, read_configs(env), lambda: time_of_cluster[0] if time_of_cluster else utc_now(), *times)
    for operator in worker.operators.values():
        operator.shows = None  # the trace shows each reconcile already
        operator.looked = True  # the replay of all custom resources comes before events of other objects
        if operator.config.get("logic"):
            operator.logic = simulated(simulation, operator.config["logic"])
    client, result = worker.client(), {}
    while True:
        command, turns = simulation.ask("next", result), []
        if "now" in command:
            time_of_cluster[:] = [time_at(command["now"])]
        if command.get("event"):
            worker.receive(command["operator"], command["event"])
        elif command.get("start"):
            for operator in worker.operators.values():
                operator.looked = False
            worker.start()
        elif command["key"].strip():
            name, _, key = command["key"].rpartition(" ")
            worker.keys.ask((name or next(iter(worker.operators)), key), DUE, always=True)
        else:
            for name in worker.operators:
                worker.keys.ask((name, ""), "tried again" if (name, "") in worker.failures else DUE, always=True)
        while worker.keys.length():
            turn = worker.keys.take()
            code, line = worker.serve(turn, client)
            turns.append({"key": named(worker, *turn.key), "code": code, "line": line})
        waits = [{"key": named(worker, *both), "seconds": at - worker.clock(), "retry": cause != DUE}
                 for both, (at, cause) in worker.keys.due.items() if both[1] or cause != DUE]
        worker.keys.due.clear()
        result = {"turns": turns, "waits": waits}


if __name__ == "__main__":
    deep_thread(lambda: main(os.environ, sys.argv[1:])).join()
