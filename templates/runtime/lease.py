"""The Lease of a worker: of several processes with the same Lease, one works."""
import datetime
import time

from api import ApiError, Failed, log
from names import COMPONENT, MANAGED_BY, NAME, path_of

LEASES = {"apiVersion": "coordination.k8s.io/v1", "plural": "leases", "namespaced": True}
DURATION = 15  # seconds without a renewal after which another process may take the Lease
DEADLINE = 10  # seconds after its last renewal that a process works: less, because a write may be on its way
RENEWAL = 3    # seconds between two renewals, and that one of its requests may take


class Lease:
    """As in client-go: a process observes for DURATION that nobody renews the Lease, by its own clock, before it takes
    it, so the clocks of machines may differ."""

    def __init__(self, client, config, identity, clock=time.monotonic, now=None):
        self.client, self.identity, self.clock = client, identity, clock
        self.name, self.labels = config["worker"], {MANAGED_BY: "argoperator", NAME: config["operator"], COMPONENT: "operator"}
        client.timeout, client.budget = RENEWAL, 0  # the next renewal is the retry
        self.collection = path_of(LEASES, config["namespace"])
        self.path = path_of(LEASES, config["namespace"], self.name)
        self.now = now or (lambda: datetime.datetime.now(datetime.timezone.utc))
        self.until, self.seen, self.since, self.holder = 0, None, 0, ""

    def held(self):
        """Whether this process may work."""
        return self.clock() < self.until

    def renew(self):
        """Takes or renews the Lease, if it is free or this process has it. Returns whether this process has it."""
        began = self.clock()
        try:
            found = self.client.get(self.path)
            if found is None:
                self.client.request("POST", self.collection, self._lease({"metadata": {"name": self.name, "labels": self.labels}}, 0))
            elif self._free(found):
                self.client.request("PUT", self.path, self._lease(found, (found.get("spec") or {}).get("leaseTransitions") or 0))
            else:
                self.until = 0
                return False
        except ApiError as error:
            if error.status != 409:  # somebody else was faster
                log(f"the Lease {self.name} could not be renewed: {error}")
            return self.held()
        self.until, self.holder = began + DEADLINE, self.identity
        return True

    def _free(self, found):
        spec = found.get("spec") or {}
        self.holder = spec.get("holderIdentity") or ""
        version = found["metadata"].get("resourceVersion")
        if version != self.seen:
            self.seen, self.since = version, self.clock()
        return self.holder in ("", self.identity) or self.clock() - self.since > DURATION

    def _lease(self, found, transitions):
        """The Lease with this process as its holder."""
        spec, time = found.get("spec") or {}, self.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        new = spec.get("holderIdentity") != self.identity
        return {"apiVersion": LEASES["apiVersion"], "kind": "Lease", "metadata": found["metadata"], "spec": {
            "holderIdentity": self.identity, "leaseDurationSeconds": DURATION, "renewTime": time,
            "acquireTime": time if new else spec.get("acquireTime") or time, "leaseTransitions": transitions + (1 if new else 0)}}

    def release(self):
        """Lets another process take the Lease at once."""
        self.until = 0
        try:
            found = self.client.get(self.path)
            if found and (found.get("spec") or {}).get("holderIdentity") == self.identity:
                found["spec"].update(holderIdentity="", leaseDurationSeconds=1)
                self.client.request("PUT", self.path, found)
        except Failed as failure:
            log(f"the Lease {self.name} could not be released: {failure}")
