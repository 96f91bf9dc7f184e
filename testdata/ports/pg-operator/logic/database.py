"""Drops the database and the roles of a Postgres that is being deleted, if it says so and no other one has the database."""

import json

import drop

SQL = r"""psql --no-psqlrc -v ON_ERROR_STOP=1 <<'SQL'
\getenv database DATABASE
\getenv roles ROLES
SELECT format('REVOKE CONNECT ON DATABASE %I FROM public', datname) FROM pg_database WHERE datname = :'database' \gexec
DROP DATABASE IF EXISTS :"database" WITH (FORCE);
SELECT format('DROP ROLE IF EXISTS %I', one) FROM json_array_elements_text(:'roles') one \gexec
SQL
"""


def sync(request):
    database = request["parent"]
    uid, spec = database["metadata"]["uid"], database["spec"]
    if not request["finalizing"] or not spec["dropOnDelete"] or "roles" not in database.get("status", {}):
        return {}
    for other in request["related"]["Postgres.db.movetokube.com/v1alpha1"].values():
        if other["metadata"]["uid"] != uid and other["spec"]["database"] == spec["database"]:
            return {}
    roles = database["status"]["roles"]
    return drop.until_done(request, drop.job("drop-database-" + uid, SQL, request["parameters"], {
        "PGDATABASE": "postgres", "DATABASE": spec["database"], "ROLES": json.dumps([roles["owner"], roles["writer"], roles["reader"]])}))


drop.run(sync)
