"""Answers with a ConfigMap and a Thing that carry what the custom resource has."""
import json
import os

with open(os.environ["ARGOPERATOR_REQUEST"], encoding="utf-8") as file:
    parent = json.load(file)["parent"]
spec, name = parent["spec"], parent["metadata"]["name"]
children = [{
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": name + "-texts", "annotations": {"hostile.example.com/text": spec.get("text", "")}},
    "data": {"text": spec.get("text", ""), "words": json.dumps(spec.get("words", {}))},
}, {
    "apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": {"name": name + "-things"},
    "spec": {key: spec[key] for key in ("any", "list", "words", "number", "count") if key in spec},
}]
with open(os.environ["ARGOPERATOR_RESPONSE"], "w", encoding="utf-8") as file:
    json.dump({"children": children, "status": {"text": spec.get("text", "")}}, file)
