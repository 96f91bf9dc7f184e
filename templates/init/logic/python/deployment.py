"""What the operator [[ .Name ]] keeps for each [[ .API.Kind ]]: a Deployment."""

import json
import os


def deployment(resource):
    name = resource["metadata"]["name"]
    labels = {"app.kubernetes.io/name": "[[ .Name ]]", "app.kubernetes.io/instance": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        # a custom resource of cluster scope has no namespace of its own
        "metadata": {"name": name, "namespace": resource["metadata"].get("namespace", "default")},
        "spec": {
            "replicas": resource["spec"]["replicas"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod(resource["spec"]["image"])},
        },
    }


def pod(image):
    """A pod as the restricted Pod Security Standard wants it: the image runs as a user other than root."""
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
    request = json.load(f)  # the custom resource is its `parent`, what there is for it already its `children`

# what is not listed any more is deleted; a `status` beside the children is laid over the custom resource's
response = {"children": [deployment(request["parent"])]}

with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump(response, f)
