"""The Lease of a worker: of several processes with the same Lease, one works."""
import datetime
import time

from api import ApiError, Failed, log
from names import COMPONENT, MANAGED_BY, NAME, path_of

LEASES = {"apiVersion": "coordination.k8s.io/v1", "plural": "leases", "namespaced": True}
DURATION = 15  # seconds without a renewal after which another process may take the Lease
DEADLINE = 10  # seconds after its last renewal that a process works: less, because a write may be on its way
RENEWAL = 3    # seconds between two renewals, and that one of its requests may take
WORKERS = "argoperator.dev/workers"  # an annotation: how many workers share the custom resources, says the Lease of the first
NOBODY = "none"                      # its value while that changes: no worker may work


class Lease:
    """As in client-go: a process observes for DURATION that nobody renews the Lease, by its own clock, before it takes
    it, so the clocks of machines may differ.

    Workers that share the custom resources have a Lease each. They must agree on how many they are, or two would reconcile the
    same one. The Lease of the first worker, which there always is, says the number. Another worker works for DEADLINE after it
    has read its own number there. The first worker changes the number in two steps, with DURATION between them: nobody, and
    then the new one."""

    def __init__(self, client, config, identity, clock=time.monotonic, now=None):
        self.client, self.identity, self.clock = client, identity, clock
        self.name, owner = config["worker"], config.get("group") or config["operator"]
        self.labels = {MANAGED_BY: "argoperator", NAME: owner, COMPONENT: "operator"}
        client.timeout, client.budget = RENEWAL, 0  # the next renewal is the retry
        self.collection = path_of(LEASES, config["namespace"])
        self.path = path_of(LEASES, config["namespace"], self.name)
        self.now = now or (lambda: datetime.datetime.now(datetime.timezone.utc))
        self.until, self.seen, self.since, self.holder = 0, None, 0, ""
        workers = config.get("workers") or [config["worker"]]
        self.number, self.is_one, self.told = str(len(workers)), self.name in workers, ""
        self.first = None if self.name == workers[0] else path_of(LEASES, config["namespace"], workers[0])
        self.changing = None  # since when it says that nobody may work; only of the first worker

    def held(self):
        """Whether this process may work."""
        return self.clock() < self.until

    def renew(self):
        """Takes or renews the Lease, if it is free or this process has it. Returns whether this process may work."""
        began = self.clock()
        try:
            if why := self._disagrees():
                return self.leave(why)
            found = self.client.get(self.path)
            if found is None:
                found, shown = {"metadata": {"name": self.name, "labels": self.labels}}, self._next(self.number, began)
                self.client.request("POST", self.collection, self._lease(found, 0, shown))
            elif self._free(found):
                shown = self._next(shown_by(found), began)
                self.client.request("PUT", self.path, self._lease(found, (found.get("spec") or {}).get("leaseTransitions") or 0, shown))
            else:
                self.until, self.changing = 0, None
                return False
        except ApiError as error:
            if error.status != 409:  # somebody else was faster
                log(f"the Lease {self.name} could not be renewed: {error}")
            return self.held()
        self.holder = self.identity
        if shown == NOBODY:
            self.until, self.changing = 0, self.clock() if self.changing is None else self.changing
            self._tell(f"becomes the first of {self.number} workers when the others have stopped")
            return False
        self.until, self.changing, self.told = began + DEADLINE, None, ""
        return True

    def leave(self, why):
        """Stops working, or does not begin."""
        self._tell(why)
        self.until, self.holder = 0, ""
        return False

    def _disagrees(self):
        """Why this process may not work: the first worker knows another number of them."""
        if not self.is_one:
            return "is not one of the workers any more: delete this Deployment"
        if self.first and shown_by(self.client.get(self.first)) != self.number:
            return f"waits until the first worker agrees that there are {self.number}"
        return ""

    def _next(self, shown, began):
        """What the Lease says from now on, if it has said something else."""
        if self.first or shown == self.number or self.changing is not None and began - self.changing > DURATION:
            return self.number
        return NOBODY

    def _tell(self, what):
        """Logs something once."""
        if what != self.told:
            log(what)
        self.told = what

    def _free(self, found):
        spec = found.get("spec") or {}
        self.holder = spec.get("holderIdentity") or ""
        version = found["metadata"].get("resourceVersion")
        if version != self.seen:
            self.seen, self.since = version, self.clock()
        return self.holder in ("", self.identity) or self.clock() - self.since > DURATION

    def _lease(self, found, transitions, shown):
        """The Lease with this process as its holder."""
        spec, time = found.get("spec") or {}, self.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        new = spec.get("holderIdentity") != self.identity
        metadata = dict(found["metadata"], annotations={**(found["metadata"].get("annotations") or {}), WORKERS: shown})
        return {"apiVersion": LEASES["apiVersion"], "kind": "Lease", "metadata": metadata, "spec": {
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


def shown_by(lease):
    """How many workers a Lease says that there are; without a word, one. None if there is no Lease."""
    return lease and (lease["metadata"].get("annotations") or {}).get(WORKERS, "1")
