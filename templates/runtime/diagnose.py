#!/usr/bin/env python3
"""Asks the API server why it rejects a request of a Sensor, and reports the answer on the custom resource.

Argo Events discards the response to a request. So after a few failed attempts the Sensor starts a Workflow with the
request; its pod runs this program with the Sensor's service account, sends the request once more, and writes the message
of the API server where the Sensor recorded the failure. If the API server accepts the request now, the next event clears
the failure.

ARGOPERATOR_REJECTED is, as JSON in base64:

    request   method, path, type and body
    record    JSON, as text, which says where the answer is recorded:
              path      of the custom resource
              uid       of the custom resource
              pointer   of the failure in it: an object, or a condition
              there     the failure; where it is another one now, nothing is done
              value     what replaces it, with the message; without it, the message of the condition is replaced
              encoded   the failure is JSON as text
              taken     the message if an object that was to be created exists

Exit codes: 0 done, or nothing left to do; 1 failed, retry.
"""
import base64
import json
import os
import sys

from api import MESSAGE_LIMIT, ApiError, Client, Failed, log

PATCH = "application/json-patch+json"
OUTDATED = (404, 409, 422)  # the custom resource was deleted, or a test of the patch failed
REJECTED = {"StatusRejected": "the computed status", "FinalizerRejected": "the finalizer"}  # by the reason of the condition
UNANSWERED = (0, 401, 429)  # not an answer to the request; a 5xx may be one, for instance of an admission webhook


def diagnose(client, request, record):
    """Sends the request and records the answer, unless the failure is not the latest any more."""
    if not recorded(client, record, []):
        log("the failure is not the latest any more")
        return
    text = answer(client, request, record)
    log(text or "the API server accepts the request now")
    if text:
        recorded(client, record, [replacement(record, text)])


def answer(client, request, record):
    """Why the API server rejects the request, or None if it accepts it."""
    if "value" not in record:
        request = trial(request)
    try:
        client.request(request["method"], request["path"], request["body"], None, request["type"])
    except ApiError as error:
        if error.status in UNANSWERED:
            raise
        if error.status == 404 and request["method"] == "DELETE":
            return None
        if error.status == 409 and "taken" in record and "Apply failed with" not in str(error):
            return record["taken"]
        what = "it" if "value" in record else REJECTED.get(record["there"].get("reason"), "it")
        return ("the API server rejected %s: %s" % (what, error))[:MESSAGE_LIMIT]
    return None


def trial(request):
    """The request for the custom resource as a dry run, which changes nothing: it may have changed since then."""
    body = json.loads(request["body"])
    body.get("metadata", {}).pop("resourceVersion", None)
    return dict(request, path=request["path"] + "&dryRun=All", body=json.dumps(body))


def recorded(client, record, change):
    """Whether the custom resource was patched; it is not if the failure is another one."""
    tests = [{"op": "test", "path": "/metadata/uid", "value": record["uid"]},
             {"op": "test", "path": record["pointer"], "value": record["there"]}]
    try:
        client.request("PATCH", record["path"], tests + change, None, PATCH)
    except ApiError as error:
        if error.status in OUTDATED:
            return False
        raise
    return True


def replacement(record, text):
    """The change that records the message."""
    if "value" not in record:
        return {"op": "replace", "path": record["pointer"] + "/message", "value": text}
    made = dict(record["value"], message=text)
    return {"op": "replace", "path": record["pointer"], "value": json.dumps(made) if record.get("encoded") else made}


def main(env=os.environ):
    """Runs the program and returns its exit code."""
    rejected = json.loads(base64.b64decode(env["ARGOPERATOR_REJECTED"]))
    try:
        diagnose(Client(env), rejected["request"], json.loads(rejected["record"]))
    except Failed as failure:
        log(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
