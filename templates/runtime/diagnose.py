#!/usr/bin/env python3
"""Asks the API server why it rejects a request of a Sensor, and reports the answer on the custom resource.

Argo Events discards the response to a request. So after a few failed attempts the Sensor starts a Workflow with the
request; its pod runs this program with the Sensor's service account, sends the request once more, and writes the message
of the API server where the Sensor records failures. If the API server accepts the request now, the next event clears
the failure.

ARGOPERATOR_REJECTED is, as JSON in base64:

    request   method, path, type and body
    failed    path and body of the patch that would record one more failure, and as asks the uid of the custom resource

Exit codes: 0 done, or nothing left to do; 1 failed, retry.
"""
import base64
import json
import os
import sys

from api import MESSAGE_LIMIT, ApiError, Client, Failed, log

MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"
OUTDATED = (404, 409, 422)  # the custom resource was deleted, or a test of the patch failed
UNANSWERED = (0, 401, 429)  # not an answer to the request; a 5xx may be one, for instance of an admission webhook
REJECTED = {"StatusRejected": "the computed status", "FinalizerRejected": "the finalizer"}  # by the reason of the condition
UNKNOWN = "show why"  # ends what the Sensor says without an answer
TAKEN = "; or "       # after that, it says what else the reason may be: the object exists


class Child:
    """The failure to write or delete a child, which counts the attempts."""

    def __init__(self, keys, value, encoded):
        self.keys, self.value, self.encoded = keys, value, encoded
        self.what, self.taken, self.trial = "it", value["message"].partition(TAKEN)[2], False

    def find(self, resource):
        """The pointer to the failure on the custom resource and its value; None if it is another one now."""
        there = resource
        for key in self.keys:
            there = there.get(key) or {}
        last = json.loads(there or "{}") if self.encoded else there
        if last and [last.get("generation"), last.get("attempts")] != [self.value["generation"], self.value["attempts"] - 1]:
            return None
        if not last and not self.cleared(resource):
            return None
        return "/" + "/".join(key.replace("~", "~0").replace("/", "~1") for key in self.keys), there

    def cleared(self, resource):
        """Whether an event that came again, such as all of them after a restart of the EventSource, has cleared the failure of an
        object that is still as it was."""
        seen = resource
        for key in self.keys[:-1]:
            seen = seen.get(key) or {}
        if self.encoded:
            seen = json.loads(seen.get(self.keys[-1].replace("/failed-", "/child-", 1)) or "{}")
        made, uid = seen.get("generation"), self.value["uid"]
        wanted = resource["metadata"].get("generation")
        return None not in (uid, made, wanted) and seen.get("uid") == uid and made < wanted == self.value["generation"]

    def recorded(self, _, text):
        """The failure with the message."""
        made = dict(self.value, message=text)
        return json.dumps(made) if self.encoded else made


class Condition:
    """The condition Ready of a rejected status or finalizer."""

    def __init__(self, ready):
        self.ready, self.what, self.taken, self.trial = ready, REJECTED.get(ready["reason"], "it"), "", True

    def find(self, resource):
        """The same as of a child."""
        for index, there in enumerate((resource.get("status") or {}).get("conditions") or []):
            if there.get("type") == "Ready":
                same = all(there.get(key) == self.ready.get(key) for key in ("reason", "observedGeneration"))
                return (f"/status/conditions/{index}", there) if same and UNKNOWN in there.get("message", "") else None
        return None

    def recorded(self, there, text):
        """The condition with the message."""
        return dict(there, message=text)


def failure_in(patch):
    """The failure that a patch of the custom resource would record."""
    status = patch.get("status") or {}
    for name, child in (status.get("children") or {}).items():
        return Child(["status", "children", name, "failed"], child["failed"], False)
    for name, text in (patch.get("metadata", {}).get("annotations") or {}).items():
        return Child(["metadata", "annotations", name], json.loads(text), True)
    return Condition(next(one for one in status["conditions"] if one["type"] == "Ready"))


def diagnose(client, request, failed):
    """Sends the request and records the answer, unless the failure is not the latest any more."""
    failure = failure_in(json.loads(failed["body"]))
    resource = patched(client, failed["path"], {}, MERGE)
    found = resource and resource["metadata"]["uid"] == failed["asks"] and failure.find(resource)
    if not found:
        log("the failure is not the latest any more")
        return
    if (resource["metadata"].get("annotations") or {}).get("argoperator.dev/paused") == "true":
        log("the custom resource is paused")
        return
    text = answer(client, request, failure)
    log(text or "the API server accepts the request now")
    if not text:
        return
    pointer, there = found
    made = failure.recorded(there, text)
    if there:
        patched(client, failed["path"], [
            {"op": "test", "path": "/metadata/uid", "value": failed["asks"]}, {"op": "test", "path": pointer, "value": there},
            {"op": "replace", "path": pointer, "value": made}], PATCH)
    elif patched(client, failed["path"], added(failure.keys, made, resource["metadata"]), MERGE) is None:
        raise Failed("the custom resource changed meanwhile")


def added(keys, value, metadata):
    """A patch that adds a value, if the custom resource is still the same version."""
    for key in reversed(keys):
        value = {key: value}
    value.setdefault("metadata", {}).update({key: metadata[key] for key in ("uid", "resourceVersion")})
    return value


def answer(client, request, failure):
    """Why the API server rejects the request, or None if it accepts it."""
    if failure.trial:
        request = trial(request)
    try:
        client.request(request["method"], request["path"], request["body"], None, request["type"])
    except ApiError as error:
        if error.status in UNANSWERED:
            raise
        if error.status == 404 and request["method"] == "DELETE":
            return None
        if error.status == 409 and failure.taken and "Apply failed with" not in str(error):
            return failure.taken
        return f"the API server rejected {failure.what}: {error}"[:MESSAGE_LIMIT]
    return None


def trial(request):
    """The request for the custom resource as a dry run, which changes nothing: it may have changed since then."""
    body = json.loads(request["body"])
    body.get("metadata", {}).pop("resourceVersion", None)
    return dict(request, path=request["path"] + "&dryRun=All", body=json.dumps(body))


def patched(client, path, patch, content_type):
    """The custom resource after a patch; None if it is gone, or if a test fails. A patch without changes reads it."""
    try:
        return client.request("PATCH", path, patch, None, content_type)
    except ApiError as error:
        if error.status in OUTDATED:
            return None
        raise


def main(env=os.environ):
    """Runs the program and returns its exit code."""
    rejected = json.loads(base64.b64decode(env["ARGOPERATOR_REJECTED"]))
    try:
        diagnose(Client(env), rejected["request"], rejected["failed"])
    except Failed as failure:
        log(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
