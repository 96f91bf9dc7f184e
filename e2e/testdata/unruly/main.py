"""Wants a ConfigMap with the mode of the custom resource; in most modes it misbehaves instead."""
import json
import os
import subprocess
import sys
import time

with open(os.environ["ARGOPERATOR_REQUEST"], encoding="utf-8") as file:
    parent = json.load(file)["parent"]
mode, workspace = parent["spec"]["mode"], os.path.dirname(os.environ["ARGOPERATOR_REQUEST"])
if mode == "hangs":
    time.sleep(1000)
if mode == "forks":
    for _ in range(30):
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
    time.sleep(1000)
if mode == "fills":
    with open(os.path.join(workspace, "more"), "wb") as file:
        while True:
            file.write(bytes(1 << 20))
            file.flush()
if mode == "devours":
    data = [b"x" * (1 << 20) for _ in range(1024)]
    sys.exit("nobody limits memory")
if mode == "fails":
    sys.exit("it fails on purpose")
with open(os.environ["ARGOPERATOR_RESPONSE"], "w", encoding="utf-8") as file:
    json.dump({"children": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": parent["metadata"]["name"]},
                             "data": {"mode": mode}}]}, file)
