#!/usr/bin/env python3
"""The steps of a generated operator that run in pods.

Runs as `python3 reconcile.py COMMAND` in the pods of the generated Workflows; argoperator generates the
configuration in config.json next to this file. Standard library only, because the image is a stock Python.

Every run reads the cluster first and is idempotent: a second run changes nothing.
Exit codes: 0 success, 1 failed, retry, 2 refused (the same input would fail again).
"""
import importlib
import os
import sys
import time

from api import Client, Failed, Refused, log
from run import Run, deep_thread, utc_now, write

# The modules of the commands. Not every ConfigMap has all of them.
COMMANDS = {"read": "hook", "apply": "apply", "report": "report", "resync": "resync", "enqueue": "resync",
            "steps-read": "steps", "steps-set-owner": "steps", "steps-status": "steps", "rotate": "sensors"}


def main(arguments, env=os.environ, sleep=time.sleep, clock=time.monotonic, now=utc_now):
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        log(f"usage: reconcile.py {'|'.join(COMMANDS)}")
        return 2
    client, code = Client(env, sleep, clock), 1
    try:
        if now() > env.get("ARGOPERATOR_UNTIL", "9"):
            raise Refused("the Workflow began too late: the worker reconciles again")
        work = getattr(importlib.import_module(COMMANDS[arguments[0]]), arguments[0].replace("-", "_"))
        code = work(Run(env, client, now, sleep))
    except Failed as failure:
        log(f"failed: {failure}")
        code = failure.code
    finally:
        client.close()
        if arguments[0] == "read":  # the other containers of the pod wait for it
            for place in {env.get("ARGOPERATOR_STATE") or env["ARGOPERATOR_WORKSPACE"], env["ARGOPERATOR_WORKSPACE"]}:
                write(os.path.join(place, "read.exit"), str(code))
    return code


def deep(work):
    """Does the work on data nested as deep as the API server allows, which is 10,000 levels: some versions of Python
    are limited by the stack, others by a setting."""
    result = []
    deep_thread(lambda: result.append(work())).join()
    return result[0] if result else 1


if __name__ == "__main__":
    sys.exit(deep(lambda: main(sys.argv[1:])))
