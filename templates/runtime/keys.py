"""The custom resources that a worker has to reconcile, by their keys."""
import heapq
import itertools
import threading
import time

MOST = 10000  # keys that wait because of events
PATIENCE = 4  # turns of which one is of the keys that a look has found


class Turn:
    """One reconcile of a key, and the requests that it serves: those from before it began."""

    def __init__(self, key):
        self.key, self.causes = key, []

    def add(self, cause):
        if cause not in self.causes:
            self.causes.append(cause)


class Keys:
    """A key runs once at a time, and keys run in the order of their requests; those that only a look at the cluster requested give
    way to the others, except one of PATIENCE. What is requested while a key runs becomes one more turn. A key has one wait at
    most: for a retry, or for the time that its logic asked for. Keys that fail may be many and take long: one of `threads` takes
    none that `failed` last, and does not wait for a failed request."""

    def __init__(self, clock=time.monotonic, most=MOST, threads=1, failed=()):
        self.clock, self.most, self.changed = clock, most, threading.Condition()
        self.threads, self.failed = threads, failed
        self.waiting, self.looked = {}, {}  # the turns by their keys, in order; looked: those that only a look requested
        self.running, self.closed, self.taken = set(), False, 0
        self.failing = set()  # of the running ones, those with a failed request
        self.due, self.waits, self.numbers = {}, [], itertools.count()  # due: (time, cause) by key; waits: a heap of times

    def ask(self, key, cause, always=False):
        """Requests a turn. Returns whether there is room for it."""
        with self.changed:
            if key not in self.waiting and (self.closed or not always and len(self.waiting) >= self.most):
                return False
            self._put(key, cause)
            return True

    def give_way(self, key, cause):
        """Requests a turn of a key that a look has found. It always finds room."""
        with self.changed:
            waits = self.waiting if key in self.waiting else self.looked
            waits.setdefault(key, Turn(key)).add(cause)
            self.changed.notify()

    def _put(self, key, cause):
        turn = self.looked.pop(key, None) or Turn(key)
        self.waiting.setdefault(key, turn).add(cause)
        self.changed.notify()

    def later(self, key, seconds, cause):
        """Requests a turn after a time, instead of what the key waited for."""
        with self.changed:
            self.due[key] = (self.clock() + seconds, cause)
            heapq.heappush(self.waits, (self.due[key][0], next(self.numbers), key))
            if len(self.waits) > 100 + 2 * len(self.due):  # most are replaced
                self.waits = sorted((at, next(self.numbers), each) for each, (at, _) in self.due.items())
            self.changed.notify()

    def forget(self, key):
        """Requests nothing any more for a time."""
        with self.changed:
            self.due.pop(key, None)

    def take(self):
        """The next turn, which begins; None when there will be none any more."""
        with self.changed:
            while not self.closed:
                wait = self._call_due()
                full = 1 < self.threads <= 1 + sum(key in self.failed for key in self.running)
                both = self.waiting, self.looked
                for waits in both[::-1] if self.taken % PATIENCE == PATIENCE - 1 else both:
                    for key in waits:
                        if key not in self.running and not (full and key in self.failed):
                            self.taken += 1
                            self.running.add(key)
                            return waits.pop(key)
                self.changed.wait(wait)
            return None

    def may_wait(self, key):
        """Whether a running key whose request has failed waits to send it again."""
        with self.changed:
            self.failing.add(key)
            return len(self.failing) < max(self.threads, 2)

    def end(self, turn):
        """Ends a turn."""
        with self.changed:
            self.running.discard(turn.key)
            self.failing.discard(turn.key)
            self.changed.notify()

    def close(self):
        """Begins no turn any more. A worker that starts finds those that wait."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def length(self):
        with self.changed:
            return len(self.waiting) + len(self.looked)

    def _call_due(self):
        """Requests the turns whose time has come. The seconds until the next, or None."""
        while self.waits:
            at, _, key = self.waits[0]
            if self.due.get(key, (None,))[0] != at:  # replaced or forgotten
                heapq.heappop(self.waits)
                continue
            if at > self.clock():
                return at - self.clock()
            heapq.heappop(self.waits)
            self._put(key, self.due.pop(key)[1])
        return None
