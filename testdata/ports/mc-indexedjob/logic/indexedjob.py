"""Makes the Pods of an IndexedJob, at most as many at a time as its parallelism."""

import copy
import json
import os


def index(job, name):
    base, _, number = name.rpartition("-")
    return int(number) if base == job["metadata"]["name"] and number.isdigit() else None


def new_pod(job, number):
    pod = copy.deepcopy(job["spec"]["template"])
    pod.update(apiVersion="v1", kind="Pod")
    pod.setdefault("metadata", {})["name"] = "%s-%d" % (job["metadata"]["name"], number)
    for container in pod["spec"]["containers"]:
        container.setdefault("env", []).append({"name": "JOB_INDEX", "value": str(number)})
    return pod


def sync(job, pods):
    observed = {index(job, name): pod for name, pod in pods.items() if index(job, name) is not None}
    desired = {number: new_pod(job, number) for number in observed}  # those that are there stay as they were made
    status = job.get("status", {})
    ended = [c for c in status.get("conditions", []) if c["type"] in ("Complete", "Failed") and c["status"] == "True"]
    if ended:  # Pods that are gone stay away, and the counts as they are
        kept = {key: status[key] for key in ("active", "succeeded", "failed")}
        kept["conditions"] = [{"type": c["type"], "status": "True"} for c in ended]
        return {"children": list(desired.values()), "status": kept}

    phases = [pod.get("status", {}).get("phase") for pod in observed.values()]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    active = len(phases) - succeeded - failed
    completions = job["spec"].get("completions", 1)
    status = {"active": active, "succeeded": succeeded, "failed": failed,
              "conditions": [{"type": "Complete", "status": str(succeeded == completions)}]}
    for number in range(completions):
        if number not in desired and active < job["spec"].get("parallelism", 1):
            desired[number] = new_pod(job, number)
            active += 1
    return {"children": list(desired.values()), "status": status}


with open(os.environ["ARGOPERATOR_REQUEST"]) as file:
    request = json.load(file)
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as file:
    json.dump(sync(request["parent"], request["children"]["Pod.v1"]), file)
