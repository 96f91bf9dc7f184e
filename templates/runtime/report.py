"""report: the exit handler."""
import re

from api import Failed, log
from names import WORKFLOWS, path_of
from status import record_failure


def report(run):
    """Reports a failure that no container of the Workflow could report itself: logic that crashed, a deadline."""
    cr = run.get_parent()
    if cr is None or not run.parent["status"]:
        log(f"{run.key} {'is gone' if cr is None else 'has no status'}: nothing to report")
        return 0
    for given in (cr.get("status") or {}).get("conditions") or []:
        told = run.place().split()[1] in (given.get("message") or "").split()
        if given.get("type") == "Ready" and given.get("status") == "False" and told:
            log("the failure is on the status already")
            return 0
    text = f"reconcile failed: {failure_cause(run) or run.env.get('ARGOPERATOR_WORKFLOW_STATUS', 'Failed')}"
    record_failure(run, cr, cr["metadata"].get("generation", 0), text, None)
    return 0


def failure_cause(run):
    """The message of the step that failed last, or "" if it is unknown. It is read from the Workflow, because Argo
    would expand templates in a program's output."""
    try:
        workflow = run.client.get(path_of(WORKFLOWS, run.config["namespace"], run.env["ARGOPERATOR_WORKFLOW"])) or {}
    except Failed as failure:
        log(f"the Workflow could not be read: {failure}")
        return ""
    status = workflow.get("status") or {}
    failed = [node for node in (status.get("nodes") or {}).values() if node.get("phase") in ("Failed", "Error")
              and node.get("type") in ("Container", "Pod") and node.get("message")]
    # a container that only waited for another, and the pod of several, say less than the one that failed
    failed.sort(key=lambda node: ('dependency "' not in node["message"], node.get("finishedAt") or ""))
    return last_output(failed[-1]["message"] if failed else status.get("message") or "")


def last_output(message):
    """The exit code, and the line that the program ended with, without the lines of the executor."""
    code, mark, output = message.partition("): ")
    lines = [line.strip() for line in output.splitlines()
             if line.strip() and "argo=true" not in line and not line.lower().startswith(("error: exit status", "exit status"))]
    return (code + mark[:1] + (": " + final_line(lines) if lines else ""))[:300]

# Where a program failed: File "main.py", line 3 of Python; main.js:3, main.rb:3 and main.go:3; main.sh: line 3.
PLACE = re.compile(r"([\w.-]+\.[a-z]+)(?:\", line |: line |:)([0-9]+)")
OTHERS = re.compile(r"(^|[\"( ])/usr/|node:|<frozen|site-packages|node_modules")


def final_line(lines):
    """The line that says why a program failed: the last one, or the first of an error of Node.js or Go, which print the
    stack after it. With the place in the program's own files, if the line has none."""
    start = next((at for at, line in enumerate(lines) if re.match(r"panic: |(Uncaught )?\w*Error\b", line)), None)
    stack = lines[-1].startswith("Node.js v") or any(line.startswith("goroutine ") for line in lines)
    said = lines[start] if stack and start is not None else lines[-1]
    places = [place for line in lines if not OTHERS.search(line) for place in PLACE.findall(line)]
    if not places or PLACE.search(said):
        return said
    return "%s (%s line %s)" % ((said,) + (places[0] if stack else places[-1]))
