"""Makes the settings of a table."""
import json
import os

with open(os.environ["ARGOPERATOR_REQUEST"], encoding="utf-8") as file:
    table = json.load(file)["parent"]
settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": table["metadata"]["name"]},
            "data": {"columns": ",".join(table["spec"]["columns"])}}
with open(os.environ["ARGOPERATOR_RESPONSE"], "w", encoding="utf-8") as file:
    json.dump({"children": [settings], "status": {"rows": 0}}, file)
