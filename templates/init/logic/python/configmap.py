"""What the operator [[ .Name ]] keeps for each [[ .API.Kind ]]: a ConfigMap."""

import json
import os


def configmap(resource):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": resource["metadata"]["name"],
            # a custom resource of cluster scope has no namespace of its own
            "namespace": resource["metadata"].get("namespace", "default"),
        },
        "data": {"spec.json": json.dumps(resource.get("spec", {}), separators=(",", ":"), sort_keys=True)},
    }


with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    request = json.load(f)  # the custom resource is its `parent`, what there is for it already its `children`

# what is not listed any more is deleted; a `status` beside the children is laid over the custom resource's
response = {"children": [configmap(request["parent"])]}

with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump(response, f)
