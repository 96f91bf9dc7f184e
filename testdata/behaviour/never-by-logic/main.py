import json
import os

with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    seed = json.load(f)["parent"]
children = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{seed['metadata']['name']}-{name}"}}
            for name in seed["spec"]["names"]]
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump({"children": children}, f)
