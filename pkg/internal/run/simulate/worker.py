# Runs the worker of an operator for the simulation: it takes commands from the API server in
# memory instead of the Sensor, one at a time, and lets the simulation run the logic.
import json
import os
import sys
import urllib.request

sys.path.insert(0, sys.argv[1])

from calls import Programs  # noqa: E402
from run import deep_thread, read_config, utc_now  # noqa: E402
from worker import DUE, Worker  # noqa: E402


def ask(path, value):
    request = urllib.request.Request(os.environ["ARGOPERATOR_API"] + "/argoperator.dev/" + path, json.dumps(value).encode())
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


class Simulated(Programs):
    """Lets the simulation run the program."""

    def __init__(self, seconds):
        self.seconds = seconds

    def start(self, name, key):
        return ask("call", {"directory": name, "key": key})["inTime"]


def main():
    worker = Worker(os.environ, [read_config(os.environ["ARGOPERATOR_CONFIG"])], utc_now)
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
        else:
            worker.keys.ask((operator.name, command["key"]), DUE if command["key"] else "resync", always=True)
        while worker.keys.length():
            turn = worker.keys.take()
            code, line = worker.serve(turn, client)
            turns.append({"key": turn.key[1], "code": code, "line": line})
        waits = [{"key": key, "seconds": at - worker.clock()} for (_, key), (at, cause) in worker.keys.due.items() if cause == DUE and key]
        worker.keys.due.clear()
        result = {"acknowledged": all(turn and not turn.lost for turn in requested), "turns": turns, "waits": waits}


if __name__ == "__main__":
    deep_thread(main).join()
