"""Runs a command once, at a time: before it nothing is there but a timer."""

import datetime
import json
import os
import shlex

with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    request = json.load(f)

at, pods = request["parent"], request["children"]["Pod.v1"]
schedule = datetime.datetime.fromisoformat(at["spec"]["schedule"].replace("Z", "+00:00"))
wait = (schedule - datetime.datetime.now(datetime.timezone.utc)).total_seconds()

pod = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": at["metadata"]["name"] + "-pod"},
    "spec": {
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "command",
            "image": "docker.io/library/busybox:1.37",
            "command": shlex.split(at["spec"]["command"]),
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }],
    },
}

response = {"status": {"phase": "PENDING"}, "resyncAfterSeconds": wait}
if pods or wait <= 0:
    live = next(iter(pods.values()), {}).get("status", {}).get("phase")
    phase = {"Succeeded": "DONE", "Failed": "FAILED"}.get(live, "RUNNING")
    response = {"children": [pod], "status": {"phase": phase}}

with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump(response, f)
