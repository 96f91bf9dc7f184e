"""Keeps the account that reads in the cluster's database, and the cluster's entry in the inventory."""

import base64
import json
import os

from mysql import Connection, quoted


def secret(request, name):
    """The values of a Secret, or None where it is not there."""
    found = request["related"]["Secret.v1"].get(name)
    return found and {key: base64.b64decode(value).decode() for key, value in (found.get("data") or {}).items()}


def address(request):
    """The address of a Pod that is ready, or None."""
    for pod in request["related"]["Pod.v1"].values():
        status = pod.get("status", {})
        ready = any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions", []))
        if ready and not pod["metadata"].get("deletionTimestamp"):
            return status["podIP"]
    return None


class Run:
    """The statements of one run, counted."""

    def __init__(self):
        self.ok = self.changed = 0

    def play(self, connection, *statements):
        for statement in statements:
            self.changed += connection.run(statement)
            self.ok += 1


def provisioned(status, reason, message):
    return {"type": "Provisioned", "status": status, "reason": reason, "message": message}


def inventory(request, run, *statements):
    """Plays statements on the server that lists the clusters."""
    spec = request["parent"]["spec"].get("inventory")
    if spec:
        account = secret(request, spec["secret"]) or {}
        with Connection(spec["host"], spec["port"], account.get("username", "root"), account.get("password", "")) as server:
            run.play(server, "CREATE DATABASE IF NOT EXISTS inventory",
                     "CREATE TABLE IF NOT EXISTS inventory.clusters (uid CHAR(36) PRIMARY KEY, name VARCHAR(512), size VARCHAR(32))",
                     *statements)


def accounts(request, run):
    cluster = request["parent"]
    spec, metadata = cluster["spec"], cluster["metadata"]
    admin, readers = secret(request, spec["mysqlAdminSecret"]), secret(request, spec["mysqlReadersSecret"])
    for name, found, keys in ((spec["mysqlAdminSecret"], admin, ("password",)),
                              (spec["mysqlReadersSecret"], readers, ("username", "password"))):
        if found is None:
            return provisioned("False", "SecretMissing", "there is no Secret %s" % name)
        missing = [key for key in keys if key not in found]
        if missing:
            return provisioned("False", "SecretIncomplete", "Secret %s has no %s" % (name, " and no ".join(missing)))
    host = address(request)
    if host is None:
        return provisioned("False", "DatabaseNotReady", "no Pod of the database is ready")
    reader = quoted(readers["username"]) + "@'%'"
    with Connection(host, 3306, "root", admin["password"]) as database:
        run.play(database, "CREATE OR REPLACE USER %s IDENTIFIED BY %s" % (reader, quoted(readers["password"])),
                 "GRANT SELECT ON *.* TO %s" % reader)
    name = metadata["namespace"] + "/" + metadata["name"]
    inventory(request, run, "REPLACE INTO inventory.clusters VALUES (%s, %s, %s)" % (
        quoted(metadata["uid"]), quoted(name), quoted(spec["size"])))
    return provisioned("True", "Successful", "%d statements" % run.ok)


def sync(request):
    run = Run()
    if request["finalizing"]:
        inventory(request, run, "DELETE FROM inventory.clusters WHERE uid = %s" % quoted(request["parent"]["metadata"]["uid"]))
        return {"finalized": True}
    condition = accounts(request, run)  # what fails here fails the reconcile, which is retried and tells of it
    return {"status": {"ok": run.ok, "changed": run.changed, "conditions": [condition]}}


if __name__ == "__main__":
    with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
        answer = sync(json.load(f))
    with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
        json.dump(answer, f)
