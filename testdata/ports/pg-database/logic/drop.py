"""Drops the database and the roles of a Postgres that is being deleted, if it says so and no other one has the database."""

import json
import os

SQL = r"""psql --no-psqlrc -v ON_ERROR_STOP=1 <<'SQL'
\getenv database DATABASE
\getenv roles ROLES
SELECT format('REVOKE CONNECT ON DATABASE %I FROM public', datname) FROM pg_database WHERE datname = :'database' \gexec
DROP DATABASE IF EXISTS :"database" WITH (FORCE);
SELECT format('DROP ROLE IF EXISTS %I', one) FROM json_array_elements_text(:'roles') one \gexec
SQL
"""


def secret(key):
    return {"secretKeyRef": {"name": "ext-postgres-operator", "key": key}}


def job(database, address):
    roles = database["status"]["roles"]
    values = {"PGHOST": address["host"], "PGPORT": str(address["port"]), "PGDATABASE": "postgres", "DATABASE": database["spec"]["database"],
              "ROLES": json.dumps([roles["owner"], roles["writer"], roles["reader"]])}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "drop-database-" + database["metadata"]["uid"], "namespace": "postgres-operator"},
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
    database = request["parent"]
    if not request["finalizing"] or not database["spec"]["dropOnDelete"] or "roles" not in database.get("status", {}):
        return {}
    for other in request["related"]["Postgres.db.movetokube.com/v1alpha1"].values():
        if other["metadata"]["uid"] != database["metadata"]["uid"] and other["spec"]["database"] == database["spec"]["database"]:
            return {}
    drop = job(database, request["parameters"])
    done = [one for one in request["children"]["Job.batch/v1"].values() if one["metadata"]["name"] == drop["metadata"]["name"] and one.get("status", {}).get("succeeded")]
    return {"finalized": True} if done else {"children": [drop], "finalized": False}


with open(os.environ["ARGOPERATOR_REQUEST"]) as file:
    request = json.load(file)
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as file:
    json.dump(sync(request), file)
