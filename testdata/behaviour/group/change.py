# Writes the text of the custom resource in upper or lower case to a ConfigMap.
import json
import os
import sys

with open(os.environ["ARGOPERATOR_REQUEST"], encoding="utf-8") as file:
    cr = json.load(file)["parent"]
text = getattr(cr["spec"]["text"], sys.argv[1])()
child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": cr["metadata"]["name"] + "-" + sys.argv[1]}, "data": {"text": text}}
with open(os.environ["ARGOPERATOR_RESPONSE"], "w", encoding="utf-8") as file:
    json.dump({"children": [child]}, file)
