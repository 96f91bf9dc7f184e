"""Makes the access of a table."""
import json
import os

with open(os.environ["ARGOPERATOR_REQUEST"], encoding="utf-8") as file:
    table = json.load(file)["parent"]
access = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": table["metadata"]["name"] + "-access"},
          "stringData": {"password": os.environ.get("PASSWORD", "")}}
with open(os.environ["ARGOPERATOR_RESPONSE"], "w", encoding="utf-8") as file:
    json.dump({"children": [access], "status": {"rows": 0}}, file)
