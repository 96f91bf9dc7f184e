"""Drops the role of a PostgresUser that is being deleted."""

import json
import os

SQL = r"""psql --no-psqlrc -v ON_ERROR_STOP=1 <<'SQL'
\getenv role ROLE
\getenv group GROUP
SELECT count(*) > 0 AS there FROM pg_roles WHERE rolname = :'role' \gset
\if :there
SELECT coalesce((SELECT rolname FROM pg_roles WHERE rolname = :'group'), current_user) AS heir \gset
SELECT format('GRANT %I TO CURRENT_USER', one) FROM unnest(ARRAY[:'role', :'heir']) one WHERE one <> current_user \gexec
REASSIGN OWNED BY :"role" TO :"heir";
DROP OWNED BY :"role";
DROP ROLE :"role";
\endif
SQL
"""


def secret(key):
    return {"secretKeyRef": {"name": "ext-postgres-operator", "key": key}}


def job(user, database, address):
    status = user["status"]
    values = {"PGHOST": address["host"], "PGPORT": str(address["port"]), "PGDATABASE": database, "ROLE": status["postgresRole"], "GROUP": status.get("postgresGroup", "")}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "drop-user-" + user["metadata"]["uid"], "namespace": "postgres-operator"},
        "spec": {"backoffLimit": 20, "template": {"spec": {
            "restartPolicy": "OnFailure",
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 70, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "psql", "image": "docker.io/library/postgres:18-alpine", "command": ["sh", "-c", SQL],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "env": [{"name": name, "value": value} for name, value in values.items()] + [
                    {"name": "PGUSER", "valueFrom": secret("POSTGRES_USER")}, {"name": "PGPASSWORD", "valueFrom": secret("POSTGRES_PASS")}],
            }],
        }}},
    }


def sync(request):
    user = request["parent"]
    if not request["finalizing"] or "postgresRole" not in user.get("status", {}):
        return {}
    # the objects of the role are in its database, unless that goes, too
    databases = [one for one in request["related"]["Postgres.db.movetokube.com/v1alpha1"].values() if "deletionTimestamp" not in one["metadata"]]
    drop = job(user, databases[0]["spec"]["database"] if databases else "postgres", request["parameters"])
    done = [one for one in request["children"]["Job.batch/v1"].values() if one["metadata"]["name"] == drop["metadata"]["name"] and one.get("status", {}).get("succeeded")]
    return {"finalized": True} if done else {"children": [drop], "finalized": False}


with open(os.environ["ARGOPERATOR_REQUEST"]) as file:
    request = json.load(file)
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as file:
    json.dump(sync(request), file)
