import json
import os

with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    parent = json.load(f)["parent"]
names = (parent.get("data") or {}).get("names", "").split()
cards = [{
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "%s-card-%d" % (parent["metadata"]["name"], number)},
    "data": {"text": "Hello, %s!" % name},
} for number, name in enumerate(names)]
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump({"children": cards}, f)
