"""Runs the programs of an operator's pods, one after the other, in this process. A request is a line of JSON with the
program, its arguments and its environment; the answer is one with its exit code and its output."""
import contextlib
import datetime
import gc
import io
import json
import sys
import threading
import time
import traceback

sys.path.insert(0, sys.argv[1])
import diagnose  # noqa: E402
import reconcile  # noqa: E402

gc.freeze()
answers = sys.stdout
paused = 0.0


def sleep(seconds):
    """Pauses pass in no time, on a clock that goes on by them."""
    global paused
    paused += seconds


def run(program, arguments, env):
    later = datetime.timedelta(seconds=float(env.get("ARGOPERATOR_CLOCK_OFFSET", "0")))

    def now():
        return (datetime.datetime.now(datetime.timezone.utc) + later).strftime("%Y-%m-%dT%H:%M:%SZ")

    if program == "diagnose":
        return diagnose.main(env)
    return reconcile.main(arguments, env, sleep, lambda: time.monotonic() + paused, now)


def serve():
    for line in sys.stdin:
        output, code = io.StringIO(), 1
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                code = run(**json.loads(line))
            except Exception:  # as the interpreter does for a program of its own
                traceback.print_exc()
        answers.write(json.dumps({"code": code, "output": output.getvalue()}) + "\n")
        answers.flush()


threading.stack_size(256 << 20)  # as in reconcile.py
sys.setrecursionlimit(50000)
thread = threading.Thread(target=serve)
thread.start()
thread.join()
