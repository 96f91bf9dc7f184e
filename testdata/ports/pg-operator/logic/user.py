"""Drops the role of a PostgresUser that is being deleted."""

import drop

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


def sync(request):
    user = request["parent"]
    status = user.get("status", {})
    if not request["finalizing"] or "postgresRole" not in status:
        return {}
    # the objects of the role are in its database, unless that goes, too
    databases = [one for one in request["related"]["Postgres.db.movetokube.com/v1alpha1"].values() if "deletionTimestamp" not in one["metadata"]]
    return drop.until_done(request, drop.job("drop-user-" + user["metadata"]["uid"], SQL, request["parameters"], {
        "PGDATABASE": databases[0]["spec"]["database"] if databases else "postgres",
        "ROLE": status["postgresRole"], "GROUP": status.get("postgresGroup", "")}))


drop.run(sync)
