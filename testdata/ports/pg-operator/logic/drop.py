"""The Job that drops something of a custom resource that is being deleted, and the program around it."""

import json
import os


def secret(key):
    return {"secretKeyRef": {"name": "ext-postgres-operator", "key": key}}


def job(name, sql, address, values):
    values = {"PGHOST": address["host"], "PGPORT": str(address["port"]), **values}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "postgres-operator"},
        "spec": {"backoffLimit": 20, "template": {"spec": {
            "restartPolicy": "OnFailure",
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 70, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "psql", "image": "docker.io/library/postgres:18-alpine", "command": ["sh", "-c", sql],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "env": [{"name": name, "value": value} for name, value in values.items()] + [
                    {"name": "PGUSER", "valueFrom": secret("POSTGRES_USER")}, {"name": "PGPASSWORD", "valueFrom": secret("POSTGRES_PASS")}],
            }],
        }}},
    }


def until_done(request, drop):
    """Keeps the finalizer until the Job has succeeded."""
    for one in request["children"]["Job.batch/v1"].values():
        if one["metadata"]["name"] == drop["metadata"]["name"] and one.get("status", {}).get("succeeded"):
            return {"finalized": True}
    return {"children": [drop], "finalized": False}


def run(sync):
    with open(os.environ["ARGOPERATOR_REQUEST"]) as file:
        request = json.load(file)
    with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as file:
        json.dump(sync(request), file)
