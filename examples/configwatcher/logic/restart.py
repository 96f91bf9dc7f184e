"""Deletes the Pods of a ConfigWatcher when its ConfigMap is another than the one that they were started with."""

import hashlib
import json
import os

with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
    request = json.load(f)

maps = request["related"]["ConfigMap.v1"].values()
text = json.dumps([[m.get("data"), m.get("binaryData")] for m in maps], sort_keys=True)
digest = hashlib.sha256(text.encode()).hexdigest()[:16]

before = request["parent"].get("status") or {}
changed = before.get("config") not in (None, digest)
pods = list(request["related"]["Pod.v1"].values()) if changed else []

with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
    json.dump({
        "status": {"config": digest, "restarted": len(pods) if changed else before.get("restarted", 0)},
        "delete": pods,
    }, f)
