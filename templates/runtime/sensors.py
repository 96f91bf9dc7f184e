"""The operator's Sensors: replaces the pods of disconnected ones, and rotates their token."""
import base64

from api import ApiError, Refused, log
from dates import seconds_of
from names import ACCOUNTS, LAST_RECEIVED, RESTARTED_BY, SECRETS, SENSORS, SOURCES, SUBSCRIBED, path_of

HEARTBEAT_TIMEOUT = 180  # seconds without a heartbeat after which a Sensor counts as disconnected


def restart_disconnected(run):
    """Replaces the pods of disconnected Sensors, for example after the event bus lost its store. When they subscribe,
    they request a replay of the EventSource. Returns the number of failures."""
    path = path_of(SOURCES, run.config["namespace"], run.config["eventSource"])
    try:
        source = run.client.get(path) or {}
        stopped = [sensor for sensor in run.config["sensors"] if disconnected(run, source, sensor)]
        for sensor in stopped:
            replace_pods(run, sensor)
        if stopped:
            run.client.request("PATCH", path, pod_annotations({SUBSCRIBED + sensor: None for sensor in stopped}),
                               content_type="application/merge-patch+json")
    except ApiError as error:
        log(f"checking the heartbeat failed: {error}")
        return 1
    return 0


def replace_pods(run, sensor):
    """Makes Argo Events replace the pods of a Sensor."""
    log(f"Sensor {sensor} stopped receiving events: replacing its pods")
    value = run.now() if run.config.get("worker") else run.place().split()[1]
    run.client.request("PATCH", path_of(SENSORS, run.config["namespace"], sensor), pod_annotations({RESTARTED_BY: value}),
                       content_type="application/merge-patch+json")


def disconnected(run, source, sensor):
    """Whether the last heartbeat of a Sensor is too old, unless the EventSource was created since."""
    metadata = source.get("metadata") or {}
    received = (metadata.get("annotations") or {}).get(LAST_RECEIVED + sensor) or ""
    try:
        return seconds_of(run.now()) - seconds_of(max(received, metadata.get("creationTimestamp") or "")) > HEARTBEAT_TIMEOUT
    except ValueError:
        return True


def pod_annotations(annotations):
    """The patch of an EventSource or a Sensor that sets annotations of its pod."""
    return {"spec": {"template": {"metadata": {"annotations": annotations}}}}


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
