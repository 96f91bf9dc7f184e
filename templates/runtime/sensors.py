"""The operator's Sensors: their pods, their token, where they send events."""
import base64
import json

from api import ApiError, Refused, log
from dates import seconds_of
from names import ACCOUNTS, LAST_RECEIVED, RESTARTED_BY, SECRETS, SENSORS, SOURCES, SUBSCRIBED, path_of

HEARTBEAT_TIMEOUT = 180  # seconds without a heartbeat after which a Sensor counts as disconnected


def restart_disconnected(run):
    """Replaces the pods of disconnected Sensors and of their EventSource, for example after the event bus lost its store.
    Returns the number of failures."""
    try:
        source = run.client.get(source_path(run)) or {}
        stopped = [sensor for sensor in run.config["sensors"] if disconnected(run, source, sensor)]
        if stopped:
            replace_pods(run, stopped, run.place().split()[1])
    except ApiError as error:
        log(f"checking the heartbeat failed: {error}")
        return 1
    return 0


def replace_pods(run, sensors, value):
    """Makes Argo Events replace the pods of Sensors and of their EventSource, once for each value: neither creates the lost
    store of a bus again while it runs. The EventSource replays all objects when it starts; where Sensors request another
    replay when they subscribe, their annotations go, so that the request is a change."""
    for sensor in sensors:
        log(f"Sensor {sensor} stopped receiving events: replacing its pods and those of EventSource {run.config['eventSource']}")
    requests = {SUBSCRIBED + sensor: None for sensor in sensors}
    patch_pods(run, source_path(run), {RESTARTED_BY: value, **requests})
    for sensor in sensors:
        patch_pods(run, path_of(SENSORS, run.config["namespace"], sensor), {RESTARTED_BY: value})


def source_path(run):
    return path_of(SOURCES, run.config["namespace"], run.config["eventSource"])


def sends_to(run, sensor):
    """Whether a Sensor sends events to this worker."""
    found = run.client.get(path_of(SENSORS, run.config["namespace"], sensor)) or {}
    return f"//{run.config['worker']}.{run.config['namespace']}.svc:" in json.dumps(found.get("spec"))


def patch_pods(run, path, annotations):
    """Sets annotations of the pod of an EventSource or a Sensor. Argo Events replaces the pod if that is a change."""
    run.client.request("PATCH", path, {"spec": {"template": {"metadata": {"annotations": annotations}}}},
                       content_type="application/merge-patch+json")


def disconnected(run, source, sensor):
    """Whether the last heartbeat of a Sensor is too old, unless the EventSource was created since."""
    metadata = source.get("metadata") or {}
    received = (metadata.get("annotations") or {}).get(LAST_RECEIVED + sensor) or ""
    try:
        return seconds_of(run.now()) - seconds_of(max(received, metadata.get("creationTimestamp") or "")) > HEARTBEAT_TIMEOUT
    except ValueError:
        return True


def rotate(run):
    """Writes a new token for the Sensors to the Secret that their pods mount. It is bound to that Secret: deleting it
    invalidates the token."""
    to, namespace = run.config["token"], run.config["namespace"]
    answer = run.client.request("POST", path_of(ACCOUNTS, namespace, to["serviceAccount"], "token"), {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": to["seconds"],
                 "boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": to["secret"]}}})
    granted, wanted = seconds_of(answer["status"]["expirationTimestamp"]) - seconds_of(run.now()), to["seconds"]
    if granted * 3 < wanted * 2:  # the next run is after a third of the requested time, and may fail once
        raise Refused(f"the API server grants a token for {granted} seconds only: want install.tokenRotation to be half of that or less")
    header = base64.b64encode(("Bearer " + answer["status"]["token"]).encode()).decode()
    run.client.request("PATCH", path_of(SECRETS, namespace, to["secret"]), {"data": {to["key"]: header}},
                       content_type="application/merge-patch+json")
    log(f"the Sensors have a token until {answer['status']['expirationTimestamp']}")
    return 0
