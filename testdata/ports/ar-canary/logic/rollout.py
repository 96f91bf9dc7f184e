"""Brings a new Pod template of a Rollout to the users step by step."""

import copy
import datetime
import hashlib
import json
import os

PREFIX = "rollouts.argoproj.io/"
NGINX = "nginx.ingress.kubernetes.io/"
HASH = "rollouts-pod-template-hash"


def digest(template):
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]


def seconds(duration):
    return int(duration.rstrip("smh")) * {"m": 60, "h": 3600}.get(duration[-1], 1)


def left(since, duration, now):
    return (datetime.datetime.fromisoformat(since) - now).total_seconds() + duration


def share(replicas, weight):
    return -(-replicas * weight // 100)


class Rollout:
    def __init__(self, request, now):
        self.parent, self.now = request["parent"], now
        self.spec, self.old = self.parent["spec"], self.parent.get("status", {})
        self.name, self.notes = self.parent["metadata"]["name"], self.parent["metadata"].get("annotations", {})
        self.live = {one["metadata"]["labels"][HASH]: one for one in request["children"]["ReplicaSet.apps/v1"].values()}
        self.ingresses = list(request["related"]["Ingress.networking.k8s.io/v1"].values())
        self.canary = self.spec.get("strategy", {}).get("canary", {})
        self.routed = "trafficRouting" in self.canary
        self.steps = self.canary.get("steps", [])
        self.current = digest(self.spec["template"])
        self.stable = self.old.get("stableRS")
        self.sets, self.resync = [], 0

    def count(self, field, *keys):
        return sum(self.live.get(key, {}).get("status", {}).get(field, 0) for key in keys)

    def available(self, key):
        return self.count("availableReplicas", key)

    def replica_set(self, key, role, replicas):
        if key == self.current:
            template = copy.deepcopy(self.spec["template"])
            template.setdefault("metadata", {}).setdefault("labels", {})[HASH] = key
        else:
            template = self.live[key]["spec"]["template"]
        spec = {"replicas": replicas, "template": template, "selector": {"matchLabels": {**self.spec["selector"]["matchLabels"], HASH: key}}}
        if "minReadySeconds" in self.spec:
            spec["minReadySeconds"] = self.spec["minReadySeconds"]
        labels = {**template["metadata"]["labels"], PREFIX + "role": role}
        self.sets.append({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": f"{self.name}-{key}", "labels": labels}, "spec": spec})

    def advance(self):
        """Goes on to the first step that is not done; returns phase, message, index and the share that the canary must have."""
        new = self.old.get("currentPodHash") != self.current
        index = 0 if new else self.old.get("currentStepIndex", 0)
        self.paused_since = None if new else self.old.get("pauseStartTime")
        replicas = self.spec["replicas"]
        while True:
            step = self.steps[index] if index < len(self.steps) else {"setWeight": 100}
            self.weight = ([0] + [one["setWeight"] for one in self.steps[:index] if "setWeight" in one])[-1]
            want = share(replicas, step.get("setWeight", self.weight))
            if self.spec["paused"]:
                return "Paused", "manually paused", index, share(replicas, self.weight)
            if self.available(self.current) < want:
                return "Progressing", f"{self.available(self.current)} of {want} new Pods are available", index, want
            if index >= len(self.steps):
                return "Healthy", "", index, want
            if "pause" in step:
                self.paused_since = self.paused_since or self.now.isoformat()
                here, duration = f"{self.current}-{index}", step["pause"].get("duration")
                if self.notes.get(PREFIX + "promote") != here:
                    if duration is None:
                        return "Paused", f"promote {here}", index, want
                    wait = left(self.paused_since, seconds(duration), self.now)
                    if wait > 0:
                        self.resync = wait
                        return "Paused", f"until {duration} are over, or promote {here}", index, want
                self.paused_since = None
            index += 1

    def sync(self):
        replicas, self.weight, self.paused_since, message = self.spec["replicas"], 0, None, ""
        promoted = self.old.get("promotedAt")
        if self.stable not in self.live and self.stable != self.current:
            self.stable = None  # the first version, or the stable one is lost
        index = len(self.steps)
        if self.stable in (None, self.current):
            phase = "Healthy" if self.available(self.current) >= replicas else "Progressing"
        elif self.notes.get(PREFIX + "abort") == self.current:
            phase, message, index, want = "Degraded", f"{self.current} is aborted", 0, 0
        else:
            phase, message, index, want = self.advance()
            if phase == "Healthy":
                self.stable, self.weight, promoted = self.current, 0, self.now.isoformat()
        if self.stable is None and phase == "Healthy":
            self.stable = self.current

        if self.stable in (None, self.current):
            self.replica_set(self.current, "stable", replicas)
            wait = left(promoted, self.canary.get("scaleDownDelaySeconds", 30), self.now) if promoted and self.routed else 0
            if wait > 0:  # the routers may still send requests to the Pods of before
                self.resync = wait
                for key in sorted(set(self.live) - {self.current}):
                    self.replica_set(key, "unused", self.live[key]["spec"]["replicas"])
        else:
            self.replica_set(self.stable, "stable", replicas if self.routed else replicas - min(want, self.available(self.current)))
            self.replica_set(self.current, "canary", want)

        status = {"phase": phase, "message": message, "currentPodHash": self.current, "currentStepIndex": index,
                  "selector": ",".join(f"{k}={v}" for k, v in sorted(self.spec["selector"]["matchLabels"].items())),
                  "canary": {"weight": self.weight}, "updatedReplicas": self.count("replicas", self.current),
                  "replicas": self.count("replicas", *self.live), "availableReplicas": self.count("availableReplicas", *self.live),
                  "conditions": [{"type": kind, "status": str(phase == kind)} for kind in ("Healthy", "Paused", "Progressing")]}
        status.update({key: value for key, value in (("stableRS", self.stable), ("pauseStartTime", self.paused_since), ("promotedAt", promoted)) if value})
        return {"children": self.sets + [self.ingress(one) for one in self.ingresses], "status": status, "resyncAfterSeconds": self.resync}

    def ingress(self, stable):
        """The Ingress beside the stable one, by which nginx sends a part of the requests to the canary."""
        rules = copy.deepcopy([rule for rule in stable["spec"].get("rules", []) if "http" in rule])
        for rule in rules:
            rule["http"]["paths"] = [path for path in rule["http"]["paths"] if path["backend"].get("service", {}).get("name") == self.canary["stableService"]]
            for path in rule["http"]["paths"]:
                path["backend"]["service"]["name"] = self.canary["canaryService"]
        spec = {"rules": [rule for rule in rules if rule["http"]["paths"]]}
        if "ingressClassName" in stable["spec"]:
            spec["ingressClassName"] = stable["spec"]["ingressClassName"]
        return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": spec,
                "metadata": {"name": f"{self.name}-{stable['metadata']['name']}-canary",
                             "annotations": {NGINX + "canary": "true", NGINX + "canary-weight": str(self.weight)}}}


with open(os.environ["ARGOPERATOR_REQUEST"]) as file:
    request = json.load(file)
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as file:
    json.dump({} if request["finalizing"] else Rollout(request, datetime.datetime.now(datetime.timezone.utc)).sync(), file)
