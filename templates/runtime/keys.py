"""The custom resources that a worker has to reconcile, by their keys."""
import heapq
import itertools
import threading
import time

MOST = 10000  # keys that wait because of events; those of a look at the cluster always find room


class Turn:
    """One reconcile of a key, and the requests that it serves: those from before it began."""

    def __init__(self, key):
        self.key, self.causes, self.ended, self.lost = key, [], threading.Event(), True

    def add(self, cause):
        if cause not in self.causes:
            self.causes.append(cause)


class Keys:
    """A key runs once at a time, and keys run in the order of their requests. What is requested while a key runs becomes
    one more turn. A key has one wait at most: for a retry, or for the time that its logic asked for. Keys that fail may be many and
    take long: one of `threads` takes none that `failed` last, and does not wait for a failed request."""

    def __init__(self, clock=time.monotonic, most=MOST, threads=1, failed=()):
        self.clock, self.most, self.changed = clock, most, threading.Condition()
        self.threads, self.failed = threads, failed
        self.waiting, self.running, self.closed = {}, set(), False  # waiting: the turns by their keys, in order
        self.failing = set()  # of the running ones, those with a failed request
        self.due, self.waits, self.numbers = {}, [], itertools.count()  # due: (time, cause) by key; waits: a heap of times

    def ask(self, key, cause, always=False):
        """The turn that will serve a request; None if there is no room for another key."""
        with self.changed:
            if key not in self.waiting and (self.closed or not always and len(self.waiting) >= self.most):
                return None
            turn = self.waiting.setdefault(key, Turn(key))
            turn.add(cause)
            self.changed.notify()
            return turn

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
                turn = next((turn for key, turn in self.waiting.items()
                             if key not in self.running and not (full and key in self.failed)), None)
                if turn:
                    del self.waiting[turn.key]
                    self.running.add(turn.key)
                    return turn
                self.changed.wait(wait)
            return None

    def may_wait(self, key):
        """Whether a running key whose request has failed waits to send it again."""
        with self.changed:
            self.failing.add(key)
            return len(self.failing) < max(self.threads, 2)

    def end(self, turn, lost=False):
        """Ends a turn. If it is lost, those who requested it have to request it again."""
        with self.changed:
            self.running.discard(turn.key)
            self.failing.discard(turn.key)
            turn.lost = lost
            turn.ended.set()
            self.changed.notify()

    def close(self):
        """Begins no turn any more: the waiting ones are lost."""
        with self.changed:
            self.closed = True
            for turn in self.waiting.values():
                turn.ended.set()
            self.waiting.clear()
            self.changed.notify_all()

    def length(self):
        with self.changed:
            return len(self.waiting)

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
            self.waiting.setdefault(key, Turn(key)).add(self.due.pop(key)[1])
        return None
