"""Computes the Deployment of a [[ .API.Kind ]] for the operator [[ .Name ]]."""

import json
import os


def deployment(resource):
    name = resource["metadata"]["name"]
    labels = {"app.kubernetes.io/name": "[[ .Name ]]", "app.kubernetes.io/instance": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        # a cluster-scoped custom resource has no namespace
        "metadata": {"name": name, "namespace": resource["metadata"].get("namespace", "default")},
        "spec": {
            "replicas": resource["spec"]["replicas"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod(resource["spec"]["image"])},
        },
    }


def pod(image):
    """A pod for the restricted Pod Security Standard. The image must run as a user other than root."""
    return {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "app",
                "image": image,
                "ports": [{"name": "http", "containerPort": 8080}],
                "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
                "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
            }
        ],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }


with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    request = json.load(f)  # `parent` is the custom resource, `children` are its existing objects

# objects that are no longer listed are deleted; fields of a `status` next to `children` go to the custom resource's status
response = {"children": [deployment(request["parent"])]}

with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump(response, f)
