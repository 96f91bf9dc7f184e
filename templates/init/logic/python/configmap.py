"""Computes the ConfigMap of a [[ .API.Kind ]] for the operator [[ .Name ]]."""

import json
import os


def configmap(resource):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": resource["metadata"]["name"],
            # a cluster-scoped custom resource has no namespace
            "namespace": resource["metadata"].get("namespace", "default"),
        },
        "data": {"spec.json": json.dumps(resource.get("spec", {}), separators=(",", ":"), sort_keys=True)},
    }


with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    request = json.load(f)  # `parent` is the custom resource, `children` are its existing objects

# objects that are no longer listed are deleted; fields of a `status` next to `children` go to the custom resource's status
response = {"children": [configmap(request["parent"])]}

with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump(response, f)
