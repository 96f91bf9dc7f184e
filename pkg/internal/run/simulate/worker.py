# Runs the worker of an operator for the simulation: it takes commands from the API server in
# memory instead of the Sensor, one at a time, and lets the simulation run the logic.
import json
import os
import sys
import time
import urllib.request

sys.path.insert(0, sys.argv[1])

from calls import Programs  # noqa: E402
from run import deep_thread, read_config, utc_now  # noqa: E402
from worker import DUE, Worker  # noqa: E402


def ask(path, value):
    request = urllib.request.Request(os.environ["ARGOPERATOR_API"] + "/argoperator.dev/" + path, json.dumps(value).encode())
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


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

    def __init__(self, seconds):
        self.seconds = seconds

    def start(self, name, key):
        answer = ask("call", {"directory": name, "key": key})
        return answer["inTime"], answer["code"]


def main():
    hurry = Hurry()
    times = (hurry.sleep, hurry) if "hurry" in sys.argv else (time.sleep, time.monotonic)
    worker = Worker(os.environ, [read_config(os.environ["ARGOPERATOR_CONFIG"])], utc_now, *times)
    operator = next(iter(worker.operators.values()))
    operator.looked = True  # the replay of all custom resources comes before events of other objects
    if operator.config.get("logic"):
        operator.logic = Simulated(operator.config["logic"]["seconds"])
    client, result = worker.client(), {}
    while True:
        command, turns = ask("next", result), []
        requested = []
        if command.get("event"):
            requested = worker.turns_for(operator.name, command["event"])
        elif command.get("start"):
            operator.looked = False
            worker.start()
        else:
            worker.keys.ask((operator.name, command["key"]), DUE if command["key"] else "resync", always=True)
        while worker.keys.length():
            turn = worker.keys.take()
            code, line = worker.serve(turn, client)
            turns.append({"key": turn.key[1], "code": code, "line": line})
        waits = [{"key": key, "seconds": at - worker.clock(), "retry": cause != DUE}
                 for (_, key), (at, cause) in worker.keys.due.items() if key or cause != DUE]
        worker.keys.due.clear()
        result = {"acknowledged": all(turn and not turn.lost for turn in requested), "turns": turns, "waits": waits}


if __name__ == "__main__":
    deep_thread(main).join()
